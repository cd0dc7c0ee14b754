// EXPERIMENT: A warp reads words of shared memory that are 1, 2, 32 and 33 apart; then all lanes read one word.
// RUN: for s in 1 2 32 33 0; do build/bin/emulate $PTX read --grid 1 --block 32 --arg buf:128 --arg i32:$s --profile | grep -m 1 shared_ld_wave; done
// SHOWS: shared_ld_wavefronts 1 shared_ld_wavefronts 2 shared_ld_wavefronts 32 shared_ld_wavefronts 1 shared_ld_wavefronts 1
extern "C" __global__ void read(float *out, int stride) {
    __shared__ float word[33 * 32];
    for (int i = threadIdx.x; i < 33 * 32; i += 32) {
        word[i] = i;
    }
    __syncthreads();
    // BEGIN read
    out[threadIdx.x] = word[threadIdx.x * stride]; // stride 0: one word for all lanes
    // END read
}
