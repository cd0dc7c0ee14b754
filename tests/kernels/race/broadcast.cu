// CLEAN
// RUN: share --grid 2 --block 96 --arg buf:768
// One thread writes what all read, barriers on both sides.
extern "C" __global__ void share(int *out) {
    __shared__ int s;
    int t = threadIdx.x, sum = 0;
    for (int k = 0; k < 3; k++) {
        if (t == k) s = k + blockIdx.x;
        __syncthreads();
        sum += s;
        __syncthreads();
    }
    out[blockIdx.x * 96 + t] = sum;
}
