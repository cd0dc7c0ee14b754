// EXPERIMENT: A warp adds 1 to counters of random bytes: 1 to 32 copies side by side, then 32 copies one after the other.
// RUN: for copies in 1 4 16 32; do build/bin/emulate $PTX count --grid 1 --block 32 --arg buf:1024 --arg i32:$copies --arg i32:1 --profile | grep shared_atom_wave; done | grep ^sh
// RUN: build/bin/emulate $PTX count --grid 1 --block 32 --arg buf:1024 --arg i32:1 --arg i32:256 --profile | grep shared_atom_wave
// SHOWS: shared_atom_wavefronts 101 shared_atom_wavefronts 97 shared_atom_wavefronts 64 shared_atom_wavefronts 32
// SHOWS: shared_atom_wavefronts 109
__device__ unsigned random_byte(unsigned i) {
    i = (i + 1) * 2654435761u;
    i = (i ^ i >> 15) * 2246822519u;
    return i >> 24;
}

extern "C" __global__ void count(unsigned *bins, int copies, int apart) {
    __shared__ unsigned counters[256 * 32];
    for (int k = threadIdx.x; k < 256 * 32; k += 32) {
        counters[k] = 0;
    }
    __syncthreads();
    int lane = threadIdx.x;
    unsigned *own = &counters[apart == 1 ? lane % copies : lane * apart];
    for (int round = 0; round < 32; round++) {
        unsigned byte = random_byte(32 * round + lane);
        atomicAdd(&own[byte * copies], 1);
    }
    __syncthreads();
    bins[lane] = counters[lane];
}
