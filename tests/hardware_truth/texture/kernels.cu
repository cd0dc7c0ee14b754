// Fetches and surface accesses whose results record.cu keeps. Each kernel draws its coordinates itself, from `seed`
// and the number of the thread, so that a GPU and the emulator run the same PTX with the same coordinates.
#include <cuda_runtime.h>

#define KERNEL extern "C" __global__ void
#define PARAMETERS                                                                                           \
    unsigned long long object, unsigned seed, float size_x, float size_y, float size_z, int layers, uint4 *out
#define THREAD const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x

static __device__ unsigned draw(unsigned seed, unsigned thread, unsigned axis) {
    unsigned x = seed * 0x9e3779b9u + thread * 0x85ebca6bu + axis * 0xc2b2ae35u;
    x ^= x >> 16, x *= 0x7feb352du, x ^= x >> 15, x *= 0x846ca68bu, x ^= x >> 16;
    return x;
}

// Mostly from -1.5 to 2.5 times the size; then steps of 1/512 of a texel, places near texels' borders and centres,
// and special values. `size` is that of the coordinates: texels, or 1.
static __device__ float coordinate(unsigned seed, unsigned thread, unsigned axis, float size, float texels) {
    const unsigned r = draw(seed, thread, axis);
    const float texel = size / texels;
    switch (thread % 8) {
    case 0:
    case 1:
    case 2: return ((float)(r >> 8) * 0x1p-24f * 4.0f - 1.5f) * size;
    case 3:
    case 4: return (float)(r >> 8) * 0x1p-24f * size;
    case 5: return (float)((int)(r % 4096) - 1024) * texel * (1.0f / 512.0f);
    case 6: return (float)((int)(r % 64) - 16) * texel * 0.5f;
    default: break;
    }
    switch (r % 12) {
    case 0: return 0.0f;
    case 1: return -0.0f;
    case 2: return size;
    case 3: return size - 0.5f * texel;
    case 4: return 1e10f;
    case 5: return -1e10f;
    case 6: return __int_as_float(0x7f800000);
    case 7: return __int_as_float(0xff800000);
    case 8: return __int_as_float(0x7fc00000);
    case 9: return 1e-30f;
    case 10: return __int_as_float(__float_as_int(size) - 1);
    default: return -1e-7f * size;
    }
}

static __device__ int integer(unsigned seed, unsigned thread, unsigned axis, int size) {
    const unsigned r = draw(seed, thread, axis);
    return thread % 4 ? (int)(r % (unsigned)size) : (int)(r % (3u * (unsigned)size)) - size;
}

#define X coordinate(seed, thread, 0, normalised ? 1.0f : size_x, size_x)
#define Y coordinate(seed, thread, 1, normalised ? 1.0f : size_y, size_y)
#define Z coordinate(seed, thread, 2, normalised ? 1.0f : size_z, size_z)
#define LAYER integer(seed, thread, 3, layers)
// Directions: any, and some with two or three components of one magnitude.
static __device__ float direction(unsigned seed, unsigned thread, unsigned axis) {
    if (thread % 8 == 7) return (float)((int)(draw(seed, thread, axis) % 3) - 1);
    return (float)((int)(draw(seed, thread, axis) >> 8) - (1 << 23)) * 0x1p-20f;
}
#define DX direction(seed, thread, 0)
#define DY direction(seed, thread, 1)
#define DZ direction(seed, thread, 2)

static __device__ uint4 bits(float4 v) {
    return make_uint4(__float_as_uint(v.x), __float_as_uint(v.y), __float_as_uint(v.z), __float_as_uint(v.w));
}
static __device__ uint4 bits(uint4 v) { return v; }
static __device__ uint4 bits(int4 v) { return make_uint4(v.x, v.y, v.z, v.w); }

#define FETCH(name, type, call)                                                                              \
    KERNEL name##_##type(PARAMETERS) {                                                                       \
        THREAD;                                                                                              \
        const bool normalised = seed & 1;                                                                    \
        (void)normalised, (void)layers, (void)size_y, (void)size_z;                                          \
        out[thread] = bits(call);                                                                            \
    }
#define EACH_TYPE(name, function, ...)                                                                       \
    FETCH(name, float4, function<float4>(object, __VA_ARGS__))                                               \
    FETCH(name, uint4, function<uint4>(object, __VA_ARGS__))                                                 \
    FETCH(name, int4, function<int4>(object, __VA_ARGS__))

