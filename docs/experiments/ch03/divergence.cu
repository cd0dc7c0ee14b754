// EXPERIMENT: The largest of 64 values, by a tree through memory and by shuffles. A counter of 0 is not printed.
// RUN: build/bin/emulate $PTX neighbours --grid 1 --block 64 --arg buf:256:zero --profile | grep -e '^instr' -e '^branch_d'
// RUN: build/bin/emulate $PTX halves --grid 1 --block 64 --arg buf:256:zero --profile | grep -e '^instr' -e '^branch_d'
// RUN: build/bin/emulate $PTX shuffles --grid 1 --block 64 --arg buf:256:zero --profile | grep -e '^instr' -e '^branch_d'
// SHOWS: branch_divergent 11 instructions 74 branch_divergent 5 instructions
extern "C" __global__ void neighbours(float *tree) {
    int t = threadIdx.x;
    for (int stride = 1; stride < 64; stride *= 2) {
        if (t % (2 * stride) == 0) {
            tree[t] = fmaxf(tree[t], tree[t + stride]);
        }
        __syncthreads();
    }
}

extern "C" __global__ void halves(float *tree) {
    int t = threadIdx.x;
    for (int stride = 32; stride > 0; stride /= 2) {
        if (t < stride) {
            tree[t] = fmaxf(tree[t], tree[t + stride]);
        }
        __syncthreads();
    }
}

extern "C" __global__ void shuffles(float *tree) {
    float largest = tree[threadIdx.x];
    for (int bit = 1; bit < 32; bit *= 2) {
        largest = fmaxf(largest, __shfl_xor_sync(0xffffffff, largest, bit));
    }
    tree[threadIdx.x] = largest;
}
