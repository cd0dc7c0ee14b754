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

// The square of a matrix through tiles of 32 by 32, one element a thread.
extern "C" __global__ void tiled_product(const float *in, float *out, unsigned side) {
    __shared__ float left[32][32], right[32][32];
    unsigned x = threadIdx.x, y = threadIdx.y, column = blockIdx.x * 32 + x, row = blockIdx.y * 32 + y;
    float sum = 0;
    for (unsigned k = 0; k < side; k += 32) {
        left[y][x] = in[row * side + k + x];
        right[y][x] = in[(k + y) * side + column];
        __syncthreads();
        for (unsigned i = 0; i < 32; i++) sum += left[y][i] * right[i][x];
        __syncthreads();
    }
    out[row * side + column] = sum;
}

// The same through tiles of 64 by 64; each of 256 threads keeps 4 by 4 elements in registers.
extern "C" __global__ void register_product(const float *in, float *out, unsigned side) {
    __shared__ float left[16][64], right[16][64];
    unsigned t = threadIdx.x, x = t % 16 * 4, y = t / 16 * 4, column = blockIdx.x * 64, row = blockIdx.y * 64;
    float sum[4][4] = {};
    for (unsigned k = 0; k < side; k += 16) {
        for (unsigned i = t; i < 16 * 64; i += 256) {
            left[i % 16][i / 16] = in[(row + i / 16) * side + k + i % 16];
            right[i / 64][i % 64] = in[(k + i / 64) * side + column + i % 64];
        }
        __syncthreads();
        for (unsigned i = 0; i < 16; i++)
            for (unsigned r = 0; r < 4; r++)
                for (unsigned c = 0; c < 4; c++) sum[r][c] += left[i][y + r] * right[i][x + c];
        __syncthreads();
    }
    for (unsigned r = 0; r < 4; r++)
        for (unsigned c = 0; c < 4; c++) out[(row + y + r) * side + column + x + c] = sum[r][c];
}

// sum += a * b, for a of 16 x 16 and b of 16 x 8 bf16: PTX ISA, mma.m16n8k16.
static __device__ void multiply_add(float (&sum)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// The same on tensor cores: mma.sync of bf16, from tiles of 64 by 64 and 32 along k. Each of 4 warps has 32 by 32
// elements in registers. Rows of a tile are 16 bytes longer than their elements, so that ldmatrix has no conflicts.
extern "C" __global__ void mma_product(const float *in, float *out, unsigned side) {
    __shared__ __align__(16) unsigned short left[64][40], right[32][72];
    unsigned t = threadIdx.x, lane = t % 32, y = t / 64 * 32, x = t / 32 % 2 * 32;
    unsigned row = blockIdx.y * 64, column = blockIdx.x * 64;
    float sum[2][4][4] = {};
    for (unsigned k = 0; k < side; k += 32) {
        for (unsigned i = t; i < 64 * 32; i += 128) {
            asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(left[i / 32][i % 32]) : "f"(in[(row + i / 32) * side + k + i % 32]));
            asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(right[i / 64][i % 64]) : "f"(in[(k + i / 64) * side + column + i % 64]));
        }
        __syncthreads();
        for (unsigned i = 0; i < 32; i += 16) {
            unsigned a[2][4], b[4][2];
            for (unsigned r = 0; r < 2; r++)
                asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                             : "=r"(a[r][0]), "=r"(a[r][1]), "=r"(a[r][2]), "=r"(a[r][3])
                             : "r"((unsigned)__cvta_generic_to_shared(&left[y + r * 16 + lane % 16][i + lane / 16 * 8])));
            for (unsigned c = 0; c < 4; c++)
                asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                             : "=r"(b[c][0]), "=r"(b[c][1])
                             : "r"((unsigned)__cvta_generic_to_shared(&right[i + lane % 16][x + c * 8])));
            for (unsigned r = 0; r < 2; r++)
                for (unsigned c = 0; c < 4; c++)
                    multiply_add(sum[r][c], a[r], b[c]);
        }
        __syncthreads();
    }
    for (unsigned r = 0; r < 2; r++)
        for (unsigned c = 0; c < 4; c++)
            for (unsigned i = 0; i < 4; i++)
                out[(row + y + r * 16 + i / 2 * 8 + lane / 4) * side + column + x + c * 8 + lane % 4 * 2 + i % 2] =
                    sum[r][c][i];
}

// mma.sync alone: the products of two fragments of a and four of b, the same in every round. All elements of a lane's
// fragments are the value in[lane].
extern "C" __global__ void tensor(const float *in, float *out, unsigned rounds) {
    unsigned lane = threadIdx.x % 32, pair;
    asm("cvt.rn.bf16x2.f32 %0, %1, %1;" : "=r"(pair) : "f"(in[lane]));
    unsigned a[2][4] = {{pair, pair, pair, pair}, {pair, pair, pair, pair}};
    unsigned b[4][2] = {{pair, pair}, {pair, pair}, {pair, pair}, {pair, pair}};
    float sum[2][4][4] = {};
    for (; rounds; rounds--)
        for (unsigned r = 0; r < 2; r++)
            for (unsigned c = 0; c < 4; c++)
                multiply_add(sum[r][c], a[r], b[c]);
    out += (blockIdx.x * blockDim.x + threadIdx.x) * 32;
    for (unsigned r = 0; r < 2; r++)
        for (unsigned c = 0; c < 4; c++)
            for (unsigned i = 0; i < 4; i++) *out++ = sum[r][c][i];
}
