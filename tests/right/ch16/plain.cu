// RIGHT: plain - tiles of 8,192 floats, and a warp that looks back at 32 of them at a time
#include "warpbook.cuh"

const unsigned ALL_LANES = 0xffffffff;

template <typename T>
__device__ T scan_of_warp(T value) {
    int lane = threadIdx.x % 32;
    for (int distance = 1; distance < 32; distance *= 2) {
        T other = __shfl_up_sync(ALL_LANES, value, distance);
        if (lane >= distance) {
            value += other;
        }
    }
    return value;
}

LAUNCH(scan_warp) {
    launch->block = 32;
    launch->grid = 1;
}

__global__ void scan_warp(const int *in, int *out, int n) {
    int carry = 0;
    for (int first = 0; first < n; first += 32) {
        int i = first + threadIdx.x;
        int sum = carry + scan_of_warp(i < n ? in[i] : 0);
        if (i < n) {
            out[i] = sum;
        }
        carry = __shfl_sync(ALL_LANES, sum, 31);
    }
}

template <typename T>
__device__ void scan_piece(const T *in, T *out, int first, int end, T before) {
    __shared__ T sum_of[32];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (; first < end; first += blockDim.x) {
        int i = first + threadIdx.x;
        T value = i < end ? in[i] : 0;
        T sum = scan_of_warp(value);
        if (lane == 31) {
            sum_of[warp] = sum;
        }
        __syncthreads();
        if (warp == 0) {
            sum_of[lane] = scan_of_warp(lane < blockDim.x / 32 ? sum_of[lane] : 0);
        }
        sum = __shfl_up_sync(ALL_LANES, sum, 1);
        if (lane == 0) {
            sum = 0;
        }
        __syncthreads();
        if (warp > 0) {
            sum += sum_of[warp - 1];
        }
        if (i < end) {
            out[i] = before + sum;
        }
        before += sum_of[31];
        __syncthreads();
    }
}

LAUNCH(scan_block) {
    launch->block = 1024;
    launch->grid = 1;
}

__global__ void scan_block(const float *in, float *out, int n) {
    scan_piece(in, out, 0, n, 0.0f);
}

const int TILE = 4096;

LAUNCH(sum_tiles) {
    launch->block = 256;
    launch->grid = max(1, ceil_div(n, TILE));
}

LAUNCH(scan_sums) {
    launch->block = 1024;
    launch->grid = 1;
}

LAUNCH(scan_tiles) {
    launch->block = 512;
    launch->grid = max(1, ceil_div(n, TILE));
}

__global__ void sum_tiles(const int *in, int *sums, int n) {
    __shared__ int sum_of[8];
    int first = blockIdx.x * TILE, end = min(n, first + TILE), sum = 0;
    for (int i = first + threadIdx.x; i < end; i += 256) {
        sum += in[i];
    }
    for (int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_down_sync(ALL_LANES, sum, distance);
    }
    if (threadIdx.x % 32 == 0) {
        sum_of[threadIdx.x / 32] = sum;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int warp = 1; warp < 8; warp++) {
            sum += sum_of[warp];
        }
        sums[blockIdx.x] = sum;
    }
}

__global__ void scan_sums(int *sums, int tiles) {
    scan_piece(sums, sums, 0, tiles, 0);
}

__global__ void scan_tiles(const int *in, int *out, const int *sums, int n) {
    int first = blockIdx.x * TILE, end = min(n, first + TILE);
    scan_piece(in, out, first, end, sums[blockIdx.x]);
}

const int BLOCK = 512;
const int GROUPS = 4;
const int LONG_TILE = BLOCK * GROUPS * 4;

LAUNCH(scan_once) {
    launch->block = BLOCK;
    launch->grid = max(1, ceil_div(n, LONG_TILE));
}

enum { NOTHING, SUM, PREFIX };

__device__ void publish(unsigned long long *state, unsigned flag, float value) {
    atomicExch(state, (unsigned long long)flag << 32 | __float_as_uint(value));
}

