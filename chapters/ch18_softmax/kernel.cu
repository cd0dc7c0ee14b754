// Chapter 18: softmax and layer norm.
//
// The softmax of a row x turns any numbers into shares of 1: element i becomes e^x[i] divided by the sum of e^x[j]
// over the row. A layer norm subtracts the mean of a row from each element and divides by the standard deviation.
// Both need something of the whole row before the first element can be written: what is kept of the row in the
// meantime, and where, decides how fast they are.
//
// Rows follow each other without gaps and may have any length up to 16,384. Arrays begin at multiples of 256
// bytes, as cudaMalloc gives them.
#include "warpbook.cuh"

#include <cuda_bf16.h>
#include <float.h>

const unsigned ALL_LANES = 0xffffffff;

struct Maximum {
    static __device__ float of_none() { return -INFINITY; }
    static __device__ float of(float a, float b) { return fmaxf(a, b); }
};

struct Sum {
    static __device__ float of_none() { return 0.0f; }
    static __device__ float of(float a, float b) { return a + b; }
};

// The maxima or sums over all threads of a row, in each of them, for COUNT rows at a time. The threads are threadIdx.x of
// a block: 8, 16 or 32 lanes, or several warps, and then the block has no other rows. `of_warp`: room for a float for each
// warp and row.
template <typename What, int COUNT> __device__ void over_rows(float (&values)[COUNT], float (*of_warp)[32]) {
    for (int distance = 16; distance > 0; distance /= 2) {
        if (distance < blockDim.x) {
            for (int r = 0; r < COUNT; r++) {
                values[r] = What::of(values[r], __shfl_xor_sync(ALL_LANES, values[r], distance));
            }
        }
    }
    int warps = blockDim.x / 32, lane = threadIdx.x % 32;
    if (warps > 1) {
        if (lane == 0) {
            for (int r = 0; r < COUNT; r++) {
                of_warp[r][threadIdx.x / 32] = values[r];
            }
        }
        __syncthreads();
        for (int r = 0; r < COUNT; r++) {
            values[r] = lane < warps ? of_warp[r][lane] : What::of_none();
        }
        for (int distance = 16; distance > 0; distance /= 2) {
            if (distance < warps) {
                for (int r = 0; r < COUNT; r++) {
                    values[r] = What::of(values[r], __shfl_xor_sync(ALL_LANES, values[r], distance));
                }
            }
        }
        for (int r = 0; r < COUNT; r++) {
            values[r] = __shfl_sync(ALL_LANES, values[r], 0);
        }
    }
}

// The same for one row.
template <typename What> __device__ float over_row(float value, float (*of_warp)[32]) {
    float values[1] = {value};
    over_rows<What>(values, of_warp);
    return values[0];
}

// Whole warps, of which each thread has at least one element, and up to four if there are so many.
__device__ long long threads_for(long long columns) {
    return 32 * max(1, min(8, ceil_div(columns, 128)));
}

// A block a row: softmax_three_passes<<<rows, up to 256>>>(in, out, rows, columns)
LAUNCH(softmax_three_passes) {
    launch->block = threads_for(columns);
    launch->grid = rows;
}

__global__ void softmax_three_passes(const float *in, float *out, int rows, int columns) {
    __shared__ float maximum_of[1][32], sum_of[1][32];
    const float *x = in + (long long)blockIdx.x * columns;
    float *y = out + (long long)blockIdx.x * columns;

    // TODO 1: e^89 is more than a float holds. Which number can be subtracted from all elements of a row without
    //         changing a single share? One pass over the row finds it, a second one the sum, a third one the shares.
    float maximum = over_row<Maximum>(0.0f, maximum_of);

    float sum = 0.0f;
    for (int i = threadIdx.x; i < columns; i += blockDim.x) {
        sum += __expf(x[i] - maximum);
    }
    sum = over_row<Sum>(sum, sum_of);

    float factor = 1.0f / sum;
    for (int i = threadIdx.x; i < columns; i += blockDim.x) {
        y[i] = __expf(x[i] - maximum) * factor;
    }
}

// What is known of a part of a row: its maximum, and the sum of e^(x - maximum) over its elements.
struct Part {
    float maximum, sum;
};

__device__ Part combine(Part a, Part b) {
    // TODO 2: the parts have different maxima. By which factor does each sum change if the larger one is subtracted
    //         in both?
    return {fmaxf(a.maximum, b.maximum), a.sum + b.sum};
}

