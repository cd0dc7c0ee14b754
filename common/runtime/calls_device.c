// The device: which there are, what they are like, and errors.
#include <stdio.h>
#include <string.h>

#include "runtime/queue.h"
#include "runtime/report.h"
#include "runtime/state.h"

// ---- Errors -----------------------------------------------------------------------------------------------

cudaError_t cudaGetLastError(void) {
    runtime_lock();
    const cudaError_t error = last_error(true);
    runtime_unlock();
    return error;
}
cudaError_t cudaPeekAtLastError(void) {
    runtime_lock();
    const cudaError_t error = last_error(false);
    runtime_unlock();
    return error;
}
const char *cudaGetErrorName(cudaError_t error) {
    if (error) error_was_looked_at();
    return error_name(error);
}
const char *cudaGetErrorString(cudaError_t error) {
    if (error) error_was_looked_at();
    return error_text(error);
}

// ---- Devices ----------------------------------------------------------------------------------------------

cudaError_t cudaGetDeviceCount(int *count) {
    *count = options()->devices;
    return CALL(cudaSuccess);
}
cudaError_t cudaGetDevice(int *device) {
    *device = device_current();
    return CALL(cudaSuccess);
}
static cudaError_t use(int device) {
    if (!device_exists(device)) return cudaErrorInvalidDevice;
    device_use(device);
    if (device) queue_expect_overlap();
    return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) { return CALL(use(device)); }
cudaError_t cudaInitDevice(int device, unsigned device_flags, unsigned flags) {
    (void)device_flags, (void)flags;
    return CALL(device_exists(device) ? cudaSuccess : cudaErrorInvalidDevice);
}
cudaError_t cudaChooseDevice(int *device, const struct cudaDeviceProp *wanted) {
    (void)wanted;
    *device = 0;
    return CALL(cudaSuccess);
}
cudaError_t cudaRuntimeGetVersion(int *version) {
    *version = CUDART_VERSION;
    return CALL(cudaSuccess);
}
cudaError_t cudaDriverGetVersion(int *version) {
    *version = CUDART_VERSION;
    return CALL(cudaSuccess);
}
// All devices have one memory here: each reaches that of the others.
cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer) {
    *can = device != peer;
    return CALL(device_exists(device) && device_exists(peer) ? cudaSuccess : cudaErrorInvalidDevice);
}
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
    (void)flags;
    return CALL(device_exists(peer) && peer != device_current() ? cudaSuccess : cudaErrorInvalidDevice);
}
cudaError_t cudaDeviceDisablePeerAccess(int peer) {
    return CALL(device_exists(peer) && peer != device_current() ? cudaSuccess : cudaErrorInvalidDevice);
}
cudaError_t cudaDeviceGetP2PAttribute(int *value, enum cudaDeviceP2PAttr which, int from, int to) {
    *value = which != cudaDevP2PAttrPerformanceRank && from != to;
    return CALL(device_exists(from) && device_exists(to) ? cudaSuccess : cudaErrorInvalidDevice);
}

cudaError_t cudaDeviceGetPCIBusId(char *id, int bytes, int device) {
    snprintf(id, (size_t)bytes, "0000:%02x:00.0", device);
    return CALL(device_exists(device) ? cudaSuccess : cudaErrorInvalidDevice);
}
static cudaError_t device_at(int *device, const char *id) {
    unsigned domain, bus;
    if (sscanf(id, "%x:%x:", &domain, &bus) != 2 || domain || !device_exists((int)bus))
        return cudaErrorInvalidValue;
    *device = (int)bus;
    return cudaSuccess;
}
cudaError_t cudaDeviceGetByPCIBusId(int *device, const char *id) { return CALL(device_at(device, id)); }
cudaError_t cudaGetDeviceFlags(unsigned *flags) {
    *flags = cudaDeviceMapHost;
    return CALL(cudaSuccess);
}

static cudaError_t reset(void) {
    queue_run_all();
    queue_settle();
    for (int i = 0; allocation_by_index(i); i++) {
        Allocation *a = allocation_by_index(i);
        if (!a->is_freed && a->kind != MEMORY_VARIABLE) allocation_free(a);
    }
    return sticky_error();
}
cudaError_t cudaDeviceReset(void) { return CALL(reset()); }

// ---- Figures ----------------------------------------------------------------------------------------------

enum { MAX_PITCH = 2147483647, CONSTANT_BYTES = 65536, TEXTURE_ALIGNMENT = 512, PITCH_ALIGNMENT = 32 };
// CUDA C++ Programming Guide, "Technical Specifications per Compute Capability".
enum {
    TEXTURE_1D = 131072,
    TEXTURE_2D = 131072,
    TEXTURE_2D_ROWS = 65536,
    TEXTURE_3D = 16384,
    TEXTURE_LAYERS = 2048
};

