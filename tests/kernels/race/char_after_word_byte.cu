// FINDS: RACE line 7 other 6
// RUN: fill --grid 1 --block 32 --arg buf:128 --arg buf:128
// Bytes are read of words that others write.
extern "C" __global__ void fill(int *words, char *out) {
    int t = threadIdx.x;
    words[t] = t;
    for (int k = 0; k < 4; k++) out[t * 4 + k] = ((char *)words)[k * 32 + t];
}
