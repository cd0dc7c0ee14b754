// SKELETON VERDICT: WRONG
// Chapter 6: how many blocks fit on an SM?
//
// An SM hides the wait for memory by running other warps, as many as it can hold at once. Four resources are
// limited: places for warps, registers, shared memory, and places for blocks. The scarcest one determines the
// number of resident blocks. Here you write the occupancy calculator: one thread for each GPU and kernel.
#include "warpbook.cuh"

enum {
    WARP_SIZE = 32,
    QUARTERS = 4,          // an SM has four schedulers; each owns a quarter of the registers
    REGISTER_UNIT = 256,   // a warp is given registers in multiples of this
    NO_LIMIT = 0x7fffffff, // the answer if a kernel uses none of the resource
};

// The resources of one SM, and the units in which it allocates them. Memory is in bytes.
struct Gpu {
    int sm_count;
    int threads_per_sm;
    int threads_per_block; // the most a block may have
    int blocks_per_sm;     // the most an SM can hold
    int registers_per_sm;
    int registers_per_block; // the most a block may take
    int shared_per_sm;
    int shared_per_block; // the most a block may ask for
    int shared_reserved;  // taken by the system for each block, besides what the block asks for
    int shared_unit;      // shared memory is allocated in multiples of this
};

// What a kernel requests.
struct Kernel {
    int threads;   // per block
    int registers; // per thread, at least 1
    int shared;    // bytes per block
};

struct Question {
    Gpu gpu;
    Kernel kernel;
};

struct Answer {
    int by_threads; // blocks per SM, if only places for warps could run out
    int by_registers;
    int by_shared;
    int by_blocks;
    int blocks;  // per SM
    int warps;   // per SM
    int percent; // of the warps that the SM has places for, rounded down
    int grid;    // the blocks that fill the whole GPU
};

// The smallest multiple of `unit` that is not less than `amount`.
__device__ int round_up(int amount, int unit) { return (amount + unit - 1) / unit * unit; }

// `const Gpu &gpu` is a reference: a pointer that is written like what it points to, gpu.threads_per_sm.

// A block that is larger than the GPU allows fits 0 times.
__device__ int blocks_by_threads(const Gpu &gpu, const Kernel &kernel) {
    // BEGIN SOLUTION
    // TODO 1: places are allocated to whole warps, including the last one of a block.
    // SKELETON: return 0;
    if (kernel.threads > gpu.threads_per_block) {
        return 0;
    }
    int warps = round_up(kernel.threads, WARP_SIZE) / WARP_SIZE;
    return gpu.threads_per_sm / WARP_SIZE / warps;
    // END SOLUTION
}

// A block whose warps, their number rounded up to a multiple of QUARTERS, would take more registers than a
// block may have fits 0 times.
__device__ int blocks_by_registers(const Gpu &gpu, const Kernel &kernel) {
    // BEGIN SOLUTION
    // TODO 2: how many registers does a warp get? How many such warps does one quarter of the SM hold, how
    //         many the four together, and how many blocks is that?
    // SKELETON: return 0;
    int warps = round_up(kernel.threads, WARP_SIZE) / WARP_SIZE;
    int registers_per_warp = round_up(kernel.registers * WARP_SIZE, REGISTER_UNIT);
    if (registers_per_warp * round_up(warps, QUARTERS) > gpu.registers_per_block) {
        return 0;
    }
    int warps_per_quarter = gpu.registers_per_sm / QUARTERS / registers_per_warp;
    return warps_per_quarter * QUARTERS / warps;
    // END SOLUTION
}

// A block that asks for more than it may fits 0 times; one that takes nothing has NO_LIMIT.
__device__ int blocks_by_shared(const Gpu &gpu, const Kernel &kernel) {
    // BEGIN SOLUTION
    // TODO 3: how much does the SM allocate for one block in total?
    // SKELETON: return 0;
    if (kernel.shared > gpu.shared_per_block) {
        return 0;
    }
    int shared = round_up(kernel.shared + gpu.shared_reserved, gpu.shared_unit);
    return shared > 0 ? gpu.shared_per_sm / shared : NO_LIMIT;
    // END SOLUTION
}

// A row of the table for each thread.
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

    // BEGIN SOLUTION
    // TODO 4: combine the four: blocks, warps, percent, and the grid that fills every SM. min() takes two
    //         numbers.
    of.blocks = min(min(of.by_threads, of.by_registers), min(of.by_shared, of.by_blocks));
    of.warps = of.blocks * round_up(kernel.threads, WARP_SIZE) / WARP_SIZE;
    of.percent = 100 * of.warps / (gpu.threads_per_sm / WARP_SIZE);
    of.grid = of.blocks * gpu.sm_count;
    // END SOLUTION

    answer[row] = of;
}

// ---- And now use it: the sum of chapter 5, on a grid that fills the GPU it runs on ------------------------

LAUNCH(sum_full) {
    // BEGIN SOLUTION
    // TODO 5: sum_full uses at most 32 registers per thread and hardly any shared memory. Choose a block size, and
    //         a number of blocks for which every SM holds all the warps it can and no block has to wait. A
    //         small n needs fewer. Launch at least one block, of whole warps. Here `gpu` points to figures of
    //         the GPU: gpu->sm_count, gpu->max_threads_per_sm, gpu->max_blocks_per_sm.
    // SKELETON: launch->block = 32;
    // SKELETON: launch->grid = 1;
    launch->block = 256;
    int per_sm = min(gpu->max_threads_per_sm / 256, gpu->max_blocks_per_sm);
    launch->grid = max(1, min(ceil_div(n, 256), per_sm * gpu->sm_count));
    // END SOLUTION
}

// in: n floats. partial: one float for each block.
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
