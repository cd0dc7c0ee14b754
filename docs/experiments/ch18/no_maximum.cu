// EXPERIMENT: A softmax that adds the powers of the elements as they are, without subtracting the maximum.
// RUN: ./ch18 --device emulator --kernel $PTX
// SHOWS: three passes computes a wrong result
// SHOWS: gives NaN or infinity wherever it is
#include "warpbook.cuh"

#include <cuda_bf16.h>

__device__ float sum_of_warp(float value) {
    for (int distance = 16; distance > 0; distance /= 2) {
        value += __shfl_xor_sync(0xffffffff, value, distance);
    }
    return value;
}

__device__ float maximum_of_warp(float value) {
    for (int distance = 16; distance > 0; distance /= 2) {
        value = fmaxf(value, __shfl_xor_sync(0xffffffff, value, distance));
    }
    return value;
}

// One warp a row.
#define A_WARP_A_ROW(kernel)                                                                                 \
    LAUNCH(kernel) {                                                                                         \
        launch->block = 32;                                                                                  \
        launch->grid = rows;                                                                                 \
    }
A_WARP_A_ROW(softmax_three_passes)
A_WARP_A_ROW(softmax_online)
A_WARP_A_ROW(softmax_registers)
A_WARP_A_ROW(softmax_bfloat16)
A_WARP_A_ROW(layer_norm)
A_WARP_A_ROW(layer_norm_bfloat16)

template <typename Element> __device__ void softmax(const Element *in, Element *out, int columns, bool is_safe) {
    long long first = (long long)blockIdx.x * columns;
    float maximum = -INFINITY, sum = 0.0f;
    for (int i = threadIdx.x; i < columns; i += 32) {
        maximum = fmaxf(maximum, (float)in[first + i]);
    }
    maximum = is_safe ? maximum_of_warp(maximum) : 0.0f;
    for (int i = threadIdx.x; i < columns; i += 32) {
        sum += __expf((float)in[first + i] - maximum);
    }
    sum = sum_of_warp(sum);
    for (int i = threadIdx.x; i < columns; i += 32) {
        out[first + i] = (Element)(__expf((float)in[first + i] - maximum) / sum);
    }
}

template <typename Element>
__device__ void normalize(const Element *in, const float *gamma, const float *beta, Element *out, int columns) {
    long long first = (long long)blockIdx.x * columns;
    float sum = 0.0f, squares = 0.0f;
    for (int i = threadIdx.x; i < columns; i += 32) {
        sum += (float)in[first + i];
    }
    float mean = sum_of_warp(sum) / columns;
    for (int i = threadIdx.x; i < columns; i += 32) {
        float deviation = (float)in[first + i] - mean;
        squares += deviation * deviation;
    }
    float scale = rsqrtf(sum_of_warp(squares) / columns + 1e-5f);
    for (int i = threadIdx.x; i < columns; i += 32) {
        out[first + i] = (Element)(((float)in[first + i] - mean) * scale * gamma[i] + beta[i]);
    }
}

__global__ void softmax_three_passes(const float *in, float *out, int rows, int columns) {
    softmax(in, out, columns, false); // e^89 is infinite
}

__global__ void softmax_online(const float *in, float *out, int rows, int columns) {
    softmax(in, out, columns, true);
}

__global__ void softmax_registers(const float *in, float *out, int rows, int columns) {
    softmax(in, out, columns, true);
}

__global__ void softmax_bfloat16(const __nv_bfloat16 *in, __nv_bfloat16 *out, int rows, int columns) {
    softmax(in, out, columns, true);
}

__global__ void layer_norm(const float *in, const float *gamma, const float *beta, float *out, int rows,
                           int columns) {
    normalize(in, gamma, beta, out, columns);
}

__global__ void layer_norm_bfloat16(const __nv_bfloat16 *in, const float *gamma, const float *beta,
                                    __nv_bfloat16 *out, int rows, int columns) {
    normalize(in, gamma, beta, out, columns);
}
