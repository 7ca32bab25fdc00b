#!/usr/bin/env bash
# From a fresh Debian or Ubuntu to the main job: installs a compiler and Python's headers where they are
# missing, builds hurray into a virtual environment (build/quickstart, or $HURRAY_VENV) and runs
# docs/quickstart.py there. PYTHON chooses another interpreter than python3.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source docs/prepare.sh

prepare_python
venv=${HURRAY_VENV:-build/quickstart}
make_venv "$venv"
"$venv/bin/python" -m pip install --quiet '.[numpy]'
# The script's folder, not this one, comes first on Python's path: it imports the package that was installed.
exec "$venv/bin/python" docs/quickstart.py
