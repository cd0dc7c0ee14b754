// EXPERIMENT: Only warp 0 works, but all eight warps arrive at five barriers.
// RUN: build/bin/emulate $PTX tail --grid 1 --block 256 --arg buf:256:zero --profile | grep -m 1 barriers
// SHOWS: barriers 40
extern "C" __global__ void tail(float *tree) {
    for (int stride = 16; stride > 0; stride /= 2) {
        if (threadIdx.x < stride) {
            tree[threadIdx.x] = fmaxf(tree[threadIdx.x], tree[threadIdx.x + stride]);
        }
        __syncthreads();
    }
}
