// EXPERIMENT: A warp reads a column of a tile whose rows have 32, 33 and 34 floats; then of 16 rows of 32.
// RUN: for w in 32 33 34; do build/bin/emulate $PTX column --grid 1 --block 32 --arg buf:128 --arg i32:$w --arg i32:32 --profile | grep shared_ld_wave; done | grep ^sh
// RUN: for w in 32 33 34; do build/bin/emulate $PTX column --grid 1 --block 32 --arg buf:128 --arg i32:$w --arg i32:16 --profile | grep shared_ld_wave; done | grep ^sh
// SHOWS: shared_ld_wavefronts 32 shared_ld_wavefronts 1 shared_ld_wavefronts 2
// SHOWS: shared_ld_wavefronts 16 shared_ld_wavefronts 2 shared_ld_wavefronts 1
extern "C" __global__ void column(float *out, int width, int rows) {
    __shared__ float tile[34 * 32];
    for (int i = threadIdx.x; i < 34 * 32; i += 32) {
        tile[i] = i;
    }
    __syncthreads();
    // With 16 rows a warp reads two neighbouring columns at a time.
    int row = threadIdx.x % rows, side = threadIdx.x / rows;
    out[threadIdx.x] = tile[row * width + side];
}
