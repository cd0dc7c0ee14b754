// CLEAN
// RUN: fill --grid 2 --block 100 --arg buf:200 --arg buf:200
// Bytes side by side belong to different threads.
extern "C" __global__ void fill(char *out, char *more) {
    __shared__ char s[100 + 1];
    int t = threadIdx.x;
    s[t] = t;

    out[blockIdx.x * 100 + t] = t;
    __syncthreads();
    more[blockIdx.x * 100 + t] = s[99 - t] + out[blockIdx.x * 100 + 99 - t];
}
