// FINDS: RACE line 8 other 7
// RUN: transpose --grid 2 --block 32,8 --arg buf:8192:zero --arg buf:8192
// The tile is read before it is full.
extern "C" __global__ void transpose(const float *in, float *out) {
    __shared__ float tile[32][33];
    int x = threadIdx.x, y = threadIdx.y;
    for (int k = 0; k < 32; k += 8) tile[y + k][x] = in[blockIdx.x * 1024 + (y + k) * 32 + x];
    for (int k = 0; k < 32; k += 8) out[blockIdx.x * 1024 + (y + k) * 32 + x] = tile[x][y + k];
}