__device__ Part of_warp(Part part) {
    for (int distance = 16; distance > 0; distance /= 2) {
        part = combine(part, {__shfl_xor_sync(ALL_LANES, part.maximum, distance),
                              __shfl_xor_sync(ALL_LANES, part.sum, distance)});
    }
    return part;
}

// A block a row: softmax_online<<<rows, up to 256>>>(in, out, rows, columns)
LAUNCH(softmax_online) {
    launch->block = threads_for(columns);
    launch->grid = rows;
}

__global__ void softmax_online(const float *in, float *out, int rows, int columns) {
    __shared__ Part part_of[32];
    const float *x = in + (long long)blockIdx.x * columns;
    float *y = out + (long long)blockIdx.x * columns;

    // A part of no elements. Its maximum is finite, since infinity - infinity is not 0.
    const Part nothing = {-FLT_MAX, 0.0f};
    Part part = nothing;
    // TODO 3: one pass finds maximum and sum. An element is a part, too.
    part = of_warp(part);
    int warps = blockDim.x / 32, lane = threadIdx.x % 32;
    if (lane == 0) {
        part_of[threadIdx.x / 32] = part;
    }
    __syncthreads();
    part = of_warp(lane < warps ? part_of[lane] : Part(nothing));

    float factor = 1.0f / part.sum;
    for (int i = threadIdx.x; i < columns; i += blockDim.x) {
        y[i] = __expf(x[i] - part.maximum) * factor;
    }
}

// A bfloat16 is the upper half of a float.
__device__ float to_float(__nv_bfloat16 x) {
    return __uint_as_float((unsigned)__bfloat16_as_ushort(x) << 16);
}

__device__ float to_float(float x) {
    return x;
}

// Neighbours that one load brings: 16 bytes if there are four floats or eight bfloat16 of them.
template <typename Element, int EACH> struct alignas(EACH * sizeof(Element)) Group {
    Element of[EACH];
};

// Group k of this thread in a row.
__device__ int group_of(int k) {
    return k * blockDim.x + threadIdx.x;
}

// Loads this thread's groups of a row, and `filler` in place of those beyond its end. columns: a multiple of EACH. No load
// waits for another: what the groups hold is not looked at here.
template <int EACH, typename Element, int COUNT>
__device__ void load_groups(const Element *row, int columns, Element filler, Element (&x)[COUNT]) {
#pragma unroll
    for (int k = 0; k < COUNT / EACH; k++) {
        Group<Element, EACH> group;
        for (int j = 0; j < EACH; j++) {
            group.of[j] = filler;
        }
        if (group_of(k) < columns / EACH) {
            group = ((const Group<Element, EACH> *)row)[group_of(k)];
        }
        for (int j = 0; j < EACH; j++) {
            x[k * EACH + j] = group.of[j];
        }
    }
}

// Stores group k, each element rounded once to the type of the row.
template <int EACH, typename Element> __device__ void store_group(Element *row, int k, const float *x) {
    Group<Element, EACH> group;
    for (int j = 0; j < EACH; j++) {
        group.of[j] = (Element)x[j];
    }
    ((Group<Element, EACH> *)row)[group_of(k)] = group;
}

// Elements that 16 bytes hold.
template <typename Element> __device__ constexpr int wide() {
    return 16 / sizeof(Element);
}

// A row in the registers of its threads, up to COUNT elements in each. is_wide: 16 bytes are loaded at once.
template <typename Element, int COUNT>
__device__ void load_row(const Element *row, int columns, bool is_wide, float filler, Element (&x)[COUNT]) {
    if (is_wide) {
        load_groups<wide<Element>()>(row, columns, (Element)filler, x);
    } else {
        load_groups<1>(row, columns, (Element)filler, x);
    }
}

template <int EACH, typename Element, int COUNT>
__device__ void store_groups(Element *row, int columns, const float (&x)[COUNT]) {
#pragma unroll
    for (int k = 0; k < COUNT / EACH; k++) {
        if (group_of(k) < columns / EACH) {
            store_group<EACH>(row, k, &x[k * EACH]);
        }
    }
}

