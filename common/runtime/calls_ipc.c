#define _GNU_SOURCE // O_CLOEXEC, readlink
// Memory and events that several processes use.
//
// A handle of memory names an open file of the process that gave it, and is good for as long as that process
// has the memory. What comes before the record of a shared event runs when it is recorded: a thread of
// another process that waits for the event has nothing to wait for.
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/queue.h"
#include "runtime/repeat.h"
#include "runtime/report.h"
#include "runtime/state.h"

typedef struct {
    char mark[16];
    int process, file;
    size_t bytes;
} Handle;
_Static_assert(sizeof(Handle) <= CUDA_IPC_HANDLE_SIZE, "a handle has room for what it names");
static const char OF_MEMORY[16] = "warpbook memory", OF_EVENT[16] = "warpbook event";

// Other processes change what kernels find, and see what they leave.
static cudaError_t begin(void) {
    if (options()->record) {
        report_once("a chapter's program is one process: cudaIpc functions are not supported there");
        return cudaErrorNotSupported;
    }
    queue_settle();
    repeat_forbid();
    return cudaSuccess;
}

// ---- Memory -----------------------------------------------------------------------------------------------

static cudaError_t handle_of_memory(cudaIpcMemHandle_t *handle, const void *pointer) {
    Allocation *a = allocation_live_at(pointer);
    if (!handle || !a || a->kind != MEMORY_DEVICE || a->process || a->is_of_graph)
        return cudaErrorInvalidValue;
    const cudaError_t error = begin();
    if (error) return error;
    Handle h = {.process = getpid(), .file = allocation_share(a), .bytes = a->size};
    if (h.file < 0) return cudaErrorMemoryAllocation;
    memcpy(h.mark, OF_MEMORY, sizeof h.mark);
    *handle = (cudaIpcMemHandle_t){0};
    memcpy(handle, &h, sizeof h);
    return cudaSuccess;
}
cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t *handle, void *pointer) {
    return CALL(handle_of_memory(handle, pointer));
}

static Allocation *opened(const Handle *h) {
    Allocation *a;
    for (int i = 0; (a = allocation_by_index(i)); i++)
        if (!a->is_freed && a->process == h->process && a->its_file == h->file) return a;
    return NULL;
}

// The descriptor of a file that is memory of another process's runtime and has so many bytes; -1: it is not.
static int open_file(const Handle *h) {
    static const char name[] = "/memfd:warpbook";
    char path[64], target[64] = "";
    struct stat found;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", h->process, h->file);
    if (readlink(path, target, sizeof target - 1) < 0 || strncmp(target, name, strlen(name))) return -1;
    const int file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0 || (!fstat(file, &found) && (size_t)found.st_size > h->bytes)) return file;
    close(file);
    return -1;
}

static cudaError_t open_memory(void **pointer, const cudaIpcMemHandle_t *handle, unsigned flags) {
    Handle h;
    memcpy(&h, handle, sizeof h);
    if (!pointer || flags != cudaIpcMemLazyEnablePeerAccess || memcmp(h.mark, OF_MEMORY, sizeof h.mark))
        return cudaErrorInvalidValue;
    if (h.process == getpid()) return cudaErrorDeviceUninitialized; // as a GPU's runtime calls it
    cudaError_t error = begin();
    if (error) return error;
    Allocation *a = opened(&h);
    if (!a) {
        const int file = open_file(&h);
        a = file < 0 ? NULL : allocation_import(file, h.bytes);
        if (!a && file >= 0) close(file);
        if (!a) return cudaErrorMapBufferObjectFailed;
        a->process = h.process;
        a->its_file = h.file;
    }
    a->opened++;
    *pointer = (void *)a->device;
    return cudaSuccess;
}
cudaError_t cudaIpcOpenMemHandle(void **pointer, cudaIpcMemHandle_t handle, unsigned flags) {
    return CALL(open_memory(pointer, &handle, flags));
}

static cudaError_t close_memory(const void *pointer) {
    Allocation *a = allocation_live_at(pointer);
    if (!a || !a->process || a->device != (uint64_t)pointer) return cudaErrorInvalidValue;
    if (--a->opened) return cudaSuccess;
    queue_run_all();
    allocation_free(a);
    return cudaSuccess;
}
cudaError_t cudaIpcCloseMemHandle(void *pointer) { return CALL(close_memory(pointer)); }

// ---- Events -----------------------------------------------------------------------------------------------

static cudaError_t handle_of_event(cudaIpcEventHandle_t *handle, const struct CUevent_st *event) {
    if (!handle || !event || event->is_destroyed || !event->is_shared) return cudaErrorInvalidResourceHandle;
    const cudaError_t error = begin();
    if (error) return error;
    Handle h = {.process = getpid()};
    memcpy(h.mark, OF_EVENT, sizeof h.mark);
    *handle = (cudaIpcEventHandle_t){0};
    memcpy(handle, &h, sizeof h);
    return cudaSuccess;
}
cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t *handle, cudaEvent_t event) {
    return CALL(handle_of_event(handle, event));
}

cudaError_t cudaIpcOpenEventHandle(cudaEvent_t *event, cudaIpcEventHandle_t handle) {
    Handle h;
    memcpy(&h, &handle, sizeof h);
    if (memcmp(h.mark, OF_EVENT, sizeof h.mark)) return CALL(cudaErrorInvalidValue);
    return cudaEventCreateWithFlags(event, cudaEventDisableTiming | cudaEventInterprocess);
}
