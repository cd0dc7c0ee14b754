// Chapter 19: matrix multiply.
//
// c = a * b: element (row, column) of c is the sum of a[row][d] * b[d][column] over d = 0 to k - 1. An element of a
// belongs to n sums and one of b to m. How often each of them is fetched, and from where, decides how fast it is.
//
// a: m x k floats, b: k x n, c: m x n, row after row, at multiples of 256 bytes, as cudaMalloc gives them. None of m, n
// and k need be a multiple of anything, and each may be 0. LAUNCH is given m as `rows` and n as `columns`.
#include <cuda_pipeline.h>

#include "warpbook.cuh"

// One element of c for each thread.
// matmul_naive<<<dim3(ceil_div(n, 32), ceil_div(m, 8)), dim3(32, 8)>>>(a, b, c, m, n, k)
LAUNCH(matmul_naive) {
    launch->block = dim3(32, 8);
    launch->grid = dim3(ceil_div(columns, 32), ceil_div(rows, 8));
}

__global__ void matmul_naive(const float *a, const float *b, float *c, int m, int n, int k) {
    // TODO 1: which of row and column should differ between neighbouring lanes? Then the sum of products.
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < m && column < n) {
        float sum = 0.0f;
        c[(long long)row * n + column] = sum;
    }
}

// A block computes a square of SIDE x SIDE elements of c. It goes along k in steps of SIDE: for each step the block
// copies a square of a and one of b to shared memory.
// matmul_tile<<<dim3(ceil_div(n, 32), ceil_div(m, 32)), dim3(32, 32)>>>(a, b, c, m, n, k)
const int SIDE = 32;

LAUNCH(matmul_tile) {
    launch->block = dim3(SIDE, SIDE);
    launch->grid = dim3(ceil_div(columns, SIDE), ceil_div(rows, SIDE));
}

__global__ void matmul_tile(const float *a, const float *b, float *c, int m, int n, int k) {
    __shared__ float tile_a[SIDE][SIDE], tile_b[SIDE][SIDE];
    int x = threadIdx.x, y = threadIdx.y;
    int row = blockIdx.y * SIDE + y, column = blockIdx.x * SIDE + x;
    float sum = 0.0f;
    for (int step = 0; step < k; step += SIDE) {
        // TODO 2: each thread copies one element of a and one of b. What has no element counts as 0. Then SIDE
        //         products. Where must the block wait?
        tile_a[y][x] = row < m && step + x < k ? a[(long long)row * k + step + x] : 0.0f;
        tile_b[y][x] = step + y < k && column < n ? b[(long long)(step + y) * n + column] : 0.0f;
        __syncthreads();
        sum += tile_a[y][0] * tile_b[0][x];
        __syncthreads();
    }
    if (row < m && column < n) {
        c[(long long)row * n + column] = sum;
    }
}

// A thread computes EACH x EACH elements of c, so that a value that it reads from shared memory serves EACH products.
// A block of 16 x 16 threads computes TILE x TILE elements and goes along k in steps of DEPTH. Thread (x, y) has rows
// y, y + 16, y + 32, ... of the tile and columns x, x + 16, x + 32, ...
// matmul_registers<<<dim3(ceil_div(n, 64), ceil_div(m, 64)), dim3(16, 16)>>>(a, b, c, m, n, k)
const int EACH = 4, TILE = 16 * EACH, DEPTH = 16;

LAUNCH(matmul_registers) {
    launch->block = dim3(16, 16);
    launch->grid = dim3(ceil_div(columns, TILE), ceil_div(rows, TILE));
}

__global__ void matmul_registers(const float *a, const float *b, float *c, int m, int n, int k) {
    __shared__ float tile_a[DEPTH][TILE + 2]; // column after column of a: tile_a[d][i] is element (i, d)
    __shared__ float tile_b[DEPTH][TILE];
    int x = threadIdx.x, y = threadIdx.y, thread = y * 16 + x;
    int top = blockIdx.y * TILE, left = blockIdx.x * TILE;
    float sums[EACH][EACH] = {};
    for (int step = 0; step < k; step += DEPTH) {
        for (int i = thread; i < TILE * DEPTH; i += 256) {
            int row = top + i / DEPTH, d = i % DEPTH;
            tile_a[d][i / DEPTH] = row < m && step + d < k ? a[(long long)row * k + step + d] : 0.0f;
        }
        for (int i = thread; i < DEPTH * TILE; i += 256) {
            int d = i / TILE, column = left + i % TILE;
            tile_b[d][i % TILE] = step + d < k && column < n ? b[(long long)(step + d) * n + column] : 0.0f;
        }
        __syncthreads();
        // TODO 3: for each d, read EACH values of a and EACH of b into registers, and add all EACH * EACH products.
        for (int d = 0; d < DEPTH; d++) {
            sums[0][0] += tile_a[d][y] * tile_b[d][x];
        }
        __syncthreads();
    }
    for (int i = 0; i < EACH; i++) {
        for (int j = 0; j < EACH; j++) {
            int row = top + y + 16 * i, column = left + x + 16 * j;
            if (row < m && column < n) {
                c[(long long)row * n + column] = sums[i][j];
            }
        }
    }
}

