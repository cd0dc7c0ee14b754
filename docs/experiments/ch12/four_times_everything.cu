// EXPERIMENT: y = a * x + y with float and with float4: bytes and instructions.
// RUN: build/bin/emulate $PTX ones --grid 4 --block 256 --arg buf:4096:zero --arg buf:4096:zero --profile | grep -e '^global_.*bytes' -e '^instr'
// RUN: build/bin/emulate $PTX fours --grid 1 --block 256 --arg buf:4096:zero --arg buf:4096:zero --profile | grep -e '^global_.*bytes' -e '^instr'
// SHOWS: global_ld_bytes 8192 global_st_bytes 4096 instructions
// SHOWS: global_ld_bytes 8192 global_st_bytes 4096
extern "C" __global__ void ones(const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = 3 * x[i] + y[i];
}

extern "C" __global__ void fours(const float4 *x, float4 *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 a = x[i], b = y[i];
    y[i] = make_float4(3 * a.x + b.x, 3 * a.y + b.y, 3 * a.z + b.z, 3 * a.w + b.w);
}
