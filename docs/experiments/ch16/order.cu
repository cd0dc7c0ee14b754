// EXPERIMENT: A scan in one launch whose blocks take the tile of their own number, blockIdx.x, and wait for the tile before it.
// RUN: ./ch16 --device emulator --kernel $PTX
// SHOWS: TIMEOUT
#include "warpbook.cuh"

const unsigned ALL_LANES = 0xffffffff;

// One warp scans the elements from `first` to `end` - 1 and returns their sum.
template <typename T>
__device__ T scan_range(const T *in, T *out, int first, int end, T before, bool is_exclusive) {
    for (; first < end; first += 32) {
        int i = first + threadIdx.x;
        T value = i < end ? in[i] : 0, sum = value;
        for (int distance = 1; distance < 32; distance *= 2) {
            T other = __shfl_up_sync(ALL_LANES, sum, distance);
            if (threadIdx.x >= distance) {
                sum += other;
            }
        }
        sum += before;
        T last = __shfl_up_sync(ALL_LANES, sum, 1);
        if (i < end) {
            out[i] = !is_exclusive ? sum : threadIdx.x == 0 ? before : last;
        }
        before = __shfl_sync(ALL_LANES, sum, 31);
    }
    return before;
}

#define ONE_WARP(kernel)                                                                                     \
    LAUNCH(kernel) {                                                                                         \
        launch->block = 32;                                                                                  \
        launch->grid = 1;                                                                                    \
    }
ONE_WARP(scan_warp)
ONE_WARP(scan_block)
ONE_WARP(sum_tiles)
ONE_WARP(scan_sums)
ONE_WARP(scan_tiles)

__global__ void scan_warp(const int *in, int *out, int n) { scan_range(in, out, 0, n, 0, false); }
__global__ void scan_block(const float *in, float *out, int n) { scan_range(in, out, 0, n, 0.0f, true); }
__global__ void sum_tiles(const int *in, int *sums, int n) { sums[0] = 0; }
__global__ void scan_sums(int *sums, int tiles) {}
__global__ void scan_tiles(const int *in, int *out, const int *sums, int n) {
    scan_range(in, out, 0, n, 0, true);
}

const int TILE = 1024;

LAUNCH(scan_once) {
    launch->block = 32;
    launch->grid = max(1, ceil_div(n, TILE));
}

__global__ void scan_once(const float *in, float *out, unsigned long long *state, int n) {
    volatile unsigned long long *prefix_of = state + 1;
    int tile = blockIdx.x; // blocks start in any order: the block before may be waiting for room on an SM
    unsigned long long last = 0;
    while (tile > 0 && (last = prefix_of[tile - 1]) == 0) {
    }
    float before = __uint_as_float((unsigned)last);
    float sum = scan_range(in, out, tile * TILE, min(n, (tile + 1) * TILE), before, false);
    __syncwarp();
    if (threadIdx.x == 0) {
        prefix_of[tile] = 1ull << 32 | __float_as_uint(sum);
    }
}