// The same with 16 bytes an access. A block computes HIGH x WIDE elements of c, a warp a part of 4 * THREAD_M rows and
// 8 * THREAD_N columns, and a thread THREAD_M x THREAD_N. Its rows and columns come in groups of four neighbours:
// lanes next to each other have groups of columns next to each other.
// matmul_vectors<<<ceil_div(m, 128) * ceil_div(n, 256), 256>>>(a, b, c, m, n, k)
const int HIGH = 128, WIDE = 256, DEEP = 16, THREAD_M = 8, THREAD_N = 16;
const int WARPS_N = WIDE / (8 * THREAD_N), THREADS = 32 * WARPS_N * (HIGH / (4 * THREAD_M));
const int LOADS_A = HIGH * DEEP / (4 * THREADS); // groups of four that a thread copies in each step
const int LOADS_B = WIDE * DEEP / (4 * THREADS);
const int TOGETHER = 8;                          // rows of tiles that are computed together, for the L2 cache

LAUNCH(matmul_vectors) {
    launch->block = THREADS;
    launch->grid = ceil_div(rows, HIGH) * ceil_div(columns, WIDE);
}

__device__ float4 load4(const float *from) {
    return *reinterpret_cast<const float4 *>(from);
}

// Copies four floats to shared memory, or zeros if there are none. The copy is under way until wait_for_copies().
__device__ void copy4(float *to, const float *from, bool exists) {
    __pipeline_memcpy_async(to, from, 16, exists ? 0 : 16);
}

__device__ void wait_for_copies() {
    __pipeline_commit();
    __pipeline_wait_prior(0);
}

// Four floats of a row of a, of which `count` exist; the others count as 0. VECTORS: all four exist, or none.
template <bool VECTORS>
__device__ float4 load_group(const float *from, int count) {
    float4 group = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    // TODO 4: with VECTORS one load of 16 bytes.
    if (count > 0) {
        group.x = from[0];
    }
    return group;
}

// A thread's groups of a's tile. Group i is in row row_of(i) of the tile, at depth_of(i) of the step: two neighbouring
// lanes read the 32 bytes of a sector, and the next two those of the row below.
__device__ int row_of(int i) {
    return i / 2 % HIGH;
}

__device__ int depth_of(int i) {
    return 4 * (i / 2 / HIGH * 2 + i % 2);
}

// The groups of the next step that this thread copies: where they are, and how far it is from there to the end of k. For
// groups outside the matrix, there is nothing left.
template <int LOADS> struct Next {
    const float *from[LOADS];
    int left[LOADS];
};

template <bool VECTORS>
__device__ void load_a(float4 (&groups)[LOADS_A], Next<LOADS_A> &next, int step) {
    for (int g = 0; g < LOADS_A; g++) {
        groups[g] = load_group<VECTORS>(next.from[g], next.left[g] - step);
        next.from[g] += DEEP;
    }
}

// Where element (row, d) of a is in row d of its tile. The element 4 to the right is stored at the same time.
__device__ int place_of(int row, int d) {
    // TODO 5: rows d and d + 4 of the tile begin at the same bank. Which bit of row can differ between them?
    return row;
}

__device__ void store_a(const float4 (&groups)[LOADS_A], float (&tile_a)[DEEP][HIGH]) {
    for (int g = 0; g < LOADS_A; g++) {
        int i = threadIdx.x + g * THREADS, d = depth_of(i), place = place_of(row_of(i), d);
        // TODO 6: four neighbours in a row of a go below each other.
        for (int j = 0; j < 4; j++) {
            tile_a[d + j][place] = groups[g].x;
        }
    }
}

// columns: of b, from the first that this thread copies.
template <bool VECTORS>
__device__ void copy_b(float (&tile_b)[DEEP][WIDE], Next<LOADS_B> &next, int step, int columns, int n) {
    for (int g = 0; g < LOADS_B; g++) {
        int i = threadIdx.x + g * THREADS, d = i / (WIDE / 4), x = i % (WIDE / 4) * 4;
        bool is_left = next.left[g] > step;
        if (VECTORS) {
            copy4(&tile_b[d][x], next.from[g], is_left);
        } else {
            for (int j = 0; j < 4; j++) {
                tile_b[d][x + j] = is_left && j < columns ? next.from[g][j] : 0.0f;
            }
        }
        next.from[g] += (long long)DEEP * n;
    }
}

