// EXPERIMENT: A float4 loaded from a base 4 bytes past a multiple of 16.
// RUN: build/bin/emulate $PTX load --grid 1 --block 1 --arg buf:64:zero --arg buf:16 --arg i32:1
// SHOWS: misaligned
extern "C" __global__ void load(const float *in, float4 *out, int offset) {
    const float4 *group = (const float4 *)(in + offset);
    out[0] = group[0];
}
