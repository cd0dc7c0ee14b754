// The NVIDIA driver's library: whether there is a GPU, the driver's entry points, and its errors.
#pragma once

#include "gpu/device.h"

// 90 for a first device of compute capability 9.0; 0, with the reason in `why` (may be NULL), where there is
// none. Asked in a separate process, so that this one may still fork.
int nvidia_architecture(char *why, size_t why_bytes);

#if __has_include(<cuda.h>) // which serves for its types
#include <cuda.h>

// Each entry: name in the library and type. The names with _v2 are those that cuda.h's macros stand for;
// every driver has the plain cuEventElapsedTime. Entries that only newer drivers have are optional.
#define REQUIRED_ENTRIES(X)                                                                                  \
    X(init, "cuInit", CUresult (*)(unsigned))                                                                \
    X(driver_version, "cuDriverGetVersion", CUresult (*)(int *))                                             \
    X(device_count, "cuDeviceGetCount", CUresult (*)(int *))                                                 \
    X(device_get, "cuDeviceGet", CUresult (*)(CUdevice *, int))                                              \
    X(device_name, "cuDeviceGetName", CUresult (*)(char *, int, CUdevice))                                   \
    X(device_attribute, "cuDeviceGetAttribute", CUresult (*)(int *, CUdevice_attribute, CUdevice))           \
    X(device_memory, "cuDeviceTotalMem_v2", CUresult (*)(size_t *, CUdevice))                                \
    X(context_retain, "cuDevicePrimaryCtxRetain", CUresult (*)(CUcontext *, CUdevice))                       \
    X(context_release, "cuDevicePrimaryCtxRelease_v2", CUresult (*)(CUdevice))                               \
    X(context_reset, "cuDevicePrimaryCtxReset_v2", CUresult (*)(CUdevice))                                   \
    X(context_set_current, "cuCtxSetCurrent", CUresult (*)(CUcontext))                                       \
    X(context_set_limit, "cuCtxSetLimit", CUresult (*)(CUlimit, size_t))                                     \
    X(stream_create, "cuStreamCreate", CUresult (*)(CUstream *, unsigned))                                   \
    X(stream_destroy, "cuStreamDestroy_v2", CUresult (*)(CUstream))                                          \
    X(stream_synchronize, "cuStreamSynchronize", CUresult (*)(CUstream))                                     \
    X(allocate, "cuMemAlloc_v2", CUresult (*)(CUdeviceptr *, size_t))                                        \
    X(free_memory, "cuMemFree_v2", CUresult (*)(CUdeviceptr))                                                \
    X(copy_to_device, "cuMemcpyHtoDAsync_v2", CUresult (*)(CUdeviceptr, const void *, size_t, CUstream))     \
    X(copy_to_host, "cuMemcpyDtoHAsync_v2", CUresult (*)(void *, CUdeviceptr, size_t, CUstream))             \
    X(fill_words, "cuMemsetD32Async", CUresult (*)(CUdeviceptr, unsigned, size_t, CUstream))                 \
    X(module_load, "cuModuleLoadDataEx",                                                                     \
      CUresult (*)(CUmodule *, const void *, unsigned, CUjit_option *, void **))                             \
    X(module_unload, "cuModuleUnload", CUresult (*)(CUmodule))                                               \
    X(module_function, "cuModuleGetFunction", CUresult (*)(CUfunction *, CUmodule, const char *))            \
    X(module_global, "cuModuleGetGlobal_v2", CUresult (*)(CUdeviceptr *, size_t *, CUmodule, const char *))  \
    X(function_attribute, "cuFuncGetAttribute", CUresult (*)(int *, CUfunction_attribute, CUfunction))       \
    X(function_set_attribute, "cuFuncSetAttribute", CUresult (*)(CUfunction, CUfunction_attribute, int))     \
    X(launch, "cuLaunchKernel",                                                                              \
      CUresult (*)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,         \
                   CUstream, void **, void **))                                                              \
    X(event_create, "cuEventCreate", CUresult (*)(CUevent *, unsigned))                                      \
    X(event_destroy, "cuEventDestroy_v2", CUresult (*)(CUevent))                                             \
    X(event_record, "cuEventRecord", CUresult (*)(CUevent, CUstream))                                        \
    X(event_query, "cuEventQuery", CUresult (*)(CUevent))                                                    \
    X(event_synchronize, "cuEventSynchronize", CUresult (*)(CUevent))                                        \
    X(event_elapsed, "cuEventElapsedTime", CUresult (*)(float *, CUevent, CUevent))                          \
    X(fill_bytes, "cuMemsetD8Async", CUresult (*)(CUdeviceptr, unsigned char, size_t, CUstream))             \
    X(error_name, "cuGetErrorName", CUresult (*)(CUresult, const char **))                                   \
    X(error_string, "cuGetErrorString", CUresult (*)(CUresult, const char **))
#define OPTIONAL_ENTRIES(X)                                                                                  \
    X(function_load, "cuFuncLoad", CUresult (*)(CUfunction))                                                 \
    X(parameter_info, "cuFuncGetParamInfo", CUresult (*)(CUfunction, size_t, size_t *, size_t *))            \
    X(bus_id, "cuDeviceGetPCIBusId", CUresult (*)(char *, int, CUdevice))                                    \
    X(launch_with, "cuLaunchKernelEx", CUresult (*)(const CUlaunchConfig *, CUfunction, void **, void **))

#define DECLARE(member, name, type) __typeof__((type)0) member;
typedef struct {
    REQUIRED_ENTRIES(DECLARE)
    OPTIONAL_ENTRIES(DECLARE)
} Driver;
#undef DECLARE

typedef struct Allocation Allocation;
struct Allocation {
    Allocation *next;
    CUdeviceptr base;
    size_t bytes; // guard bands included; a multiple of 4
    size_t front; // bytes before the buffer's first
};

typedef struct {
    Gpu base;
    const Driver *driver;
    CUdevice device;
    CUstream stream;
    Allocation *allocations;
    bool is_lost;
    bool has_asked_clocks;
    void *clocks; // the management library's handle of this device; NULL: it does not tell
    char no_clocks[128];
} NvidiaGpu;

// The library's entries, opened at first use; NULL with the reason in `why`. The library stays open: the
// driver cannot be unloaded. The table belongs to the process and is never written again.
const Driver *nvidia_driver(char *why, size_t why_bytes);

// Fills `error` from the driver's answer to `what` ("launch the kernel"). Always false.
bool nvidia_fail(NvidiaGpu *gpu, CUresult result, const char *what, GpuError *error);
// A lost context answers every call with the error that lost it; this says so instead of blaming the caller.
bool nvidia_is_usable(NvidiaGpu *gpu, GpuError *error);
static inline NvidiaGpu *nvidia_of(Gpu *gpu) { return (NvidiaGpu *)gpu; }

#endif
