#include "runtime/array.h"

ArraySide array_side(cudaArray_const_t array, struct cudaPitchedPtr memory, struct cudaPos at) {
    ArraySide side = {
        .start = memory.ptr, .pitch = memory.pitch, .slice = memory.pitch * memory.ysize, .unit = 1};
    if (array) {
        side.unit = texel_bytes(&array->texels);
        side.start = (char *)array->memory->device;
        side.pitch = array->texels.width * side.unit;
        side.slice = side.pitch * texel_rows(&array->texels);
    }
    side.start += at.z * side.slice + at.y * side.pitch + at.x * side.unit;
    return side;
}

Copy array_copy(const struct cudaMemcpy3DParms *p, const char *call) {
    const ArraySide from = array_side(p->srcArray, p->srcPtr, p->srcPos),
                    to = array_side(p->dstArray, p->dstPtr, p->dstPos);
    // The extent counts texels if an array takes part.
    const size_t unit = p->srcArray ? from.unit : to.unit;
    Copy copy = copy_row(to.start, from.start, p->extent.width * unit, p->kind, call);
    copy.height = p->extent.height;
    copy.depth = p->extent.depth;
    copy.to_pitch = to.pitch;
    copy.from_pitch = from.pitch;
    copy.to_slice = to.slice;
    copy.from_slice = from.slice;
    return copy;
}
