#!/bin/sh
# Asks the machine once what the Makefile needs to know and writes it as make variables.
#
#   sh mk/configure.sh OUTPUT        (CC, NVCC, CUDA_HOME, WARPBOOK_CLANG, PYTHON, VENV, SANITIZE and KEY come in the environment)
#
# Nothing here fails because something is missing: the variable stays empty, the rule that needs it says
# so, and `make doctor` still runs.
set -u
set -f # CC is split into words, and its words are not patterns of file names
output=$1
folder=$(dirname "$output")
mkdir -p "$folder" 2>/dev/null && work=$(mktemp -d "$folder/configure.XXXXXX" 2>/dev/null) || {
    echo "warpbook: cannot write to the folder $folder; make it writable (is it a file, read-only, or another user's?)" >&2
    exit 1
}
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

have() { command -v "$1" >/dev/null 2>&1; }
say() { printf '%s := %s\n' "$1" "$(printf '%s' "$2" | tr '\n' ' ' | sed 's/\$/$$/g; s/#/$(hash)/g; s/\\$/\\$()/')"; }

# ---- The C compiler and what it knows ---------------------------------------------------------------------
compiler=
for candidate in "${CC:-}" cc gcc clang; do
    set -- $candidate
    [ $# -gt 0 ] || continue
    have "$1" || { [ -n "${CC:-}" ] && break; continue; } # what was asked for by name is not replaced in silence
    printf 'int main(void) { return 0; }\n' >"$work/probe.c"
    if $candidate -o "$work/probe" "$work/probe.c" >"$work/log" 2>&1; then
        compiler=$candidate
        break
    fi
done
knows() { # whether a program compiles with these flags, and without -c links
    [ -n "$compiler" ] && $compiler -Werror "$@" -o "$work/probe" "$work/probe.c" >/dev/null 2>&1
}
# Not linked: for -march=native zig would first build a C library for this processor.
native= ; interposition= ; openmp= ; fpcontract=
if knows -c -march=native; then native=-march=native; fi
if knows -c -fno-semantic-interposition; then interposition=-fno-semantic-interposition; fi
if knows -c -ffp-contract=off; then fpcontract=-ffp-contract=off; fi
printf '#include <omp.h>\nint main(void) {\n#pragma omp parallel\n    { (void)omp_get_thread_num(); }\n    return 0;\n}\n' >"$work/probe.c"
if knows -fopenmp; then openmp=-fopenmp; fi

# ---- What nvcc preprocesses with: the C++ compiler, or the stand-in of mk/host ------------------------------
if [ -n "$compiler" ]; then
    printf '#include <cmath>\n#include <new>\n#include <utility>\n' >"$work/probe.cpp"
    rm -rf build/ccbin
    if ! gcc -E -x c++ "$work/probe.cpp" >/dev/null 2>&1; then
        set +f
        mkdir -p build/ccbin/include && cp mk/host/c[a-z0-9]* mk/host/new mk/host/utility mk/host/version build/ccbin/include &&
            printf '%s\n' "$compiler" >build/ccbin/compiler && cp mk/host/gcc build/ccbin && chmod +x build/ccbin/gcc
        set -f
    fi
fi

# ---- Python 3.11 or newer ---------------------------------------------------------------------------------
python=
for candidate in "${PYTHON:-}" python3 python3.14 python3.13 python3.12 python3.11; do
    [ -n "$candidate" ] || continue
    if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then
        python=$candidate
        break
    fi
    [ -n "${PYTHON:-}" ] && break
done

# ---- nvcc: NVCC, PATH, CUDA_HOME, the usual folder; the interpreter's own packages when VENV is empty ------
packaged=
if [ -z "${VENV:-}" ] && [ -n "$python" ]; then
    packaged=$("$python" -c 'import nvidia
for folder in nvidia.__path__: print(folder + "/cu13/bin/nvcc")' 2>/dev/null | head -n 1)
fi
nvcc= ; broken=
for candidate in "${NVCC:-}" "$(command -v nvcc 2>/dev/null)" "${CUDA_HOME:+$CUDA_HOME/bin/nvcc}" \
    /usr/local/cuda/bin/nvcc "$packaged"; do
    if [ -n "$candidate" ] && [ -f "$candidate" ] && [ -x "$candidate" ]; then
        # A wrapper whose toolkit is gone does not print its version. One that was asked for by name is used anyway.
        if [ "$candidate" = "${NVCC:-}" ] || "$candidate" --version 2>/dev/null | grep -q release; then
            nvcc=$candidate
            break
        fi
        [ -n "$broken" ] || broken=$candidate
    fi
done
[ -z "$broken" ] || echo "warpbook: $broken does not work (it does not print its version); ${nvcc:-another compiler} is used instead" >&2

# ---- clang with the NVPTX target, new enough for common/include/clang ------------------------------------------
clang=
for candidate in "${WARPBOOK_CLANG:-}" "$(command -v clang 2>/dev/null)"; do
    [ -n "$candidate" ] && [ -x "$candidate" ] || continue
    release=$("$candidate" --version 2>/dev/null | sed -n 's/.*clang version \([0-9]*\).*/\1/p' | head -n 1)
    if [ "$candidate" = "${WARPBOOK_CLANG:-}" ] ||
        { [ "${release:-0}" -ge 18 ] && "$candidate" --print-targets 2>/dev/null | grep -q nvptx64; }; then
        clang=$candidate
        break
    fi
done
driver=
for candidate in /dev/nvidiactl /dev/dxg; do
    [ ! -e "$candidate" ] || driver=yes
done
include=
if [ -n "$nvcc" ]; then
    printf '\n' >"$work/probe.cu"
    top=$("$nvcc" --dryrun -ptx -o "$work/probe.ptx" "$work/probe.cu" 2>&1 | sed -n 's/^#\$ TOP=//p' | head -n 1)
    for candidate in "${CUDA_HOME:-}" "$(dirname "$nvcc")/.." "$top" /usr/local/cuda /usr; do
        if [ -n "$candidate" ] && [ -f "$candidate/include/cuda.h" ]; then
            include=$candidate/include
            break
        fi
    done
fi

version_of() ( # the first line of what a command says of itself; asked for macOS, zig cc leaves an empty a.o behind
    first=$(command -v "$1") || exit 0
    case $first in /*) ;; *) first=$PWD/$first ;; esac
    shift
    cd "$work" && "$first" "$@" --version 2>/dev/null | head -n 1
)
jobs=$(getconf _NPROCESSORS_ONLN 2>/dev/null) || jobs=2
{
    echo "# Written by mk/configure.sh; removed by make clean."
    say HOST_CC "$compiler"
    say HOST_CC_VERSION "$([ -z "$compiler" ] || version_of $compiler)"
    say CC_NATIVE "$native"
    say CC_INTERPOSITION "$interposition"
    say CC_FPCONTRACT "$fpcontract"
    say CC_OPENMP "$openmp"
    say BASE_PYTHON "$python"
    say SYSTEM_NVCC "$nvcc"
    say SYSTEM_CUDA_INCLUDE "$include"
    say SYSTEM_CLANG "$clang"
    say HAS_NVIDIA_DRIVER "$driver"
    say JOBS "$jobs"
} >"$work/config" && printf '%s\n' "${KEY:-}" >"$work/key" && mv "$work/key" "$output.key" && mv "$work/config" "$output" || {
    echo "warpbook: cannot write $output (is the disk full?)" >&2
    exit 1
}
