#!/bin/bash
# Makes the autograder ready, once, as root, on Ubuntu 22.04 or newer or Debian 12 or newer: Gradescope runs this
# when it builds its image. What is there already is not installed again; WARPBOOK_PYTHON may name a Python that has
# the packages of requirements/runtime.txt and requirements/class.txt.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/book"
export DEBIAN_FRONTEND=noninteractive PIP_DISABLE_PIP_VERSION_CHECK=1

new_enough='import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))'
find_python() {
    for python in "${WARPBOOK_PYTHON:-}" python3 python3.14 python3.13 python3.12 python3.11; do
        [ -n "$python" ] && "$python" -c "$new_enough" 2>/dev/null && return
    done
    return 1
}

# ---- From the distribution ------------------------------------------------------------------------------------
missing=()
command -v make >/dev/null || missing+=(make)
command -v cc >/dev/null || command -v gcc >/dev/null || command -v clang >/dev/null || missing+=(gcc libc6-dev)
find_python || missing+=(python3.11 python3.11-venv)
if [ ${#missing[@]} -gt 0 ]; then
    apt-get update -qq
    apt-get install -y -qq --no-install-recommends "${missing[@]}" ca-certificates ||
        apt-get install -y -qq --no-install-recommends "${missing[@]/python3.11/python3}" ca-certificates
    find_python
fi

# ---- Python packages, each file against its hash; and the programs, built for any machine of this kind --------
options=("PYTHON=$python" "CC_NATIVE=" "JOBS=$(nproc)")
if "$python" -c 'import grader.classroom.autograder.one' 2>/dev/null; then
    options+=("VENV=")
fi
printf '%s\n' "${options[@]}" >../options
make -s "${options[@]}" autograde-setup

# An image keeps times in whole seconds: with equal times, nothing looks changed there.
find . -type f -exec touch -d @0 {} +
make -s "${options[@]}" autograde-ready
