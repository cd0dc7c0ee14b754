// EXPERIMENT: A row of a has 3 elements, and the float after it is infinite. A tile of 4 takes it along: multiplied by the 0 that fills b's tile, and replaced by 0 as well.
// RUN: build/bin/emulate $PTX zero --grid 1 --block 1 --arg buf:64:zero
// SHOWS: filled in b only: nan filled in both: 6
#include <cstdio>

extern "C" __global__ void zero(float *a) {
    for (int i = 0; i < 3; i++) {
        a[i] = i + 1;
    }
    a[3] = __int_as_float(0x7f800000);
    float tile_b[4] = {1, 1, 1, 0}, one = 0.0f, both = 0.0f;
    for (int d = 0; d < 4; d++) {
        one += a[d] * tile_b[d];
        both += (d < 3 ? a[d] : 0.0f) * tile_b[d];
    }
    printf("filled in b only: %s\n", one == one ? "a number" : "nan");
    printf("filled in both: %g\n", both);
}
