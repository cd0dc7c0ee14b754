// FINDS: RACE line 9 other 7
// RUN: turn --grid 1 --block 32 --arg buf:128
// Shuffles and votes order no memory.
extern "C" __global__ void turn(int *out) {
    __shared__ int s[32];
    int t = threadIdx.x;
    s[t] = t;
    int sum = __shfl_down_sync(0xffffffff, t, 1) + __ballot_sync(0xffffffff, t & 1);
    out[t] = sum + s[31 - t];
}
