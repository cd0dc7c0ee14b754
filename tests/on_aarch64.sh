#!/bin/bash
# Runs the workbook on aarch64: in a small Debian for that processor, whose programs qemu-user runs on this machine.
# Needs root, debootstrap and qemu-user-static; docs/platforms.md has figures.
#
#   tests/on_aarch64.sh                    make solutions with clang, then the tests of the emulator
#   tests/on_aarch64.sh 'make ch01' ...    these commands, one after the other
#
# Debian and a clone of this checkout's last commit stay in build/aarch64; FRESH=1 starts again.
set -euo pipefail
cd "$(dirname "$0")/.."
. tests/each_command.sh
for name in debootstrap qemu-aarch64-static; do
    command -v "$name" >/dev/null || {
        echo "on_aarch64: $name is missing; on Debian or Ubuntu: apt-get install debootstrap qemu-user-static" >&2
        exit 3
    }
done
if [ "${WARPBOOK_ON:-}" != aarch64 ]; then # what is mounted below disappears with the last process
    WARPBOOK_ON=aarch64 exec unshare --mount "$0" "$@"
fi
.ci/qemu

here=$PWD
place=$here/build/aarch64
root=$place/root
[ -z "${FRESH:-}" ] || rm -rf "$place"
mkdir -p "$place"

# ---- Debian --------------------------------------------------------------------------------------------------------
if [ ! -e "$place/complete" ]; then
    rm -rf "$root"
    packages=make,gcc,libc6-dev,python3,python3-venv,git,ca-certificates
    debootstrap --arch=arm64 --variant=minbase --include="$packages" bookworm "$root" \
        >"$place/debootstrap.log" 2>&1 || { tail -n 20 "$place/debootstrap.log" >&2; exit 3; }
    touch "$place/complete"
fi
cp /etc/resolv.conf "$root/etc/"
certificates=etc/ssl/certs/ca-certificates.crt # a network may have its own
[ ! -e "/$certificates" ] || cp "/$certificates" "$root/$certificates"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount -t tmpfs tmpfs "$root/tmp"

checkout=$root/srv/warpbook
if [ -d "$checkout" ]; then
    git -C "$checkout" fetch -q "$here" HEAD && git -C "$checkout" reset -q --hard FETCH_HEAD
else
    git clone -q "$here" "$checkout"
fi

run() { # a command in the clone, as somebody types it there
    env -i HOME=/srv PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 TERM=dumb PIP_CERT="/$certificates" \
        chroot "$root" sh -c "cd /srv/warpbook && $1"
}
echo "---- $(run 'uname -m') Debian $(cat "$root/etc/debian_version")"

# ---- The commands ----------------------------------------------------------------------------------------------
if [ $# = 0 ]; then
    # Every test file that uses the emulator itself, as a library or as a command.
    tests=$(grep -lE 'from emulator import|import emulator|emulator_built|alu.probe' tests/test_*.py | tr '\n' ' ')
    set -- 'make COMPILER=clang .venv/.installed-runtime .venv/.installed-dev setup drivers' 'make COMPILER=clang solutions' \
        ".venv/bin/python -m pytest -n 2 --timeout 3600 -rs $tests"
fi
run_each "$@"
