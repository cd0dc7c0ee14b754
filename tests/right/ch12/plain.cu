// RIGHT: plain - the solution without the loops that only the table is about
#include "warpbook.cuh"

struct Cost {
    int flops;
    int bytes;
};

__device__ constexpr Cost COPY = {0, 8};
__device__ constexpr Cost SCALE = {1, 8};
__device__ constexpr Cost SCALE_ADD = {2, 12};
__device__ constexpr Cost SCALE_ADD_FLOAT4 = {8, 48};
__device__ constexpr Cost DOT = {2, 8};
__device__ constexpr Cost MULTIPLY_COMPLEX = {6, 24};
__device__ Cost cost_of_polynomial(int terms) { return {2 * (terms - 1), 8}; }

struct Gpu {
    int sm_count;
    int lanes_per_sm;
    int clock_mhz;
    int bus_bits;
    int memory_mhz;
};

struct Question {
    Gpu gpu;
    int loop;
    int terms;
    int n;
};

enum { MEMORY, ARITHMETIC };

struct Answer {
    long long flops;
    long long bytes;
    long long peak;
    long long bandwidth;
    long long ridge;
    long long intensity;
    long long limiter;
    long long attainable;
    long long time;
};

__device__ Cost cost_of(int loop, int terms) {
    switch (loop) {
    case 0: return COPY;
    case 1: return SCALE;
    case 2: return SCALE_ADD;
    case 3: return SCALE_ADD_FLOAT4;
    case 4: return DOT;
    case 5: return MULTIPLY_COMPLEX;
    default: return cost_of_polynomial(terms);
    }
}
LAUNCH(predict) {
    launch->block = 64;
    launch->grid = ceil_div(n, 64);
}

__global__ void predict(const Question *question, Answer *answer, int n) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n) {
        return;
    }
    const Gpu &gpu = question[row].gpu;
    Cost cost = cost_of(question[row].loop, question[row].terms);
    long long turns = question[row].n;

    Answer of = {};
    of.flops = turns * cost.flops;
    of.bytes = turns * cost.bytes;
    of.peak = 2LL * gpu.sm_count * gpu.lanes_per_sm * gpu.clock_mhz;
    of.bandwidth = 2LL * gpu.memory_mhz * gpu.bus_bits / 8;
    of.ridge = 1000 * of.peak / of.bandwidth;
    of.intensity = 1000LL * cost.flops / cost.bytes;
    if (cost.flops * of.bandwidth < cost.bytes * of.peak) {
        of.limiter = MEMORY;
        of.attainable = cost.flops * of.bandwidth / cost.bytes;
        of.time = ceil_div(of.bytes, of.bandwidth);
    } else {
        of.limiter = ARITHMETIC;
        of.attainable = of.peak;
        of.time = ceil_div(of.flops, of.peak);
    }

    answer[row] = of;
}

LAUNCH(evaluate) {
    launch->block = 256;
    launch->grid = max(1, min(ceil_div(n, 256), 4 * gpu->sm_count));
}
__global__ void evaluate(const float *x, const float *term, float *y, int terms, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int threads = gridDim.x * blockDim.x;
    constexpr int EACH = 4;
    for (int i = thread; i < n; i += EACH * threads) {
        float at[EACH], value[EACH];
#pragma unroll
        for (int e = 0; e < EACH; e++) {
            int mine = i + e * threads;
            at[e] = mine < n ? x[mine] : 0.0f;
            value[e] = term[0];
        }
        for (int k = 1; k < terms; k++) {
            float next = term[k];
#pragma unroll
            for (int e = 0; e < EACH; e++) {
                value[e] = value[e] * at[e] + next;
            }
        }
#pragma unroll
        for (int e = 0; e < EACH; e++) {
            int mine = i + e * threads;
            if (mine < n) {
                y[mine] = value[e];
            }
        }
    }
}
LAUNCH(sum_in_flight) {
    launch->block = 256;
    launch->grid = max(1, min(ceil_div(n, 256), gpu->sm_count));
}
__global__ void sum_in_flight(const float *in, float *partial, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int threads = gridDim.x * blockDim.x;
    constexpr int DEEP = 8;
    float sum[DEEP] = {};
    int i = thread;
    for (; i + (DEEP - 1) * threads < n; i += DEEP * threads) {
        float loaded[DEEP];
#pragma unroll
        for (int e = 0; e < DEEP; e++) {
            loaded[e] = in[i + e * threads];
        }
#pragma unroll
        for (int e = 0; e < DEEP; e++) {
            sum[e] += loaded[e];
        }
    }
    for (; i < n; i += threads) {
        sum[0] += in[i];
    }
#pragma unroll
    for (int half = DEEP / 2; half > 0; half /= 2) {
#pragma unroll
        for (int e = 0; e < half; e++) {
            sum[e] += sum[e + half];
        }
    }
    partial[thread] = sum[0];
}
