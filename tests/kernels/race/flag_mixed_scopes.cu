// CLEAN
// RUN: pass --grid 2 --block 64 --arg buf:256 --arg buf:8:zero --arg buf:256
// Within a block the writer's __threadfence() and the reader's __threadfence_block() are enough.
extern "C" __global__ void pass(int *data, volatile int *flags, int *out) {
    int t = threadIdx.x, b = blockIdx.x;
    if (t < 32) {
        data[b * 32 + t] = t;
        __threadfence();
        __syncwarp();
        if (t == 0) flags[b] = 1;
    } else {
        while (flags[b] == 0) {}
        __threadfence_block();
        out[b * 32 + t - 32] = data[b * 32 + 63 - t];
    }
}
