#!/bin/sh
# Writes what common/runtime needs from CUDA's headers, whichever version they are:
#
#   sh mk/cudart.sh INCLUDE FOLDER
#
# FOLDER/errors.h lists the errors. FOLDER/missing.c defines every function of the runtime interface, weakly, so that
# those of common/runtime replace theirs; what is left names itself and returns cudaErrorNotSupported.
# FOLDER/symbols.map gives the library the symbols and the version of NVIDIA's.
set -eu
include=$1
folder=$2
mkdir -p "$folder"
sed -n '/^enum .*cudaError$/,/^}/s/^ *\(cuda[A-Za-z0-9]*\) *=.*/ERROR(\1)/p' "$include/driver_types.h" >"$folder/errors.h.$$"
{
    echo '// Written by mk/cudart.sh.'
    echo 'int warpbook_missing(const char *name);'
    sed -n 's/.*CUDARTAPI *\(cuda[A-Za-z0-9_]*\)(.*/\1/p' "$include/cuda_runtime_api.h" "$include/cuda_profiler_api.h" 2>/dev/null | sort -u |
        sed 's/.*/__attribute__((weak)) int &(void) { return warpbook_missing("&"); }/'
} >"$folder/missing.c.$$"
# Programs compiled with --default-stream per-thread call these; that stream is the default stream here. They are jumps,
# because an alias would have to be in the file of the function it stands for.
{
    cat <<'EOF'
#ifdef __aarch64__
#define JUMP(name) "b " #name
#else
#define JUMP(name) "jmp " #name "@PLT"
#endif
#define PER_THREAD(alias, name) \
    __asm__(".text\n.globl " #alias "\n.type " #alias ", %function\n" #alias ":\n\t" JUMP(name) "\n.size " #alias ", . - " #alias "\n");
EOF
    sed -n 's/^ *#define *\(cuda[A-Za-z0-9]*\) *__CUDART_API_PT\([SD]\)[SZ]*(\1).*/\1 \2/p' "$include/cuda_runtime_api.h" | sort -u |
        while read -r name kind; do
            case $kind in S) echo "PER_THREAD(${name}_ptsz, $name)" ;; D) echo "PER_THREAD(${name}_ptds, $name)" ;; esac
        done
    echo 'PER_THREAD(__cudaLaunchKernel_ptsz, __cudaLaunchKernel)'
} >>"$folder/missing.c.$$"
printf 'libcudart.so.13 {\n    global: cuda*; __cuda*;\n    local: *;\n};\n' >"$folder/symbols.map"
mv -f "$folder/errors.h.$$" "$folder/errors.h"
mv -f "$folder/missing.c.$$" "$folder/missing.c"
