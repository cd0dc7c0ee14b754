// Arrays of texels, and texture and surface objects.
#include <stdlib.h>
#include <string.h>

#include "runtime/array.h"
#include "runtime/queue.h"
#include "runtime/repeat.h"
#include "runtime/report.h"
#include "runtime/state.h"

static bool texels_of(const struct cudaChannelFormatDesc *format, EmulatorTexels *texels) {
    static const EmulatorTexelType types[3][3] = {
        [cudaChannelFormatKindSigned] = {TEXEL_S8, TEXEL_S16, TEXEL_S32},
        [cudaChannelFormatKindUnsigned] = {TEXEL_U8, TEXEL_U16, TEXEL_U32},
        [cudaChannelFormatKindFloat] = {TEXEL_TYPES, TEXEL_F16, TEXEL_F32},
    };
    const int size = format->x == 8 ? 0 : format->x == 16 ? 1 : format->x == 32 ? 2 : -1;
    texels->channels = (format->x != 0) + (format->y != 0) + (format->z != 0) + (format->w != 0);
    if (size < 0 || format->f < 0 || format->f > cudaChannelFormatKindFloat) return false;
    texels->type = types[format->f][size];
    return texels->type != TEXEL_TYPES;
}

// ---- Arrays -----------------------------------------------------------------------------------------------

static cudaError_t new_array(cudaArray_t *array, const struct cudaChannelFormatDesc *format,
                             struct cudaExtent extent, unsigned flags) {
    if (!array || !format || !extent.width) return cudaErrorInvalidValue;
    cudaArray_t made = calloc(1, sizeof *made);
    if (!made) return cudaErrorMemoryAllocation;
    made->format = *format;
    made->extent = extent;
    made->flags = flags;
    EmulatorTexels *t = &made->texels;
    t->width = (uint32_t)extent.width;
    t->height = (uint32_t)extent.height;
    t->depth = (uint32_t)extent.depth;
    t->is_layered = flags & cudaArrayLayered;
    t->is_cube = flags & cudaArrayCubemap;
    // One dimension in layers: the runtime gives the layers as the depth, and no height.
    if (!texels_of(format, t) || !(made->memory = allocation_array(t))) {
        free(made);
        return cudaErrorInvalidValue;
    }
    *array = made;
    return cudaSuccess;
}

cudaError_t cudaMallocArray(cudaArray_t *array, const struct cudaChannelFormatDesc *format, size_t width,
                            size_t height, unsigned flags) {
    return CALL(new_array(array, format, (struct cudaExtent){width, height, 0}, flags));
}
cudaError_t cudaMalloc3DArray(cudaArray_t *array, const struct cudaChannelFormatDesc *format,
                              struct cudaExtent extent, unsigned flags) {
    return CALL(new_array(array, format, extent, flags));
}

static cudaError_t free_array(cudaArray_t array) {
    if (!array) return cudaSuccess;
    queue_run_all();
    queue_settle();
    allocation_free(array->memory);
    free(array);
    return cudaSuccess;
}
cudaError_t cudaFreeArray(cudaArray_t array) { return CALL(free_array(array)); }

cudaError_t cudaArrayGetInfo(struct cudaChannelFormatDesc *format, struct cudaExtent *extent, unsigned *flags,
                             cudaArray_t array) {
    if (format) *format = array->format;
    if (extent) *extent = array->extent;
    if (flags) *flags = array->flags;
    return CALL(cudaSuccess);
}
cudaError_t cudaGetChannelDesc(struct cudaChannelFormatDesc *format, cudaArray_const_t array) {
    *format = array->format;
    return CALL(cudaSuccess);
}
struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                                   enum cudaChannelFormatKind kind) {
    return (struct cudaChannelFormatDesc){x, y, z, w, kind};
}

// ---- Objects ----------------------------------------------------------------------------------------------

static cudaError_t new_texture(cudaTextureObject_t *object, const struct cudaResourceDesc *resource,
                               const struct cudaTextureDesc *how) {
    EmulatorTexture t = {
        .is_filtered = how->filterMode == cudaFilterModeLinear,
        .has_normalised_coordinates = how->normalizedCoords != 0,
        .reads_normalised = how->readMode == cudaReadModeNormalizedFloat,
    };
    for (int i = 0; i < 3; i++)
        t.address_mode[i] = (EmulatorAddressMode)how->addressMode[i]; // in the same order
    memcpy(t.border, how->borderColor, sizeof t.border);
    switch (resource->resType) {
    case cudaResourceTypeArray:
        t.texels = resource->res.array.array->texels;
        t.address = resource->res.array.array->memory->device;
        break;
    case cudaResourceTypeLinear:
        if (!texels_of(&resource->res.linear.desc, &t.texels)) return cudaErrorInvalidValue;
        t.is_linear = true;
        t.address = (uint64_t)resource->res.linear.devPtr;
        t.texels.width = (uint32_t)(resource->res.linear.sizeInBytes / texel_bytes(&t.texels));
        break;
    case cudaResourceTypePitch2D:
        if (!texels_of(&resource->res.pitch2D.desc, &t.texels)) return cudaErrorInvalidValue;
        t.is_linear = true;
        t.address = (uint64_t)resource->res.pitch2D.devPtr;
        t.pitch = resource->res.pitch2D.pitchInBytes;
        t.texels.width = (uint32_t)resource->res.pitch2D.width;
        t.texels.height = (uint32_t)resource->res.pitch2D.height;
        break;
    default: report_once("textures with mipmaps are not supported yet"); return cudaErrorNotSupported;
    }
    EmulatorError error;
    repeat_forget(); // a handle may have meant another one
    *object = emulator_create_texture(device_emulator(), &t, &error);
    if (!*object) report_once("%s", error.message);
    return *object ? cudaSuccess : cudaErrorInvalidValue;
}
cudaError_t cudaCreateTextureObject(cudaTextureObject_t *object, const struct cudaResourceDesc *resource,
                                    const struct cudaTextureDesc *how,
                                    const struct cudaResourceViewDesc *view) {
    (void)view;
    return CALL(object && resource && how ? new_texture(object, resource, how) : cudaErrorInvalidValue);
}

static cudaError_t new_surface(cudaSurfaceObject_t *object, const struct cudaResourceDesc *resource) {
    if (resource->resType != cudaResourceTypeArray) return cudaErrorInvalidValue;
    const struct cudaArray *array = resource->res.array.array;
    EmulatorError error;
    repeat_forget();
    *object = emulator_create_surface(device_emulator(), &array->texels, array->memory->device, &error);
    return *object ? cudaSuccess : cudaErrorInvalidValue;
}
cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t *object, const struct cudaResourceDesc *resource) {
    return CALL(object && resource ? new_surface(object, resource) : cudaErrorInvalidValue);
}

static cudaError_t destroy(uint64_t object) {
    EmulatorError error;
    queue_run_all(); // kernels may still use it
    queue_settle();
    return emulator_destroy_texture(device_emulator(), object, &error) ? cudaSuccess : cudaErrorInvalidValue;
}
cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object) { return CALL(destroy(object)); }
cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t object) { return CALL(destroy(object)); }
