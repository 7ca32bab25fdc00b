"""The processes in which the parties of a benchmark work, and the environment of the peers."""

import json
import os
import subprocess
import sys
import venv
from pathlib import Path

BUILD = Path("build/benchmarks").resolve()
WORKER = Path(__file__).with_name("worker.py")
REQUIREMENTS = Path(__file__).with_name("requirements.txt")


class Unavailable(Exception):
    """The party cannot work: something is not installed, or not built yet."""


def peer_python():
    """The interpreter of the peers' environment, which is made where there is none."""
    folder = os.environ.get("HURRAY_PEERS")
    if folder:
        return str(Path(folder) / "bin" / "python")
    folder = BUILD / "peers"
    python = folder / "bin" / "python"
    done = folder / "installed"
    wanted = REQUIREMENTS.read_text()
    if not done.exists() or done.read_text() != wanted:
        print(f"making the peers' environment in {folder}", file=sys.stderr)
        venv.create(folder, clear=True, with_pip=True)
        command = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*command, "-r", REQUIREMENTS], check=True)
        done.write_text(wanted)
    return str(python)


class Worker:
    """One party at work. Raises Unavailable if it cannot."""

    def __init__(self, party, variables):
        python = peer_python() if party.in_peer_environment else sys.executable
        self.party = party
        self.process = subprocess.Popen(
            # Isolated: no folder and no PYTHONPATH leads to the sources of the package.
            [python, "-I", WORKER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd="/",
        )
        self.ask(
            setup=party.setup,
            statement=party.statement,
            times_itself=party.times_itself,
            variables=variables,
        )

    def ask(self, **request):
        try:
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise Unavailable(f"its process ended with status {self.process.wait()}")
        answer = json.loads(line)
        if "error" in answer:
            raise Unavailable(answer["error"])
        return answer

    def nanoseconds(self):
        """The time that the work takes once, in one round."""
        return self.ask()["nanoseconds"]

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()
