// EXPERIMENT: A butterfly through memory: after three levels all eight threads hold the largest.
// RUN: build/bin/emulate $PTX butterfly --grid 1 --block 8 --arg buf:64
// SHOWS: thread 0 holds 25
// SHOWS: thread 7 holds 25
#include <cstdio>

extern "C" __global__ void butterfly(int *slots) {
    int t = threadIdx.x, n = blockDim.x;
    int largest = t * 19 % 36;
    // BEGIN butterfly
    int *from = slots, *into = slots + n; // two arrays of n, so no thread writes what another still reads
    from[t] = largest;
    __syncthreads();
    for (int bit = 1; bit < n; bit *= 2) {
        into[t] = max(from[t], from[t ^ bit]);
        __syncthreads();
        int *other = from;
        from = into;
        into = other;
    }
    // END butterfly
    printf("thread %d holds %d\n", t, from[t]);
}
