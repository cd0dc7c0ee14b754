// FINDS: RACE line 8 other 7
// RUN: transpose --grid 2,2 --block 16,16 --arg buf:4096:zero --arg buf:4096
// The tile is read before it is full.
extern "C" __global__ void transpose(const float *in, float *out) {
    __shared__ float tile[16][17];
    int x = threadIdx.x, y = threadIdx.y;
    tile[y][x] = in[(blockIdx.y * 16 + y) * 32 + blockIdx.x * 16 + x];
    out[(blockIdx.x * 16 + y) * 32 + blockIdx.y * 16 + x] = tile[x][y];
}
