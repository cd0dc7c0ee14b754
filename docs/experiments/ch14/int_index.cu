// EXPERIMENT: The number of bytes of 2^31 + 5 floats, and the index of the last one, as int and as size_t.
// RUN: build/bin/emulate $PTX index --grid 1 --block 1 --arg i64:2147483653
// SHOWS: as int: -2147483644
// SHOWS: as size_t: 2147483652
#include <cstdio>

extern "C" __global__ void index(size_t n) {
    printf("the last index as int: %d\n", (int)(n - 1));
    printf("the last index as size_t: %lld, %lld bytes in all\n", (long long)(n - 1), (long long)(4 * n));
}
