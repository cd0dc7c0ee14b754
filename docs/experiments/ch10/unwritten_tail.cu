// EXPERIMENT: `if (i + 3 < n)` around a float4 store, for 10 floats.
// RUN: build/bin/emulate $PTX fill --grid 1 --block 32 --arg buf:48:zero --arg i32:10 --dump 0:build/tail.bin
// RUN: od -v -A d -t f4 build/tail.bin
// SHOWS: 0000016 1 1 1 1 0000032 0 0 0 0
extern "C" __global__ void fill(float *x, int n) {
    int i = 4 * threadIdx.x;
    if (i + 3 < n) {
        *(float4 *)(x + i) = make_float4(1, 1, 1, 1);
    }
}