EACH_TYPE(tex1d, tex1D, X)
EACH_TYPE(tex2d, tex2D, X, Y)
EACH_TYPE(tex3d, tex3D, X, Y, Z)
EACH_TYPE(texa1d, tex1DLayered, X, LAYER)
EACH_TYPE(texa2d, tex2DLayered, X, Y, LAYER)
EACH_TYPE(texcube, texCubemap, DX, DY, DZ)
EACH_TYPE(texacube, texCubemapLayered, DX, DY, DZ, LAYER)
EACH_TYPE(fetch1d, tex1Dfetch, integer(seed, thread, 0, (int)size_x))
EACH_TYPE(level2d, tex2DLod, X, Y, (float)(thread % 5) - 2.0f)
EACH_TYPE(grad2d, tex2DGrad, X, Y, make_float2(0.5f, 0.0f), make_float2(0.0f, 0.25f))
EACH_TYPE(gather0, tex2Dgather, X, Y, 0)
EACH_TYPE(gather1, tex2Dgather, X, Y, 1)
EACH_TYPE(gather2, tex2Dgather, X, Y, 2)
EACH_TYPE(gather3, tex2Dgather, X, Y, 3)

// Integer coordinates on an array, which only PTX has.
#define INTEGERS(name, type, coordinates, ...)                                                               \
    KERNEL name(PARAMETERS) {                                                                                \
        THREAD;                                                                                              \
        uint4 v;                                                                                             \
        (void)layers, (void)size_y, (void)size_z;                                                            \
        asm volatile("tex." type ".v4.u32.s32 {%0, %1, %2, %3}, [%4, " coordinates "];"                      \
                     : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)                                            \
                     : "l"(object), __VA_ARGS__);                                                            \
        out[thread] = v;                                                                                     \
    }
#define IX "r"(integer(seed, thread, 0, (int)size_x))
#define IY "r"(integer(seed, thread, 1, (int)size_y))
#define IZ "r"(integer(seed, thread, 2, (int)size_z))
#define IL "r"(integer(seed, thread, 3, layers))
INTEGERS(integer1d, "1d", "{%5}", IX)
INTEGERS(integer2d, "2d", "{%5, %6}", IX, IY)
INTEGERS(integer3d, "3d", "{%5, %6, %7, %7}", IX, IY, IZ)
INTEGERS(integera2d, "a2d", "{%5, %6, %7, %7}", IL, IX, IY)

// Surfaces: x in bytes, aligned, from before the row to behind it.
#define SX(bytes) ((int)(bytes)*integer(seed, thread, 0, (int)size_x * layers / (int)(bytes)))
#define SURFACE(name, type, mode, place)                                                                     \
    KERNEL name(PARAMETERS) {                                                                                \
        THREAD;                                                                                              \
        type v = {};                                                                                         \
        (void)size_y, (void)size_z;                                                                          \
        place(&v, mode);                                                                                     \
        uint4 whole = make_uint4(0, 0, 0, 0);                                                                \
        memcpy(&whole, &v, sizeof v);                                                                        \
        out[thread] = whole;                                                                                 \
    }
#define READ1(to, mode) surf1Dread(to, object, SX(sizeof *(to)), mode)
#define READ2(to, mode)                                                                                      \
    surf2Dread(to, object, SX(sizeof *(to)), integer(seed, thread, 1, (int)size_y), mode)
#define READ3(to, mode)                                                                                      \
    surf3Dread(to, object, SX(sizeof *(to)), integer(seed, thread, 1, (int)size_y),                          \
               integer(seed, thread, 2, (int)size_z), mode)
#define SURFACES(size, type)                                                                                 \
    SURFACE(surf1_clamp_##size, type, cudaBoundaryModeClamp, READ1)                                          \
    SURFACE(surf1_zero_##size, type, cudaBoundaryModeZero, READ1)                                            \
    SURFACE(surf2_clamp_##size, type, cudaBoundaryModeClamp, READ2)                                          \
    SURFACE(surf2_zero_##size, type, cudaBoundaryModeZero, READ2)                                            \
    SURFACE(surf3_clamp_##size, type, cudaBoundaryModeClamp, READ3)                                          \
    SURFACE(surf3_zero_##size, type, cudaBoundaryModeZero, READ3)
SURFACES(1, uchar1)
SURFACES(2, short1)
SURFACES(4, uint1)
SURFACES(8, uint2)
SURFACES(16, uint4)
