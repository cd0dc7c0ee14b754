#!/usr/bin/env python3
"""On a machine with an NVIDIA GPU: is a measured ratio what it says?

    python3 tests/gpu/timing.py FOLDER [--runs 20]

First a kernel against itself, time after time: 1 must lie within the interval of every run. Then against one that
reads 2 % more bytes, by construction: 19 of 20 runs must tell them apart. Needs `make drivers` before; writes every
run's JSON to FOLDER and ends with status 0 only when both hold. Takes about three seconds a run.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[2]
SIZES = (1024, 1 << 20, 1 << 28)
LARGE = 1 << 28

# The sum of chapter 7, and after it the first EXTRA part of the input once more, which is out of every cache by
# then. What is read twice is compared with a number that no input holds, so that it changes nothing.
KERNEL = """#include "warpbook.cuh"

LAUNCH(sum_float4) {
    launch->block = 512;
    launch->grid = max(1, min(ceil_div(n, 4 * 512), 4 * gpu->sm_count));
}

__device__ float sum_of_warp(float value) {
    for (int distance = 16; distance > 0; distance /= 2) {
        value += __shfl_down_sync(0xffffffff, value, distance);
    }
    return value;
}

__global__ void sum_float4(const float *in, float *partial, int n) {
    __shared__ float sum_of[16];
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int threads = gridDim.x * blockDim.x;
    int head = min((4 - (int)((size_t)in / 4 % 4)) % 4, n);
    int groups = (n - head) / 4;
    int all = groups + (int)((long long)groups * EXTRA / 100);
    const float4 *group = (const float4 *)(in + head);
    float sum = 0.0f;

    for (int i = thread; i < all; i += threads) {
        float4 four = group[i < groups ? i : i - groups];
        float added = (four.x + four.y) + (four.z + four.w);
        sum += i < groups || four.x == 1e30f ? added : 0.0f;
    }
    if (thread < head) {
        sum += in[thread];
    }
    if (thread < n - head - 4 * groups) {
        sum += in[head + 4 * groups + thread];
    }
    sum = sum_of_warp(sum);
    if (threadIdx.x % 32 == 0) {
        sum_of[threadIdx.x / 32] = sum;
    }
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = sum_of_warp(threadIdx.x < 16 ? sum_of[threadIdx.x] : 0.0f);
    }
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = sum;
    }
}
"""


def write_kernel(folder: Path, name: str, extra: int) -> Path:
    """A kernel.cu that reads `extra` percent more than it must."""
    path = folder / name / "kernel.cu"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#define EXTRA {extra}\n{KERNEL}")
    return path


def time_pair(kernel: Path, against: Path, sizes: tuple[int, ...], output: Path) -> list[dict]:
    """The timings of one run; ends the program where there are none."""
    command = [ROOT / "ch07", "--device", "gpu", "--kernel", kernel, "--against", against, "--quiet"]
    command += ["--time", ",".join(map(str, sizes)), "--json", output]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    timings = json.loads(output.read_text()).get("timings", []) if output.exists() else []
    if len(timings) != len(sizes) or not all(timing.get("ratio") for timing in timings):
        print(done.stdout + done.stderr, file=sys.stderr)
        for timing in timings:
            print(timing["message"], file=sys.stderr)
        print("timing: a run gave no ratio", file=sys.stderr)
        sys.exit(3)
    return timings


def show(words: str, timings: list[dict], held: int) -> None:
    """One line of the table."""
    ratios = [timing["ratio"] for timing in timings]
    widths = [timing["ratio_high"] - timing["ratio_low"] for timing in timings]
    samples = median(timing["samples"] for timing in timings)
    print(
        f"  {words:<28} {median(ratios):7.4f} {min(ratios):7.4f} {max(ratios):7.4f} {median(widths):8.4f}"
        f" {samples:8.0f} {held:4} of {len(timings)}"
    )


def main() -> int:
    """Both tests; 0 when both hold."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="where the JSON of every run goes")
    parser.add_argument("--runs", type=int, default=20)
    given = parser.parse_args()
    folder = given.folder.absolute()
    plain, more = write_kernel(folder, "plain", 0), write_kernel(folder, "more", 2)
    same: dict[int, list[dict]] = {size: [] for size in SIZES}
    apart: list[dict] = []
    for run in range(given.runs):
        for timing in time_pair(plain, plain, SIZES, folder / f"same_{run:02}.json"):
            same[timing["n"]].append(timing)
        apart += time_pair(more, plain, (LARGE,), folder / f"apart_{run:02}.json")
    first = same[LARGE][0]
    print(
        f"{first['device']}, clocks {first['throttle']}, read ceiling {first['read_ceiling_gb_per_s']:,.0f} GB/s"
    )
    print(f"  {'':<28} {'ratio':>7} {'least':>7} {'most':>7} {'interval':>8} {'samples':>8}  right")
    good = True
    for size, timings in same.items():
        held = sum(timing["ratio_low"] <= 1 <= timing["ratio_high"] for timing in timings)
        show(f"against itself, {size:,}", timings, held)
        good = good and held == len(timings)
    told = sum(timing["ratio_high"] < 1 for timing in apart)
    show(f"2 % more bytes, {LARGE:,}", apart, told)
    good = good and told >= round(0.95 * len(apart))
    print("Both hold." if good else "That is not enough.")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
