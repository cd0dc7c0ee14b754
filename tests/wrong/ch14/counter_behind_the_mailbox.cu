// VERDICT: OOB
// MISTAKE: counter-behind-the-mailbox - the ticket lies behind the last place of the mailbox, which has one place a block
// DIAGNOSIS: no-place-in-the-workspace
#include "warpbook.cuh"

LAUNCH(sum) {
    launch->block = 256;
    launch->grid = max(1, min(ceil_div(n, 4 * 256), 4 * gpu->sm_count));
}

__device__ float sum_of_warp(float value) {
    for (int distance = 16; distance > 0; distance /= 2) {
        value += __shfl_down_sync(0xffffffff, value, distance);
    }
    return value;
}

__device__ float sum_of_block(float value) {
    __shared__ float sum_of[32];
    value = sum_of_warp(value);
    if (threadIdx.x % 32 == 0) {
        sum_of[threadIdx.x / 32] = value;
    }
    __syncthreads();
    if (threadIdx.x < 32) {
        value = sum_of_warp(threadIdx.x < blockDim.x / 32 ? sum_of[threadIdx.x] : 0.0f);
    }
    return value;
}

__device__ float sum_of_share(const float *in, size_t n) {
    size_t thread = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    size_t threads = (size_t)gridDim.x * blockDim.x;
    float sum = 0.0f;
    for (size_t i = thread; i < n; i += threads) {
        sum += in[i];
    }
    return sum;
}

__global__ void sum(const float *in, float *out, unsigned long long *mailbox, size_t n) {
    __shared__ bool is_last;
    float sum = sum_of_block(sum_of_share(in, n));
    if (threadIdx.x == 0) {
        mailbox[blockIdx.x] = __float_as_uint(sum);
        __threadfence();
        unsigned long long ticket = atomicAdd(&mailbox[gridDim.x], 1ull);
        is_last = ticket == gridDim.x - 1;
    }
    __syncthreads();
    if (!is_last) {
        return;
    }
    __threadfence();
    float total = 0.0f;
    for (unsigned i = threadIdx.x; i < gridDim.x; i += blockDim.x) {
        total += __uint_as_float((unsigned)mailbox[i]);
        mailbox[i] = 0;
    }
    __syncthreads();
    total = sum_of_block(total);
    if (threadIdx.x == 0) {
        out[0] = total;
        mailbox[gridDim.x] = 0;
    }
}
