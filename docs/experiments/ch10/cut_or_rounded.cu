// EXPERIMENT: Sums of bfloat16 from __hadd, from a rounded float, and from a truncated float.
// RUN: build/bin/emulate $PTX compare --grid 1 --block 1
// SHOWS: rounded: 0 of 4096 differ
// SHOWS: of 4096 differ
#include <cstdio>

#include <cuda_bf16.h>

extern "C" __global__ void compare() {
    int rounded = 0, cut = 0;
    for (int i = 0; i < 4096; i++) {
        // BEGIN sums
        __nv_bfloat16 a = __float2bfloat16(1.0f + i % 64 / 64.0f);
        __nv_bfloat16 b = __float2bfloat16(i / 64 / 512.0f);
        unsigned short once = __bfloat16_as_ushort(__hadd(a, b));
        float wide = __bfloat162float(a) + __bfloat162float(b);
        rounded += __bfloat16_as_ushort(__float2bfloat16(wide)) != once;
        cut += __float_as_uint(wide) >> 16 != once; // the upper half, truncated
        // END sums
    }
    printf("rounded: %d of 4096 differ\ncut off: %d of 4096 differ\n", rounded, cut);
}