__device__ float sum_of_warp(float value) {
    for (int distance = 16; distance > 0; distance /= 2) {
        value += __shfl_xor_sync(ALL_LANES, value, distance);
    }
    return value;
}

__device__ float look_back(const unsigned long long *state_of, int tile) {
    int lane = threadIdx.x % 32;
    float sum = 0.0f;
    for (int end = tile; end > 0; end -= 32) {
        int other = end - 1 - lane;
        unsigned long long state;
        unsigned is_prefix, is_missing, is_nearer;
        do {
            state = other >= 0 ? ((const volatile unsigned long long *)state_of)[other] : 0;
            is_prefix = __ballot_sync(ALL_LANES, state >> 32 == PREFIX);
            is_missing = __ballot_sync(ALL_LANES, state >> 32 == NOTHING);
            is_nearer = (is_prefix & -is_prefix) - 1;
        } while (is_missing & is_nearer);
        bool counts = lane <= __popc(is_nearer);
        sum += sum_of_warp(counts ? __uint_as_float((unsigned)state) : 0.0f);
        if (is_prefix) {
            break;
        }
    }
    return sum;
}

__device__ float4 load_end(const float *in, int i, int n) {
    return make_float4(i < n ? in[i] : 0.0f, i + 1 < n ? in[i + 1] : 0.0f, i + 2 < n ? in[i + 2] : 0.0f, 0.0f);
}

__device__ void store_end(float *out, int i, int n, float4 group) {
    if (i < n) {
        out[i] = group.x;
    }
    if (i + 1 < n) {
        out[i + 1] = group.y;
    }
    if (i + 2 < n) {
        out[i + 2] = group.z;
    }
}

__global__ void __launch_bounds__(BLOCK) scan_once(const float *in, float *out, unsigned long long *state, int n) {
    __shared__ int tile_of_block;
    __shared__ float sum_of[32], before_warp[32];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (threadIdx.x == 0) {
        tile_of_block = atomicAdd((unsigned *)state, 1);
    }
    __syncthreads();
    int tile = tile_of_block;
    unsigned long long *state_of = state + 1;

    int first = tile * LONG_TILE + warp * 128 * GROUPS + 4 * lane;
    bool is_whole = n - tile * LONG_TILE >= LONG_TILE;
    float4 x[GROUPS];
    for (int k = 0; k < GROUPS; k++) {
        int i = first + 128 * k;
        x[k] = is_whole || i + 4 <= n ? *(const float4 *)(in + i) : load_end(in, i, n);
    }

    float before[GROUPS];
    float sum = 0.0f;
    for (int k = 0; k < GROUPS; k++) {
        x[k].y += x[k].x;
        x[k].z += x[k].y;
        x[k].w += x[k].z;
        float upto = scan_of_warp(x[k].w);
        before[k] = __shfl_up_sync(ALL_LANES, upto, 1);
        before[k] = lane == 0 ? sum : sum + before[k];
        sum += __shfl_sync(ALL_LANES, upto, 31);
    }
    if (lane == 0) {
        sum_of[warp] = sum;
    }
    __syncthreads();

    if (warp == 0) {
        float upto = scan_of_warp(lane < BLOCK / 32 ? sum_of[lane] : 0.0f);
        float all = __shfl_sync(ALL_LANES, upto, 31);
        if (lane == 0 && tile > 0) {
            publish(&state_of[tile], SUM, all);
        }
        float before_tile = look_back(state_of, tile);
        if (lane == 0) {
            publish(&state_of[tile], PREFIX, before_tile + all);
        }
        upto = __shfl_up_sync(ALL_LANES, upto, 1);
        before_warp[lane] = lane == 0 ? before_tile : before_tile + upto;
    }
    __syncthreads();

    for (int k = 0; k < GROUPS; k++) {
        int i = first + 128 * k;
        float base = before_warp[warp] + before[k];
        float4 y = make_float4(base + x[k].x, base + x[k].y, base + x[k].z, base + x[k].w);
        if (is_whole || i + 4 <= n) {
            *(float4 *)(out + i) = y;
        } else {
            store_end(out, i, n, y);
        }
    }
}
