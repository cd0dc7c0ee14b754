// EXPERIMENT: Warps read a tile in shared memory along its rows: 32 lanes of one row, with and without padding, and 16 lanes of each of two rows, with and without.
// RUN: for kernel in one_row one_row_padded two_rows two_rows_padded; do build/bin/emulate $PTX $kernel --grid 1 --block 256 --arg buf:4096:zero --profile | grep -E '^shared_ld_(wavefronts|conflicts)'; done
// SHOWS: shared_ld_wavefronts 24 shared_ld_wavefronts 24 shared_ld_wavefronts 24 shared_ld_wavefronts 48 shared_ld_conflicts 24
template <int WIDTH, int PITCH>
__device__ void add_rows(float *out) {
    __shared__ float tile[34][PITCH];
    for (int i = threadIdx.x; i < 34 * PITCH; i += 256) {
        tile[i / PITCH][i % PITCH] = 1.0f;
    }
    __syncthreads();
    int x = threadIdx.x % WIDTH, y = threadIdx.x / WIDTH;
    out[threadIdx.x] = tile[y][x] + tile[y + 1][x] + tile[y + 2][x];
}

extern "C" __global__ void one_row(float *out) { add_rows<32, 32>(out); }
extern "C" __global__ void one_row_padded(float *out) { add_rows<32, 33>(out); }
extern "C" __global__ void two_rows(float *out) { add_rows<16, 16>(out); }
extern "C" __global__ void two_rows_padded(float *out) { add_rows<16, 17>(out); }
