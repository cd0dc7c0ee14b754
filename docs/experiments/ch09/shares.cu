// EXPERIMENT: The largest of each of 32 rows of 64 floats: one thread per row, and one warp per row.
// RUN: build/bin/emulate $PTX by_thread --grid 1 --block 32 --arg buf:8192:zero --arg buf:128 --profile | grep -m 2 global_ld
// RUN: build/bin/emulate $PTX by_warp --grid 4 --block 256 --arg buf:8192:zero --arg buf:128 --profile | grep -m 2 global_ld
// SHOWS: global_ld_requests 64 global_ld_sectors 2048
// SHOWS: global_ld_requests 64 global_ld_sectors 256
const int COLUMNS = 64;

extern "C" __global__ void by_thread(const float *in, float *out) {
    // BEGIN thread
    const float *row = in + threadIdx.x * COLUMNS;
    float largest = row[0];
    for (int i = 1; i < COLUMNS; i++) {
        largest = fmaxf(largest, row[i]); // lane 0 in row 0, lane 1 in row 1, ...
    }
    // END thread
    out[threadIdx.x] = largest;
}

extern "C" __global__ void by_warp(const float *in, float *out) {
    int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    // BEGIN warp
    const float *row = in + warp * COLUMNS;
    float largest = -INFINITY;
    for (int i = threadIdx.x % 32; i < COLUMNS; i += 32) {
        largest = fmaxf(largest, row[i]); // neighbouring lanes in one row
    }
    // END warp
    for (int bit = 1; bit < 32; bit *= 2) {
        largest = fmaxf(largest, __shfl_xor_sync(0xffffffff, largest, bit));
    }
    if (threadIdx.x % 32 == 0) {
        out[warp] = largest;
    }
}
