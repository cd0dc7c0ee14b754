// EXPERIMENT: A warp counts 128 equal bytes: each lane adds 1 four times, or 4 once; in one copy, then in 32.
// RUN: for copies in 1 32; do for kernel in ones fours; do build/bin/emulate $PTX $kernel --grid 1 --block 32 --arg buf:1024 --arg i32:$copies --profile | grep shared_atom_wave; done; done | grep ^sh
// SHOWS: shared_atom_wavefronts 4 shared_atom_wavefronts 32
// SHOWS: shared_atom_wavefronts 4 shared_atom_wavefronts 1
template <int each> __device__ void count(unsigned *bins, int copies) {
    __shared__ unsigned counters[256 * 32];
    for (int k = threadIdx.x; k < 256 * copies; k += 32) {
        counters[k] = 0;
    }
    __syncthreads();
    unsigned *counter = &counters[42 * copies + threadIdx.x % copies];
    for (int k = 0; k < 4; k += each) {
        atomicAdd(counter, each);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int k = 0; k < copies; k++) {
            bins[k] = counters[42 * copies + k];
        }
    }
}

extern "C" __global__ void ones(unsigned *bins, int copies) { count<1>(bins, copies); }

extern "C" __global__ void fours(unsigned *bins, int copies) { count<4>(bins, copies); }
