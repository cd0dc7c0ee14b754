// EXPERIMENT: Each thread loads one float, a quarter of a bus of 128 bits.
// RUN: build/bin/emulate $PTX copy --grid 1 --block 32 --arg buf:128:zero --arg buf:128 --profile | grep -m 3 global_ld
// SHOWS: global_ld_requests 1
// SHOWS: global_ld_sectors 4
// SHOWS: global_ld_bytes 128
extern "C" __global__ void copy(const float *in, float *out) { out[threadIdx.x] = in[threadIdx.x]; }
