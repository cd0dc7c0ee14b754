#!/bin/sh
# On a machine with a GPU: builds docs/examples/sum_program.cu around the reference of chapter 8 and runs it at
# several sizes. Every sum must be right to the bit. From the root: sh tests/gpu/own_program.sh
set -eu
make own-program KERNELS=solutions/ch08_atomics_two_pass/kernel.cu PYTHON="${PYTHON:-python3}" VENV="${VENV-}"
for n in 0 1 31 33 1000003 67108864 1000000007; do
    build/own_program "$n"
done
if command -v compute-sanitizer >/dev/null; then
    compute-sanitizer --error-exitcode 9 build/own_program 1000003
fi
echo "own_program: every sum is right"
