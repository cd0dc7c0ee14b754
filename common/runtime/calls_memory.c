// Allocating and freeing.
#include <stdlib.h>
#include <string.h>

#include "runtime/hazard.h"
#include "runtime/queue.h"
#include "runtime/report.h"
#include "runtime/state.h"

static cudaError_t allocate(MemoryKind kind, void **pointer, size_t bytes, unsigned flags) {
    if (!pointer) return cudaErrorInvalidValue;
    *pointer = NULL;
    if (!bytes) return cudaSuccess;
    Allocation *a = allocation_new(kind, bytes);
    if (!a) return cudaErrorMemoryAllocation;
    a->flags = flags;
    if (kind != MEMORY_DEVICE) hazard_expect();
    *pointer = a->host ? a->host : (void *)a->device;
    return cudaSuccess;
}

cudaError_t cudaMalloc(void **pointer, size_t bytes) {
    return CALL(allocate(MEMORY_DEVICE, pointer, bytes, 0));
}
cudaError_t cudaMallocHost(void **pointer, size_t bytes) {
    return CALL(allocate(MEMORY_PINNED, pointer, bytes, 0));
}
cudaError_t cudaHostAlloc(void **pointer, size_t bytes, unsigned flags) {
    return CALL(allocate(MEMORY_PINNED, pointer, bytes, flags));
}
cudaError_t cudaMallocManaged(void **pointer, size_t bytes, unsigned flags) {
    return CALL(allocate(MEMORY_MANAGED, pointer, bytes, flags));
}
// The memory is there at once; work of other streams has to wait for the allocation anyway.
static cudaError_t allocate_later(void **pointer, size_t bytes, cudaStream_t handle) {
    cudaStream_t stream = queue_stream(handle);
    Op op = {.kind = OP_ALLOCATE, .stream = stream};
    const cudaError_t error = allocate(MEMORY_DEVICE, pointer, bytes, 0);
    if (error || !bytes) return error;
    op.memory = allocation_live_at(*pointer);
    op.memory->is_of_graph = stream->capture != NULL;
    place_here(&op.place);
    return queue_add(&op);
}
cudaError_t cudaMallocAsync(void **pointer, size_t bytes, cudaStream_t stream) {
    return CALL(allocate_later(pointer, bytes, stream));
}
cudaError_t cudaMallocFromPoolAsync(void **pointer, size_t bytes, cudaMemPool_t pool, cudaStream_t stream) {
    (void)pool;
    return CALL(allocate_later(pointer, bytes, stream));
}

enum { PITCH = 512 }; // of an H200's rows
static size_t pitch_of(size_t width) { return (width + PITCH - 1) / PITCH * PITCH; }
cudaError_t cudaMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height) {
    *pitch = pitch_of(width);
    return CALL(allocate(MEMORY_DEVICE, pointer, *pitch * height, 0));
}
cudaError_t cudaMalloc3D(struct cudaPitchedPtr *to, struct cudaExtent extent) {
    *to = (struct cudaPitchedPtr){
        .pitch = pitch_of(extent.width), .xsize = extent.width, .ysize = extent.height};
    return CALL(allocate(MEMORY_DEVICE, &to->ptr, to->pitch * extent.height * extent.depth, 0));
}

// ---- Freeing ----------------------------------------------------------------------------------------------

// The allocation that a pointer to free means; NULL after a report of what else it is.
static Allocation *to_free(void *pointer, bool is_host, const char *call) {
    Place place;
    char words[4400], where[4200];
    Allocation *a = allocation_at(pointer);
    const bool is_start = a && (a->device == (uint64_t)pointer || a->host == pointer);
    const bool of_kind =
        a && (is_host ? a->kind == MEMORY_PINNED
                      : (a->kind == MEMORY_DEVICE && !a->process) || a->kind == MEMORY_MANAGED);
    if (of_kind && is_start && !a->is_freed) return a;
    place_here(&place);
    if (!a) {
        report_host(BAD_FREE, &place, "%s gets 0x%llx, which no call of CUDA's has allocated", call,
                    (unsigned long long)(uintptr_t)pointer);
        if (!is_host) report_note("memory from malloc or new is freed with free or delete");
        return NULL;
    }
    allocation_words(a, words, sizeof words);
    if (a->is_freed && is_start) {
        place_text(&a->released, where, sizeof where);
        report_host(BAD_FREE, &place, "%s frees memory that is already free", call);
        report_note("%s, and freed at %s", words, where);
    } else {
        report_host(BAD_FREE, &place, "%s gets a pointer that it cannot free: %s", call,
                    !is_start                      ? "it is not the start of the allocation"
                    : a->kind == MEMORY_PINNED     ? "host memory is freed with cudaFreeHost"
                    : a->kind == MEMORY_REGISTERED ? "registered memory is released with cudaHostUnregister"
                    : a->kind == MEMORY_VARIABLE   ? "it is a variable of the program"
                    : a->process ? "another process's memory is released with cudaIpcCloseMemHandle"
                                 : "it is not host memory: use cudaFree");
        report_note("%s", words);
    }
    return NULL;
}