// CUDA C++ Programming Guide, "L2 Set-Aside for Persisting Accesses": from compute capability 8.0 on; its
// examples set aside three quarters. The figure that a device reports, and that of the window, are not
// measured here.
static int persisting_l2(const GpuInfo *i) { return i->compute_major >= 8 ? i->l2_bytes / 4 * 3 : 0; }
static int persisting_window(const GpuInfo *i) { return i->compute_major >= 8 ? 128 << 20 : 0; }

static cudaError_t attribute(int *value, enum cudaDeviceAttr which, int device) {
    const GpuProfile *profile = device_profile();
    const GpuInfo *i = &profile->info;
    if (!device_exists(device)) return cudaErrorInvalidDevice;
    switch ((int)which) {
    case cudaDevAttrMaxThreadsPerBlock: *value = i->max_threads_per_block; break;
    case cudaDevAttrMaxBlockDimX: *value = (int)i->max_block[0]; break;
    case cudaDevAttrMaxBlockDimY: *value = (int)i->max_block[1]; break;
    case cudaDevAttrMaxBlockDimZ: *value = (int)i->max_block[2]; break;
    case cudaDevAttrMaxGridDimX: *value = (int)i->max_grid[0]; break;
    case cudaDevAttrMaxGridDimY: *value = (int)i->max_grid[1]; break;
    case cudaDevAttrMaxGridDimZ: *value = (int)i->max_grid[2]; break;
    case cudaDevAttrMaxSharedMemoryPerBlock: *value = i->shared_per_block; break;
    case cudaDevAttrTotalConstantMemory: *value = CONSTANT_BYTES; break;
    case cudaDevAttrPciBusId: *value = device; break;
    case cudaDevAttrIpcEventSupport: *value = 1; break;
    case cudaDevAttrWarpSize: *value = 32; break;
    case cudaDevAttrMaxPitch: *value = MAX_PITCH; break;
    case cudaDevAttrMaxRegistersPerBlock: *value = i->registers_per_block; break;
    case cudaDevAttrClockRate: *value = profile->clock_khz; break;
    case cudaDevAttrTextureAlignment: *value = TEXTURE_ALIGNMENT; break;
    case cudaDevAttrTexturePitchAlignment: *value = PITCH_ALIGNMENT; break;
    case cudaDevAttrMultiProcessorCount: *value = i->sm_count; break;
    case cudaDevAttrMemoryClockRate: *value = i->memory_clock_khz; break;
    case cudaDevAttrGlobalMemoryBusWidth: *value = i->memory_bus_bits; break;
    case cudaDevAttrL2CacheSize: *value = i->l2_bytes; break;
    case cudaDevAttrMaxPersistingL2CacheSize: *value = persisting_l2(i); break;
    case cudaDevAttrMaxAccessPolicyWindowSize: *value = persisting_window(i); break;
    case cudaDevAttrMaxThreadsPerMultiProcessor: *value = i->max_threads_per_sm; break;
    case cudaDevAttrAsyncEngineCount: *value = 3; break;
    case cudaDevAttrComputeCapabilityMajor: *value = i->compute_major; break;
    case cudaDevAttrComputeCapabilityMinor: *value = i->compute_minor; break;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor: *value = i->shared_per_sm; break;
    case cudaDevAttrMaxRegistersPerMultiprocessor: *value = i->registers_per_sm; break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = i->shared_per_block_optin; break;
    case cudaDevAttrMaxBlocksPerMultiprocessor: *value = i->max_blocks_per_sm; break;
    case cudaDevAttrReservedSharedMemoryPerBlock: *value = i->shared_reserved_per_block; break;
    case cudaDevAttrClusterLaunch: *value = i->compute_major >= 9; break;
    case cudaDevAttrSingleToDoublePrecisionPerfRatio: *value = i->compute_minor ? 64 : 2; break;
    case cudaDevAttrMaxTexture1DWidth: *value = TEXTURE_1D; break;
    case cudaDevAttrMaxTexture2DWidth: *value = TEXTURE_2D; break;
    case cudaDevAttrMaxTexture2DHeight: *value = TEXTURE_2D_ROWS; break;
    case cudaDevAttrMaxTexture3DWidth:
    case cudaDevAttrMaxTexture3DHeight:
    case cudaDevAttrMaxTexture3DDepth: *value = TEXTURE_3D; break;
    case cudaDevAttrMaxTexture1DLayeredLayers:
    case cudaDevAttrMaxTexture2DLayeredLayers: *value = TEXTURE_LAYERS; break;
    case cudaDevAttrGpuOverlap:
    case cudaDevAttrCanMapHostMemory:
    case cudaDevAttrConcurrentKernels:
    case cudaDevAttrEccEnabled:
    case cudaDevAttrUnifiedAddressing:
    case cudaDevAttrStreamPrioritiesSupported:
    case cudaDevAttrGlobalL1CacheSupported:
    case cudaDevAttrLocalL1CacheSupported:
    case cudaDevAttrManagedMemory:
    case cudaDevAttrConcurrentManagedAccess:
    case cudaDevAttrComputePreemptionSupported:
    case cudaDevAttrCooperativeLaunch:
    case cudaDevAttrHostRegisterSupported:
    case cudaDevAttrMemoryPoolsSupported: *value = 1; break;
    default: *value = 0;
    }
    return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr which, int device) {
    return CALL(attribute(value, which, device));
}

