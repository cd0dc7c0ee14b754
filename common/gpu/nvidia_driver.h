// The NVIDIA driver's library, opened at run time: its entry points, and what its errors say about a kernel.
// A part of nvidia.c, which alone includes it; cuda.h serves for its types.
#ifndef WARPBOOK_NVIDIA_DRIVER_H
#define WARPBOOK_NVIDIA_DRIVER_H

#include <cuda.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "../emulator/emulator.h" // FindingKind

// Name in the library and type. The names with _v2 are those that cuda.h's macros stand for; the plain
// cuEventElapsedTime is the one that every driver has. What only newer drivers have is optional.
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
    X(function_attribute, "cuFuncGetAttribute", CUresult (*)(int *, CUfunction_attribute, CUfunction))       \
    X(function_set_attribute, "cuFuncSetAttribute", CUresult (*)(CUfunction, CUfunction_attribute, int))     \
    X(launch, "cuLaunchKernel",                                                                              \
      CUresult (*)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,         \
                   CUstream, void **, void **))                                                              \
    X(event_create, "cuEventCreate", CUresult (*)(CUevent *, unsigned))                                      \
    X(event_destroy, "cuEventDestroy_v2", CUresult (*)(CUevent))                                             \
    X(event_record, "cuEventRecord", CUresult (*)(CUevent, CUstream))                                        \
    X(event_synchronize, "cuEventSynchronize", CUresult (*)(CUevent))                                        \
    X(event_elapsed, "cuEventElapsedTime", CUresult (*)(float *, CUevent, CUevent))                          \
    X(error_name, "cuGetErrorName", CUresult (*)(CUresult, const char **))                                   \
    X(error_string, "cuGetErrorString", CUresult (*)(CUresult, const char **))
#define OPTIONAL_ENTRIES(X)                                                                                  \
    X(function_load, "cuFuncLoad", CUresult (*)(CUfunction))                                                 \
    X(parameter_info, "cuFuncGetParamInfo", CUresult (*)(CUfunction, size_t, size_t *, size_t *))

#define DECLARE(member, name, type) __typeof__((type)0) member;
typedef struct {
    REQUIRED_ENTRIES(DECLARE)
    OPTIONAL_ENTRIES(DECLARE)
} Driver;
#undef DECLARE

// Opens the library. It stays open: the driver does not stand being unloaded. The process-wide table is
// the one piece of state here, written once.
static const Driver *driver(char *why, size_t why_bytes) {
    static Driver table;
    static bool is_open;
    if (is_open) return &table;
    const char *wanted = getenv("WARPBOOK_LIBCUDA"); // for the tests, which bring a driver of their own
    void *library = dlopen(wanted && *wanted ? wanted : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        snprintf(why, why_bytes, "there is no NVIDIA driver on this machine (%.200s)", dlerror());
        return NULL;
    }
#define LOOK_UP(member, name, type) *(void **)&table.member = dlsym(library, name);
#define CHECK(member, name, type)                                                                            \
    if (!table.member) {                                                                                     \
        snprintf(why, why_bytes, "the NVIDIA driver is too old: it has no %s", name);                        \
        return NULL;                                                                                         \
    }
    REQUIRED_ENTRIES(LOOK_UP)
    OPTIONAL_ENTRIES(LOOK_UP)
    REQUIRED_ENTRIES(CHECK)
#undef LOOK_UP
#undef CHECK
    is_open = true;
    return &table;
}

// What an error of the driver's says about the kernel (cuda.h, enum cudaError_enum).
static const struct {
    CUresult result;
    FindingKind finding;
    bool loses_context;
    const char *meaning;
} fault_table[] = {
    {CUDA_ERROR_ILLEGAL_ADDRESS, FINDING_OUT_OF_BOUNDS, true,
     "the kernel accessed memory that is not allocated"},
    {CUDA_ERROR_MISALIGNED_ADDRESS, FINDING_MISALIGNED, true,
     "the kernel accessed an address that is no multiple of the access's size"},
    {CUDA_ERROR_INVALID_ADDRESS_SPACE, FINDING_WRONG_SPACE, true,
     "the kernel used an address of another memory space than its instruction works on"},
    {CUDA_ERROR_LAUNCH_TIMEOUT, FINDING_STEP_LIMIT, true, "the kernel ran longer than the driver allows"},
    {CUDA_ERROR_ASSERT, FINDING_ASSERT, true, "an assert in the kernel failed"},
    {CUDA_ERROR_ILLEGAL_INSTRUCTION, FINDING_TRAP, true,
     "the kernel executed an illegal instruction or a trap"},
    {CUDA_ERROR_LAUNCH_FAILED, FINDING_TRAP, true,
     "the hardware stopped the kernel: a trap, or an access outside shared or local memory"},
    {CUDA_ERROR_HARDWARE_STACK_ERROR, FINDING_STACK_OVERFLOW, true,
     "the kernel's stack overflowed or was damaged"},
    {CUDA_ERROR_INVALID_PC, FINDING_BAD_CALL, true, "the kernel jumped to what is no code"},
    {CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, FINDING_RESOURCE, false,
     "a block of this size needs more registers or shared memory than a multiprocessor has"},
    {CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, FINDING_BAD_LAUNCH, false,
     "the grid is too large to run all at once"},
    {CUDA_ERROR_CONTEXT_IS_DESTROYED, FINDING_NONE, true, "the GPU's context was destroyed"},
    {CUDA_ERROR_ECC_UNCORRECTABLE, FINDING_NONE, true, "the GPU's memory has an uncorrectable error"},
    {CUDA_ERROR_DEVICE_UNAVAILABLE, FINDING_NONE, true, "the GPU is in use by somebody else or went away"},
    {CUDA_ERROR_OUT_OF_MEMORY, FINDING_NONE, false, "the GPU is out of memory"},
};

#endif
