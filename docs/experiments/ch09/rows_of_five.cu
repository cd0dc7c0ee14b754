// EXPERIMENT: An aligned matrix with rows of five floats, and a float4 from the start of row 1.
// RUN: build/bin/emulate $PTX load --grid 1 --block 1 --arg buf:80:zero --arg buf:16 --arg i32:0
// RUN: build/bin/emulate $PTX load --grid 1 --block 1 --arg buf:80:zero --arg buf:16 --arg i32:1
// SHOWS: load: clean
// SHOWS: is not a multiple of 16
extern "C" __global__ void load(const float *in, float4 *out, int row) {
    const int columns = 5;
    *out = *(const float4 *)(in + row * columns);
}
