// FINDS: RACE line 15 other 7
// RUN: turn --grid 4 --block 64 --arg buf:1024 --arg buf:4:zero --arg buf:1024
// A grid barrier that does not wait for its own block first.
extern "C" __global__ void turn(int *data, unsigned *count, int *out) {
    int i = blockIdx.x * 64 + threadIdx.x;
    for (int k = 1; k <= 3; k++) {
        data[i] = i + k;
        if (threadIdx.x == 0) {
            __threadfence();
            atomicAdd(count, 1);
            while (*(volatile unsigned *)count < (2 * k - 1) * gridDim.x) {}
            __threadfence();
        }
        __syncthreads();
        out[i] = data[255 - i];
        __syncthreads();
        if (threadIdx.x == 0) {
            __threadfence();
            atomicAdd(count, 1);
            while (*(volatile unsigned *)count < 2 * k * gridDim.x) {}
            __threadfence();
        }
        __syncthreads();
    }
}
