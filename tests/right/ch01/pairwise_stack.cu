// RIGHT: pairwise-stack - pairs of runs of 8 on a stack of 32 levels, one for each bit of their number
#include "warpbook.cuh"

LAUNCH(sum_single) {
    launch->grid = 1;
    launch->block = 1;
}

// level[k] holds the sum of 8 << k elements if bit k of `runs` is set: joined like the carries of a counter.
__global__ void sum_single(const float *in, float *partial, int n) {
    float level[32];
    unsigned runs = 0; // below 2^28, so 28 levels are used at most
    int i = 0;
    for (; n - i >= 8; i += 8) {
        float run = 0.0f;
        for (int j = 0; j < 8; j++) {
            run += in[i + j];
        }
        int k = 0;
        while (runs >> k & 1) {
            run += level[k];
            k++;
        }
        level[k] = run;
        runs++;
    }
    float sum = 0.0f;
    while (i < n) {
        sum += in[i++];
    }
    for (int k = 0; runs >> k != 0; k++) {
        if (runs >> k & 1) {
            sum += level[k];
        }
    }
    partial[0] = sum;
}
