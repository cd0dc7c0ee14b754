#include "warpbook.cuh"

struct Answer {
    int peak;
    int ridge;
    float part;
};

__global__ void k0(const float *in, float *out, int n, const GpuFigures *shape, const Answer *of_all, LaunchShape *launch) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    launch.grid = n;  // ERROR: write launch->grid: launch is a pointer
    out[i] = sum + i;
}

__global__ void k1(const float *in, float *out, int n, const GpuFigures *shape, const Answer *of_all, LaunchShape *launch) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    sum = shape->sm_count + shape.sm_count;  // ERROR: write shape->sm_count: shape is a pointer
    out[i] = sum + i;
}

__global__ void k2(const float *in, float *out, int n, const GpuFigures *shape, const Answer *of_all, LaunchShape *launch) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    for (int k = 0; k < n; k++)
        float x = in[k];
    sum += x;  // ERROR: the x of line 27 exists only in that statement: write { } around the statements that belong to the for of line 26
    out[i] = sum + i;
}

__global__ void k3(const float *in, float *out, int n, const GpuFigures *shape, const Answer *of_all, LaunchShape *launch) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    if (n > 0)
        float y = in[0];
    sum += y;  // ERROR: the y of line 36 exists only in that statement: write { } around the statements that belong to the if of line 35
    out[i] = sum + i;
}

__global__ void k4(const float *in, float *out, int n, const GpuFigures *shape, const Answer *of_all, LaunchShape *launch) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    Answer of = {}; peak = n;  // ERROR: write of.peak: peak is a part of Answer
    out[i] = sum + i;
}

__global__ void k5(const float *in, float *out, int n, const GpuFigures *shape, const Answer *of_all, LaunchShape *launch) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    sum += of_all->ridge + ridge;  // ERROR: write of_all->ridge: ridge is a part of Answer
    out[i] = sum + i;
}

__global__ void k6(const float *in, float *out, int n, const GpuFigures *shape, const Answer *of_all, LaunchShape *launch) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    if (threadIdx.x = 0) out[0] = sum;  // ERROR: write == to compare: = stores
    out[i] = sum + i;
}

__global__ void k7(const float *in, float *out, int n, const GpuFigures *shape, const Answer *of_all, LaunchShape *launch) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    while (in[0] = n) out[0] = sum;  // ERROR: write == to compare: = stores
    out[i] = sum + i;
}
