// FINDS: RACE line 9 other 8
// RUN: move --grid 1 --block 32 --shared 256 --arg buf:128
// The second array begins inside the first.
extern "C" __global__ void move(float *out) {
    extern __shared__ float pool[];
    float *a = pool, *b = pool + 32 - 8;
    int t = threadIdx.x;
    a[t] = t;
    b[t] = -t;
    __syncthreads();
    out[t] = a[31 - t] + b[31 - t];
}
