// EXPERIMENT: Block 0 zeroes `out`; other blocks may have added to it already.
// RUN: build/bin/emulate $PTX add --grid 8 --block 32 --arg buf:4 --schedule 3
// SHOWS: race
extern "C" __global__ void add(int *out) {
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        *out = 0;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd(out, 1);
    }
}
