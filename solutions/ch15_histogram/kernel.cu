// SKELETON VERDICT: WRONG
// Chapter 15: a histogram of bytes, three times.
//
// Bin v counts how many of the n bytes have the value v. Any two elements may belong to the same bin, so
// every bin is a sum to which all threads add. What the additions cost depends on where the bins are, and on
// how many lanes of a warp need the same one, or the same bank, at the same time.
//
// `in` begins at a multiple of 256 bytes, as cudaMalloc gives it; n is any number, also above 2^32. No value
// occurs more than 2^32 - 1 times.
#include "warpbook.cuh"

const int BINS = 256; // one for each value of a byte

// The bins in global memory: histogram_global<<<ceil_div(n, 256), 256>>>(in, bins, n)
LAUNCH(histogram_global) {
    launch->block = 256;
    launch->grid = max(1, ceil_div(n, 256));
}

// in: n bytes. bins: 256 counters, all 0 before the launch.
__global__ void histogram_global(const unsigned char *in, unsigned *bins, size_t n) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        // BEGIN SOLUTION
        // TODO 1: add 1. Loading a counter, adding and storing it are three steps, between which another thread
        //         may do the same. Which function of chapter 8 makes them one?
        // SKELETON: bins[in[i]] = 1;
        atomicAdd(&bins[in[i]], 1);
        // END SOLUTION
    }
}

// A private copy of the bins for each block: histogram_shared<<<grid, 256>>>(in, bins, n)
LAUNCH(histogram_shared) {
    launch->block = BINS; // a thread for each counter
    launch->grid = max(1, min(ceil_div(n, 16 * BINS), 8 * gpu->sm_count));
}

__global__ void histogram_shared(const unsigned char *in, unsigned *bins, size_t n) {
    size_t thread = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    size_t threads = (size_t)gridDim.x * blockDim.x;
    // BEGIN SOLUTION
    // TODO 2: count this block's share in 256 counters in shared memory, then add each of them to `bins` with
    //         one atomic. Shared memory holds garbage at first, and two barriers are needed: what do they
    //         separate?
    // SKELETON: for (size_t i = thread; i < n; i += threads) {
    // SKELETON:     bins[in[i]] = 1;
    // SKELETON: }
    __shared__ unsigned count_of[BINS];
    for (int v = threadIdx.x; v < BINS; v += blockDim.x) {
        count_of[v] = 0;
    }
    __syncthreads();
    for (size_t i = thread; i < n; i += threads) {
        atomicAdd(&count_of[in[i]], 1);
    }
    __syncthreads();
    for (int v = threadIdx.x; v < BINS; v += blockDim.x) {
        atomicAdd(&bins[v], count_of[v]);
    }
    // END SOLUTION
}

// Several copies for each block: histogram_copies<<<grid, 1024>>>(in, bins, n)
// BEGIN SOLUTION
const int COPIES = 32; // one for each lane of a warp
// END SOLUTION

LAUNCH(histogram_copies) {
    launch->block = 1024;
    launch->grid = max(1, min(ceil_div(n, 16 * 1024), 2 * gpu->sm_count));
}

// BEGIN SOLUTION
// Counts four bytes in one copy, of which counter v is own[v * COPIES].
__device__ void count_word(unsigned *own, unsigned word) {
    for (int bit = 0; bit < 32; bit += 8) {
        unsigned v = word >> bit & 0xff;
        atomicAdd(&own[v * COPIES], 1);
    }
}

// END SOLUTION
__global__ void histogram_copies(const unsigned char *in, unsigned *bins, size_t n) {
    size_t thread = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    size_t threads = (size_t)gridDim.x * blockDim.x;
    // BEGIN SOLUTION
    // TODO 3: lanes that need the same bank wait for each other. How many copies are needed, and in which
    //         order, so that the lanes of a warp never do, whatever the input? Then add the copies up.
    // TODO 4: load 16 bytes at a time as a uint4. At the end up to 15 bytes are left.
    // SKELETON: for (size_t i = thread; i < n; i += threads) {
    // SKELETON:     bins[in[i]] = 1;
    // SKELETON: }
    // Counter v of copy k is count_of[v * COPIES + k].
    __shared__ unsigned count_of[BINS * COPIES];
    for (int k = threadIdx.x; k < BINS * COPIES; k += blockDim.x) {
        count_of[k] = 0;
    }
    __syncthreads();

    unsigned *own = &count_of[threadIdx.x % COPIES];
    const uint4 *groups = (const uint4 *)in;
    size_t group_count = n / 16;
    for (size_t i = thread; i < group_count; i += threads) {
        uint4 group = groups[i];
        count_word(own, group.x);
        count_word(own, group.y);
        count_word(own, group.z);
        count_word(own, group.w);
    }
    if (thread < n % 16) {
        atomicAdd(&own[in[16 * group_count + thread] * COPIES], 1);
    }
    __syncthreads();

    for (int v = threadIdx.x; v < BINS; v += blockDim.x) {
        unsigned sum = 0;
        for (int k = 0; k < COPIES; k++) {
            sum += count_of[v * COPIES + (v + k) % COPIES]; // the lanes begin in different banks
        }
        atomicAdd(&bins[v], sum);
    }
    // END SOLUTION
}
