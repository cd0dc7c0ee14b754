// SKELETON VERDICT: WRONG
// Chapter 12: how fast could a kernel be, and what limits it?
//
// A kernel moves bytes and does arithmetic. Two figures of the kernel and two of the GPU determine which of
// them is the limit, before anything has run: this is the roofline. To come near it, enough work must be in
// flight: several elements per thread that share what was loaded once, and several loads before the first of
// them is needed.
#include "warpbook.cuh"

// ---- Predict ----------------------------------------------------------------------------------------------

// Seven loops to read and count; they are never launched. Each i is one iteration, and the arrays are larger
// than any cache. Values in a register (a, sum) move no bytes, and neither do values that all threads read (term).
__device__ void copy(const float *x, float *y, int i) { y[i] = x[i]; }

__device__ void scale(float *x, float a, int i) { x[i] = a * x[i]; }

__device__ void scale_add(const float *x, float *y, float a, int i) { y[i] = a * x[i] + y[i]; }

__device__ void scale_add_float4(const float4 *x, float4 *y, float a, int i) {
    float4 from = x[i], to = y[i];
    y[i] = make_float4(a * from.x + to.x, a * from.y + to.y, a * from.z + to.z, a * from.w + to.w);
}

__device__ void dot(const float *x, const float *y, float &sum, int i) { sum += x[i] * y[i]; }

__device__ void multiply_complex(const float2 *x, const float2 *y, float2 *z, int i) {
    float2 a = x[i], b = y[i];
    z[i] = make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

__device__ void polynomial(const float *x, const float *term, float *y, int terms, int i) {
    float value = term[0];
    for (int k = 1; k < terms; k++) {
        value = value * x[i] + term[k];
    }
    y[i] = value;
}

// The cost of one iteration.
struct Cost {
    int flops; // an addition or a multiplication counts one; fused into one instruction they count two
    int bytes; // read from memory and written to it
};

__device__ constexpr Cost COPY = {0, 8}; // 4 bytes read, 4 written
// BEGIN SOLUTION
// TODO 1: fill in the others.
// SKELETON: __device__ constexpr Cost SCALE = {0, 0};
// SKELETON: __device__ constexpr Cost SCALE_ADD = {0, 0};
// SKELETON: __device__ constexpr Cost SCALE_ADD_FLOAT4 = {0, 0};
// SKELETON: __device__ constexpr Cost DOT = {0, 0};
// SKELETON: __device__ constexpr Cost MULTIPLY_COMPLEX = {0, 0};
// SKELETON: __device__ Cost cost_of_polynomial(int terms) { return {0, 0}; }
__device__ constexpr Cost SCALE = {1, 8};
__device__ constexpr Cost SCALE_ADD = {2, 12};
__device__ constexpr Cost SCALE_ADD_FLOAT4 = {8, 48};
__device__ constexpr Cost DOT = {2, 8};
__device__ constexpr Cost MULTIPLY_COMPLEX = {6, 24};
__device__ Cost cost_of_polynomial(int terms) { return {2 * (terms - 1), 8}; }
// END SOLUTION

struct Gpu {
    int sm_count;
    int lanes_per_sm; // float units: each starts one fused multiply-add per clock
    int clock_mhz;
    int bus_bits;   // between chip and memory
    int memory_mhz; // two transfers a clock
};

struct Question {
    Gpu gpu;
    int loop; // 0 to 6, in the order above
    int terms;
    int n; // iterations
};

enum { MEMORY, ARITHMETIC };

struct Answer {
    long long flops;      // of all iterations
    long long bytes;      // of all iterations
    long long peak;       // of the GPU, in millions of FLOPs per second
    long long bandwidth;  // of the GPU, in millions of bytes per second
    long long ridge;      // FLOPs per 1,000 bytes at which both limits meet, rounded down
    long long intensity;  // FLOPs per 1,000 bytes, rounded down
    long long limiter;    // MEMORY below the ridge, ARITHMETIC above
    long long attainable; // millions of FLOPs a second, rounded down
    long long time;       // the least number of microseconds, rounded up
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

// A row of the table for each thread.
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
    // BEGIN SOLUTION
    // TODO 2: peak, bandwidth and ridge of the GPU.
    // TODO 3: intensity and limiter of the loop on this GPU, the attainable rate and the least time. The units
    //         are chosen so that a quotient of two of these figures is another of them. The time is rounded
    //         up, and every other quotient down, as an integer division does.
    // SKELETON: of.peak = gpu.sm_count; // times what?
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
    // END SOLUTION

    answer[row] = of;
}

// ---- Coarsen ----------------------------------------------------------------------------------------------

LAUNCH(evaluate) {
    launch->block = 256;
    launch->grid = max(1, min(ceil_div(n, 256), 4 * gpu->sm_count));
}

// y: the polynomial's value at each of the n floats of x; term: its coefficients, that of the highest power
// first. x, term and y do not overlap.
__global__ void evaluate(const float *x, const float *term, float *y, int terms, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int threads = gridDim.x * blockDim.x;

    // BEGIN SOLUTION
    // TODO 4: every element loads all the terms again. Let a thread take four elements at a time, `threads`
    //         apart, and use each term that it loads four times.
    // SKELETON: for (int i = thread; i < n; i += threads) {
    // SKELETON:     float value = term[0];
    // SKELETON:     for (int k = 1; k < terms; k++) {
    // SKELETON:         value = value * x[i] + term[k];
    // SKELETON:     }
    // SKELETON:     y[i] = value;
    // SKELETON: }
    constexpr int EACH = 4;
    for (int i = thread; i < n; i += EACH * threads) {
        float at[EACH], value[EACH];
#pragma unroll
        for (int e = 0; e < EACH; e++) {
            int mine = i + e * threads;
            at[e] = mine < n ? x[mine] : 0.0f; // a value to compute with, which is not stored
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
    // END SOLUTION
}

// ---- Unroll -----------------------------------------------------------------------------------------------

// One small block per SM; leave it that way. The threads are too few to hide each other's wait for memory,
// so each has to keep several loads in flight.
LAUNCH(sum_in_flight) {
    launch->block = 256;
    launch->grid = max(1, min(ceil_div(n, 256), gpu->sm_count));
}

// in: n floats. partial: one float for each thread.
__global__ void sum_in_flight(const float *in, float *partial, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int threads = gridDim.x * blockDim.x;

    // BEGIN SOLUTION
    // TODO 5: eight elements per round: first eight loads, then eight additions, to eight sums that need not
    //         wait for each other. Check the stride, the elements after the last whole round, and the eight
    //         sums at the end.
    // SKELETON: float sum = 0.0f;
    // SKELETON: #pragma unroll 1 // else the compiler does a part of it
    // SKELETON: for (int i = thread; i < n; i += threads) {
    // SKELETON:     sum += in[i];
    // SKELETON: }
    // SKELETON: partial[thread] = sum;
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
    // END SOLUTION
}
