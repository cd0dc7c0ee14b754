// VERDICT: RACE
// MISTAKE: waits-in-a-register - the mailbox is not volatile: a compiler may read it once and compare for ever
// DIAGNOSIS: plain-pointer-between-blocks
#include "warpbook.cuh"

LAUNCH(sum) {
    launch->block = 256;
    launch->grid = max(1, min(ceil_div(n, 4096), 8 * gpu->sm_count));
}

__device__ float sum_of_warp(float value) {
    for (int distance = 16; distance > 0; distance /= 2) {
        value += __shfl_down_sync(0xffffffff, value, distance);
    }
    return value;
}

__device__ float sum_of_block(float value) {
    __shared__ float sum_of[32];
    int lane = threadIdx.x % 32;
    int warp = threadIdx.x / 32;
    value = sum_of_warp(value);
    if (lane == 0) {
        sum_of[warp] = value;
    }
    __syncthreads();
    if (warp == 0) {
        value = sum_of_warp(lane < blockDim.x / 32 ? sum_of[lane] : 0.0f);
    }
    return value;
}

__device__ float sum_of_share(const float *in, size_t n) {
    size_t thread = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    size_t threads = (size_t)gridDim.x * blockDim.x;
    size_t head = min((16 - (size_t)in % 16) % 16 / 4, n);
    size_t groups = (n - head) / 4;
    size_t tail = head + 4 * groups;
    const float4 *group = (const float4 *)(in + head);
    float sum = 0.0f;
    for (size_t i = thread; i < groups; i += threads) {
        float4 four = group[i];
        sum += (four.x + four.y) + (four.z + four.w);
    }
    if (thread < head) {
        sum += in[thread];
    }
    if (thread < n - tail) {
        sum += in[tail + thread];
    }
    return sum;
}

__global__ void sum(const float *in, float *out, unsigned long long *mailbox, size_t n) {
    unsigned long long *letters = mailbox;
    const unsigned last = gridDim.x - 1;
    float sum = sum_of_block(sum_of_share(in, n));
    if (blockIdx.x != last) {
        if (threadIdx.x == 0) {
            letters[blockIdx.x] = 1ull << 32 | __float_as_uint(sum);
        }
        return;
    }
    float total = threadIdx.x == 0 ? sum : 0.0f;
    for (unsigned i = threadIdx.x; i < last; i += blockDim.x) {
        while (letters[i] == 0) {
        }
        unsigned long long letter = letters[i];
        letters[i] = 0;
        total += __uint_as_float((unsigned)letter);
    }
    __syncthreads();
    total = sum_of_block(total);
    if (threadIdx.x == 0) {
        out[0] = total;
    }
}
