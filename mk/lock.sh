#!/bin/sh
# Resolves requirements*.in into lock files with hashes. Needs uv (pip install uv).
#
# Which index answers is this machine's business; the files hold names, versions and hashes only.
set -eu
command -v uv >/dev/null || { echo "warpbook: make locks needs uv on PATH: pip install uv" >&2; exit 3; }
for name in requirements requirements-dev requirements-site requirements-bench requirements-class requirements-nvcc requirements-peers; do
    uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
        --no-emit-find-links --no-header --no-annotate --upgrade --output-file "$name.lock" "$name.in"
    echo "  LOCK     $name.lock"
done