static cudaError_t release(void *pointer, bool is_host, const char *call) {
    if (!pointer) return cudaSuccess;
    Allocation *a = to_free(pointer, is_host, call);
    if (!a) return cudaErrorInvalidValue;
    queue_run_all(); // both wait for the device
    queue_settle();
    if (!a->is_of_graph) allocation_free(a);
    return cudaSuccess;
}
cudaError_t cudaFree(void *pointer) { return CALL(release(pointer, false, "cudaFree")); }
cudaError_t cudaFreeHost(void *pointer) { return CALL(release(pointer, true, "cudaFreeHost")); }

static cudaError_t release_later(void *pointer, cudaStream_t stream) {
    if (!pointer) return cudaSuccess;
    Op op = {
        .kind = OP_FREE, .stream = queue_stream(stream), .memory = to_free(pointer, false, "cudaFreeAsync")};
    place_here(&op.place);
    return op.memory ? queue_add(&op) : cudaErrorInvalidValue;
}
cudaError_t cudaFreeAsync(void *pointer, cudaStream_t stream) { return CALL(release_later(pointer, stream)); }

// ---- Host memory ------------------------------------------------------------------------------------------

static cudaError_t register_host(void *pointer, size_t bytes, unsigned flags) {
    if (!pointer || !bytes) return cudaErrorInvalidValue;
    if (allocation_live_at(pointer)) return cudaErrorHostMemoryAlreadyRegistered;
    Allocation *a = allocation_register(pointer, bytes);
    if (a) a->flags = flags;
    return a ? cudaSuccess : cudaErrorMemoryAllocation;
}
cudaError_t cudaHostRegister(void *pointer, size_t bytes, unsigned flags) {
    return CALL(register_host(pointer, bytes, flags));
}

static cudaError_t unregister_host(const void *pointer) {
    Allocation *a = allocation_live_at(pointer);
    if (!a || a->kind != MEMORY_REGISTERED || a->host != pointer) return cudaErrorHostMemoryNotRegistered;
    queue_run_all();
    queue_settle();
    allocation_free(a);
    return cudaSuccess;
}
cudaError_t cudaHostUnregister(void *pointer) { return CALL(unregister_host(pointer)); }

static cudaError_t device_pointer(void **device, const void *host) {
    const Allocation *a = allocation_live_at(host);
    if (!a || !a->host) return cudaErrorInvalidValue;
    *device = (void *)(a->device + (uint64_t)((const char *)host - (const char *)a->host));
    return cudaSuccess;
}
cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned flags) {
    (void)flags;
    return CALL(device_pointer(device, host));
}

static cudaError_t flags_of(unsigned *flags, const void *host) {
    const Allocation *a = allocation_live_at(host);
    if (!a || !a->host) return cudaErrorInvalidValue;
    *flags = a->flags;
    return cudaSuccess;
}
cudaError_t cudaHostGetFlags(unsigned *flags, void *host) { return CALL(flags_of(flags, host)); }

// ---- Questions --------------------------------------------------------------------------------------------

static cudaError_t pointer_attributes(struct cudaPointerAttributes *attributes, const void *pointer) {
    static const enum cudaMemoryType types[] = {
        [MEMORY_DEVICE] = cudaMemoryTypeDevice,   [MEMORY_PINNED] = cudaMemoryTypeHost,
        [MEMORY_MANAGED] = cudaMemoryTypeManaged, [MEMORY_REGISTERED] = cudaMemoryTypeHost,
        [MEMORY_VARIABLE] = cudaMemoryTypeDevice, [MEMORY_ARRAY] = cudaMemoryTypeDevice,
    };
    const Allocation *a = allocation_live_at(pointer);
    memset(attributes, 0, sizeof *attributes);
    attributes->type = a ? types[a->kind] : cudaMemoryTypeUnregistered;
    attributes->device = a ? a->owner : -2; // cudaInvalidDeviceId
    attributes->hostPointer = (void *)(uintptr_t)pointer;
    if (!a) return cudaSuccess;
    attributes->devicePointer = attributes->hostPointer;
    if (a->host)
        device_pointer(&attributes->devicePointer, pointer);
    else
        attributes->hostPointer = NULL;
    return cudaSuccess;
}
cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *pointer) {
    return CALL(pointer_attributes(attributes, pointer));
}

cudaError_t cudaMemGetInfo(size_t *free, size_t *total) {
    *total = allocation_capacity();
    *free = *total - allocation_in_use();
    return CALL(cudaSuccess);
}

static cudaError_t symbol_address(void **address, size_t *size, const void *symbol) {
    cudaError_t error = cudaSuccess;
    const Allocation *a = module_variable(symbol, &error);
    if (a && address) *address = (void *)a->device;
    if (a && size) *size = a->size;
    return error;
}
cudaError_t cudaGetSymbolAddress(void **address, const void *symbol) {
    return CALL(symbol_address(address, NULL, symbol));
}
cudaError_t cudaGetSymbolSize(size_t *size, const void *symbol) {
    return CALL(symbol_address(NULL, size, symbol));
}
