// EXPERIMENT: 64 rows, each assigned to a block of 256 threads or to a warp: the number of barriers.
// RUN: build/bin/emulate $PTX by_block --grid 64 --block 256 --arg buf:256 --profile | grep -e '^instr' -e '^barr'
// RUN: build/bin/emulate $PTX by_warp --grid 8 --block 256 --arg buf:256 --profile | grep -e '^instr' -e '^barr'
// SHOWS: barriers 512
// SHOWS: instructions 1280
extern "C" __global__ void by_block(int *out) {
    __shared__ int largest_of[8];
    int value = __reduce_max_sync(0xffffffff, threadIdx.x);
    if (threadIdx.x % 32 == 0) {
        largest_of[threadIdx.x / 32] = value;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int warp = 0; warp < 8; warp++) {
            value = max(value, largest_of[warp]);
        }
        out[blockIdx.x] = value;
    }
}

extern "C" __global__ void by_warp(int *out) {
    int value = __reduce_max_sync(0xffffffff, threadIdx.x);
    if (threadIdx.x % 32 == 0) {
        out[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = value;
    }
}
