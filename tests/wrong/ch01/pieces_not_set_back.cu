// VERDICT: WRONG
// MISTAKE: pieces-not-set-back - the sum of a piece is set to 0 once, before the first piece
// DIAGNOSIS: none
#include "warpbook.cuh"

LAUNCH(sum_single) { launch->grid = launch->block = 1; }

__global__ void sum_single(const float *in, float *partial, int n) {
    const int LENGTH = 500;
    float all = 0.0f, of_piece = 0.0f;
    for (int first = 0; first < n; first += LENGTH) {
        int end = first + LENGTH < n ? first + LENGTH : n;
        for (int at = first; at < end; at++) of_piece += in[at];
        all += of_piece;
    }
    *partial = all;
}
