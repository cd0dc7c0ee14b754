// A libcuda.so.1 in host memory, for testing common/gpu/nvidia.c where there is no GPU: WARPBOOK_LIBCUDA
// names it. Device addresses are host addresses; a kernel is known by its name; an image is any text that
// lists names, one a line.
//
//   FAKE_CUDA_FAIL=ENTRY:CODE[:NTH]   that entry point answers CODE on its NTH call (1) and, where the code
//                                     loses the context, every call does from then on until a reset
//   FAKE_CUDA_CAPABILITY=NN           90 for 9.0, which it is unless given
//   FAKE_CUDA_OLD=1                   a driver of before CUDA 12: no cuFuncLoad, no cuFuncGetParamInfo
//
// Kernels: (pointer, long long bytes)
//   fill        writes 7 into every byte          past_end    writes one byte past the end
//   before      writes one byte before the start  far_past    writes 4000 bytes past the end
//   fault_CODE  ends with that error              count       adds 1 to a module variable, stores it at
//   *pointer
// and chapter 7's launch_sum_float4 and sum_float4, and the workbook's own read_all, each as slow as
// FAKE_CUDA_SPEED GB/s (100; in the second image loaded, FAKE_CUDA_REFERENCE_SPEED) makes it.
#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef FAKE_CUDA_MEMORY
#define FAKE_CUDA_MEMORY (1 << 30) // bytes; a smaller device is timed at a smaller size
#endif

static struct {
    bool is_initialised, is_retained, is_current;
    CUresult sticky;  // what a lost context answers
    CUresult pending; // found by the next synchronisation
    int allocations, modules, streams, events, contexts;
    size_t printf_bytes, stack_bytes;
    double clock_ms;
} now;

static bool is_sticky(int code) { return code >= 700 && code != 701 && code != 720; }

// The injected answer for a call of `entry`, or what a lost context says, or success.
static CUresult answer(const char *entry) {
    static int calls;
    const char *plan = getenv("FAKE_CUDA_FAIL");
    size_t length = strlen(entry);
    if (plan && strncmp(plan, entry, length) == 0 && plan[length] == ':') {
        int code = 0, nth = 1;
        sscanf(plan + length, ":%d:%d", &code, &nth);
        if (++calls == nth) {
            if (is_sticky(code)) now.sticky = (CUresult)code;
            return (CUresult)code;
        }
    }
    return now.sticky;
}
#define ANSWER()                                                                                             \
    do {                                                                                                     \
        CUresult answered = answer(__func__);                                                                \
        if (answered != CUDA_SUCCESS) return answered;                                                       \
        if (!now.is_current) return CUDA_ERROR_INVALID_CONTEXT;                                              \
    } while (0)

CUresult cuInit(unsigned flags) {
    (void)flags;
    now.is_initialised = true;
    CUresult answered = answer(__func__);
    return answered;
}
CUresult cuDriverGetVersion(int *version) { return *version = 13000, CUDA_SUCCESS; }
CUresult cuDeviceGetCount(int *count) {
    *count = getenv("FAKE_CUDA_NONE") ? 0 : 1;
    return now.is_initialised ? answer(__func__) : CUDA_ERROR_NOT_INITIALIZED;
}
CUresult cuDeviceGet(CUdevice *device, int ordinal) { return *device = ordinal, CUDA_SUCCESS; }
CUresult cuDeviceGetName(char *name, int bytes, CUdevice device) {
    (void)device;
    snprintf(name, (size_t)bytes, "Fake GPU");
    return CUDA_SUCCESS;
}
CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device) {
    return (void)device, *bytes = FAKE_CUDA_MEMORY, CUDA_SUCCESS;
}
static int capability(void) {
    const char *set = getenv("FAKE_CUDA_CAPABILITY");
    return set ? atoi(set) : 90;
}
CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device) {
    (void)device;
    switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: *value = capability() / 10; break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: *value = capability() % 10; break;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: *value = 4; break;
    case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE: *value = 1 << 20; break;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *value = 1024; break;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK: *value = 49152; break;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: *value = 232448; break;
    case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE: *value = 1000000; break;
    case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH: *value = 512; break;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X: *value = 2147483647; break;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y:
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z: *value = 65535; break;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X:
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y: *value = 1024; break;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z: *value = 64; break;
    default: *value = 1;
    }
    return CUDA_SUCCESS;
}

