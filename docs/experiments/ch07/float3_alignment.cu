// EXPERIMENT: Sizes and alignments of the vector types.
// RUN: build/bin/emulate $PTX sizes --grid 1 --block 1
// SHOWS: float3: 12 bytes, aligned to 4
// SHOWS: float4: 16 bytes, aligned to 16
#include <cstdio>

extern "C" __global__ void sizes() {
    printf("float2: %d bytes, aligned to %d\n", (int)sizeof(float2), (int)alignof(float2));
    printf("float3: %d bytes, aligned to %d\n", (int)sizeof(float3), (int)alignof(float3));
    printf("float4: %d bytes, aligned to %d\n", (int)sizeof(float4), (int)alignof(float4));
}