template <int COUNT, typename Element>
__device__ void softmax_of_row(const Element *in, Element *out, int columns, bool is_wide) {
    __shared__ float maximum_of[1][32], sum_of[1][32];
    Element loaded[COUNT];
    load_row(in, columns, is_wide, -INFINITY, loaded);
    float x[COUNT];
    for (int k = 0; k < COUNT; k++) {
        x[k] = to_float(loaded[k]);
    }
    // TODO 4: the same steps as in three passes, on registers. Each power is computed once.
    float maximum = over_row<Maximum>(x[0], maximum_of), sum = over_row<Sum>(__expf(x[0] - maximum), sum_of);
    for (int k = 0; k < COUNT; k++) {
        x[k] = __expf(x[k] - maximum) / sum;
    }
    if (is_wide) {
        store_groups<wide<Element>()>(out, columns, x);
    } else {
        store_groups<1>(out, columns, x);
    }
}

template <int COUNT, typename Element>
__device__ void softmax_in_registers(const Element *in, Element *out, int rows, int columns) {
    int row = blockIdx.x * blockDim.y + threadIdx.y;
    in += (long long)row * columns;
    out += (long long)row * columns;
    // TODO 5: when may a thread load and store wide<Element>() elements, 16 bytes, at once? Rows of other lengths need
    //         single elements.
    bool is_wide = false;
    if (row >= rows) {
        columns = 0; // the lanes of a missing row take part in the shuffles of their warp
    }
    softmax_of_row<COUNT>(in, out, columns, is_wide);
}

// As many threads as a row needs, if each holds up to `items` of its elements. If one warp is enough, a block of 128
// threads has several rows.
__device__ void shape_for_rows(LaunchShape *launch, long long rows, long long columns, int items) {
    long long threads = 32 * max(1, ceil_div(columns, 32 * items));
    // TODO 6: a row of 128 elements fits into the registers of 8 lanes, and a warp can have four such rows. Which rows
    //         need 8 lanes, and which 16? Fewer than 8 would not load a line of 128 bytes at once.
    long long rows_of_block = threads > 32 ? 1 : 128 / threads;
    launch->block = dim3(threads, rows_of_block);
    launch->grid = ceil_div(rows, rows_of_block);
}

// Elements that a thread holds at most, of rows of floats and of bfloat16, and the longest row. Two of the largest blocks
// fit on an SM: 512 threads with 64 registers each, or 1,024 with 32. A row of bfloat16 has half the bytes, so there are
// twice as many threads.
const int ITEMS = 32, ITEMS_BFLOAT16 = 16, LONGEST_ROW = 16384;

// Some lanes or a block for a row: softmax_registers<<<..., dim3(threads of a row, rows of a block)>>>(in, out, ...)
LAUNCH(softmax_registers) {
    shape_for_rows(launch, rows, columns, ITEMS);
}

LAUNCH(softmax_bfloat16) {
    shape_for_rows(launch, rows, columns, ITEMS_BFLOAT16);
}

__global__ void __launch_bounds__(LONGEST_ROW / ITEMS, 2)
softmax_registers(const float *in, float *out, int rows, int columns) {
    softmax_in_registers<ITEMS>(in, out, rows, columns);
}

__global__ void __launch_bounds__(LONGEST_ROW / ITEMS_BFLOAT16, 2)
softmax_bfloat16(const __nv_bfloat16 *in, __nv_bfloat16 *out, int rows, int columns) {
    softmax_in_registers<ITEMS_BFLOAT16>(in, out, rows, columns);
}

// Layer norm: y = (x - mean) / sqrt(variance + EPSILON) * gamma + beta. The variance is the mean of the squares of
// (x - mean). gamma and beta have a float for each column.
const float EPSILON = 1e-5f;

// Stores this thread's groups of EACH elements of all rows. gamma and beta are loaded once for them.
template <int EACH, typename Element, int COUNT, int AT_ONCE>
__device__ void store_normalized(const Element (&x)[AT_ONCE][COUNT], const float *mean, const float *scale,
                                 const float *gamma, const float *beta, Element *out, long long row, int rows,
                                 int columns) {
    typedef Group<float, EACH> Weights;
#pragma unroll
    for (int k = 0; k < COUNT / EACH; k++) {
        if (group_of(k) < columns / EACH) {
            Weights factors = ((const Weights *)gamma)[group_of(k)], offsets = ((const Weights *)beta)[group_of(k)];
            for (int r = 0; r < AT_ONCE; r++) {
                float y[EACH];
                for (int j = 0; j < EACH; j++) {
                    y[j] = (to_float(x[r][k * EACH + j]) - mean[r]) * scale[r] * factors.of[j] + offsets.of[j];
                }
                if (row + r < rows) {
                    store_group<EACH>(out + (row + r) * columns, k, y);
                }
            }
        }
    }
}

