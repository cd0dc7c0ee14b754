// EXPERIMENT: Each thread loads its own four floats one by one.
// RUN: build/bin/emulate $PTX singles --grid 1 --block 32 --arg buf:512:zero --arg buf:128 --profile | grep -m 3 global_ld
// SHOWS: global_ld_requests 4 global_ld_sectors 64 global_ld_bytes 512
extern "C" __global__ void singles(const float *in, float *out) {
    int i = 4 * threadIdx.x;
    const volatile float *x = in; // four loads, not merged into one
    out[threadIdx.x] = x[i] * x[i + 1] * x[i + 2] * x[i + 3];
}
