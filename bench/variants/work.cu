// Sums that do more than load and add: arithmetic, branches, shared memory, barriers, few resident warps.
//
// in: n floats. partial: one float for each block.
#include "warp_block.cuh"

#define EACH_ELEMENT(i)                                                                                      \
    _Pragma("unroll 1") for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;                           \
                             i += gridDim.x * blockDim.x)

// DEPTH multiply-adds an element, each waiting for the one before.
template <int DEPTH> __device__ void sum_chain(const float *in, float *partial, int n) {
    float one = one_of(n), zero = zero_of(n), sum = 0.0f;
    EACH_ELEMENT(i) {
        float value = in[i];
#pragma unroll
        for (int k = 0; k < DEPTH; k++) {
            value = fmaf(value, one, zero);
        }
        sum += value;
    }
    leave_sum(sum, partial);
}
extern "C" __global__ void sum_chain_16(const float *in, float *partial, int n) { sum_chain<16>(in, partial, n); }
extern "C" __global__ void sum_chain_64(const float *in, float *partial, int n) { sum_chain<64>(in, partial, n); }
extern "C" __global__ void sum_chain_256(const float *in, float *partial, int n) { sum_chain<256>(in, partial, n); }

// The same number of multiply-adds in four chains.
extern "C" __global__ void sum_chains_4_64(const float *in, float *partial, int n) {
    float one = one_of(n), zero = zero_of(n), sum = 0.0f;
    EACH_ELEMENT(i) {
        float value[4] = {in[i]};
        value[1] = value[2] = value[3] = value[0] * zero;
#pragma unroll
        for (int k = 0; k < 64; k++) {
            value[k % 4] = fmaf(value[k % 4], one, zero);
        }
        sum += (value[0] + value[1]) + (value[2] + value[3]);
    }
    leave_sum(sum, partial);
}

// Eight square roots an element, one after the other, on the special function unit; 0 times the last is added.
extern "C" __global__ void sum_roots(const float *in, float *partial, int n) {
    float zero = zero_of(n), sum = 0.0f;
    EACH_ELEMENT(i) {
        float value = in[i], root = fabsf(value);
#pragma unroll
        for (int k = 0; k < 8; k++) {
            asm("sqrt.approx.f32 %0, %0;" : "+f"(root));
        }
        sum += fmaf(root, zero, value);
    }
    leave_sum(sum, partial);
}

// A division and a remainder an element, as code for matrices of any width has; 0 times them is added.
extern "C" __global__ void sum_divisions(const float *in, float *partial, int n) {
    int width = n / 1000 + 1;
    float zero = zero_of(n), sum = 0.0f;
    EACH_ELEMENT(i) {
        sum += fmaf((float)(i / width + i % width), zero, in[i]);
    }
    leave_sum(sum, partial);
}

// Lanes diverge into WAYS groups, each with its own multiply-add chain.
template <int WAYS> __device__ void sum_branches(const float *in, float *partial, int n) {
    float one = one_of(n), zero = zero_of(n), sum = 0.0f;
    EACH_ELEMENT(i) {
        float value = in[i];
#pragma unroll
        for (int way = 0; way < WAYS; way++) {
            if ((threadIdx.x & (WAYS - 1)) == way) {
#pragma unroll 1
                for (int k = 0; k <= way; k++) {
                    value = fmaf(value, one, zero);
                }
            }
        }
        sum += value;
    }
    leave_sum(sum, partial);
}
extern "C" __global__ void sum_branches_2(const float *in, float *partial, int n) { sum_branches<2>(in, partial, n); }
extern "C" __global__ void sum_branches_8(const float *in, float *partial, int n) { sum_branches<8>(in, partial, n); }

