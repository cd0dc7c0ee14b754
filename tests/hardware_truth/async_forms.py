"""The rows of async_forms.cu by the emulator: what asynchronous copies, mbarriers and clusters compute.

python3 tests/hardware_truth/async_forms.py FILE.ptx [SCHEDULE]   prints them; FILE.ptx is async_forms.cu for compute_90
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parents[1])]
from emulator import Emulator, Result  # noqa: E402

BLOCKS, THREADS, WORDS, INPUTS = 8, 64, 2048, 8192


def names() -> list[str]:
    return re.findall(r"^ROW\((\w+)\)", (HERE / "async_forms.def").read_text(), re.MULTILINE)


def row(name: str, words: np.ndarray) -> str:
    """The same text as async_forms.cu prints: a 64-bit FNV-1a of the words, and the first eight."""
    value = 14695981039346656037
    for word in words.tolist():
        value = (value ^ word) * 1099511628211 % 2**64
    return f"{name},{value:016x},{' '.join(f'{w:08x}' for w in words[:8].tolist())}"


def run(device: Emulator, name: str, schedule: int = 0) -> tuple[np.ndarray, Result]:
    """What the kernel writes; `device` has loaded the file."""
    given = device.buffer(np.arange(INPUTS, dtype=np.uint32) * np.uint32(2654435761), "in")
    out = device.buffer(np.full(WORDS, 0xA5A5A5A5, np.uint32), "out")
    result = device.launch(name, BLOCKS, THREADS, [given, out], schedule=schedule)
    words = out.read(np.uint32)
    given.free()
    out.free()
    return words, result


if __name__ == "__main__":
    print("form,hash,first")
    with Emulator() as e:
        e.load(Path(sys.argv[1]))
        for each in names():
            got, how = run(e, each, int(sys.argv[2]) if len(sys.argv) > 2 else 0)
            print(row(each, got))
            for finding in how.findings:
                print(f"  {finding.kind}: line {finding.line}: {finding.message}", file=sys.stderr)
