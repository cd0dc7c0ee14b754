// tex, tld4, suld, sust, sured, txq and suq, lane by lane.
#include "emulator/machine/texture.h"

#include <string.h>

#include "emulator/machine/findings.h"
#include "emulator/machine/handlers.h"
#include "emulator/machine/initialised.h"
#include "emulator/machine/resolve.h"
#include "emulator/machine/undefined_step.h"
#include "emulator/program/texture_form.h"

// ---- Handles ----------------------------------------------------------------------------------------------

const TextureObject *texture_of(const Machine *m, uint64_t handle, TextureView *view) {
    const Memory *variable = memory_at(m->emulator, handle);
    if (variable && variable->variable && variable->variable->is_texture) memcpy(&handle, variable->data, 8);
    const uint64_t index = (handle - TEXTURE_WINDOW) / 16 - 1;
    if (handle < TEXTURE_WINDOW + 16 || handle % 16 || index >= m->emulator->texture_count) return NULL;
    const TextureObject *object = &m->emulator->textures[index];
    const Memory *memory = object->in_use ? memory_at(m->emulator, object->texture.address) : NULL;
    if (!memory) return NULL;
    *view = (TextureView){.texture = &object->texture,
                          .memory = memory,
                          .offset = object->texture.address - memory->base,
                          .traffic = view->traffic};
    return object;
}

static const char *const shape_words[] = {"of one dimension", "of two dimensions", "of three dimensions",
                                          "a cube"};

static TextureShape shape_of(const EmulatorTexels *texels) {
    return texels->is_cube                        ? TEXTURE_CUBE
           : !texels->height                      ? TEXTURE_1D
           : texels->depth && !texels->is_layered ? TEXTURE_3D
                                                  : TEXTURE_2D;
}

// The texture of a lane, if it is one of which the instruction may read; else the machine stops.
static const TextureObject *object_for(Machine *m, const Warp *w, unsigned lane, const Instruction *in,
                                       uint64_t handle, TextureView *view) {
    const TextureForm *form = in->detail;
    const TextureObject *object = texture_of(m, handle, view);
    const char *thing = form->is_surface ? "surface" : "texture";
    if (!object || object->is_surface != form->is_surface) {
        report(m, FINDING_OUT_OF_BOUNDS, w, (int)lane, in,
               "uses 0x%llx, which is not a %s object: create it before the launch",
               (unsigned long long)handle, thing);
        return NULL;
    }
    const EmulatorTexels *texels = &object->texture.texels;
    TextureShape shape = shape_of(texels);
    bool fits = shape == form->shape && texels->is_layered == form->is_layered;
    // The faces of cubes are layers to a surface.
    if (form->is_surface && shape == TEXTURE_CUBE) fits = form->shape == TEXTURE_2D && form->is_layered;
    if (fits) return object;
    report(m, FINDING_OUT_OF_BOUNDS, w, (int)lane, in, "uses a %s that is %s%s as one that is %s%s", thing,
           shape_words[shape], texels->is_layered ? " in layers" : "", shape_words[form->shape],
           form->is_layered ? " in layers" : "");
    return NULL;
}

static void enter_group(TextureTraffic *traffic, const TextureForm *form, unsigned lane) {
    traffic->group = lane / (form->has_float_coordinates ? 4 : 8);
    traffic->groups |= 1u << traffic->group;
}

static uint32_t word_of(const unsigned char *registers, const Instruction *in, int k, unsigned lane) {
    return ((const uint32_t *)source(registers, in, k))[lane];
}

static void observe_traffic(const Machine *m, const Instruction *in, const TextureTraffic *traffic) {
    for (int i = 0; i < m->observer_count; i++)
        if (m->observers[i].texture)
            m->observers[i].texture(m->observers[i].self, in, traffic->sectors, traffic->count,
                                    __builtin_popcount(traffic->groups));
}

// The results of `lanes` come from texels that nothing has written.
static void results_undefined(Machine *m, Warp *w, Fragment *f, const Instruction *in, uint32_t lanes,
                              const Memory *memory, const uint64_t offsets[WARP_SIZE]) {
    const Access access = {.warp = w,
                           .in = in,
                           .memory = (Memory *)(uintptr_t)memory,
                           .mask = lanes,
                           .bytes = 4,
                           .offsets = offsets};
    const uint64_t origin = undefined_read(m, &access, lanes);
    UndefinedLanes value = {0};
    for (int b = 0; b < 4; b++) value.bytes[b] = lanes;
    FOR_LANES(lane, lanes) value.origin[lane] = undefined_of_lane(origin, (uint32_t)lane);
    for (int k = 0; k < in->dst_count; k++)
        if (in->dst[k] >= 0) undefined_write(m, f->frame, in->dst[k], lanes, &value);
}

