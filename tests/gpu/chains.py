#!/usr/bin/env python3
"""On a machine with an NVIDIA GPU: how long a link of a chain of blocks takes.

    python3 tests/gpu/chains.py FOLDER

Runs the kernels of tests/data/chains.csv, which are in tests/data/chains.cu, in grids of 128 and of 2,048 blocks of one
thread, and writes FOLDER/chains.csv: the microseconds that each further block takes, a median of 21 launches.
"""

import csv
import sys
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from bench.compiling import compile_one  # noqa: E402 - the checkout is on the path now
from bench.gpu import Device, u64  # noqa: E402

FEW, MANY, LAUNCHES = 128, 2048, 21


def main(folder: Path) -> None:
    """Measures and writes."""
    data = ROOT / "tests" / "data"
    with (data / "chains.csv").open() as file:
        names = [row["kernel"] for row in csv.DictReader(file)]
    device = Device()
    module = device.load(compile_one(data / "chains.cu"))
    words = [device.allocate(4 * MANY) for _ in range(2)]
    begin, end = device.event(), device.event()

    def microseconds(name: str, blocks: int) -> float:
        function, times = device.function(module, name), []
        for _ in range(LAUNCHES):
            for word in words:
                device.fill(word, 0, 4 * MANY)
            device.mark(begin)
            device.launch(function, (blocks, 1, 1), (1, 1, 1), [u64(word) for word in words])
            device.mark(end)
            device.synchronize()
            times.append(1e6 * device.seconds(begin, end))
        return median(times)

    with (folder / "chains.csv").open("w") as file:
        print("kernel,microseconds", file=file)
        for name in names:
            link = (microseconds(name, MANY) - microseconds(name, FEW)) / (MANY - FEW)
            print(f"{name},{link:.4f}", file=file)
            print(f"{name:30} {link:.4f} us")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
