// CLEAN
// RUN: move --grid 2 --block 64 --arg buf:1024
// Doubles that neighbours exchange.
extern "C" __global__ void move(double *out) {
    __shared__ double s[64];
    int t = threadIdx.x;
    s[t] = t;
    __syncthreads();
    out[blockIdx.x * 64 + t] = s[t ^ 33];
}
