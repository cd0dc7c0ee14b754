// EXPERIMENT: The peak of a GPU with a fused multiply-add counted as one operation.
// RUN: ./ch12 --device emulator --kernel $PTX
// SHOWS: WRONG
// SHOWS: peak of
#include "warpbook.cuh"

struct Question {
    int sm_count, lanes_per_sm, clock_mhz, bus_bits, memory_mhz, loop, terms, n;
};

struct Answer {
    long long flops, bytes, peak, bandwidth, ridge, intensity, limiter, attainable, time;
};

LAUNCH(predict) {
    launch->block = 64;
    launch->grid = ceil_div(n, 64);
}

__global__ void predict(const Question *question, Answer *answer, int n) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < n) {
        const Question &q = question[row];
        Answer a = {};
        if (q.loop > 0) { // a copy does no arithmetic
            a.flops = q.n;
        }
        a.bytes = 8LL * q.n;
        a.peak = 1LL * q.sm_count * q.lanes_per_sm * q.clock_mhz;
        answer[row] = a;
    }
}

LAUNCH(evaluate) {
    launch->block = 256;
    launch->grid = max(1, ceil_div(n, 256));
}

__global__ void evaluate(const float *x, const float *term, float *y, int terms, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float value = term[0];
        for (int k = 1; k < terms; k++) {
            value = value * x[i] + term[k];
        }
        y[i] = value;
    }
}

LAUNCH(sum_in_flight) {
    launch->block = 256;
    launch->grid = max(1, min(ceil_div(n, 256), gpu->sm_count));
}

__global__ void sum_in_flight(const float *in, float *partial, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    for (int i = thread; i < n; i += gridDim.x * blockDim.x) {
        sum += in[i];
    }
    partial[thread] = sum;
}
