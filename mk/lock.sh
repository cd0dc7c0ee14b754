#!/bin/sh
# Resolves pyproject.toml's dependencies and groups into requirements/NAME.txt, for every platform, with hashes.
# pip and uv read these files alike. Needs uv (pip install uv).
#
#   sh mk/lock.sh            the newest versions that pyproject.toml allows
#   KEEP=1 sh mk/lock.sh     the locked versions stay wherever pyproject.toml allows them
#
# Which index answers is this machine's business; the files hold names, versions and hashes only.
set -eu
command -v uv >/dev/null || { echo "warpbook: make locks needs uv on PATH: pip install uv" >&2; exit 3; }

# lock NAME [OPTION...]: the group NAME, or the project's own dependencies for runtime. The options name the files
# whose versions it shares: packages of several files are installed into one environment.
lock() {
    name=$1
    shift
    if [ "$name" = runtime ]; then set -- pyproject.toml "$@"; else set -- --group "$name" "$@"; fi
    [ -n "${KEEP:-}" ] || set -- "$@" --upgrade
    uv pip compile "$@" --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
        --no-emit-find-links --no-header --no-annotate --output-file "requirements/$name.txt"
    echo "  LOCK     requirements/$name.txt"
}
lock runtime
lock dev --constraints requirements/runtime.txt
for name in site class bench recording; do
    lock "$name" --constraints requirements/runtime.txt --constraints requirements/dev.txt
done
lock notebook --constraints requirements/runtime.txt --constraints requirements/dev.txt --constraints requirements/site.txt
lock platforms --constraints requirements/runtime.txt --constraints requirements/dev.txt \
    --constraints requirements/notebook.txt --constraints requirements/class.txt --constraints requirements/site.txt
lock nvcc
lock clang
lock nvdisasm
lock peers
