// What `make bench-emulator` times: each kernel is a shape of work that the chapters use.

// One block sums 256 floats in shared memory, halving the number of threads at work at every step.
extern "C" __global__ void tree(const float *in, float *out) {
    __shared__ float tile[256];
    unsigned t = threadIdx.x;
    tile[t] = in[blockIdx.x * 256 + t];
    __syncthreads();
    for (unsigned half = 128; half > 0; half /= 2) {
        if (t < half) tile[t] += tile[t + half];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = tile[0];
}

__device__ void add_up(float x, float *out) {
    __shared__ float tile[256];
    tile[threadIdx.x] = x;
    __syncthreads();
    for (unsigned half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half) tile[threadIdx.x] += tile[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = tile[0];
}

// Four floats a load; a grid of any size takes them all.
extern "C" __global__ void vector_sum(const float4 *in, float *out, unsigned quads) {
    float sum = 0;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < quads; i += gridDim.x * blockDim.x) {
        float4 x = in[i];
        sum += x.x + x.y + x.z + x.w;
    }
    add_up(sum, out);
}

extern "C" __global__ void stride_sum(const float *in, float *out, unsigned n) {
    float sum = 0;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += in[i];
    add_up(sum, out);
}

// Every warp adds up 32 floats in registers.
extern "C" __global__ void shuffle_sum(const float *in, float *out) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = in[i];
    for (int step = 16; step > 0; step /= 2) x += __shfl_down_sync(0xffffffff, x, step);
    if (threadIdx.x % 32 == 0) out[i / 32] = x;
}

// A square matrix through tiles of 32 by 32, a word of padding a row; 8 rows of threads.
extern "C" __global__ void transpose(const float *in, float *out, unsigned side) {
    __shared__ float tile[32][33];
    unsigned x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (unsigned row = 0; row < 32; row += 8) tile[threadIdx.y + row][threadIdx.x] = in[(y + row) * side + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (unsigned row = 0; row < 32; row += 8) out[(y + row) * side + x] = tile[threadIdx.x][threadIdx.y + row];
}

extern "C" __global__ void single_thread(const float *in, float *out, unsigned n) {
    float sum = 0;
    for (unsigned i = 0; i < n; i++) sum += in[i];
    *out = sum;
}
