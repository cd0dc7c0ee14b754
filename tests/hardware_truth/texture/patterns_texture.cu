// One texture or surface access in each, with one pattern of lanes, for Nsight Compute to count. 64 x 64 texels.
#include <cuda_runtime.h>

#define KERNEL extern "C" __global__ void
#define PARAMETERS                                                                                           \
    unsigned long long object, unsigned seed, float size_x, float size_y, float size_z, int layers, uint4 *out
#define PATTERN(name, px, py, access)                                                                        \
    KERNEL name(PARAMETERS) {                                                                                \
        const int t = blockIdx.x * blockDim.x + threadIdx.x, lane = t % 32, warp = t / 32;                   \
        const int x = px, y = py;                                                                            \
        (void)seed, (void)size_x, (void)size_y, (void)size_z, (void)layers, (void)lane, (void)warp, (void)x, (void)y; \
        access;                                                                                              \
    }
#define KEEP(v) ((float *)out)[t] = v
#define R(axis) (int)(((unsigned)t * 2654435761u >> (axis)) % 64)
#define FETCH KEEP(tex2D<float>(object, x + 0.5f, y + 0.5f))
#define BETWEEN KEEP(tex2D<float>(object, x + 0.75f, y + 0.75f))
#define WIDE KEEP(tex2D<float4>(object, x + 0.5f, y + 0.5f).w)

#define SHAPES(prefix, access)                                                                               \
    PATTERN(prefix##_row, lane, warp, access)                                                                \
    PATTERN(prefix##_column, warp, lane, access)                                                             \
    PATTERN(prefix##_tile8x4, lane % 8 + 8 * (warp % 8), lane / 8 + 4 * (warp / 8), access)                  \
    PATTERN(prefix##_tile4x8, lane % 4 + 4 * (warp % 8), lane / 4 + 8 * (warp / 8), access)                  \
    PATTERN(prefix##_tile16x2, lane % 16, lane / 16 + 2 * warp, access)                                      \
    PATTERN(prefix##_same, warp, warp, access)                                                               \
    PATTERN(prefix##_stride2, 2 * lane, warp, access)                                                        \
    PATTERN(prefix##_random, R(7), R(15), access)
SHAPES(tex, FETCH)
SHAPES(linear, BETWEEN)
SHAPES(wide, WIDE)
SHAPES(gather, KEEP(tex2Dgather<float4>(object, x + 1.0f, y + 1.0f, 0).y))
SHAPES(pitch, FETCH)
SHAPES(byte, KEEP((float)tex2D<unsigned char>(object, x + 0.5f, y + 0.5f)))
SHAPES(layer, KEEP(tex2DLayered<float>(object, x + 0.5f, y + 0.5f, warp % 2)))
SHAPES(volume, KEEP(tex3D<float>(object, x % 8 + 0.5f, y % 8 + 0.5f, (x / 8 + y / 8) % 8 + 0.5f)))
PATTERN(fetch_row, t, 0, KEEP(tex1Dfetch<float>(object, x)))
PATTERN(fetch_stride2, 2 * t, 0, KEEP(tex1Dfetch<float>(object, x)))
PATTERN(fetch_stride8, 8 * t, 0, KEEP(tex1Dfetch<float>(object, x)))
PATTERN(fetch_same, warp, 0, KEEP(tex1Dfetch<float>(object, x)))
PATTERN(fetch_random, 64 * R(7) + R(15), 0, KEEP(tex1Dfetch<float>(object, x)))
PATTERN(line_row, t, 0, KEEP(tex1D<float>(object, x + 0.5f)))
PATTERN(line_linear, t, 0, KEEP(tex1D<float>(object, x + 1.0f)))
PATTERN(partial_row, lane, warp, if (lane < 7) FETCH)
PATTERN(partial_tile, lane % 8 + 8 * (warp % 8), lane / 8 + 4 * (warp / 8), if (lane % 2) FETCH)
SHAPES(load, float v; surf2Dread(&v, object, 4 * x, y); KEEP(v))
SHAPES(store, surf2Dwrite((float)t, object, 4 * x, y))
SHAPES(load16, float4 v; surf2Dread(&v, object, 16 * x, y); KEEP(v.z))
PATTERN(reduce_row, lane, warp, asm volatile("sured.b.add.2d.u32.trap [%0, {%1, %2}], %3;" ::"l"(object), "r"(4 * x), "r"(y), "r"(t)))
PATTERN(reduce_same, 0, warp, asm volatile("sured.b.add.2d.u32.trap [%0, {%1, %2}], %3;" ::"l"(object), "r"(4 * x), "r"(y), "r"(t)))
