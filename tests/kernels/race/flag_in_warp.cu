// CLEAN
// RUN: pass --grid 2 --block 32 --arg buf:256 --arg i32:5
// A flag in shared memory between the lanes of one warp.
extern "C" __global__ void pass(int *out, int value) {
    __shared__ volatile int flag;
    __shared__ int data[4];
    int t = threadIdx.x;
    if (t == 0) flag = 0;
    __syncwarp();
    if (t == 0) {
        data[value & 3] = value;
        __threadfence_block();
        flag = 1;
    } else {
        while (flag == 0) {}
        __threadfence_block();
        out[blockIdx.x * 32 + t] = data[1];
    }
}