// Two tiles of each matrix: one is multiplied while the other is filled.
struct __align__(16) Tiles {
    float a[2][DEEP][HIGH], b[2][DEEP][WIDE];
};

// What a thread multiplies in one step of d: THREAD_M elements of a's column d and THREAD_N of b's row d.
struct Operands {
    float4 a[THREAD_M / 4], b[THREAD_N / 4];
};

__device__ void load_operands(Operands &to, const Tiles &tiles, int now, int d, int my_row, int my_column) {
    for (int i = 0; i < THREAD_M / 4; i++) {
        to.a[i] = load4(&tiles.a[now][d][my_row + place_of(16 * i, d)]);
    }
    for (int j = 0; j < THREAD_N / 4; j++) {
        to.b[j] = load4(&tiles.b[now][d][my_column + 32 * j]);
    }
}

__device__ void add_products(float (&sums)[THREAD_M][THREAD_N], const Operands &operands) {
    for (int i = 0; i < THREAD_M; i++) {
        for (int j = 0; j < THREAD_N; j++) {
            sums[i][j] += (&operands.a[0].x)[i] * (&operands.b[0].x)[j];
        }
    }
}

template <bool VECTORS>
__device__ void multiply(Tiles &tiles, const float *a, const float *b, float *c, int m, int n, int k) {
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int my_row = warp / WARPS_N * (4 * THREAD_M) + lane / 8 * 4; // of the tile: the first of a group
    int my_column = warp % WARPS_N * (8 * THREAD_N) + lane % 8 * 4;
    int tiles_m = ceil_div(m, HIGH), tiles_n = ceil_div(n, WIDE);
    int first = blockIdx.x / (TOGETHER * tiles_n) * TOGETHER, place = blockIdx.x % (TOGETHER * tiles_n);
    int height = min(TOGETHER, tiles_m - first);
    int top = (first + place % height) * HIGH, left = place / height * WIDE;

    Next<LOADS_A> next_a;
    for (int g = 0; g < LOADS_A; g++) {
        int i = threadIdx.x + g * THREADS, row = top + row_of(i), d = depth_of(i);
        next_a.from[g] = a + (long long)row * k + d;
        next_a.left[g] = row < m ? k - d : 0;
    }
    Next<LOADS_B> next_b;
    int x = left + threadIdx.x % (WIDE / 4) * 4, columns = n - x;
    for (int g = 0; g < LOADS_B; g++) {
        int d = (threadIdx.x + g * THREADS) / (WIDE / 4);
        next_b.from[g] = b + (long long)d * n + x;
        next_b.left[g] = columns > 0 ? k - d : 0;
    }

    float sums[THREAD_M][THREAD_N] = {};
    float4 groups[LOADS_A];
    load_a<VECTORS>(groups, next_a, 0);
    copy_b<VECTORS>(tiles.b[0], next_b, 0, columns, n);
    store_a(groups, tiles.a[0]);
    wait_for_copies();
    __syncthreads();
    int now = 0;
    Operands operands[2];
    load_operands(operands[0], tiles, now, 0, my_row, my_column);
    for (int step = 0; step < k; step += DEEP) {
        // TODO 7: the next step's elements are on their way while this step is multiplied, and so are the operands of
        //         the next d. Where does the next step go, and where must the block wait?
        for (int d = 0; d < DEEP; d++) {
            sums[0][0] += tiles.a[now][d][place_of(my_row, d)] * tiles.b[now][d][my_column];
        }
        load_a<VECTORS>(groups, next_a, step + DEEP);
        __syncthreads();
        copy_b<VECTORS>(tiles.b[now], next_b, step + DEEP, columns, n);
        store_a(groups, tiles.a[now]);
        wait_for_copies();
        __syncthreads();
    }
    // One float a store: a store of four would bind each four sums to neighbouring registers, and so to the banks of
    // their operands.
    for (int i = 0; i < THREAD_M; i++) {
        int row = top + my_row + i / 4 * 16 + i % 4;
        for (int j = 0; j < THREAD_N; j++) {
            int column = left + my_column + j / 4 * 32 + j % 4;
            if (row < m && column < n) {
                c[(long long)row * n + column] = sums[i][j];
            }
        }
    }
}

__global__ void __launch_bounds__(THREADS) matmul_vectors(const float *a, const float *b, float *c, int m, int n,
                                                          int k) {
    __shared__ Tiles tiles;
    // TODO 8: an access of 16 bytes needs an address that is a multiple of 16. When is that so in every row of a, b and
    //         c?
    multiply<false>(tiles, a, b, c, m, n, k);
}
