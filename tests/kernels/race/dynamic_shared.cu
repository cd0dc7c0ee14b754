// CLEAN
// RUN: move --grid 1 --block 32 --shared 256 --arg buf:128
// Two arrays in dynamic shared memory.
extern "C" __global__ void move(float *out) {
    extern __shared__ float pool[];
    float *a = pool, *b = pool + 32 ;
    int t = threadIdx.x;
    a[t] = t;
    b[t] = -t;
    __syncthreads();
    out[t] = a[31 - t] + b[31 - t];
}
