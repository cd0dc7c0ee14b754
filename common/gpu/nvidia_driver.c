// The library is opened at run time and never linked, so that the same program runs without it.
#include "gpu/nvidia_driver.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#if __has_include(<cuda.h>)

const Driver *nvidia_driver(char *why, size_t why_bytes) {
    static Driver table;
    static bool is_open;
    if (is_open) return &table;
    const char *wanted = getenv("WARPBOOK_LIBCUDA"); // for the tests, which use their own driver
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

// The meaning of the driver's errors for the kernel (cuda.h, enum cudaError_enum).
static const struct {
    CUresult result;
    FindingKind finding;
    bool loses_context;
    const char *meaning;
} fault_table[] = {
    {CUDA_ERROR_ILLEGAL_ADDRESS, FINDING_OUT_OF_BOUNDS, true,
     "the kernel accessed memory that is not allocated"},
    {CUDA_ERROR_MISALIGNED_ADDRESS, FINDING_MISALIGNED, true,
     "the kernel accessed an address that is not a multiple of the access's size"},
    {CUDA_ERROR_INVALID_ADDRESS_SPACE, FINDING_WRONG_SPACE, true,
     "the kernel used an address outside the memory space of its instruction"},
    {CUDA_ERROR_LAUNCH_TIMEOUT, FINDING_STEP_LIMIT, true, "the kernel ran longer than the driver allows"},
    {CUDA_ERROR_ASSERT, FINDING_ASSERT, true, "an assert in the kernel failed"},
    {CUDA_ERROR_ILLEGAL_INSTRUCTION, FINDING_TRAP, true,
     "the kernel executed an illegal instruction or a trap"},
    {CUDA_ERROR_LAUNCH_FAILED, FINDING_TRAP, true,
     "the hardware stopped the kernel: a trap, or an access outside shared or local memory"},
    {CUDA_ERROR_HARDWARE_STACK_ERROR, FINDING_STACK_OVERFLOW, true,
     "the kernel's stack overflowed or was damaged"},
    {CUDA_ERROR_INVALID_PC, FINDING_BAD_CALL, true, "the kernel jumped to an address without code"},
    {CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, FINDING_RESOURCE, false,
     "a block of this size needs more registers or shared memory than a multiprocessor has"},
    {CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, FINDING_BAD_LAUNCH, false,
     "the grid is too large to run all at once"},
    {CUDA_ERROR_CONTEXT_IS_DESTROYED, FINDING_NONE, true, "the GPU's context was destroyed"},
    {CUDA_ERROR_ECC_UNCORRECTABLE, FINDING_NONE, true, "the GPU's memory has an uncorrectable error"},
    {CUDA_ERROR_DEVICE_UNAVAILABLE, FINDING_NONE, true,
     "another process uses the GPU, or it has disappeared"},
    {CUDA_ERROR_OUT_OF_MEMORY, FINDING_NONE, false, "the GPU is out of memory"},
};

bool nvidia_fail(NvidiaGpu *gpu, CUresult result, const char *what, GpuError *error) {
    const char *name = NULL, *words = NULL;
    gpu->driver->error_name(result, &name);
    gpu->driver->error_string(result, &words);
    for (size_t i = 0; i < sizeof fault_table / sizeof fault_table[0]; i++) {
        if (fault_table[i].result != result) continue;
        FindingKind finding = fault_table[i].finding;
        gpu_fail(error, finding == FINDING_NONE, "%s (%s)", fault_table[i].meaning, name ? name : "?");
        error->finding = finding;
        error->is_context_lost = fault_table[i].loses_context;
        gpu->is_lost |= error->is_context_lost;
        return false;
    }
    gpu_fail(error, true, "the NVIDIA driver could not %s: %s (%s)", what, words ? words : "unknown error",
             name ? name : "?");
    return false;
}

bool nvidia_is_usable(NvidiaGpu *gpu, GpuError *error) {
    if (!gpu->is_lost) return true;
    gpu_fail(error, true,
             "the GPU's context was lost by an earlier fault; close the device and open it again");
    error->is_context_lost = true;
    return false;
}

// ---- Whether there is one -------------------------------------------------------------------------------

// The compute capability of the first device; 0 with the reason in `words`.
static int ask_architecture(const Driver *entries, char *words, size_t bytes) {
    int count = 0, major = 0, minor = 0;
    CUdevice device = 0;
    CUresult result = entries->init(0);
    if (result == CUDA_SUCCESS) result = entries->device_count(&count);
    if (result == CUDA_SUCCESS && count == 0) result = CUDA_ERROR_NO_DEVICE;
    if (result == CUDA_SUCCESS) result = entries->device_get(&device, 0);
    if (result == CUDA_SUCCESS)
        result = entries->device_attribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
    if (result == CUDA_SUCCESS)
        result = entries->device_attribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
    if (result == CUDA_SUCCESS) return 10 * major + minor;
    const char *said = NULL;
    entries->error_string(result, &said);
    snprintf(words, bytes, "%s", said ? said : "unknown error");
    return 0;
}

// Asked in a child process: a process that has started CUDA must not fork, and the caller may still need to.
int nvidia_architecture(char *why, size_t why_bytes) {
    struct {
        int architecture;
        char words[256];
    } answer = {0};
    int message[2];
    if (why && why_bytes) why[0] = '\0';
    const Driver *entries = nvidia_driver(answer.words, sizeof answer.words);
    if (entries && pipe(message) == 0) {
        snprintf(answer.words, sizeof answer.words, "the NVIDIA driver does not answer");
        pid_t child = fork();
        if (child == 0) {
            answer.architecture = ask_architecture(entries, answer.words, sizeof answer.words);
            _exit(write(message[1], &answer, sizeof answer) == (ssize_t)sizeof answer ? 0 : 1);
        }
        close(message[1]);
        const ssize_t got = child > 0 ? read(message[0], &answer, sizeof answer) : 0;
        if (got != (ssize_t)sizeof answer) answer.architecture = 0;
        close(message[0]);
        if (child > 0) waitpid(child, NULL, 0);
    }
    answer.words[sizeof answer.words - 1] = '\0';
    if (answer.architecture == 0 && why && why_bytes) snprintf(why, why_bytes, "%s", answer.words);
    return answer.architecture;
}

#else // built without cuda.h: the emulator is all there is

int nvidia_architecture(char *why, size_t why_bytes) {
    if (why && why_bytes)
        snprintf(
            why, why_bytes,
            "this program was built without NVIDIA's cuda.h and cannot use a GPU; run make again with nvcc");
    return 0;
}

#endif
