# shellcheck shell=bash
# Sourced by docs/quickstart.sh, tests/run and .ci/run: what a fresh Debian or Ubuntu lacks.

export PIP_DISABLE_PIP_VERSION_CHECK=1

fail() {
  echo "$0: $*" >&2
  exit 1
}

# debian_install PACKAGE...: does nothing without packages.
debian_install() {
  (($#)) || return 0
  echo "installing: $*"
  command -v apt-get >/dev/null || fail "please install what Debian calls: $*"
  local as_root=(env DEBIAN_FRONTEND=noninteractive)
  if ((EUID)); then
    command -v sudo >/dev/null || fail "root or sudo is needed to install: $*"
    as_root=(sudo "${as_root[@]}")
  fi
  # Another package manager may be at work, as on a machine that has just started.
  local apt=(apt-get -q -o DPkg::Lock::Timeout=300)
  "${as_root[@]}" "${apt[@]}" update >/dev/null
  "${as_root[@]}" "${apt[@]}" install -y --no-install-recommends "$@" >/dev/null
}

# prepare_python: sets `python`, from PYTHON where that is given, and sees to it that extensions can be
# compiled for it and that it can make virtual environments.
prepare_python() {
  python=${PYTHON:-python3}
  local missing=()
  command -v "$python" >/dev/null || missing+=("$(basename "$python")")
  command -v "${CXX:-g++}" >/dev/null || missing+=(g++)
  debian_install "${missing[@]}"

  missing=()
  local name
  name=$("$python" -c 'import sys; print("python%d.%d" % sys.version_info[:2])')
  "$python" - <<'EOF' || missing+=("$name-dev")
import os, sys, sysconfig
sys.exit(not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")))
EOF
  "$python" -c 'import ensurepip, venv' 2>/dev/null || missing+=("$name-venv")
  debian_install "${missing[@]}"
}

# make_venv FOLDER: a virtual environment of $python, kept where there is one that still works.
make_venv() {
  "$1/bin/python" -m pip --version >/dev/null 2>&1 || "$python" -m venv --clear "$1"
}
