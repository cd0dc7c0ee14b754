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
        // TODO 1: add 1. Loading a counter, adding and storing it are three steps, between which another thread
        //         may do the same. Which function of chapter 8 makes them one?
        bins[in[i]] = 1;
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
    // TODO 2: count this block's share in 256 counters in shared memory, then add each of them to `bins` with
    //         one atomic. Shared memory holds garbage at first, and two barriers are needed: what do they
    //         separate?
    for (size_t i = thread; i < n; i += threads) {
        bins[in[i]] = 1;
    }
}

// Several copies for each block: histogram_copies<<<grid, 1024>>>(in, bins, n)

LAUNCH(histogram_copies) {
    launch->block = 1024;
    launch->grid = max(1, min(ceil_div(n, 16 * 1024), 2 * gpu->sm_count));
}

__global__ void histogram_copies(const unsigned char *in, unsigned *bins, size_t n) {
    size_t thread = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    size_t threads = (size_t)gridDim.x * blockDim.x;
    // TODO 3: lanes that need the same bank wait for each other. How many copies are needed, and in which
    //         order, so that the lanes of a warp never do, whatever the input? Then add the copies up.
    // TODO 4: load 16 bytes at a time as a uint4. At the end up to 15 bytes are left.
    for (size_t i = thread; i < n; i += threads) {
        bins[in[i]] = 1;
    }
}
