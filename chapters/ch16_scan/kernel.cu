// Chapter 16: scan, four times.
//
// Element i of an inclusive scan is the sum of the elements 0 to i. Element i of an exclusive scan is the sum of
// the elements before i, and element 0 is 0. Every element of the output depends on all elements before it: what
// has to travel from block to block decides how fast a scan is.
//
// `in` and `out` begin at multiples of 256 bytes, as cudaMalloc gives them; n is at most 2^31 - 2^20.
#include "warpbook.cuh"

const unsigned ALL_LANES = 0xffffffff;

// The inclusive scan over the 32 lanes of a warp: each lane receives the sum of the values of lanes 0 to its own.
template <typename T>
__device__ T scan_of_warp(T value) {
    int lane = threadIdx.x % 32;
    // TODO 1: after step k, each lane holds the sum over the 2^k lanes that end with it. From which lane does it
    //         take the other half in the next step, and which lanes have all of theirs already?
    return lane < 32 ? value : 0;
}

// The sum over the 32 lanes, in every lane (chapter 4).
template <typename T>
__device__ T sum_of_warp(T value) {
    for (int distance = 16; distance > 0; distance /= 2) {
        value += __shfl_xor_sync(ALL_LANES, value, distance);
    }
    return value;
}

// One warp, 32 elements at a time, inclusive: scan_warp<<<1, 32>>>(in, out, n)
LAUNCH(scan_warp) {
    launch->block = 32;
    launch->grid = 1;
}

__global__ void scan_warp(const int *in, int *out, int n) {
    int carry = 0; // the sum of all elements before this round
    for (int first = 0; first < n; first += 32) {
        int i = first + threadIdx.x;
        int sum = carry + scan_of_warp(i < n ? in[i] : 0);
        if (i < n) {
            out[i] = sum;
        }
        carry = __shfl_sync(ALL_LANES, sum, 31);
    }
}

// The exclusive scan of the elements from `first` to `end` - 1 by one block of whole warps. `before` is the sum of
// what is before `first`.
template <typename T>
__device__ void scan_piece(const T *in, T *out, int first, int end, T before) {
    __shared__ T sum_of[32]; // of each warp; then of all warps up to it
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (; first < end; first += blockDim.x) {
        int i = first + threadIdx.x;
        T value = i < end ? in[i] : 0;
        // TODO 2: a lane has the sum over its warp up to itself. It needs what is before it: in its own warp
        //         (without subtracting: infinity - infinity is not 0), in the warps before it, and in the
        //         rounds before this one. At most three barriers a round.
        if (lane == 31) {
            sum_of[warp] = scan_of_warp(value);
        }
        if (i < end) {
            out[i] = before;
        }
        before += value;
    }
}

// One block, exclusive: scan_block<<<1, 1024>>>(in, out, n)
LAUNCH(scan_block) {
    launch->block = 1024;
    launch->grid = 1;
}

__global__ void scan_block(const float *in, float *out, int n) {
    scan_piece(in, out, 0, n, 0.0f);
}

// Three launches, exclusive. A tile is what one block scans.
//     sum_tiles<<<tiles, 256>>>(in, sums, n)         sums[t] is the sum of tile t
//     scan_sums<<<1, 1024>>>(sums, tiles)            sums[t] is the sum of all tiles before t
//     scan_tiles<<<tiles, 512>>>(in, out, sums, n)
const int TILE = 4096;

LAUNCH(sum_tiles) {
    launch->block = 256;
    launch->grid = max(1, ceil_div(n, TILE));
}

LAUNCH(scan_sums) {
    launch->block = 1024;
    launch->grid = 1;
}

LAUNCH(scan_tiles) {
    launch->block = 512;
    launch->grid = max(1, ceil_div(n, TILE));
}

__global__ void sum_tiles(const int *in, int *sums, int n) {
    __shared__ int sum_of[8];
    int first = blockIdx.x * TILE, end = min(n, first + TILE), sum = 0;
    for (int i = first + threadIdx.x; i < end; i += 256) {
        sum += in[i];
    }
    sum = sum_of_warp(sum);
    if (threadIdx.x % 32 == 0) {
        sum_of[threadIdx.x / 32] = sum;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int warp = 1; warp < 8; warp++) {
            sum += sum_of[warp];
        }
        sums[blockIdx.x] = sum;
    }
}

__global__ void scan_sums(int *sums, int tiles) {
    // TODO 3: a launch sees everything that the launch before it wrote. What is left to do in this one, and in
    //         scan_tiles? Both can use scan_piece.
}

__global__ void scan_tiles(const int *in, int *out, const int *sums, int n) {
    int first = blockIdx.x * TILE, end = min(n, first + TILE);
    scan_piece(in, out, first, end, 0);
}

// One launch, inclusive: scan_once<<<tiles, 256>>>(in, out, state, n)
const int BLOCK = 256;
const int RESIDENT = 8; // blocks on an SM: all its threads
const int GROUPS = 5;   // of four floats, for each thread
const int LONG_TILE = BLOCK * GROUPS * 4;

LAUNCH(scan_once) {
    launch->block = BLOCK;
    launch->grid = max(1, ceil_div(n, LONG_TILE));
}

// What a tile has published.
enum { NOTHING, SUM, PREFIX }; // SUM: of its own elements. PREFIX: of all elements up to its last.

// state: 1 + gridDim.x words, all 0 before the launch. Word 0 counts the tiles that blocks have taken; word 1 + t
// is what tile t has published.
__global__ void __launch_bounds__(BLOCK, RESIDENT)
scan_once(const float *in, float *out, unsigned long long *state, int n) {
    // TODO 4: which tile? Blocks start in any order, and a block must only wait for blocks that have started.
    // TODO 5: publish the sum of the tile, look back, and publish the prefix, so that the next tiles need not
    //         look any further. What makes sure that the value is there once the flag is?
    // TODO 6: 16 bytes with each load, and several loads in a thread before anything needs their values.
    int first = blockIdx.x * LONG_TILE, end = min(n, first + LONG_TILE);
    float sum = 0.0f;
    for (int i = first + threadIdx.x; i < end; i += BLOCK) {
        sum += in[i];
        out[i] = sum;
    }
}