// `row`: the first of AT_ONCE rows that this thread holds.
template <int COUNT, int AT_ONCE, typename Element>
__device__ void normalize_rows(const Element *in, const float *gamma, const float *beta, Element *out, long long row,
                               int rows, int columns, bool is_wide) {
    __shared__ float sums_of[AT_ONCE][32], squares_of[AT_ONCE][32];
    Element x[AT_ONCE][COUNT];
    float mean[AT_ONCE], scale[AT_ONCE];
    for (int r = 0; r < AT_ONCE; r++) {
        load_row(in + (row + r) * columns, row + r < rows ? columns : 0, is_wide, 0.0f, x[r]);
    }
    // x[r][k] is an element of its row if k < held.
    int each = is_wide ? wide<Element>() : 1;
    int held = each * ((columns / each - (int)threadIdx.x + (int)blockDim.x - 1) / (int)blockDim.x);
    // TODO 7: the mean first, then the variance from what the registers hold. Which of them must not count?
    for (int r = 0; r < AT_ONCE; r++) {
        mean[r] = 0 < held ? to_float(x[r][0]) : 0.0f;
        scale[r] = mean[r] * mean[r];
    }
    over_rows<Sum>(mean, sums_of);
    over_rows<Sum>(scale, squares_of);
    for (int r = 0; r < AT_ONCE; r++) {
        mean[r] /= columns;
        scale[r] = rsqrtf(scale[r] / columns + EPSILON);
    }
    if (is_wide) {
        store_normalized<wide<Element>()>(x, mean, scale, gamma, beta, out, row, rows, columns);
    } else {
        store_normalized<1>(x, mean, scale, gamma, beta, out, row, rows, columns);
    }
}

// Rows that a thread holds at once. Every row needs gamma and beta, and each load of them is for all rows at once.
template <typename Element> __device__ constexpr int rows_at_once() {
    // TODO 8: gamma and beta are as many bytes as a row of floats, read and written, and twice as many as a row of
    //         bfloat16. How many rows of each type should share a load? Registers must be left for them.
    return 1;
}

// Elements of a row that a thread holds: so few that two rows of bfloat16 fit into its registers. A row that
// needs more than 512 threads for that has more of them in each, so that two blocks fit on an SM. If it is loaded by single
// elements, it has 1,024 threads instead.
const int FEW = 16, MANY = 32;

template <typename Element> __device__ bool has_many(long long columns) {
    return columns > FEW * 512 && columns % wide<Element>() == 0;
}

template <typename Element>
__device__ void shape_for_norm(LaunchShape *launch, long long rows, long long columns) {
    if (has_many<Element>(columns)) {
        shape_for_rows(launch, rows, columns, MANY);
    } else {
        shape_for_rows(launch, ceil_div(rows, rows_at_once<Element>()), columns, FEW);
    }
}

template <typename Element>
__device__ void normalize(const Element *in, const float *gamma, const float *beta, Element *out, int rows,
                          int columns) {
    long long row = (long long)blockIdx.x * blockDim.y + threadIdx.y;
    if (has_many<Element>(columns)) {
        normalize_rows<MANY, 1>(in, gamma, beta, out, row, rows, columns, true);
    } else {
        // Here, too, as in TODO 5: 16 bytes at once where the row allows it.
        bool is_wide = false;
        const int AT_ONCE = rows_at_once<Element>();
        normalize_rows<FEW, AT_ONCE>(in, gamma, beta, out, row * AT_ONCE, rows, columns, is_wide);
    }
}

LAUNCH(layer_norm) {
    shape_for_norm<float>(launch, rows, columns);
}

LAUNCH(layer_norm_bfloat16) {
    shape_for_norm<__nv_bfloat16>(launch, rows, columns);
}

__global__ void __launch_bounds__(1024)
layer_norm(const float *in, const float *gamma, const float *beta, float *out, int rows, int columns) {
    normalize(in, gamma, beta, out, rows, columns);
}

__global__ void __launch_bounds__(1024)
layer_norm_bfloat16(const __nv_bfloat16 *in, const float *gamma, const float *beta, __nv_bfloat16 *out, int rows,
                    int columns) {
    normalize(in, gamma, beta, out, rows, columns);
}
