// EXPERIMENT: A scan of 4,096 floats in tiles of 256, in three launches and in one: the sectors that are loaded and stored.
// RUN: for kernel in sum_tiles scan_tiles; do build/bin/emulate $PTX $kernel --grid 16 --block 32 --arg buf:16384:zero --arg buf:16384:zero --arg buf:64:zero --profile | grep -E '^global_(ld|st)_sectors'; done
// RUN: build/bin/emulate $PTX scan_once --grid 16 --block 32 --arg buf:16384:zero --arg buf:16384:zero --arg buf:136:zero --profile | grep -E '^global_(ld|st)_sectors'
// SHOWS: global_ld_sectors 512 global_st_sectors 16
// SHOWS: global_ld_sectors 528 global_st_sectors 512
// SHOWS: global_ld_sectors 527 global_st_sectors 528
const unsigned ALL_LANES = 0xffffffff;
const int TILE = 256;

__device__ float scan_of_warp(float value) {
    for (int distance = 1; distance < 32; distance *= 2) {
        float other = __shfl_up_sync(ALL_LANES, value, distance);
        value += threadIdx.x >= distance ? other : 0.0f;
    }
    return value;
}

// The tile, in eight registers of each lane; returns its sum.
__device__ float scan_tile(const float *tile, float (&x)[8]) {
    float carry = 0.0f;
    for (int k = 0; k < 8; k++) {
        x[k] = carry + scan_of_warp(tile[32 * k + threadIdx.x]);
        carry = __shfl_sync(ALL_LANES, x[k], 31);
    }
    return carry;
}

extern "C" __global__ void sum_tiles(const float *in, float *out, float *sums) {
    float x[8], sum = scan_tile(in + TILE * blockIdx.x, x);
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = sum;
    }
}

// The launch in between scans 16 sums: it is left out here.
extern "C" __global__ void scan_tiles(const float *in, float *out, const float *sums) {
    float x[8], before = sums[blockIdx.x];
    scan_tile(in + TILE * blockIdx.x, x);
    for (int k = 0; k < 8; k++) {
        out[TILE * blockIdx.x + 32 * k + threadIdx.x] = before + x[k];
    }
}

// Each tile waits for the prefix of the tile before it.
extern "C" __global__ void scan_once(const float *in, float *out, unsigned long long *state) {
    int tile = threadIdx.x == 0 ? atomicAdd((unsigned *)state, 1) : 0;
    tile = __shfl_sync(ALL_LANES, tile, 0);
    float x[8], sum = scan_tile(in + TILE * tile, x), before = 0.0f;
    volatile unsigned long long *prefix_of = state + 1;
    if (threadIdx.x == 0) {
        unsigned long long last = 1ull << 32;
        while (tile > 0 && (last = prefix_of[tile - 1]) == 0) {
        }
        before = __uint_as_float((unsigned)last);
        prefix_of[tile] = 1ull << 32 | __float_as_uint(before + sum);
    }
    before = __shfl_sync(ALL_LANES, before, 0);
    for (int k = 0; k < 8; k++) {
        out[TILE * tile + 32 * k + threadIdx.x] = before + x[k];
    }
}
