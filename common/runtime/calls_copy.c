// Copies and fills.
#include <string.h>

#include "runtime/array.h"
#include "runtime/queue.h"
#include "runtime/report.h"
#include "runtime/state.h"

// Whether the program has to wait for a copy, or its source to be kept, follows from the memory that it is
// between (CUDA Runtime API, "API synchronization behavior").
static cudaError_t submit(Copy *copy, cudaStream_t handle, bool is_async) {
    if (sticky_error()) return sticky_error();
    const cudaError_t error = copy_check(copy);
    if (error || !copy_span_to(copy)) return error;
    cudaStream_t stream = queue_stream(handle);
    const CopySides sides = copy_sides(copy);
    const bool from_program = copy->from && !sides.from, to_program = !sides.to,
               on_device = sides.to && !sides.to->host && (!copy->from || (sides.from && !sides.from->host));
    const bool waits = !stream->capture && (to_program || (!is_async && !on_device));
    if (from_program && !waits && !stream->capture && !copy_hold(copy)) return cudaErrorMemoryAllocation;
    const cudaError_t added =
        queue_add(&(Op){.kind = OP_COPY, .stream = stream, .place = copy->place, .copy = *copy});
    if (!added && waits) queue_run_stream(stream);
    return added ? added : sticky_error();
}

static cudaError_t copy_row_now(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                                const char *call) {
    Copy copy = copy_row(to, from, bytes, kind, call);
    return submit(&copy, NULL, false);
}
static cudaError_t copy_row_later(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                                  cudaStream_t stream, const char *call) {
    Copy copy = copy_row(to, from, bytes, kind, call);
    return submit(&copy, stream, true);
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind) {
    return CALL(copy_row_now(to, from, bytes, kind, "cudaMemcpy"));
}
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t stream) {
    return CALL(copy_row_later(to, from, bytes, kind, stream, "cudaMemcpyAsync"));
}
cudaError_t cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t bytes) {
    (void)to_device, (void)from_device;
    return CALL(copy_row_now(to, from, bytes, cudaMemcpyDeviceToDevice, "cudaMemcpyPeer"));
}
cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t bytes,
                                cudaStream_t stream) {
    (void)to_device, (void)from_device;
    return CALL(copy_row_later(to, from, bytes, cudaMemcpyDeviceToDevice, stream, "cudaMemcpyPeerAsync"));
}

// ---- Rows -------------------------------------------------------------------------------------------------

static cudaError_t copy_rows(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                             size_t height, enum cudaMemcpyKind kind, cudaStream_t stream, bool is_async,
                             const char *call) {
    if (width > to_pitch || width > from_pitch) return cudaErrorInvalidPitchValue;
    Copy copy = copy_row(to, from, width, kind, call);
    copy.height = height;
    copy.to_pitch = to_pitch;
    copy.from_pitch = from_pitch;
    return submit(&copy, stream, is_async);
}
cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                         size_t height, enum cudaMemcpyKind kind) {
    return CALL(copy_rows(to, to_pitch, from, from_pitch, width, height, kind, NULL, false, "cudaMemcpy2D"));
}
cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                              size_t height, enum cudaMemcpyKind kind, cudaStream_t stream) {
    return CALL(
        copy_rows(to, to_pitch, from, from_pitch, width, height, kind, stream, true, "cudaMemcpy2DAsync"));
}

static cudaError_t copy_slices(const struct cudaMemcpy3DParms *p, cudaStream_t stream, bool is_async,
                               const char *call) {
    Copy copy = array_copy(p, call);
    return submit(&copy, stream, is_async);
}
cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms *p) {
    return CALL(copy_slices(p, NULL, false, "cudaMemcpy3D"));
}
cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *p, cudaStream_t stream) {
    return CALL(copy_slices(p, stream, true, "cudaMemcpy3DAsync"));
}

// ---- Arrays -----------------------------------------------------------------------------------------------

