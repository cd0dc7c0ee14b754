// CLEAN
// RUN: fill --grid 1 --block 32 --arg buf:128 --arg buf:128
// Words first, their bytes behind a barrier.
extern "C" __global__ void fill(int *words, char *out) {
    int t = threadIdx.x;
    words[t] = t;
    __syncthreads();
    for (int k = 0; k < 4; k++) out[t * 4 + k] = ((char *)words)[k * 32 + t];
}
