// Warpbook's side of a kernel.cu: the launch shape and two small helpers. Everything here compiles with
// plain nvcc, and nothing of it is hidden machinery: a LAUNCH is a kernel of one thread that the driver
// runs first, to ask which grid and block the kernels of this file want.
//
// The driver (common/driver) mirrors the two structs below field by field; they hold no padding.
#pragma once

// A grid or a block. Assign a number for one dimension, or dim3(x, y) for more.
struct LaunchExtent {
    long long x, y, z; // wide, so that a size beyond the limits is seen and reported, never cut short

    __device__ LaunchExtent &operator=(long long size) {
        x = size;
        y = z = 1;
        return *this;
    }
    __device__ LaunchExtent &operator=(dim3 size) {
        x = size.x;
        y = size.y;
        z = size.z;
        return *this;
    }
};

// What LAUNCH fills in: the three things between <<< and >>>.
struct LaunchShape {
    LaunchExtent grid;  // blocks
    LaunchExtent block; // threads per block
    long long shared;   // bytes of dynamic shared memory per block; 0 unless assigned
};

// The figures of the GPU that the launch is for.
struct GpuFigures {
    int sm_count;
    int max_threads_per_block;
    int max_threads_per_sm;
    int max_blocks_per_sm;
    int registers_per_sm;
    int shared_per_sm;       // bytes
    int shared_per_block;    // bytes a block may use without asking for more
    int warp_size;           // 32
};

// LAUNCH(kernel) { launch->block = ...; launch->grid = ...; }
// `launch`, `gpu` and `n` (the number of elements) are its parameters, and for a matrix its `rows` and
// `columns`, which are 0 otherwise.
#define LAUNCH(kernel)                                                                                       \
    extern "C" __global__ void launch_##kernel(LaunchShape *launch, const GpuFigures *gpu, long long n,      \
                                               long long rows, long long columns)

// How many chunks of `size` cover `total`: 0 for nothing.
template <typename Total, typename Size> __host__ __device__ constexpr long long ceil_div(Total total, Size size) {
    return ((long long)total + (long long)size - 1) / (long long)size;
}

// The smaller and the larger of two integers of any two types (CUDA's own want both of one type).
__device__ constexpr long long min(long long a, int b) { return a < b ? a : b; }
__device__ constexpr long long min(int a, long long b) { return a < b ? a : b; }
__device__ constexpr long long max(long long a, int b) { return a > b ? a : b; }
__device__ constexpr long long max(int a, long long b) { return a > b ? a : b; }
