// CLEAN
// RUN: turn --grid 2 --block 64 --arg buf:512
// Tiles of 8 lanes of cooperative groups.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void turn(int *out) {
    __shared__ int s[64];
    cg::thread_block_tile<8> tile = cg::tiled_partition<8>(cg::this_thread_block());
    int t = threadIdx.x;
    for (int k = 0; k < 3; k++) {
        s[t] = t + k;
        tile.sync();
        out[blockIdx.x * 64 + t] = s[t ^ 7];
        tile.sync();
    }
}
