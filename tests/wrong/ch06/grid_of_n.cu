// VERDICT: SLOW
// MISTAKE: grid-of-n - as many blocks as n asks for, which is several waves
// DIAGNOSIS: not-one-wave
#include "warpbook.cuh"

enum {
    WARP_SIZE = 32,
    QUARTERS = 4,
    REGISTER_UNIT = 256,
    NO_LIMIT = 0x7fffffff,
};

struct Gpu {
    int sm_count;
    int threads_per_sm;
    int threads_per_block;
    int blocks_per_sm;
    int registers_per_sm;
    int registers_per_block;
    int shared_per_sm;
    int shared_per_block;
    int shared_reserved;
    int shared_unit;
};

struct Kernel {
    int threads;
    int registers;
    int shared;
};

struct Question {
    Gpu gpu;
    Kernel kernel;
};

struct Answer {
    int by_threads;
    int by_registers;
    int by_shared;
    int by_blocks;
    int blocks;
    int warps;
    int percent;
    int grid;
};

__device__ int round_up(int amount, int unit) { return (amount + unit - 1) / unit * unit; }

__device__ int blocks_by_threads(const Gpu &gpu, const Kernel &kernel) {
    if (kernel.threads > gpu.threads_per_block) {
        return 0;
    }
    int warps = round_up(kernel.threads, WARP_SIZE) / WARP_SIZE;
    return gpu.threads_per_sm / WARP_SIZE / warps;
}

__device__ int blocks_by_registers(const Gpu &gpu, const Kernel &kernel) {
    int warps = round_up(kernel.threads, WARP_SIZE) / WARP_SIZE;
    int registers_per_warp = round_up(kernel.registers * WARP_SIZE, REGISTER_UNIT);
    if (registers_per_warp * round_up(warps, QUARTERS) > gpu.registers_per_block) {
        return 0;
    }
    int warps_per_quarter = gpu.registers_per_sm / QUARTERS / registers_per_warp;
    return warps_per_quarter * QUARTERS / warps;
}

__device__ int blocks_by_shared(const Gpu &gpu, const Kernel &kernel) {
    if (kernel.shared > gpu.shared_per_block) {
        return 0;
    }
    int shared = round_up(kernel.shared + gpu.shared_reserved, gpu.shared_unit);
    return shared > 0 ? gpu.shared_per_sm / shared : NO_LIMIT;
}

LAUNCH(occupancy) {
    launch->block = 64;
    launch->grid = ceil_div(n, 64);
}

__global__ void occupancy(const Question *question, Answer *answer, int n) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n) {
        return;
    }
    const Gpu &gpu = question[row].gpu;
    const Kernel &kernel = question[row].kernel;

    Answer of = {};
    of.by_threads = blocks_by_threads(gpu, kernel);
    of.by_registers = blocks_by_registers(gpu, kernel);
    of.by_shared = blocks_by_shared(gpu, kernel);
    of.by_blocks = gpu.blocks_per_sm;

    of.blocks = min(min(of.by_threads, of.by_registers), min(of.by_shared, of.by_blocks));
    of.warps = of.blocks * round_up(kernel.threads, WARP_SIZE) / WARP_SIZE;
    of.percent = 100 * of.warps / (gpu.threads_per_sm / WARP_SIZE);
    of.grid = of.blocks * gpu.sm_count;

    answer[row] = of;
}

LAUNCH(sum_full) {
    launch->block = 256;
    int per_sm = min(gpu->max_threads_per_sm / 256, gpu->max_blocks_per_sm);
    launch->grid = max(1, ceil_div(n, 256));
}

__global__ void sum_full(const float *in, float *partial, int n) {
    __shared__ float sum_of[32];
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int threads = gridDim.x * blockDim.x;
    int lane = threadIdx.x % 32;
    int warp = threadIdx.x / 32;

    float sum = 0.0f;
    for (int i = thread; i < n; i += threads) {
        sum += in[i];
    }
    for (int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_down_sync(0xffffffff, sum, distance);
    }
    if (lane == 0) {
        sum_of[warp] = sum;
    }
    __syncthreads();
    if (warp == 0) {
        sum = lane < blockDim.x / 32 ? sum_of[lane] : 0.0f;
        for (int distance = 16; distance > 0; distance /= 2) {
            sum += __shfl_down_sync(0xffffffff, sum, distance);
        }
        if (lane == 0) {
            partial[blockIdx.x] = sum;
        }
    }
}
