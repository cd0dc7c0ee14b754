// Arrays, and texture and surface objects, of a device.
#include <stdlib.h>
#include <string.h>

#include "emulator/emulator.h"
#include "emulator/machine/resolve.h"
#include "emulator/machine/texture.h"
#include "emulator/objects.h"

// Bytes of all texels, 0 if they are too many.
static uint64_t bytes_of(const EmulatorTexels *t) {
    const unsigned __int128 bytes =
        (unsigned __int128)t->width * texel_rows(t) * texel_slices(t) * texel_bytes(t);
    return bytes >> 39 ? 0 : (uint64_t)bytes;
}

static bool check_texels(const EmulatorTexels *t, EmulatorError *error) {
    if ((unsigned)t->type >= TEXEL_TYPES || (t->channels != 1 && t->channels != 2 && t->channels != 4))
        return emulator_fail(error, EMULATOR_BAD_ARGUMENT,
                             "texels have 1, 2 or 4 channels of a known type, not %d", t->channels);
    if (!t->width || !bytes_of(t))
        return emulator_fail(error, EMULATOR_BAD_ARGUMENT, "an array of %u x %u x %u texels cannot be",
                             t->width, t->height, t->depth);
    if (t->is_cube &&
        (t->width != t->height || !t->depth || t->depth % 6 || (!t->is_layered && t->depth != 6)))
        return emulator_fail(error, EMULATOR_BAD_ARGUMENT, "a cube has 6 square faces, not %u of %u x %u",
                             t->depth, t->width, t->height);
    return true;
}

uint64_t emulator_create_array(Emulator *e, const EmulatorTexels *texels, const char *name,
                               EmulatorError *error) {
    if (!check_texels(texels, error)) return 0;
    return emulator_allocate(e, bytes_of(texels), 0, name, error);
}

static uint64_t keep(Emulator *e, const TextureObject *object, EmulatorError *error) {
    uint64_t index = 0;
    while (index < e->texture_count && e->textures[index].in_use) index++;
    if (index == e->texture_count) {
        TextureObject *grown = realloc(e->textures, (index + 1) * sizeof *grown);
        if (!grown) {
            emulator_fail(error, EMULATOR_NO_MEMORY, "no memory for a texture object");
            return 0;
        }
        e->textures = grown;
        e->texture_count++;
    }
    e->textures[index] = *object;
    return TEXTURE_WINDOW + 16 * (index + 1);
}

static uint64_t create(Emulator *e, const EmulatorTexture *t, bool is_surface, EmulatorError *error) {
    const EmulatorTexels *texels = &t->texels;
    if (!check_texels(texels, error)) return 0;
    const uint64_t row = (uint64_t)texels->width * texel_bytes(texels);
    if (t->is_linear && (texels->depth || (texels->height && t->pitch < row))) {
        emulator_fail(error, EMULATOR_BAD_ARGUMENT, "rows of %llu bytes do not fit in a pitch of %zu",
                      (unsigned long long)row, t->pitch);
        return 0;
    }
    const uint64_t bytes =
        t->is_linear && texels->height ? t->pitch * (texels->height - 1ull) + row : bytes_of(texels);
    if (!emulator_host_pointer(e, t->address, bytes)) {
        emulator_fail(error, EMULATOR_BAD_ARGUMENT,
                      "the %llu bytes of the texels at 0x%llx are not in one buffer",
                      (unsigned long long)bytes, (unsigned long long)t->address);
        return 0;
    }
    TextureObject object = {.texture = *t, .in_use = true, .is_surface = is_surface};
    if (!t->is_linear || !texels->height) object.texture.pitch = 0;
    return keep(e, &object, error);
}

uint64_t emulator_create_texture(Emulator *e, const EmulatorTexture *texture, EmulatorError *error) {
    return create(e, texture, false, error);
}

uint64_t emulator_create_surface(Emulator *e, const EmulatorTexels *texels, uint64_t array,
                                 EmulatorError *error) {
    return create(e, &(EmulatorTexture){.texels = *texels, .address = array}, true, error);
}

bool emulator_destroy_texture(Emulator *e, uint64_t handle, EmulatorError *error) {
    const uint64_t index = (handle - TEXTURE_WINDOW) / 16 - 1;
    if (handle < TEXTURE_WINDOW + 16 || index >= e->texture_count || !e->textures[index].in_use)
        return emulator_fail(error, EMULATOR_BAD_ARGUMENT, "0x%llx is not a texture or surface object",
                             (unsigned long long)handle);
    e->textures[index].in_use = false;
    return true;
}
