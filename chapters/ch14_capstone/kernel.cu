// Chapter 14: the sum of everything, in one launch.
//
// All earlier techniques in one kernel: several 16-byte loads in flight, a warp's tree, a block's exchange in
// shared memory. The end is new. Chapter 8 chose between atomics, whose order varies, and a second launch.
// Here one block collects the sums of the others in an order that never changes, and resets the mailbox, so
// that it is ready for the next sum.
#include "warpbook.cuh"

// In a program of your own: sum<<<grid, block>>>(in, out, mailbox, n)
LAUNCH(sum) {
    launch->block = 256;
    launch->grid = max(1, min(ceil_div(n, 4 * 256), 4 * gpu->sm_count));
}

// The sum over the 32 lanes of a warp (chapter 4); lane 0 receives it.
__device__ float sum_of_warp(float value) {
    for (int distance = 16; distance > 0; distance /= 2) {
        value += __shfl_down_sync(0xffffffff, value, distance);
    }
    return value;
}

// The sum over a block of 4, 8, 12 ... warps; thread 0 receives it. Between two calls there must be a barrier.
__device__ float sum_of_block(float value) {
    __shared__ float4 sum_of[8]; // by four warps; one thread reads them with few, wide loads
    value = sum_of_warp(value);
    if (threadIdx.x % 32 == 0) {
        ((float *)sum_of)[threadIdx.x / 32] = value;
    }
    __syncthreads();
    if (threadIdx.x != 0) {
        return value;
    }
    float4 sum = sum_of[0];
    for (int k = 1; k < 8; k++) {
        if (k < blockDim.x / 128) {
            sum.x += sum_of[k].x;
            sum.y += sum_of[k].y;
            sum.z += sum_of[k].z;
            sum.w += sum_of[k].w;
        }
    }
    return (sum.x + sum.y) + (sum.z + sum.w);
}

// TODO 1: this is correct but slow. Keep as many bytes in flight as the GPU needs: float4, and several of them
//         loaded before the first is added. Handle the elements before the first multiple of 16 and after the
//         last whole group. You may change the launch shape above, too.
// What this thread adds of the n floats at `in`, which may begin at any multiple of 4 bytes. n may
// be beyond 2^31, so everything that counts elements is a size_t.
__device__ float sum_of_share(const float *in, size_t n) {
    size_t thread = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    size_t threads = (size_t)gridDim.x * blockDim.x;
    float sum = 0.0f;
    for (size_t i = thread; i < n; i += threads) {
        sum += in[i];
    }
    return sum;
}

// in: n floats. out: one float, their sum. mailbox: 64 bits for each block, all 0 before the launch and all 0
// again after it.
// TODO 2: only one block can finish the sum. Let every other block store its sum in its own place of `mailbox`,
//         so that a thread that sees the flag also sees the sum.
// TODO 3: let one block wait for all sums, add them in a fixed order, store the result,
//         and set every place back to 0.
__global__ void sum(const float *in, float *out, unsigned long long *mailbox, size_t n) {
    float sum = sum_of_block(sum_of_share(in, n));
    if (threadIdx.x == 0) {
        if (blockIdx.x == 0) {
            out[0] = sum;
        }
    }
}
