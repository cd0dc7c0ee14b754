// EXPERIMENT: A warp adds 1 to counters in shared memory: 32 equal bytes, 32 random ones, and 32 of a ramp in steps of 16.
// RUN: for kind in 0 1 2; do build/bin/emulate $PTX count --grid 1 --block 32 --arg buf:1024:zero --arg i32:$kind --profile | grep shared_atom_wave; done | grep ^sh
// SHOWS: shared_atom_wavefronts 1 shared_atom_wavefronts 3 shared_atom_wavefronts 8
__device__ unsigned random_byte(unsigned i) {
    i = (i + 1) * 2654435761u;
    i = (i ^ i >> 15) * 2246822519u;
    return i >> 24;
}

extern "C" __global__ void count(unsigned *bins, int kind) {
    __shared__ unsigned counters[256];
    for (int v = threadIdx.x; v < 256; v += 32) {
        counters[v] = 0;
    }
    __syncthreads();
    unsigned byte = kind == 0 ? 42 : kind == 1 ? random_byte(threadIdx.x) : threadIdx.x * 16 % 256;
    atomicAdd(&counters[byte], 1);
    __syncthreads();
    for (int v = threadIdx.x; v < 256; v += 32) {
        bins[v] = counters[v];
    }
}
