// EXPERIMENT: 4,096 floats doubled one by one and four at a time: the loads and the instructions.
// RUN: build/bin/emulate $PTX ones --grid 1 --block 256 --arg buf:16384:zero --profile | grep -m 5 -e '^instr' -e '^global_ld'
// RUN: build/bin/emulate $PTX fours --grid 1 --block 256 --arg buf:16384:zero --profile | grep -m 5 -e '^instr' -e '^global_ld'
// SHOWS: global_ld_requests 128 global_ld_sectors 512 global_ld_bytes 16384
// SHOWS: global_ld_requests 32 global_ld_sectors 512 global_ld_bytes 16384
extern "C" __global__ void ones(float *x) {
    // BEGIN ones
    for (int i = threadIdx.x; i < 4096; i += 256) {
        x[i] = 2 * x[i];
    }
    // END ones
}

extern "C" __global__ void fours(float4 *x) {
    // BEGIN fours
    for (int i = threadIdx.x; i < 1024; i += 256) {
        float4 four = x[i];
        x[i] = make_float4(2 * four.x, 2 * four.y, 2 * four.z, 2 * four.w);
    }
    // END fours
}
