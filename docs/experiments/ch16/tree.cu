// EXPERIMENT: A block of 256 threads scans 256 floats in shared memory, in eight steps in which every thread adds, and up and down a tree.
// RUN: for kernel in steps tree; do build/bin/emulate $PTX $kernel --grid 1 --block 256 --arg buf:1024:zero --arg buf:1024 --profile | grep -E '^(instructions|thread_instructions|barriers)'; done
// SHOWS: barriers 72 instructions
// SHOWS: barriers 144
extern "C" __global__ void steps(const float *in, float *out) {
    __shared__ float sums[2][256];
    int t = threadIdx.x, now = 0;
    sums[0][t] = in[t];
    __syncthreads();
    for (int distance = 1; distance < 256; distance *= 2) {
        sums[1 - now][t] = t >= distance ? sums[now][t] + sums[now][t - distance] : sums[now][t];
        now = 1 - now;
        __syncthreads();
    }
    out[t] = sums[now][t];
}

// Blelloch: 255 additions up the tree and 255 down, in place of 1,793.
extern "C" __global__ void tree(const float *in, float *out) {
    __shared__ float sums[256];
    int t = threadIdx.x;
    sums[t] = in[t];
    __syncthreads();
    for (int distance = 1; distance < 256; distance *= 2) {
        int right = (t + 1) * 2 * distance - 1;
        if (right < 256) {
            sums[right] += sums[right - distance];
        }
        __syncthreads();
    }
    if (t == 0) {
        sums[255] = 0.0f;
    }
    __syncthreads();
    for (int distance = 128; distance > 0; distance /= 2) {
        int right = (t + 1) * 2 * distance - 1;
        if (right < 256) {
            float left = sums[right - distance];
            sums[right - distance] = sums[right];
            sums[right] += left;
        }
        __syncthreads();
    }
    out[t] = sums[t];
}