static cudaError_t properties(struct cudaDeviceProp *p, int device) {
    const GpuInfo *i = &device_profile()->info;
    if (!device_exists(device)) return cudaErrorInvalidDevice;
    memset(p, 0, sizeof *p);
    p->pciBusID = device;
    snprintf(p->name, sizeof p->name, "%s", i->name);
    p->totalGlobalMem = i->memory_bytes;
    p->sharedMemPerBlock = (size_t)i->shared_per_block;
    p->regsPerBlock = i->registers_per_block;
    p->warpSize = 32;
    p->memPitch = MAX_PITCH;
    p->maxThreadsPerBlock = i->max_threads_per_block;
    for (int axis = 0; axis < 3; axis++) {
        p->maxThreadsDim[axis] = (int)i->max_block[axis];
        p->maxGridSize[axis] = (int)i->max_grid[axis];
        p->maxTexture3D[axis] = TEXTURE_3D;
    }
    p->totalConstMem = CONSTANT_BYTES;
    p->major = i->compute_major;
    p->minor = i->compute_minor;
    p->textureAlignment = TEXTURE_ALIGNMENT;
    p->texturePitchAlignment = PITCH_ALIGNMENT;
    p->multiProcessorCount = i->sm_count;
    p->maxTexture1D = TEXTURE_1D;
    p->maxTexture2D[0] = TEXTURE_2D;
    p->maxTexture2D[1] = TEXTURE_2D_ROWS;
    p->asyncEngineCount = 3;
    p->memoryBusWidth = i->memory_bus_bits;
    p->l2CacheSize = i->l2_bytes;
    p->persistingL2CacheMaxSize = persisting_l2(i);
    p->accessPolicyMaxWindowSize = persisting_window(i);
    p->maxThreadsPerMultiProcessor = i->max_threads_per_sm;
    p->sharedMemPerMultiprocessor = (size_t)i->shared_per_sm;
    p->regsPerMultiprocessor = i->registers_per_sm;
    p->sharedMemPerBlockOptin = (size_t)i->shared_per_block_optin;
    p->maxBlocksPerMultiProcessor = i->max_blocks_per_sm;
    p->reservedSharedMemPerBlock = (size_t)i->shared_reserved_per_block;
    p->canMapHostMemory = p->concurrentKernels = p->ECCEnabled = p->unifiedAddressing = 1;
    p->streamPrioritiesSupported = p->globalL1CacheSupported = p->localL1CacheSupported = p->managedMemory =
        1;
    p->concurrentManagedAccess = p->computePreemptionSupported = p->cooperativeLaunch = 1;
    p->hostRegisterSupported = p->memoryPoolsSupported = 1;
#if CUDART_VERSION < 13000
    p->clockRate = device_profile()->clock_khz;
    p->memoryClockRate = i->memory_clock_khz;
    p->deviceOverlap = 1;
    p->singleToDoublePrecisionPerfRatio = i->compute_minor ? 64 : 2;
#endif
    return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *p, int device) {
    return CALL(properties(p, device));
}

// ---- Limits -----------------------------------------------------------------------------------------------

// CUDA C++ Programming Guide: defaults of the stack, of printf and of malloc in kernels.
static size_t limits[] = {
    [cudaLimitStackSize] = 1024, [cudaLimitPrintfFifoSize] = 1 << 20, [cudaLimitMallocHeapSize] = 8 << 20};
enum { LIMITS = sizeof limits / sizeof *limits };

static cudaError_t set_limit(enum cudaLimit which, size_t value) {
    EmulatorError error;
    if ((unsigned)which >= LIMITS) return cudaSuccess;
    if (which == cudaLimitMallocHeapSize && !emulator_set_heap(device_emulator(), value, &error))
        return cudaErrorInvalidValue;
    limits[which] = value;
    return cudaSuccess;
}
cudaError_t cudaDeviceSetLimit(enum cudaLimit which, size_t value) { return CALL(set_limit(which, value)); }
cudaError_t cudaDeviceGetLimit(size_t *value, enum cudaLimit which) {
    *value = (unsigned)which < LIMITS ? limits[which] : 0;
    return CALL(cudaSuccess);
}
