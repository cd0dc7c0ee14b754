// RIGHT: duff-and-lambda - a switch into the middle of the loop, a lambda that moves on, and loads in inline PTX
#include "warpbook.cuh"

LAUNCH(sum_single) {
    launch->grid = 1;
    launch->block = 1;
}

__global__ void sum_single(const float *in, float *partial, int n) {
    float sum = 0.0f;
    auto take = [&sum, at = in]() mutable {
        float x;
        asm volatile("ld.global.nc.f32 %0, [%1];" : "=f"(x) : "l"(__cvta_generic_to_global(at)));
        sum += x;
        at++;
    };
    if (n > 0) {
        int rounds = n / 8 + (n % 8 != 0);
        switch (n % 8) {
        case 0: do { take(); // fall through, eight times
        case 7: take();
        case 6: take();
        case 5: take();
        case 4: take();
        case 3: take();
        case 2: take();
        case 1: take();
                } while (--rounds > 0);
        }
    }
    partial[0] = sum;
}
