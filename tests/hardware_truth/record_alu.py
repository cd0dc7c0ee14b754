"""On a machine with an NVIDIA GPU and CuPy: runs every arithmetic form and keeps what the GPU answers.

python3 tests/hardware_truth/record_alu.py FOLDER
"""

from __future__ import annotations

import sys
from pathlib import Path

import cupy
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))
import alu_forms

CHUNK = 300


def main() -> None:
    folder = Path(sys.argv[1])
    named = [(f"form{i}", c) for i, c in enumerate(alu_forms.forms().values())]
    answers: dict[str, np.ndarray] = {}
    refused: list[str] = []
    for start in range(0, len(named), CHUNK):
        chunk = named[start : start + CHUNK]
        cubin, no = alu_forms.assemble(chunk)
        refused += no
        path = folder / f"forms{start}.cubin"  # CuPy keeps modules by their path
        path.write_bytes(cubin)
        module = cupy.RawModule(path=str(path))
        for name, case in chunk:
            if alu_forms.key(case) in no:
                continue
            columns = np.array(alu_forms.inputs(case), np.uint64)
            results = len(alu_forms.alu.parts_of(case.to))
            out = cupy.full((results, alu_forms.ROWS), 0xA5A5A5A5A5A5A5A5, cupy.uint64)
            module.get_function(name)((1,), (alu_forms.ROWS,), (cupy.asarray(columns), out))
            answers[alu_forms.key(case)] = cupy.asnumpy(out)
        path.unlink()
    keys = sorted(answers)
    np.savez_compressed(
        folder / "alu_answers.npz",
        keys=np.array(keys),
        counts=np.array([len(answers[k]) for k in keys], np.uint8),
        values=np.concatenate([answers[k] for k in keys]),
        refused=np.array(sorted(refused)),
        device=np.array(cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()),
    )
    print(f"{len(keys)} forms recorded, {len(refused)} refused by ptxas")


if __name__ == "__main__":
    main()
