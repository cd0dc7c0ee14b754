// Sums of doubles: arithmetic, divisions, roots, shared memory, loads in flight, divergence, resident blocks.
//
// in: n doubles. partial: one double for each block.
__device__ inline double sum_of_block(double value) {
    __shared__ double sum_of[32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int distance = 16; distance > 0; distance /= 2) value += __shfl_down_sync(0xffffffff, value, distance);
    if (lane == 0) sum_of[warp] = value;
    __syncthreads();
    value = lane < blockDim.x / 32 ? sum_of[lane] : 0.0;
    for (int distance = 16; distance > 0; distance /= 2) value += __shfl_down_sync(0xffffffff, value, distance);
    return value;
}
__device__ inline void leave_sum(double sum, double *partial) {
    sum = sum_of_block(sum);
    if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}
// 1.0 and 0.0 that the compiler does not know.
__device__ inline double one_of(int n) { return n >= 0 ? 1.0 : 2.0; }
__device__ inline double zero_of(int n) { return n >= 0 ? 0.0 : 1.0; }

#define KERNEL(name) extern "C" __global__ void name(const double *in, double *partial, int n)
#define EACH_ELEMENT(i)                                                                                      \
    _Pragma("unroll 1") for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;                           \
                             i += gridDim.x * blockDim.x)

KERNEL(doubles_plain) {
    double sum = 0.0;
    EACH_ELEMENT(i) sum += in[i];
    leave_sum(sum, partial);
}
template <int LOADS> __device__ void in_a_row(const double *in, double *partial, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    double sum = 0.0;
#pragma unroll 1
    for (long long first = thread; first < n; first += (long long)LOADS * threads) {
        double value[LOADS];
#pragma unroll
        for (int k = 0; k < LOADS; k++) {
            long long i = first + (long long)k * threads;
            value[k] = i < n ? in[i] : 0.0;
        }
#pragma unroll
        for (int k = 0; k < LOADS; k++) sum += value[k];
    }
    leave_sum(sum, partial);
}
KERNEL(doubles_2) { in_a_row<2>(in, partial, n); }
KERNEL(doubles_4) { in_a_row<4>(in, partial, n); }
KERNEL(doubles_pairs) {
    double sum = 0.0;
    const double2 *pair = (const double2 *)in;
#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n / 2; i += gridDim.x * blockDim.x) {
        double2 two = pair[i];
        sum += two.x + two.y;
    }
    leave_sum(sum, partial);
}
template <int DEPTH, int CHAINS> __device__ void chains(const double *in, double *partial, int n) {
    double one = one_of(n), zero = zero_of(n), sum = 0.0;
    EACH_ELEMENT(i) {
        double value[CHAINS] = {in[i]};
#pragma unroll
        for (int k = 1; k < CHAINS; k++) value[k] = value[0] * zero;
#pragma unroll
        for (int k = 0; k < DEPTH; k++) value[k % CHAINS] = fma(value[k % CHAINS], one, zero);
#pragma unroll
        for (int k = 0; k < CHAINS; k++) sum += value[k];
    }
    leave_sum(sum, partial);
}
KERNEL(doubles_fma_8) { chains<8, 1>(in, partial, n); }
KERNEL(doubles_fma_32) { chains<32, 1>(in, partial, n); }
KERNEL(doubles_fma_128) { chains<128, 1>(in, partial, n); }
KERNEL(doubles_fma_32_in_4) { chains<32, 4>(in, partial, n); }
KERNEL(doubles_divide) {
    double one = one_of(n), sum = 0.0;
    EACH_ELEMENT(i) sum += in[i] / one;
    leave_sum(sum, partial);
}
KERNEL(doubles_divide_4) {
    double one = one_of(n), sum = 0.0;
    EACH_ELEMENT(i) {
        double value = in[i];
#pragma unroll
        for (int k = 0; k < 4; k++) value = value / one;
        sum += value;
    }
    leave_sum(sum, partial);
}
KERNEL(doubles_root) {
    double sum = 0.0;
    EACH_ELEMENT(i) {
        double value = in[i];
        sum += copysign(sqrt(value * value), value);
    }
    leave_sum(sum, partial);
}
KERNEL(doubles_reciprocal) {
    double one = one_of(n), zero = zero_of(n), sum = 0.0;
    EACH_ELEMENT(i) {
        double value = in[i];
        sum += fma(1.0 / (value * value + one), zero, value);
    }
    leave_sum(sum, partial);
}
KERNEL(doubles_convert) {
    double sum = 0.0;
    EACH_ELEMENT(i) {
        float narrow = (float)in[i];
        int whole = (int)narrow;
        sum += (double)whole;
    }
    leave_sum(sum, partial);
}
template <int STRIDE> __device__ void banks(const double *in, double *partial, int n) {
    __shared__ double slot[8][32 * STRIDE];
    int lane = threadIdx.x % 32, steps = (n + gridDim.x * blockDim.x - 1) / (gridDim.x * blockDim.x);
    double *mine = slot[threadIdx.x / 32], sum = 0.0;
#pragma unroll 1
    for (int step = 0; step < steps; step++) {
        int i = (step * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x;
        mine[lane * STRIDE] = i < n ? in[i] : 0.0;
        __syncwarp();
        sum += mine[(lane ^ 1) * STRIDE];
        __syncwarp();
    }
    leave_sum(sum, partial);
}
KERNEL(doubles_bank_1) { banks<1>(in, partial, n); }
KERNEL(doubles_bank_4) { banks<4>(in, partial, n); }
KERNEL(doubles_bank_8) { banks<8>(in, partial, n); }
KERNEL(doubles_crowded) {
    extern __shared__ double room[];
    double sum = 0.0;
    EACH_ELEMENT(i) sum += in[i];
    if (n < 0) room[threadIdx.x] = sum; // never: so that the room is used
    leave_sum(sum, partial);
}
KERNEL(doubles_chunk) {
    long long thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    int end = (int)((thread + 1) * n / threads);
    double sum = 0.0;
#pragma unroll 1
    for (int i = (int)(thread * n / threads); i < end; i++) sum += in[i];
    leave_sum(sum, partial);
}
KERNEL(doubles_tree) {
    __shared__ double tree[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tree[threadIdx.x] = i < n ? in[i] : 0.0;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half) tree[threadIdx.x] += tree[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) partial[blockIdx.x] = tree[0];
}
// WAYS paths of 24 dependent multiply-adds: the lanes of a warp take all of them, or whole warps one each.
#define PATH(p)                                                                                              \
    case p:                                                                                                  \
        _Pragma("unroll") for (int k = 0; k < 24; k++) asm volatile("fma.rn.f64 %0, %0, %1, %2; // " #p      \
                                                                    : "+d"(value)                            \
                                                                    : "d"(one), "d"(zero));                  \
        break;
#define DIVERGE(name, path_of)                                                                               \
    KERNEL(name) {                                                                                           \
        double one = one_of(n), zero = zero_of(n), sum = 0.0;                                                \
        int path = path_of;                                                                                  \
        EACH_ELEMENT(i) {                                                                                    \
            double value = in[i];                                                                            \
            switch (path) { PATH(0) PATH(1) PATH(2) PATH(3) }                                                \
            sum += value;                                                                                    \
        }                                                                                                    \
        leave_sum(sum, partial);                                                                             \
    }
DIVERGE(doubles_paths_apart, threadIdx.x / 32 % 4)
DIVERGE(doubles_paths_2, threadIdx.x % 2)
DIVERGE(doubles_paths_4, threadIdx.x % 4)
