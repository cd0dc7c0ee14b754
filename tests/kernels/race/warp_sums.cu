// CLEAN
// RUN: sum --grid 2 --block 128 --arg buf:1024:zero --arg buf:8
// A shuffle in every warp, then the sums of the warps through shared memory.
extern "C" __global__ void sum(const float *in, float *out) {
    __shared__ float sums[4];
    int t = threadIdx.x;
    float v = in[blockIdx.x * 128 + t];
    for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffff, v, d);
    if (t % 32 == 0) sums[t / 32] = v;
    __syncthreads();
    if (t == 0) out[blockIdx.x] = sums[0] + sums[1] + sums[2] + sums[3];
}
