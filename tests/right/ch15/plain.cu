// RIGHT: plain - one copy of 32 bits for each lane, one group of 16 bytes at a time
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
        atomicAdd(&bins[in[i]], 1);
    }
}

// A private copy of the bins for each block: histogram_shared<<<grid, 256>>>(in, bins, n)
LAUNCH(histogram_shared) {
    launch->block = 256;
    launch->grid = max(1, min(ceil_div(n, 16 * 256), 8 * gpu->sm_count));
}

__global__ void histogram_shared(const unsigned char *in, unsigned *bins, size_t n) {
    size_t thread = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    size_t threads = (size_t)gridDim.x * blockDim.x;
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
}

// Several copies for each block: histogram_copies<<<grid, 1024>>>(in, bins, n)
const int COPIES = 32; // one for each lane of a warp

LAUNCH(histogram_copies) {
    launch->block = 1024;
    launch->grid = max(1, min(ceil_div(n, 16 * 1024), 2 * gpu->sm_count));
}

// Counts four bytes in one copy, of which counter v is own[v * COPIES].
__device__ void count_word(unsigned *own, unsigned word) {
    for (int bit = 0; bit < 32; bit += 8) {
        unsigned v = word >> bit & 0xff;
        atomicAdd(&own[v * COPIES], 1);
    }
}

__global__ void histogram_copies(const unsigned char *in, unsigned *bins, size_t n) {
    size_t thread = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    size_t threads = (size_t)gridDim.x * blockDim.x;
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
}
