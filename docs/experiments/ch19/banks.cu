// EXPERIMENT: A warp turns 16 x 8 floats over: each lane has four neighbours of a row and stores them below each other in a tile of 128 columns. Without a remedy, with 4 floats of padding, and with bit 4 of the column turned over in every second group of rows.
// RUN: for kernel in plain padded swapped; do build/bin/emulate $PTX $kernel --grid 1 --block 32 --arg buf:4096:zero --profile | grep -E '^shared_st_(wavefronts|conflicts)'; done
// SHOWS: shared_st_wavefronts 8 shared_st_conflicts 4 shared_st_wavefronts 4 shared_st_wavefronts 4
template <int PITCH, int BIT>
__device__ void turn(float *out) {
    __shared__ float tile[8][PITCH];
    int row = threadIdx.x / 2, d = threadIdx.x % 2 * 4, column = row ^ (d ? BIT : 0);
    for (int j = 0; j < 4; j++) {
        tile[d + j][column] = row * 8 + d + j;
    }
    __syncthreads();
    for (int j = 0; j < 8; j++) {
        out[j * 32 + threadIdx.x] = threadIdx.x < 16 ? tile[j][threadIdx.x ^ (j & 4 ? BIT : 0)] : 0.0f;
    }
}

extern "C" __global__ void plain(float *out) { turn<128, 0>(out); }
extern "C" __global__ void padded(float *out) { turn<132, 0>(out); }
extern "C" __global__ void swapped(float *out) { turn<128, 16>(out); }