static Step after(const Machine *m, Fragment *f, const Instruction *in, bool was_followed) {
    if (m->stopped) return STEP_TURN_ENDS;
    if (was_followed || !f->frame->undefined) return STEP_NEXT;
    f->pc = in->index + 1; // from here on the frame is followed
    return STEP_MOVED;
}

// ---- Textures ---------------------------------------------------------------------------------------------

static TextureCoordinates coordinates(const unsigned char *registers, const Instruction *in, unsigned lane) {
    const TextureForm *form = in->detail;
    TextureCoordinates at = {.is_integer = !form->has_float_coordinates};
    int k = 1;
    if (form->is_layered) at.layer = word_of(registers, in, k++, lane);
    for (int c = 0; c < form->coordinates; c++) {
        const uint32_t bits = word_of(registers, in, k++, lane);
        float x;
        memcpy(&x, &bits, 4);
        at.at[c] = form->has_float_coordinates ? (double)x : (double)(int32_t)bits;
    }
    return at;
}

Step run_texture(Machine *m, Warp *w, Fragment *f, const Instruction *in, uint32_t mask) {
    const TextureForm *form = in->detail;
    unsigned char *registers = f->frame->registers;
    const bool was_followed = f->frame->undefined;
    TextureTraffic traffic = {.count = 0};
    uint32_t undefined = 0;
    uint64_t offsets[WARP_SIZE] = {0};
    const Memory *memory = NULL;
    FOR_LANES(lane, mask) {
        TextureView view = {.traffic = &traffic};
        enter_group(&traffic, form, lane);
        if (!object_for(m, w, lane, in, ((const uint64_t *)source(registers, in, 0))[lane], &view))
            return STEP_TURN_ENDS;
        const TextureCoordinates at = coordinates(registers, in, lane);
        uint32_t channels[4];
        if (form->is_gather)
            texture_gather(&view, &at, form->channel, channels);
        else
            texture_fetch(&view, &at, channels);
        for (int k = 0; k < in->dst_count; k++)
            if (in->dst[k] >= 0) ((uint32_t *)destination(registers, in, k))[lane] = channels[k];
        if (!view.is_undefined) continue;
        undefined |= 1u << lane;
        memory = view.memory;
        offsets[lane] = view.offset;
    }
    observe_traffic(m, in, &traffic);
    if (undefined && m->follows_undefined) results_undefined(m, w, f, in, undefined, memory, offsets);
    return after(m, f, in, was_followed);
}

// ---- Surfaces ---------------------------------------------------------------------------------------------

// The place of a lane's access in the memory; false where there is nothing to access: outside with .zero, or
// after a fault.
static bool surface_place(Machine *m, const Warp *w, unsigned lane, const Instruction *in,
                          const unsigned char *registers, TextureView *view, uint64_t *offset) {
    const TextureForm *form = in->detail;
    const EmulatorTexels *texels = &view->texture->texels;
    const unsigned texel = texel_bytes(texels), bytes = (unsigned)in->width * in->elements;
    const int64_t size[3] = {(int64_t)texels->width * texel, (int64_t)texel_rows(texels),
                             (int64_t)texel_slices(texels)};
    int64_t at[3] = {0};
    int k = 1;
    if (form->is_layered) at[2] = word_of(registers, in, k++, lane);
    for (int c = 0; c < form->coordinates; c++) at[c] = (int32_t)word_of(registers, in, k++, lane);
    for (int c = 0; c < 3; c++) {
        const int64_t most = c ? size[c] - 1 : size[0] - bytes;
        if (at[c] >= 0 && at[c] <= most) continue;
        if (form->outside == OUTSIDE_ZERO) return false;
        if (form->outside == OUTSIDE_CLAMP) {
            at[c] = at[c] < 0 ? 0 : most;
            continue;
        }
        report(m, FINDING_OUT_OF_BOUNDS, w, (int)lane, in,
               "accesses %s %lld of a surface whose last one is %lld (x counts bytes)",
               c == 0   ? "byte"
               : c == 1 ? "row"
                        : "slice",
               (long long)at[c], (long long)(c ? most : size[0] - 1));
        return false;
    }
    if (at[0] & (bytes - 1)) {
        report(
            m, FINDING_MISALIGNED, w, (int)lane, in,
            "accesses %u bytes of a surface at x = %lld, which counts bytes and must be a multiple of them",
            bytes, (long long)at[0]);
        return false;
    }
    *offset = texel_offset(view, (uint64_t)at[0] / texel, (uint64_t)at[1], (uint64_t)at[2]) +
              (uint64_t)at[0] % texel;
    return true;
}

static uint64_t reduced(const Instruction *in, uint64_t old, uint64_t with) {
    const bool is_signed = in->type == PTX_S32 || in->type == PTX_S64;
    const int64_t a = in->width == 4 ? (int32_t)old : (int64_t)old,
                  b = in->width == 4 ? (int32_t)with : (int64_t)with;
    switch ((AtomicOperation)in->operation) {
    case ATOMIC_AND: return old & with;
    case ATOMIC_OR: return old | with;
    case ATOMIC_MIN: return (is_signed ? a < b : old < with) ? old : with;
    case ATOMIC_MAX: return (is_signed ? a > b : old > with) ? old : with;
    default: return old + with;
    }
}