// ---- Context ----------------------------------------------------------------------------------------------

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
    (void)device;
    CUresult answered = answer(__func__);
    if (answered != CUDA_SUCCESS) return answered;
    now.is_retained = true;
    now.contexts++;
    *context = (CUcontext)&now;
    return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
    (void)device;
    now.contexts--;
    return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxReset_v2(CUdevice device) {
    (void)device;
    now.sticky = CUDA_SUCCESS;
    now.allocations = now.modules = now.streams = now.events = 0; // all gone with the context
    return CUDA_SUCCESS;
}
CUresult cuCtxSetCurrent(CUcontext context) { return now.is_current = context != NULL, CUDA_SUCCESS; }
CUresult cuCtxSetLimit(CUlimit limit, size_t value) {
    ANSWER();
    if (limit == CU_LIMIT_PRINTF_FIFO_SIZE) now.printf_bytes = value;
    if (limit == CU_LIMIT_STACK_SIZE) now.stack_bytes = value;
    return CUDA_SUCCESS;
}
CUresult cuStreamCreate(CUstream *stream, unsigned flags) {
    (void)flags;
    ANSWER();
    *stream = (CUstream)&now.streams;
    now.streams++;
    return CUDA_SUCCESS;
}
CUresult cuStreamDestroy_v2(CUstream stream) { return (void)stream, now.streams--, CUDA_SUCCESS; }
CUresult cuStreamSynchronize(CUstream stream) {
    (void)stream;
    ANSWER();
    CUresult found = now.pending;
    now.pending = CUDA_SUCCESS;
    if (is_sticky((int)found)) now.sticky = found;
    return found;
}

// ---- Memory -----------------------------------------------------------------------------------------------

CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t bytes) {
    ANSWER();
    if (bytes > (size_t)1 << 30) return CUDA_ERROR_OUT_OF_MEMORY;
    void *memory = aligned_alloc(256, (bytes + 255) / 256 * 256);
    *address = (CUdeviceptr)(uintptr_t)memory;
    now.allocations++;
    return memory ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}
CUresult cuMemFree_v2(CUdeviceptr address) {
    ANSWER();
    free((void *)(uintptr_t)address);
    now.allocations--;
    return CUDA_SUCCESS;
}
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, CUstream stream) {
    (void)stream;
    ANSWER();
    memcpy((void *)(uintptr_t)to, from, bytes);
    return CUDA_SUCCESS;
}
CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, CUstream stream) {
    (void)stream;
    ANSWER();
    memcpy(to, (const void *)(uintptr_t)from, bytes);
    return CUDA_SUCCESS;
}
CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count, CUstream stream) {
    (void)stream;
    ANSWER();
    if (to % 4 != 0) return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count; i++) memcpy((char *)(uintptr_t)to + 4 * i, &value, 4);
    return CUDA_SUCCESS;
}

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream stream) {
    (void)stream;
    ANSWER();
    memset((void *)(uintptr_t)to, value, count);
    return CUDA_SUCCESS;
}
CUresult cuDeviceGetPCIBusId(char *name, int bytes, CUdevice device) {
    (void)device;
    ANSWER();
    snprintf(name, (size_t)bytes, "0000:00:1f.0");
    return CUDA_SUCCESS;
}

// ---- Images -----------------------------------------------------------------------------------------------

typedef struct {
    char *text;
    int counter; // the module variable
    bool is_second;
} Module;

typedef struct {
    Module *module;
    char name[64];
    int dynamic_shared;
} Function;

CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned count, CUjit_option *options,
                            void **values) {
    ANSWER();
    if (strncmp(image, "bad", 3) == 0) {
        for (unsigned i = 0; i < count; i++) {
            if (options[i] == CU_JIT_ERROR_LOG_BUFFER) strcpy(values[i], (const char *)image + 4);
        }
        return CUDA_ERROR_INVALID_PTX;
    }
    Module *made = calloc(1, sizeof *made);
    made->text = strdup(image);
    static int loaded;
    if (!strstr(image, "read_all")) {
        made->is_second = loaded == 1 || loaded >= 5; // the first two, then three copies of each
        loaded++;
    }
    *module = (CUmodule)made;
    now.modules++;
    return CUDA_SUCCESS;
}
CUresult cuModuleUnload(CUmodule module) {
    ANSWER();
    Module *gone = (Module *)module;
    free(gone->text);
    free(gone);
    now.modules--;
    return CUDA_SUCCESS;
}
CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
    ANSWER();
    Module *in = (Module *)module;
    Function *made = strstr(in->text, name) ? calloc(1, sizeof *made) : NULL; // as long as the process
    if (!made) return CUDA_ERROR_NOT_FOUND;
    made->module = in;
    snprintf(made->name, sizeof made->name, "%s", name);
    *function = (CUfunction)made;
    return CUDA_SUCCESS;
}
CUresult cuModuleGetGlobal_v2(CUdeviceptr *address, size_t *bytes, CUmodule module, const char *name) {
    (void)address, (void)bytes, (void)module, (void)name;
    ANSWER();
    return CUDA_ERROR_NOT_FOUND; // none of its images has a variable
}
CUresult cuFuncLoad(CUfunction function) {
    (void)function;
    ANSWER();
    return CUDA_SUCCESS;
}
CUresult cuFuncGetParamInfo(CUfunction function, size_t index, size_t *offset, size_t *bytes) {
    ANSWER();
    const char *name = ((const Function *)function)->name;
    const bool is_launch = strncmp(name, "launch_", 7) == 0, is_sum = strstr(name, "sum_float4") != NULL;
    if (index >= (is_launch ? 5u : is_sum || strcmp(name, "read_all") == 0 ? 3u : 2u))
        return CUDA_ERROR_INVALID_VALUE;
    *offset = 8 * index;
    *bytes = is_sum && !is_launch && index == 2 ? 4 : 8;
    return CUDA_SUCCESS;
}
CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction function) {
    ANSWER();
    const Function *of = (const Function *)function;
    *value = 0;
    if (attribute == CU_FUNC_ATTRIBUTE_NUM_REGS) *value = 24;
    if (attribute == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)
        *value = strcmp(of->name, "greedy") == 0 ? 128 : 1024;
    if (attribute == CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES) *value = 1024;
    return CUDA_SUCCESS;
}
CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
    ANSWER();
    if (attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
        ((Function *)function)->dynamic_shared = value;
    return CUDA_SUCCESS;
}

// What the kernels of the workbook do, and how many bytes they move.
static double run_workbook_kernel(const Function *of, const void *arguments, unsigned blocks) {
    struct {
        const void *first;
        void *second;
        long long third;
    } given;
    memcpy(&given, arguments, sizeof given);
    if (strcmp(of->name, "read_all") == 0) return 16.0 * (double)(uintptr_t)given.second;
    if (strncmp(of->name, "launch_", 7) == 0) {
        long long *shape = (long long *)(uintptr_t)given.first; // grid, block, shared
        const long long wanted = (given.third + 1023) / 1024;
        shape[0] = wanted < 32 ? wanted : 32;
        shape[3] = 256;
        shape[1] = shape[2] = shape[4] = shape[5] = 1;
        return 0;
    }
    const float *in = given.first;
    float *partial = given.second;
    const int n = (int)given.third;
    double sums[32] = {0};
    for (int i = 0; i < n; i++) sums[(unsigned)i / 4 % blocks] += (double)in[i];
    for (unsigned b = 0; b < blocks; b++) partial[b] = (float)sums[b];
    return 4.0 * n;
}

static bool is_workbook_kernel(const Function *of) {
    return strcmp(of->name, "read_all") == 0 || strstr(of->name, "sum_float4");
}