// Rows of bytes between memory and an array, in which `x` counts bytes.
static cudaError_t copy_array(cudaArray_const_t array, size_t x, size_t y, void *memory, size_t pitch,
                              size_t width, size_t height, enum cudaMemcpyKind kind, bool to_array,
                              cudaStream_t stream, bool is_async, const char *call) {
    const ArraySide side = array_side(array, (struct cudaPitchedPtr){0}, (struct cudaPos){.y = y});
    char *texels = side.start + x;
    return to_array
               ? copy_rows(texels, side.pitch, memory, pitch, width, height, kind, stream, is_async, call)
               : copy_rows(memory, pitch, texels, side.pitch, width, height, kind, stream, is_async, call);
}
cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch,
                                size_t width, size_t height, enum cudaMemcpyKind kind) {
    return CALL(copy_array(to, x, y, (void *)(uintptr_t)from, pitch, width, height, kind, true, NULL, false,
                           "cudaMemcpy2DToArray"));
}
cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch,
                                     size_t width, size_t height, enum cudaMemcpyKind kind,
                                     cudaStream_t stream) {
    return CALL(copy_array(to, x, y, (void *)(uintptr_t)from, pitch, width, height, kind, true, stream, true,
                           "cudaMemcpy2DToArrayAsync"));
}
cudaError_t cudaMemcpy2DFromArray(void *to, size_t pitch, cudaArray_const_t from, size_t x, size_t y,
                                  size_t width, size_t height, enum cudaMemcpyKind kind) {
    return CALL(
        copy_array(from, x, y, to, pitch, width, height, kind, false, NULL, false, "cudaMemcpy2DFromArray"));
}
cudaError_t cudaMemcpy2DFromArrayAsync(void *to, size_t pitch, cudaArray_const_t from, size_t x, size_t y,
                                       size_t width, size_t height, enum cudaMemcpyKind kind,
                                       cudaStream_t stream) {
    return CALL(copy_array(from, x, y, to, pitch, width, height, kind, false, stream, true,
                           "cudaMemcpy2DFromArrayAsync"));
}
cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, size_t x, size_t y, cudaArray_const_t from,
                                     size_t from_x, size_t from_y, size_t width, size_t height,
                                     enum cudaMemcpyKind kind) {
    const ArraySide side = array_side(from, (struct cudaPitchedPtr){0}, (struct cudaPos){.y = from_y});
    return CALL(copy_array(to, x, y, side.start + from_x, side.pitch, width, height, kind, true, NULL, false,
                           "cudaMemcpy2DArrayToArray"));
}
// These treat the array as one row after another.
cudaError_t cudaMemcpyToArray(cudaArray_t to, size_t x, size_t y, const void *from, size_t bytes,
                              enum cudaMemcpyKind kind) {
    const ArraySide side = array_side(to, (struct cudaPitchedPtr){0}, (struct cudaPos){.y = y});
    return CALL(copy_row_now(side.start + x, from, bytes, kind, "cudaMemcpyToArray"));
}
cudaError_t cudaMemcpyFromArray(void *to, cudaArray_const_t from, size_t x, size_t y, size_t bytes,
                                enum cudaMemcpyKind kind) {
    const ArraySide side = array_side(from, (struct cudaPitchedPtr){0}, (struct cudaPos){.y = y});
    return CALL(copy_row_now(to, side.start + x, bytes, kind, "cudaMemcpyFromArray"));
}

cudaError_t cudaMemcpyToArrayAsync(cudaArray_t to, size_t x, size_t y, const void *from, size_t bytes,
                                   enum cudaMemcpyKind kind, cudaStream_t stream) {
    const ArraySide side = array_side(to, (struct cudaPitchedPtr){0}, (struct cudaPos){.y = y});
    return CALL(copy_row_later(side.start + x, from, bytes, kind, stream, "cudaMemcpyToArrayAsync"));
}
cudaError_t cudaMemcpyFromArrayAsync(void *to, cudaArray_const_t from, size_t x, size_t y, size_t bytes,
                                     enum cudaMemcpyKind kind, cudaStream_t stream) {
    const ArraySide side = array_side(from, (struct cudaPitchedPtr){0}, (struct cudaPos){.y = y});
    return CALL(copy_row_later(to, side.start + x, bytes, kind, stream, "cudaMemcpyFromArrayAsync"));
}

