// Scans in one launch with decoupled look-back, which differ in how a block tells the others its sums, and how they read
// them. `state`: 1 + gridDim.x words, 0 before the launch: the number of the next tile, and what each tile has told.
#include "warp_block.cuh"

enum Told { NOTHING, SUM, PREFIX };

template <bool BY_ATOMICS> __device__ void tell(unsigned long long *state, Told what, float value) {
    unsigned long long word = (unsigned long long)what << 32 | __float_as_uint(value);
    if (BY_ATOMICS) {
        atomicExch(state, word);
    } else {
        *(volatile unsigned long long *)state = word;
    }
}

template <bool BY_ATOMICS> __device__ unsigned long long read(unsigned long long *state) {
    return BY_ATOMICS ? atomicAdd(state, 0ull) : *(volatile unsigned long long *)state;
}

__device__ float scan_of_warp(float value) {
    for (int distance = 1; distance < 32; distance *= 2) {
        float other = __shfl_up_sync(0xffffffff, value, distance);
        value += threadIdx.x % 32 >= distance ? other : 0.0f;
    }
    return value;
}

// The sum of all tiles before `tile`, in every lane of a warp.
template <bool READS_BY_ATOMICS> __device__ float look_back(unsigned long long *of_tile, int tile) {
    float sum = 0.0f;
    for (int end = tile; end > 0; end -= 32) {
        int other = end - 1 - threadIdx.x % 32;
        unsigned long long word;
        unsigned prefixes, missing, nearer;
        do {
            word = other >= 0 ? read<READS_BY_ATOMICS>(&of_tile[other]) : 0;
            prefixes = __ballot_sync(0xffffffff, word >> 32 == PREFIX);
            missing = __ballot_sync(0xffffffff, word >> 32 == NOTHING);
            nearer = (prefixes & -prefixes) - 1;
        } while (missing & nearer);
        float part = threadIdx.x % 32 <= __popc(nearer) ? __uint_as_float((unsigned)word) : 0.0f;
        for (int distance = 16; distance > 0; distance /= 2) {
            part += __shfl_xor_sync(0xffffffff, part, distance);
        }
        sum += part;
        if (prefixes) {
            break;
        }
    }
    return sum;
}

// A tile is BLOCK x GROUPS x 4 floats, kept in registers. n: a multiple of 4.
template <int BLOCK, int GROUPS, bool TELLS_BY_ATOMICS, bool READS_BY_ATOMICS>
__device__ void scan_tile(const float4 *in, float4 *out, unsigned long long *state, int n) {
    __shared__ float of_warp[32], before_warp[32];
    __shared__ int tile_of_block;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (threadIdx.x == 0) {
        tile_of_block = (int)atomicAdd(state, 1ull);
    }
    __syncthreads();
    int tile = tile_of_block, first = (tile * BLOCK + warp * 32) * GROUPS + lane;
    float4 x[GROUPS];
    float sum = 0.0f, before[GROUPS];
    for (int k = 0; k < GROUPS; k++) {
        x[k] = first + 32 * k < n / 4 ? in[first + 32 * k] : float4{};
    }
    for (int k = 0; k < GROUPS; k++) {
        float upto = scan_of_warp(sum_of(x[k]));
        before[k] = sum + upto - sum_of(x[k]);
        sum += __shfl_sync(0xffffffff, upto, 31);
    }
    if (lane == 0) {
        of_warp[warp] = sum;
    }
    __syncthreads();
    if (warp == 0) {
        float upto = scan_of_warp(lane < BLOCK / 32 ? of_warp[lane] : 0.0f);
        float all = __shfl_sync(0xffffffff, upto, 31);
        if (lane == 0 && tile > 0) {
            tell<TELLS_BY_ATOMICS>(&state[1 + tile], SUM, all);
        }
        float before_tile = look_back<READS_BY_ATOMICS>(state + 1, tile);
        if (lane == 0) {
            tell<TELLS_BY_ATOMICS>(&state[1 + tile], PREFIX, before_tile + all);
        }
        float nearest = __shfl_up_sync(0xffffffff, upto, 1);
        before_warp[lane] = before_tile + (lane == 0 ? 0.0f : nearest);
    }
    __syncthreads();
    for (int k = 0; k < GROUPS; k++) {
        float4 y = x[k];
        y.x += before_warp[warp] + before[k];
        y.y += y.x;
        y.z += y.y;
        y.w += y.z;
        if (first + 32 * k < n / 4) {
            out[first + 32 * k] = y;
        }
    }
}

#define SCAN(name, block, groups, tells, reads)                                                                        \
    extern "C" __global__ void __launch_bounds__(block)                                                                \
    name(const float4 *in, float4 *out, unsigned long long *state, int n) {                                            \
        scan_tile<block, groups, tells, reads>(in, out, state, n);                                                     \
    }
SCAN(look_back_volatile, 512, 4, false, false)
SCAN(look_back_exchanged, 512, 4, true, false)
SCAN(look_back_read_by_atomics, 512, 4, false, true)
SCAN(look_back_volatile_256, 256, 2, false, false)
SCAN(look_back_exchanged_256, 256, 2, true, false)
