// Sums whose loads do not suit the memory: chunks, strides, random places, and data read again.
//
// in: n floats. partial: one float for each block.
#include "warp_block.cuh"

// A chunk for each thread: the addresses of a warp's lanes are far apart.
template <typename Vector> __device__ void sum_chunks(const float *in, float *partial, int n) {
    const Vector *vector = (const Vector *)in;
    int count = n / (sizeof(Vector) / sizeof(float));
    long long thread = blockIdx.x * blockDim.x + threadIdx.x;
    long long threads = gridDim.x * blockDim.x;
    int begin = (int)(thread * count / threads);
    int end = (int)((thread + 1) * count / threads);
    float sum = 0.0f;
#pragma unroll 1
    for (int i = begin; i < end; i++) {
        sum += sum_of(vector[i]);
    }
    leave_sum(sum, partial);
}
extern "C" __global__ void sum_chunk(const float *in, float *partial, int n) {
    sum_chunks<float>(in, partial, n);
}
extern "C" __global__ void sum_chunk_float4(const float *in, float *partial, int n) {
    sum_chunks<float4>(in, partial, n);
}

// A chunk for each block, its threads side by side in it.
extern "C" __global__ void sum_chunk_of_block(const float *in, float *partial, int n) {
    int begin = (int)((long long)blockIdx.x * n / gridDim.x);
    int end = (int)((long long)(blockIdx.x + 1) * n / gridDim.x);
    float sum = 0.0f;
#pragma unroll 1
    for (int i = begin + threadIdx.x; i < end; i += blockDim.x) {
        sum += in[i];
    }
    leave_sum(sum, partial);
}

// Every STRIDE-th element only: what moves is more than what is used.
template <int STRIDE> __device__ void sum_every(const float *in, float *partial, int n) {
    float sum = 0.0f;
#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n / STRIDE; i += gridDim.x * blockDim.x) {
        sum += in[(long long)i * STRIDE];
    }
    leave_sum(sum, partial);
}
extern "C" __global__ void sum_every_2(const float *in, float *partial, int n) { sum_every<2>(in, partial, n); }
extern "C" __global__ void sum_every_8(const float *in, float *partial, int n) { sum_every<8>(in, partial, n); }
extern "C" __global__ void sum_every_32(const float *in, float *partial, int n) { sum_every<32>(in, partial, n); }

// A warp takes 32 * RUN elements; each lane RUN in a row of them, one after the other.
template <int RUN> __device__ void sum_runs(const float *in, float *partial, int n) {
    int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    int warps = gridDim.x * blockDim.x / 32;
    float sum = 0.0f;
#pragma unroll 1
    for (int tile = warp; tile < n / (32 * RUN); tile += warps) {
        const float *run = in + ((long long)tile * 32 + lane) * RUN;
#pragma unroll 1
        for (int k = 0; k < RUN; k++) {
            sum += run[k];
        }
    }
    leave_sum(sum, partial);
}
extern "C" __global__ void sum_run_4(const float *in, float *partial, int n) { sum_runs<4>(in, partial, n); }
extern "C" __global__ void sum_run_32(const float *in, float *partial, int n) { sum_runs<32>(in, partial, n); }

// Every element once, in an order that no cache foresees: where n is a power of two, multiplication by an odd
// number permutes the indices.
extern "C" __global__ void sum_random(const float *in, float *partial, int n) {
    float sum = 0.0f;
#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        sum += in[(unsigned)i * 2654435761u % (unsigned)n];
    }
    leave_sum(sum, partial);
}

// Four times over the same quarter of the array, from its first element.
extern "C" __global__ void sum_again(const float *in, float *partial, int n) {
    float sum = 0.0f;
#pragma unroll 1
    for (int round = 0; round < 4; round++) {
#pragma unroll 1
        for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n / 4; i += gridDim.x * blockDim.x) {
            sum += in[i];
        }
    }
    leave_sum(sum, partial);
}

// Again and again over the same 4 KiB, which every block has to itself: what the L1 holds.
extern "C" __global__ void sum_in_l1(const float *in, float *partial, int n) {
    int share = n / gridDim.x;
    const float *mine = in + (long long)blockIdx.x * share;
    float sum = 0.0f;
#pragma unroll 1
    for (int i = threadIdx.x; i < share; i += blockDim.x) {
        sum += mine[i & 1023];
    }
    leave_sum(sum, partial);
}

// One element per thread, to its own place in local memory and back, in an order that is not known beforehand.
extern "C" __global__ void sum_local(const float *in, float *partial, int n) {
    float kept[16];
    float sum = 0.0f;
#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
#pragma unroll
        for (int k = 0; k < 16; k++) {
            kept[k] = 0.0f;
        }
        kept[(i * 7) & 15] = in[i];
        sum += kept[(i * 7 + n) & 15];
    }
    leave_sum(sum, partial);
}
