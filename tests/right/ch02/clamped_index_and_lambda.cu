// RIGHT: a generic lambda visits the elements, and an index beyond the end is clamped and weighed with 0
#include "warpbook.cuh"

// As many blocks as n needs, at most 8 for each SM of the GPU; ceil_div is a division that rounds up.
// In a program of your own this launch reads: sum_coalesced<<<grid, 256>>>(in, partial, n)
LAUNCH(sum_coalesced) {
    launch->block = 256;
    launch->grid = max(1, min(ceil_div(n, 256), 8 * gpu->sm_count));
}

// in: n floats. partial: one float for each thread of the grid, the sum of that thread's share.
__global__ void sum_coalesced(const float *in, float *partial, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int threads = gridDim.x * blockDim.x;
    float sum = 0.0f;
    auto visit = [&](auto add) {
        for (int first = 0; first < n; first += threads) {
            int i = first + thread;
            add(in[min(i, n - 1)], i < n ? 1.0f : 0.0f);
        }
    };
    visit([&](float value, float weight) { sum = weight != 0.0f ? sum + value : sum; });

    partial[thread] = sum;
}