// One lane's values, to or from `at`.
static void surface_lane(unsigned char *registers, const Instruction *in, unsigned lane, unsigned char *at) {
    const TextureForm *form = in->detail;
    for (unsigned e = 0; e < in->elements; e++, at += in->width) {
        const size_t register_width = in->literal[1];
        if (form->surface == SURFACE_LOAD) {
            uint64_t value = 0;
            if (at) memcpy(&value, at, in->width);
            if (in->dst[e] >= 0)
                memcpy(registers + in->dst[e] + lane * register_width, &value, register_width);
            continue;
        }
        const Operand *o = &in->more->src[e];
        const unsigned char *from = o->constant ? o->constant : registers + o->offset;
        uint64_t value = 0, old = 0;
        memcpy(&value, from + lane * register_width, in->width);
        if (form->surface == SURFACE_REDUCTION) {
            memcpy(&old, at, in->width);
            value = reduced(in, old, value);
        }
        memcpy(at, &value, in->width);
    }
}

Step run_surface(Machine *m, Warp *w, Fragment *f, const Instruction *in, uint32_t mask) {
    const TextureForm *form = in->detail;
    unsigned char *registers = f->frame->registers;
    const bool was_followed = f->frame->undefined;
    TextureTraffic traffic = {.count = 0};
    static unsigned char zeros[16];
    uint32_t undefined = 0;
    uint64_t offsets[WARP_SIZE] = {0};
    const Memory *memory = NULL;
    FOR_LANES(lane, mask) {
        TextureView view = {.traffic = &traffic};
        enter_group(&traffic, form, lane);
        uint64_t offset;
        if (!object_for(m, w, lane, in, ((const uint64_t *)source(registers, in, 0))[lane], &view))
            return STEP_TURN_ENDS;
        const bool is_inside = surface_place(m, w, lane, in, registers, &view, &offset);
        if (m->stopped) return STEP_TURN_ENDS;
        if (!is_inside && form->surface != SURFACE_LOAD) continue;
        surface_lane(registers, in, lane, is_inside ? view.memory->data + offset : zeros);
        if (!is_inside) continue;
        if (form->surface == SURFACE_LOAD) {
            if (!view.is_undefined) continue;
            undefined |= 1u << lane;
            memory = view.memory;
            offsets[lane] = offset;
        } else if (!view.memory->all_initialised)
            mark_initialised((Memory *)(uintptr_t)view.memory, offset, (uint64_t)in->width * in->elements);
    }
    observe_traffic(m, in, &traffic);
    if (undefined && m->follows_undefined) results_undefined(m, w, f, in, undefined, memory, offsets);
    return after(m, f, in, was_followed);
}

// ---- Queries ----------------------------------------------------------------------------------------------

Step run_texture_query(Machine *m, Warp *w, Fragment *f, const Instruction *in, uint32_t mask) {
    // As the driver writes them: CUarray_format and CUchannel_order.
    static const uint32_t formats[TEXEL_TYPES] = {1, 8, 2, 9, 3, 10, 0x10, 0x20};
    unsigned char *registers = f->frame->registers;
    FOR_LANES(lane, mask) {
        TextureView view = {0};
        const TextureObject *object =
            texture_of(m, ((const uint64_t *)source(registers, in, 0))[lane], &view);
        if (!object) {
            report(m, FINDING_OUT_OF_BOUNDS, w, (int)lane, in,
                   "asks about 0x%llx, which is not a texture or surface object",
                   (unsigned long long)((const uint64_t *)source(registers, in, 0))[lane]);
            return STEP_TURN_ENDS;
        }
        const EmulatorTexels *t = &object->texture.texels;
        const uint32_t answers[TEXTURE_QUERIES] = {
            [QUERY_WIDTH] = t->width,
            [QUERY_HEIGHT] = t->height,
            [QUERY_DEPTH] = t->is_layered || t->is_cube ? 0 : t->depth,
            [QUERY_TYPE] = formats[t->type],
            [QUERY_ORDER] = t->channels == 1   ? 0
                            : t->channels == 2 ? 3
                                               : 5,
            [QUERY_NORMALISED] = object->texture.has_normalised_coordinates,
            [QUERY_LAYERS] = t->is_layered ? (t->is_cube ? t->depth / 6 : t->depth) : 0,
            [QUERY_LEVELS] = 1,
            [QUERY_SAMPLES] = 1,
        };
        ((uint32_t *)destination(registers, in, 0))[lane] = answers[in->literal[0]];
    }
    return STEP_NEXT;
}
