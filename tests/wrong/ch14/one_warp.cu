// VERDICT: SLOW
// MISTAKE: one-warp - one block of one warp adds everything
// DIAGNOSIS: none
#include "warpbook.cuh"

LAUNCH(sum) {
    launch->block = 32; // a warp needs no mailbox
    launch->grid = 1;
}

__global__ void sum(const float *in, float *out, unsigned long long *mailbox, size_t n) {
    size_t head = (4 - (size_t)in / 4 % 4) % 4;
    head = head < n ? head : n;
    size_t groups = (n - head) / 4;
    const float4 *group = (const float4 *)(in + head);
    float sum[8] = {};
    size_t i = threadIdx.x;
    for (; i + 7 * 32 < groups; i += 8 * 32) {
        float4 four[8];
#pragma unroll
        for (int k = 0; k < 8; k++) {
            four[k] = group[i + 32 * k];
        }
#pragma unroll
        for (int k = 0; k < 8; k++) {
            sum[k] += (four[k].x + four[k].y) + (four[k].z + four[k].w);
        }
    }
    for (; i < groups; i += 32) {
        float4 v = group[i];
        sum[0] += (v.x + v.y) + (v.z + v.w);
    }
    if (threadIdx.x < head) {
        sum[1] += in[threadIdx.x];
    }
    size_t behind = head + 4 * groups + threadIdx.x;
    if (behind < n) {
        sum[2] += in[behind];
    }
    float total = ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
    for (int distance = 16; distance > 0; distance /= 2) {
        total += __shfl_down_sync(0xffffffff, total, distance);
    }
    if (threadIdx.x == 0) {
        out[0] = total;
    }
}
