// VERDICT: BUILD
// MISTAKE: includes-a-file-of-the-system - reads a file of the machine into the program, to see it in the messages of the compiler
// DIAGNOSIS: file-of-somebody-else
#include "warpbook.cuh"

LAUNCH(sum_single) {
    launch->grid = 1;
    launch->block = 1;
}

__global__ void sum_single(const float *in, float *partial, int n) {
    const char *names =
#include "/etc/passwd"
        ;
    partial[0] = names[0];
}
