// What every pattern file but patterns.cu begins with. Each kernel is launched with 64 blocks and n = 16384; the
// block has 256 threads, or the shape that the kernel's name ends in: `_b32` (32 threads), `_b32x8`, `_b8x4x8`.
// `in` and `out` hold 2^20 floats each, 256-byte aligned; both start with ((i * 7919) % 101) / 8.
// clang-format off
#define K(name) extern "C" __global__ void name(const float *__restrict__ in, float *__restrict__ out, int n)
#define T ((int)threadIdx.x)
#define L (T & 31)
#define I ((int)(blockIdx.x * blockDim.x + threadIdx.x))

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

// 0 to 16383, as good as random.
__device__ __forceinline__ int h(int x) { unsigned u = x * 2654435761u; u ^= u >> 13; u *= 2246822519u; return (u ^ (u >> 16)) & 16383; }

// Every part of a value, so that no part of its load can be dropped.
__device__ __forceinline__ float sum(u8 v) { return v; }
__device__ __forceinline__ float sum(u16 v) { return v; }
__device__ __forceinline__ float sum(u32 v) { return v; }
__device__ __forceinline__ float sum(u64 v) { return (float)(u32)v + (float)(u32)(v >> 32); }
__device__ __forceinline__ float sum(float v) { return v; }
__device__ __forceinline__ float sum(double v) { return (float)v; }
__device__ __forceinline__ float sum(float2 v) { return v.x + v.y; }
__device__ __forceinline__ float sum(float4 v) { return v.x + v.y + v.z + v.w; }
__device__ __forceinline__ float sum(short2 v) { return v.x + v.y; }
__device__ __forceinline__ float sum(char4 v) { return v.x + v.y + v.z + v.w; }
__device__ __forceinline__ float sum(double2 v) { return (float)v.x + (float)v.y; }
__device__ __forceinline__ float sum(ulonglong2 v) { return sum(v.x) + sum(v.y); }

// A value of the type from a float.
template <typename V> __device__ __forceinline__ V make(float x) { return (V)x; }
template <> __device__ __forceinline__ float2 make<float2>(float x) { return make_float2(x, 1); }
template <> __device__ __forceinline__ float4 make<float4>(float x) { return make_float4(x, 1, 2, 3); }
template <> __device__ __forceinline__ short2 make<short2>(float x) { return make_short2((short)x, 1); }
template <> __device__ __forceinline__ char4 make<char4>(float x) { return make_char4((char)x, 1, 2, 3); }
template <> __device__ __forceinline__ double2 make<double2>(float x) { return make_double2(x, 1); }
template <> __device__ __forceinline__ ulonglong2 make<ulonglong2>(float x) { return make_ulonglong2((u64)x, 1); }
