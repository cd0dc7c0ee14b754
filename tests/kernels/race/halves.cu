// CLEAN
// RUN: fill --grid 2 --block 64 --arg buf:256 --arg buf:256
// Halves of a word are written by two threads and read as a word behind a barrier.
extern "C" __global__ void fill(short *out, int *words) {
    int t = threadIdx.x;
    out[blockIdx.x * 64 + t] = t;
    __syncthreads();
    if (t < 32) words[blockIdx.x * 32 + t] = ((int *)out)[blockIdx.x * 32 + t];
}
