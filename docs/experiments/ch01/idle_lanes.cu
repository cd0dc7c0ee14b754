// EXPERIMENT: The same loop with one thread and with 32: what a warp executes.
// RUN: build/bin/emulate $PTX add --grid 1 --block 1 --arg buf:128:zero --profile | grep -m 2 instructions
// RUN: build/bin/emulate $PTX add --grid 1 --block 32 --arg buf:128:zero --profile | grep -m 2 instructions
// SHOWS: instructions 13 thread_instructions 13
// SHOWS: instructions 13 thread_instructions 416
extern "C" __global__ void add(float *x) {
    // BEGIN add
    float sum = 0.0f;
    for (int i = 0; i < 4; i++) {
        sum += x[threadIdx.x] * i;
    }
    x[threadIdx.x] = sum;
    // END add
}
