// EXPERIMENT: 32 neighbouring floats, read in order, backwards, and scrambled.
// RUN: build/bin/emulate $PTX forward --grid 1 --block 32 --arg buf:128:zero --arg buf:128 --profile | grep -m 2 global_ld
// RUN: build/bin/emulate $PTX backward --grid 1 --block 32 --arg buf:128:zero --arg buf:128 --profile | grep -m 2 global_ld
// RUN: build/bin/emulate $PTX scrambled --grid 1 --block 32 --arg buf:128:zero --arg buf:128 --profile | grep -m 2 global_ld
// SHOWS: global_ld_sectors 4 global_ld_requests 1 global_ld_sectors 4 global_ld_requests 1 global_ld_sectors 4
extern "C" __global__ void forward(const float *in, float *out) { out[threadIdx.x] = in[threadIdx.x]; }

extern "C" __global__ void backward(const float *in, float *out) { out[threadIdx.x] = in[31 - threadIdx.x]; }

extern "C" __global__ void scrambled(const float *in, float *out) { out[threadIdx.x] = in[threadIdx.x * 13 % 32]; }
