"""Runs the tree reduction of kernels.cu over N floats in numba's CUDA simulator.

NUMBA_ENABLE_CUDASIM=1 python numba_tree.py N     ->     "CPU_SECONDS SUM", on standard output
"""

import sys
import time

import numpy as np
from numba import cuda, float32

BLOCK = 256


@cuda.jit
def tree(values, out):
    """A block sums 256 floats."""
    tile = cuda.shared.array(BLOCK, float32)
    t = cuda.threadIdx.x
    tile[t] = values[cuda.blockIdx.x * BLOCK + t]
    cuda.syncthreads()
    active = BLOCK // 2
    while active > 0:
        if t < active:
            tile[t] += tile[t + active]
        cuda.syncthreads()
        active //= 2
    if t == 0:
        out[cuda.blockIdx.x] = tile[0]


def main() -> None:
    """See above."""
    blocks = int(sys.argv[1]) // BLOCK
    values = (np.arange(blocks * BLOCK) % 7).astype(np.float32)
    out = np.zeros(blocks, np.float32)
    start = time.process_time()
    tree[blocks, BLOCK](values, out)
    print(f"{time.process_time() - start:.9f} {out.sum():.0f}")


if __name__ == "__main__":
    main()
