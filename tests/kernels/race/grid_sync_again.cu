// FINDS: RACE line 13 other 10
// RUN: turn --grid 4 --block 64 --arg buf:1024 --arg buf:1024
// No grid barrier before data are written anew.
#include <cooperative_groups.h>
extern "C" __global__ void turn(int *data, int *out) {
    int i = blockIdx.x * 64 + threadIdx.x;
    for (int k = 0; k < 3; k++) {
        data[i] = i + k;
        cooperative_groups::this_grid().sync();
        out[i] = data[255 - i];
        if (k < 2) cooperative_groups::this_grid().sync();
    }
    data[i] = 0;
}
