// FINDS: RACE line 7 other 6
// RUN: fill --grid 2 --block 64 --arg buf:256 --arg buf:256
// A word is read whose halves others write.
extern "C" __global__ void fill(short *out, int *words) {
    int t = threadIdx.x;
    out[blockIdx.x * 64 + t] = t;
    if (t < 32) words[blockIdx.x * 32 + t] = ((int *)out)[blockIdx.x * 32 + t];
}
