#!/usr/bin/env bash
# On a machine with an NVIDIA GPU: builds the workbook with what is installed there and grades the
# reference solutions on the GPU and on the emulator. Results go to the folder named first.
set -u
out=${1:?usage: tests/gpu/smoke.sh FOLDER}
mkdir -p "$out"
make="make -j$(nproc) PYTHON=python3 VENV="
nvidia-smi --query-gpu=name,driver_version,clocks.mem,clocks.sm --format=csv,noheader
$make drivers > "$out/build.log" 2>&1 || { tail -40 "$out/build.log"; exit 3; }
$make doctor
$make solutions DEVICE=gpu FRESH=1
status=$?
cp build/solutions.json "$out/gpu.json" 2>/dev/null
for chapter in ch0[0-9]; do
    echo "== $chapter"
    "./$chapter" --device gpu --kernel "build/solutions/$chapter/kernel.ptx" 2>&1 | head -40
done
$make solutions DEVICE=emulator FRESH=1
exit $status
