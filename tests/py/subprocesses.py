"""Python programs in a process of their own."""

import subprocess
import sys
import textwrap


def run_python(source, *arguments):
    """Runs the program and returns what it printed; fails unless it ends with status 0."""
    command = [sys.executable, "-c", textwrap.dedent(source), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, f"exit status {done.returncode}\n{done.stderr}"
    return done.stdout
