// EXPERIMENT: Each element is multiplied by eight factors from memory, with one element per thread and with four.
// RUN: build/bin/emulate $PTX scale --grid 4 --block 256 --arg buf:4096:zero --arg buf:32:zero --arg i32:1024 --profile | grep -m 1 global_ld_requests
// RUN: build/bin/emulate $PTX scale_four --grid 1 --block 256 --arg buf:4096:zero --arg buf:32:zero --arg i32:1024 --profile | grep -m 1 global_ld_requests
// SHOWS: global_ld_requests 288
// SHOWS: global_ld_requests 96
extern "C" __global__ void scale(float *x, const float *__restrict__ factor, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float value = x[i];
    for (int k = 0; k < 8; k++) {
        value *= factor[k];
    }
    x[i] = value;
}

extern "C" __global__ void scale_four(float *__restrict__ x, const float *__restrict__ factor, int n) {
    int threads = gridDim.x * blockDim.x;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float value[4];
    for (int e = 0; e < 4; e++) {
        value[e] = x[i + e * threads];
    }
    for (int k = 0; k < 8; k++) {
        float next = factor[k];
        for (int e = 0; e < 4; e++) {
            value[e] *= next;
        }
    }
    for (int e = 0; e < 4; e++) {
        x[i + e * threads] = value[e];
    }
}
