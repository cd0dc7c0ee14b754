// EXPERIMENT: A barrier in the loop over the elements; some threads do one round fewer.
// RUN: build/bin/emulate $PTX share --grid 1 --block 64 --arg buf:400:zero --arg i32:100
// SHOWS: barrier
extern "C" __global__ void share(float *x, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        x[i] += 1.0f;
        __syncthreads(); // threads 36 to 63 arrive once, the others twice
    }
    __syncthreads(); // threads 36 to 63 wait here while the others are still in the loop
    if (threadIdx.x == 0) {
        x[0] = x[63];
    }
}
