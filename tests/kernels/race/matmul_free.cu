// FINDS: RACE line 12 other 9
// RUN: matmul --grid 2,2 --block 8,8 --arg buf:1024:zero --arg buf:1024:zero --arg buf:1024
// Tiles are overwritten while they are read.
extern "C" __global__ void matmul(const float *a, const float *b, float *c) {
    __shared__ float as[8][8], bs[8][8];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 8 + y, column = blockIdx.x * 8 + x;
    float sum = 0;
    for (int k = 0; k < 16; k += 8) {
        as[y][x] = a[row * 16 + k + x];
        bs[y][x] = b[(k + y) * 16 + column];
        __syncthreads();
        for (int i = 0; i < 8; i++) sum += as[y][i] * bs[i][x];
    }
    c[row * 16 + column] = sum;
}