// Every element goes through shared memory, neighbouring lanes STRIDE words apart.
template <int STRIDE> __device__ void sum_banks(const float *in, float *partial, int n) {
    __shared__ float slot[8][32 * STRIDE];
    int lane = threadIdx.x % 32;
    float *mine = slot[threadIdx.x / 32];
    float sum = 0.0f;
    int steps = (n + gridDim.x * blockDim.x - 1) / (gridDim.x * blockDim.x);
#pragma unroll 1
    for (int step = 0; step < steps; step++) {
        int i = (step * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x;
        mine[lane * STRIDE] = i < n ? in[i] : 0.0f;
        __syncwarp();
        sum += mine[(lane ^ 1) * STRIDE];
        __syncwarp();
    }
    leave_sum(sum, partial);
}
extern "C" __global__ void sum_bank_1(const float *in, float *partial, int n) { sum_banks<1>(in, partial, n); }
extern "C" __global__ void sum_bank_2(const float *in, float *partial, int n) { sum_banks<2>(in, partial, n); }
extern "C" __global__ void sum_bank_8(const float *in, float *partial, int n) { sum_banks<8>(in, partial, n); }
extern "C" __global__ void sum_bank_32(const float *in, float *partial, int n) { sum_banks<32>(in, partial, n); }
extern "C" __global__ void sum_bank_33(const float *in, float *partial, int n) { sum_banks<33>(in, partial, n); }

// A barrier after every load.
extern "C" __global__ void sum_barriers(const float *in, float *partial, int n) {
    float sum = 0.0f;
    int steps = (n + gridDim.x * blockDim.x - 1) / (gridDim.x * blockDim.x);
#pragma unroll 1
    for (int step = 0; step < steps; step++) {
        int i = (step * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x;
        sum += i < n ? in[i] : 0.0f;
        __syncthreads();
    }
    leave_sum(sum, partial);
}

// One element a thread, then a tree over the block in shared memory: scattered threads, then whole warps.
extern "C" __global__ void tree_scattered(const float *in, float *partial, int n) {
    extern __shared__ float tree[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tree[threadIdx.x] = i < n ? in[i] : 0.0f;
    __syncthreads();
    for (int stride = 1; stride < blockDim.x; stride *= 2) {
        if (threadIdx.x % (2 * stride) == 0) {
            tree[threadIdx.x] += tree[threadIdx.x + stride];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = tree[0];
    }
}
extern "C" __global__ void tree_contiguous(const float *in, float *partial, int n) {
    extern __shared__ float tree[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tree[threadIdx.x] = i < n ? in[i] : 0.0f;
    __syncthreads();
    for (int stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (threadIdx.x < stride) {
            tree[threadIdx.x] += tree[threadIdx.x + stride];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = tree[0];
    }
}

// One thread of the block adds what the others left in shared memory.
extern "C" __global__ void tree_none(const float *in, float *partial, int n) {
    extern __shared__ float left[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    left[threadIdx.x] = i < n ? in[i] : 0.0f;
    __syncthreads();
    if (threadIdx.x == 0) {
        float sum = 0.0f;
#pragma unroll 1
        for (int k = 0; k < blockDim.x; k++) {
            sum += left[k];
        }
        partial[blockIdx.x] = sum;
    }
}

// sum += in[i] and nothing else, in a block that takes much shared memory: few warps are resident.
extern "C" __global__ void sum_crowded(const float *in, float *partial, int n) {
    extern __shared__ float room[];
    float sum = 0.0f;
    EACH_ELEMENT(i) sum += in[i];
    if (n < 0) {
        room[threadIdx.x] = sum; // never: so that the room is used
    }
    leave_sum(sum, partial);
}

// 24 float4 held at once: so many registers a thread that few warps are resident.
extern "C" __global__ void __launch_bounds__(256) sum_registers(const float *in, float *partial, int n) {
    const float4 *vector = (const float4 *)in;
    float4 value[24] = {};
    int thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
#pragma unroll 1
    for (long long first = thread; first < n / 4; first += 24LL * threads) {
#pragma unroll
        for (int k = 0; k < 24; k++) {
            long long i = first + (long long)k * threads;
            if (i < n / 4) {
                float4 more = vector[i];
                value[k].x += more.x;
                value[k].y += more.y;
                value[k].z += more.z;
                value[k].w += more.w;
            }
        }
    }
    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < 24; k++) {
        sum += sum_of(value[k]);
    }
    leave_sum(sum, partial);
}
