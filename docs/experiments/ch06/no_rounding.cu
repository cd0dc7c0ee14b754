// EXPERIMENT: The limit by registers, computed as a plain quotient.
// RUN: ./ch06 --device emulator --kernel $PTX
// SHOWS: WRONG
// SHOWS: by_
#include "warpbook.cuh"

LAUNCH(occupancy) {
    launch->block = 64;
    launch->grid = ceil_div(n, 64);
}

struct Question {
    int sm_count, threads_per_sm, threads_per_block, blocks_per_sm, registers_per_sm, registers_per_block;
    int shared_per_sm, shared_per_block, shared_reserved, shared_unit;
    int threads, registers, shared;
};

struct Answer {
    int by_threads, by_registers, by_shared, by_blocks, blocks, warps, percent, grid;
};

__global__ void occupancy(const Question *question, Answer *answer, int n) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < n) {
        const Question &q = question[row];
        Answer a = {};
        a.by_threads = q.threads_per_sm / q.threads;
        a.by_registers = q.registers_per_sm / (q.registers * q.threads);
        answer[row] = a;
    }
}

LAUNCH(sum_full) {
    launch->block = 256;
    launch->grid = 1;
}

__global__ void sum_full(const float *in, float *partial, int n) {
    __shared__ float total;
    if (threadIdx.x == 0) {
        total = 0.0f;
    }
    __syncthreads();
    float mine = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        mine += in[i];
    }
    atomicAdd(&total, mine);
    __syncthreads();
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = total;
    }
}
