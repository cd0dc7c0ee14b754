// EXPERIMENT: A tile publishes its prefix and then a flag, both volatile, with no fence between them.
// RUN: ./ch16 --device emulator --kernel $PTX
// SHOWS: WRONG
// SHOWS: no fence orders the two stores
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
    int tile = threadIdx.x == 0 ? atomicAdd((unsigned *)state, 1) : 0;
    tile = __shfl_sync(ALL_LANES, tile, 0);
    volatile unsigned *last = (volatile unsigned *)(state + tile),
                      *own = (volatile unsigned *)(state + tile + 1);
    float before = 0.0f;
    if (tile > 0) {
        while (last[1] == 0) {
        }
        __threadfence();
        before = __uint_as_float(last[0]);
    }
    float sum = scan_range(in, out, tile * TILE, min(n, (tile + 1) * TILE), before, false);
    __syncwarp();
    if (threadIdx.x == 0) {
        own[0] = __float_as_uint(sum);
        own[1] = 1; // other blocks may see it before own[0]
    }
}
