// EXPERIMENT: 64 x 64 elements of a product of depth 16 from tiles in shared memory, with 1, 4, 16 and 64 elements of the product for each thread: the warps' loads from shared memory and their instructions.
// RUN: for each in 1 2 4 8; do build/bin/emulate $PTX each_$each --grid 1 --block $((64 / each)),$((each == 1 ? 16 : 64 / each)) --arg buf:16384:zero --profile | grep -E '^(instructions|shared_ld )'; done
// SHOWS: shared_ld 4096
// SHOWS: shared_ld 2048
// SHOWS: shared_ld 1024
// SHOWS: shared_ld 512
const int TILE = 64, DEPTH = 16;

template <int EACH>
__device__ void multiply(float *c) {
    __shared__ float tile_a[DEPTH][TILE], tile_b[DEPTH][TILE];
    int threads = blockDim.x * blockDim.y, thread = threadIdx.y * blockDim.x + threadIdx.x;
    for (int i = thread; i < DEPTH * TILE; i += threads) {
        tile_a[i / TILE][i % TILE] = i % 7;
        tile_b[i / TILE][i % TILE] = i % 5;
    }
    __syncthreads();
    for (int top = threadIdx.y; top < TILE / EACH; top += blockDim.y) {
        float sums[EACH][EACH] = {};
#pragma unroll
        for (int d = 0; d < DEPTH; d++) {
            float of_a[EACH], of_b[EACH];
            for (int i = 0; i < EACH; i++) {
                of_a[i] = *(volatile float *)&tile_a[d][top + TILE / EACH * i];
                of_b[i] = *(volatile float *)&tile_b[d][threadIdx.x + TILE / EACH * i];
            }
            for (int i = 0; i < EACH; i++) {
                for (int j = 0; j < EACH; j++) {
                    sums[i][j] += of_a[i] * of_b[j];
                }
            }
        }
        for (int i = 0; i < EACH; i++) {
            for (int j = 0; j < EACH; j++) {
                c[(top + TILE / EACH * i) * TILE + threadIdx.x + TILE / EACH * j] = sums[i][j];
            }
        }
    }
}

extern "C" __global__ void each_1(float *c) { multiply<1>(c); }
extern "C" __global__ void each_2(float *c) { multiply<2>(c); }
extern "C" __global__ void each_4(float *c) { multiply<4>(c); }
extern "C" __global__ void each_8(float *c) { multiply<8>(c); }
