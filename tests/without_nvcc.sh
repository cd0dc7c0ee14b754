#!/bin/bash
# Runs make in a fresh clone of this checkout's last commit, on a machine without nvcc, CUDA toolkit, gcc and g++, from
# which NVIDIA's packages cannot be installed, with an empty home. Linux, as root or with user namespaces:
#
#   tests/without_nvcc.sh                                     make ch01, make grade, make test
#   tests/without_nvcc.sh 'make test ARGS="-k clang"' ...     these commands, one after the other
#
# What is missing is removed from an overlay over /usr that only the commands see. The clone stays in
# build/without_nvcc, so that a second run need not build everything again; FRESH=1 starts again.
set -euo pipefail
cd "$(dirname "$0")/.."
. tests/each_command.sh
if [ "${WARPBOOK_WITHOUT:-}" != inside ]; then
    as_root=()
    [ "$(id -u)" = 0 ] || as_root=(--map-root-user)
    WARPBOOK_WITHOUT=inside exec unshare --mount "${as_root[@]}" "$0" "$@"
fi

here=$PWD
place=$here/build/without_nvcc
[ -z "${FRESH:-}" ] || rm -rf "$place"
mkdir -p "$place/home"

# ---- The machine ---------------------------------------------------------------------------------------------
layers=$(mktemp -d)
mount -t tmpfs overlay "$layers"
mkdir "$layers/upper" "$layers/work"
mount -t overlay overlay -o "lowerdir=/usr,upperdir=$layers/upper,workdir=$layers/work" /usr
rm -rf /usr/local/* /usr/lib/cuda* /usr/lib/nvidia-cuda-toolkit
for name in cc c++ cpp 'cpp-[0-9]*' 'c[89]9-gcc' '*gcc' '*gcc-[0-9]*' '*g++' '*g++-[0-9]*' nvcc ptxas nvdisasm fatbinary; do
    find /usr/bin -name "$name" ! -name '*clang*' -delete
done
find /usr/include -maxdepth 1 \( -name 'cuda*.h' -o -name 'nv' -o -name 'cub' -o -name 'thrust' \) -exec rm -rf {} +
if [ -e /opt/cuda ]; then mount -t tmpfs none /opt/cuda; fi

# No release of what requirements/nvcc.txt names can be installed.
constraint=$place/no_nvidia_packages.txt
cat requirements/nvcc.txt requirements/nvdisasm.txt requirements/peers.txt |
    sed -n 's/^\(nvidia-[a-z0-9-]*\)==.*/\1<0/p' | sort -u >"$constraint"

run() { # a command as a new user of that machine types it
    env -i HOME="$place/home" PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 TERM=dumb PIP_CONSTRAINT="$constraint" \
        ${PIP_CERT:+PIP_CERT="$PIP_CERT"} ${SSL_CERT_FILE:+SSL_CERT_FILE="$SSL_CERT_FILE"} \
        ${https_proxy:+https_proxy="$https_proxy"} sh -c "$1"
}
for name in nvcc ptxas gcc g++ cc; do
    ! run "command -v $name" || { echo "without_nvcc: $name is still there" >&2; exit 3; }
done

# ---- The commands ----------------------------------------------------------------------------------------------
if [ -d "$place/warpbook" ]; then
    git -C "$place/warpbook" fetch -q origin HEAD && git -C "$place/warpbook" reset -q --hard FETCH_HEAD
else
    git clone -q "$here" "$place/warpbook"
fi
cd "$place/warpbook"
if run 'make COMPILER=nvcc VENV=build/never build/never/.installed-nvcc' >"$place/never.log" 2>&1; then
    echo "without_nvcc: NVIDIA's packages can be installed anyway" >&2
    exit 3
fi
grep -q ResolutionImpossible "$place/never.log" || { cat "$place/never.log" >&2; exit 3; }
rm -rf build/never

[ $# -gt 0 ] || set -- 'make ch01' 'make grade' 'make test'
run_each "$@"