static double speed_of(const Function *of) {
    const char *set = getenv(of->module->is_second ? "FAKE_CUDA_REFERENCE_SPEED" : "FAKE_CUDA_SPEED");
    return set && strcmp(of->name, "read_all") != 0 ? atof(set) : 100;
}

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                        CUstream stream, void **parameters, void **extra) {
    ANSWER();
    (void)grid_x, (void)grid_y, (void)grid_z, (void)block_x, (void)block_y, (void)block_z, (void)stream;
    Function *of = (Function *)function;
    if (shared + 1024 > 49152 && of->dynamic_shared < (int)shared) return CUDA_ERROR_INVALID_VALUE;
    struct {
        unsigned char *pointer;
        long long bytes;
    } argument = {0};
    if (parameters || !extra || extra[0] != CU_LAUNCH_PARAM_BUFFER_POINTER) return CUDA_ERROR_INVALID_VALUE;
    memcpy(&argument, extra[1],
           *(size_t *)extra[3] < sizeof argument ? *(size_t *)extra[3] : sizeof argument);
    if (is_workbook_kernel(of)) {
        unsigned char whole[40] = {0};
        memcpy(whole, extra[1], *(size_t *)extra[3] < sizeof whole ? *(size_t *)extra[3] : sizeof whole);
        now.clock_ms += 1e-6 * run_workbook_kernel(of, whole, grid_x) / speed_of(of);
        return CUDA_SUCCESS;
    }
    now.clock_ms += 0.5;
    int code = 0;
    if (sscanf(of->name, "fault_%d", &code) == 1) now.pending = (CUresult)code;
    if (strcmp(of->name, "fill") == 0) memset(argument.pointer, 7, (size_t)argument.bytes);
    if (strcmp(of->name, "past_end") == 0) argument.pointer[argument.bytes] = 1;
    if (strcmp(of->name, "far_past") == 0) argument.pointer[argument.bytes + 4000] = 1;
    if (strcmp(of->name, "before") == 0) argument.pointer[-1] = 1;
    if (strcmp(of->name, "count") == 0) {
        of->module->counter++;
        memcpy(argument.pointer, &of->module->counter, 4);
    }
    return CUDA_SUCCESS;
}

// ---- Events -----------------------------------------------------------------------------------------------

CUresult cuEventCreate(CUevent *event, unsigned flags) {
    (void)flags;
    ANSWER();
    *event = calloc(1, sizeof(double));
    now.events++;
    return CUDA_SUCCESS;
}
CUresult cuEventDestroy_v2(CUevent event) {
    free(event);
    now.events--;
    return CUDA_SUCCESS;
}
CUresult cuEventRecord(CUevent event, CUstream stream) {
    (void)stream;
    ANSWER();
    memcpy(event, &now.clock_ms, sizeof now.clock_ms);
    return CUDA_SUCCESS;
}
CUresult cuEventQuery(CUevent event) {
    (void)event;
    ANSWER();
    return CUDA_ERROR_NOT_READY; // as if the device were always busy
}
CUresult cuEventSynchronize(CUevent event) {
    (void)event;
    ANSWER();
    return CUDA_SUCCESS;
}
#undef cuEventElapsedTime
CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent stop);
CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent stop) {
    ANSWER();
    double from, to;
    memcpy(&from, start, sizeof from);
    memcpy(&to, stop, sizeof to);
    *milliseconds = (float)(to - from);
    return CUDA_SUCCESS;
}

CUresult cuGetErrorName(CUresult error, const char **name) {
    static char text[32];
    snprintf(text, sizeof text, "CUDA_ERROR_%d", (int)error);
    return *name = text, CUDA_SUCCESS;
}
CUresult cuGetErrorString(CUresult error, const char **words) {
    static char text[32];
    snprintf(text, sizeof text, "error number %d", (int)error);
    return *words = text, CUDA_SUCCESS;
}

// For the probe: what is still held.
void fake_held(int held[5], size_t limits[2]);
void fake_held(int held[5], size_t limits[2]) {
    held[0] = now.allocations, held[1] = now.modules, held[2] = now.streams, held[3] = now.events;
    held[4] = now.contexts;
    limits[0] = now.printf_bytes, limits[1] = now.stack_bytes;
}
