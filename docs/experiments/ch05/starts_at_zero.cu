// EXPERIMENT: 8 slots are written and 32 are read.
// RUN: build/bin/emulate $PTX gather --grid 1 --block 256 --arg buf:128
// SHOWS: slot
// SHOWS: uninit
extern "C" __global__ void gather(float *out) {
    __shared__ float slot[32];
    if (threadIdx.x % 32 == 0) {
        slot[threadIdx.x / 32] = 1.0f;
    }
    __syncthreads();
    if (threadIdx.x < 32) {
        out[threadIdx.x] = slot[threadIdx.x];
    }
}