// ---- Variables --------------------------------------------------------------------------------------------

static cudaError_t copy_symbol(const void *symbol, void *host, size_t bytes, size_t offset,
                               enum cudaMemcpyKind kind, bool to_symbol, cudaStream_t stream, bool is_async,
                               const char *call) {
    cudaError_t error = cudaSuccess;
    const Allocation *a = module_variable(symbol, &error);
    if (!a) return error;
    void *device = (void *)(a->device + offset);
    Copy copy =
        to_symbol ? copy_row(device, host, bytes, kind, call) : copy_row(host, device, bytes, kind, call);
    return submit(&copy, stream, is_async);
}
cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *from, size_t bytes, size_t offset,
                               enum cudaMemcpyKind kind) {
    return CALL(copy_symbol(symbol, (void *)(uintptr_t)from, bytes, offset, kind, true, NULL, false,
                            "cudaMemcpyToSymbol"));
}
cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *from, size_t bytes, size_t offset,
                                    enum cudaMemcpyKind kind, cudaStream_t stream) {
    return CALL(copy_symbol(symbol, (void *)(uintptr_t)from, bytes, offset, kind, true, stream, true,
                            "cudaMemcpyToSymbolAsync"));
}
cudaError_t cudaMemcpyFromSymbol(void *to, const void *symbol, size_t bytes, size_t offset,
                                 enum cudaMemcpyKind kind) {
    return CALL(copy_symbol(symbol, to, bytes, offset, kind, false, NULL, false, "cudaMemcpyFromSymbol"));
}
cudaError_t cudaMemcpyFromSymbolAsync(void *to, const void *symbol, size_t bytes, size_t offset,
                                      enum cudaMemcpyKind kind, cudaStream_t stream) {
    return CALL(
        copy_symbol(symbol, to, bytes, offset, kind, false, stream, true, "cudaMemcpyFromSymbolAsync"));
}

// ---- Fills ------------------------------------------------------------------------------------------------

static cudaError_t fill(void *to, size_t pitch, int value, size_t width, size_t height, size_t depth,
                        cudaStream_t stream, bool is_async, const char *call) {
    Copy copy = copy_fill(to, (unsigned char)value, 1, width, call);
    copy.height = height;
    copy.depth = depth;
    copy.to_pitch = pitch;
    copy.to_slice = pitch * height;
    return submit(&copy, stream, is_async);
}
cudaError_t cudaMemset(void *to, int value, size_t bytes) {
    return CALL(fill(to, 0, value, bytes, 1, 1, NULL, false, "cudaMemset"));
}
cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream) {
    return CALL(fill(to, 0, value, bytes, 1, 1, stream, true, "cudaMemsetAsync"));
}
cudaError_t cudaMemset2D(void *to, size_t pitch, int value, size_t width, size_t height) {
    return CALL(fill(to, pitch, value, width, height, 1, NULL, false, "cudaMemset2D"));
}
cudaError_t cudaMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream) {
    return CALL(fill(to, pitch, value, width, height, 1, stream, true, "cudaMemset2DAsync"));
}
cudaError_t cudaMemset3D(struct cudaPitchedPtr to, int value, struct cudaExtent extent) {
    return CALL(fill(to.ptr, to.pitch, value, extent.width, extent.height, extent.depth, NULL, false,
                     "cudaMemset3D"));
}
cudaError_t cudaMemset3DAsync(struct cudaPitchedPtr to, int value, struct cudaExtent extent,
                              cudaStream_t stream) {
    return CALL(fill(to.ptr, to.pitch, value, extent.width, extent.height, extent.depth, stream, true,
                     "cudaMemset3DAsync"));
}
