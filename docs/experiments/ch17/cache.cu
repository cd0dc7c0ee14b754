// EXPERIMENT: The stencil of five points on 64 x 64 outputs inside an image, from the cache and from a tile in shared memory: the instructions of the warps, the requests to global and shared memory, and the sectors that are loaded.
// RUN: for kernel in from_cache from_tile; do build/bin/emulate $PTX $kernel --grid 1,4 --block 64,4 --arg buf:65536:zero --arg buf:65536:zero --profile | grep -E '^(instructions|global_ld_requests|global_ld_sectors|shared_ld |shared_st |barriers)'; done
// SHOWS: global_ld_requests 640 global_ld_sectors 2816
// SHOWS: global_ld_requests 216 global_ld_sectors 864 shared_ld 640 shared_st 216 barriers 32
const int COLUMNS = 128, WIDTH = 64, HEIGHT = 16;

extern "C" __global__ void from_cache(const float *in, float *out) {
    int column = 8 + threadIdx.x;
    for (int y = threadIdx.y; y < HEIGHT; y += 4) {
        int at = (1 + blockIdx.y * HEIGHT + y) * COLUMNS + column;
        out[at] = 0.5f * in[at] + 0.125f * (in[at - COLUMNS] + in[at + COLUMNS] + in[at - 1] + in[at + 1]);
    }
}

extern "C" __global__ void from_tile(const float *in, float *out) {
    __shared__ float tile[HEIGHT + 2][WIDTH + 2];
    for (int y = threadIdx.y; y < HEIGHT + 2; y += 4) {
        for (int x = threadIdx.x; x < WIDTH + 2; x += WIDTH) {
            tile[y][x] = in[(blockIdx.y * HEIGHT + y) * COLUMNS + 7 + x];
        }
    }
    __syncthreads();
    for (int y = threadIdx.y; y < HEIGHT; y += 4) {
        const float *middle = &tile[y + 1][threadIdx.x + 1];
        out[(1 + blockIdx.y * HEIGHT + y) * COLUMNS + 8 + threadIdx.x] =
            0.5f * middle[0] +
            0.125f * (tile[y][threadIdx.x + 1] + tile[y + 2][threadIdx.x + 1] + middle[-1] + middle[1]);
    }
}
