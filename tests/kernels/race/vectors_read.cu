// FINDS: RACE line 7 other 6
// RUN: move --grid 2 --block 64 --arg buf:2048 --arg buf:2048
// The floats of a float4 are read with no barrier.
extern "C" __global__ void move(float4 *a, float *b) {
    int t = threadIdx.x;
    a[blockIdx.x * 64 + t] = make_float4(t, 1, 2, 3);
    for (int k = 0; k < 4; k++) b[blockIdx.x * 256 + k * 64 + t] = ((float *)a)[blockIdx.x * 256 + k * 64 + t];
}
