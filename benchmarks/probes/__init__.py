"""C code that does the work of a case and nothing else: the limit of what the case could reach."""

import subprocess
import sys
from pathlib import Path

from benchmarks.peers import BUILD

FOLDER = Path(__file__).parent


def build():
    """Compiles what has changed, with setuptools, and returns the folder to import it from."""
    target = BUILD / "probes"
    command = [sys.executable, "setup.py", "--quiet", "build_ext"]
    command += ["--build-lib", target, "--build-temp", target / "objects"]
    done = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True)
    if done.returncode != 0:
        print(f"the limits cannot be probed:\n{done.stderr}", file=sys.stderr)
    return str(target)
