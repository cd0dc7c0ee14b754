// FINDS: RACE line 9 other 8
// RUN: turn --grid 4 --block 64 --arg buf:1024 --arg buf:1024
// No grid barrier before reading other blocks' data.
#include <cooperative_groups.h>
extern "C" __global__ void turn(int *data, int *out) {
    int i = blockIdx.x * 64 + threadIdx.x;
    for (int k = 0; k < 3; k++) {
        data[i] = i + k;
        out[i] = data[255 - i];
        cooperative_groups::this_grid().sync();
    }
    data[i] = 0;
}
