// The words of CUDA C++ for functions and variables, as clang's attributes.
#pragma once

#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((device)) // the audit refuses it, as it does every variable that outlives a launch
#define __grid_constant__ __attribute__((grid_constant))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __maxnreg__(count) __attribute__((maxnreg(count)))
#define __cluster_dims__(...) __attribute__((cluster_dims(__VA_ARGS__)))
#define __noinline__ __attribute__((noinline))
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __inline_hint__
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __nv_pure__ __attribute__((pure))

#define __CUDACC__ 1
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
#define __CUDART_VERSION 13000
#define CUDART_VERSION 13000
#define CUDA_VERSION 13000

// Functions of these headers. An instruction that comes from one counts for the line that calls it (nodebug).
#define WARPBOOK_DEVICE static __inline__ __attribute__((device, always_inline, nodebug, unused))
#define WARPBOOK_MEMBER __inline__ __attribute__((device, always_inline, nodebug, unused))
#define WARPBOOK_BOTH static __inline__ __attribute__((host, device, always_inline, nodebug, unused))
#define WARPBOOK_BOTH_MEMBER __inline__ __attribute__((host, device, always_inline, nodebug, unused))

using size_t = decltype(sizeof 0);
using ptrdiff_t = decltype((char *)0 - (char *)0);
