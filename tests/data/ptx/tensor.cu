// Products of matrices as programs write them: wmma, and ldmatrix with mma.sync. Compiled for the tests.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

// d[32][48] = a[32][64] * b[64][48] in tiles of 16 x 16, one warp each: grid 3 x 2.
extern "C" __global__ void wmma_product(const half *a, const half *b, float *d) {
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    for (int k = 0; k < 64; k += 16) {
        wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> x;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> y;
        wmma::load_matrix_sync(x, a + blockIdx.y * 16 * 64 + k, 64);
        wmma::load_matrix_sync(y, b + k * 48 + blockIdx.x * 16, 48);
        wmma::mma_sync(sum, x, y, sum);
    }
    for (int i = 0; i < sum.num_elements; i++) sum.x[i] = 2 * sum.x[i];
    wmma::store_matrix_sync(d + blockIdx.y * 16 * 48 + blockIdx.x * 16, sum, 48, wmma::mem_row_major);
}

static __device__ unsigned address_of(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

// d[16][8] = a[16][16] * b[16][8], through shared memory; d is written back by stmatrix, as bf16.
extern "C" __global__ void ldmatrix_product(const __nv_bfloat16 *a, const __nv_bfloat16 *b, __nv_bfloat16 *d) {
    __shared__ __align__(16) __nv_bfloat16 rows[16][24], columns[16][8], result[16][8];
    for (int i = threadIdx.x; i < 256; i += 32) rows[i / 16][i % 16] = a[i];
    for (int i = threadIdx.x; i < 128; i += 32) columns[i / 8][i % 8] = b[i];
    __syncwarp();
    unsigned x[4], y[2];
    const int lane = threadIdx.x;
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3]) : "r"(address_of(&rows[lane % 16][lane / 16 * 8])));
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];"
                 : "=r"(y[0]), "=r"(y[1]) : "r"(address_of(&columns[lane % 16][0])));
    float sum[4] = {0, 0, 0, 0};
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                 : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
    for (int i = 0; i < 2; i++) {
        const __nv_bfloat162 pair = __floats2bfloat162_rn(sum[2 * i], sum[2 * i + 1]);
        *(__nv_bfloat162 *)&result[lane / 4 + 8 * i][lane % 4 * 2] = pair;
    }
    __syncwarp();
    for (int i = lane; i < 128; i += 32) d[i] = result[i / 8][i % 8];
}
