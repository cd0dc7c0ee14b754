// Atomics: on one address by every thread, warp or block, on many addresses, and in shared memory.
#include "warp_block.cuh"

// out: one float, 0 before.
extern "C" __global__ void atomic_every_thread(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        atomicAdd(out, in[i]);
    }
}
extern "C" __global__ void atomic_every_warp(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = sum_of_warp(i < n ? in[i] : 0.0f);
    if (threadIdx.x % 32 == 0) {
        atomicAdd(out, sum);
    }
}
extern "C" __global__ void atomic_every_block(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = sum_of_block(i < n ? in[i] : 0.0f);
    if (threadIdx.x == 0) {
        atomicAdd(out, sum);
    }
}
// One addition a thread, after a grid-stride loop.
extern "C" __global__ void atomic_every_share(const float *in, float *out, int n) {
    float sum = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        sum += in[i];
    }
    atomicAdd(out, sum);
}

// out: 1024 floats, 0 before. Neighbouring lanes add to neighbouring places.
extern "C" __global__ void atomic_spread(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        atomicAdd(out + (i & 1023), in[i]);
    }
}
// out: 1024 floats, 0 before. Places as scattered as the values of a histogram.
extern "C" __global__ void atomic_scattered(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        atomicAdd(out + ((unsigned)i * 2654435761u >> 22), in[i]);
    }
}
// out: n floats, 0 before: an addition to each place.
extern "C" __global__ void atomic_apart(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        atomicAdd(out + i, in[i]);
    }
}
// The old value is asked for: the thread waits for it.
extern "C" __global__ void atomic_asked(const float *in, float *out, int n) {
    float sum = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        sum += in[i];
    }
    sum = sum_of_warp(sum);
    if (threadIdx.x % 32 == 0) {
        float before = atomicAdd(out, sum);
        if (__float_as_int(before) == 0x7fc12345) { // never: a NaN that no addition of this kernel makes
            out[0] = 0.0f;
        }
    }
}

// partial: one float a block. All threads of a block add to one word of shared memory, or to 256 of them.
extern "C" __global__ void shared_one_word(const float *in, float *partial, int n) {
    __shared__ int sum;
    if (threadIdx.x == 0) {
        sum = 0;
    }
    __syncthreads();
#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        atomicAdd(&sum, (int)in[i]);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = (float)sum;
    }
}
extern "C" __global__ void shared_histogram(const float *in, float *partial, int n) {
    __shared__ int bin[256];
    for (int k = threadIdx.x; k < 256; k += blockDim.x) {
        bin[k] = 0;
    }
    __syncthreads();
#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        atomicAdd(&bin[(unsigned)i * 2654435761u >> 24], (int)in[i]);
    }
    __syncthreads();
    float sum = 0.0f;
    for (int k = threadIdx.x; k < 256; k += blockDim.x) {
        sum += (float)bin[k];
    }
    leave_sum(sum, partial);
}
