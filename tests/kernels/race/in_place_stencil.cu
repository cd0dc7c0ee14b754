// FINDS: RACE line 8 other 6
// RUN: smooth --grid 4 --block 64 --arg buf:1024:zero
// A stencil in place: the neighbour block's edge is read and written.
extern "C" __global__ void smooth(float *data) {
    int i = blockIdx.x * 64 + threadIdx.x;
    float v = data[i] + data[(i + 1) % 256];
    __syncthreads();
    data[i] = v;
}
