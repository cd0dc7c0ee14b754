// Decodes texture and surface instructions: their shape, coordinates, values and where they may be outside.
#include "emulator/program/texture_form.h"

#include <string.h>

#include "emulator/program/lowering/lowering.h"

static bool shape_word(const char *word, TextureForm *form) {
    static const struct {
        const char *word;
        TextureShape shape;
        bool is_layered;
    } shapes[] = {{"1d", TEXTURE_1D, false},    {"2d", TEXTURE_2D, false}, {"3d", TEXTURE_3D, false},
                  {"a1d", TEXTURE_1D, true},    {"a2d", TEXTURE_2D, true}, {"cube", TEXTURE_CUBE, false},
                  {"acube", TEXTURE_CUBE, true}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        if (!strcmp(word, shapes[i].word)) {
            form->shape = shapes[i].shape;
            form->is_layered = shapes[i].is_layered;
            form->coordinates = form->shape == TEXTURE_1D ? 1 : form->shape == TEXTURE_2D ? 2 : 3;
            return true;
        }
    return false;
}

static bool position(const char *word, const char *const *words, int *out) {
    for (int i = 0; words[i]; i++)
        if (!strcmp(word, words[i])) {
            *out = i;
            return true;
        }
    return false;
}

// [object, {coordinates}] to src[0] and those behind it.
static bool place_operands(Lowering *l, const PtxInstruction *in, const PtxOperand *place,
                           const TextureForm *form, Instruction *built) {
    const int wanted = form->coordinates + form->is_layered;
    if (place->kind != PTX_OPERAND_ADDRESS || place->element_count != 2 || place->offset)
        return wrong_operands(l, in, "an object and its coordinates in brackets");
    const PtxOperand *at = &place->elements[1];
    const int given = at->kind == PTX_OPERAND_VECTOR ? at->element_count : 1;
    if (given < wanted) return wrong_operands(l, in, "as many coordinates as its shape has");
    if (!lower_source(l, in, &place->elements[0], PTX_U64, false, &built->src[0])) return false;
    for (int k = 0; k < wanted; k++) {
        const PtxOperand *o = at->kind == PTX_OPERAND_VECTOR ? &at->elements[k] : at;
        const PtxType type = form->has_float_coordinates && !(form->is_layered && k == 0) ? PTX_F32 : PTX_B32;
        if (!lower_source(l, in, o, type, false, &built->src[1 + k])) return false;
    }
    built->src_count = (uint8_t)(1 + wanted);
    return true;
}

static int elements_of(const PtxOperand *o, const PtxOperand **elements) {
    const int count = o->kind == PTX_OPERAND_VECTOR ? o->element_count : 1;
    for (int k = 0; k < count && k < 4; k++)
        elements[k] = o->kind == PTX_OPERAND_VECTOR ? &o->elements[k] : o;
    return count;
}

static bool keep_form(Lowering *l, const TextureForm *form, Instruction *built) {
    TextureForm *kept = arena_alloc(l->arena, sizeof *kept);
    if (!kept) return lower_no_memory(l);
    *kept = *form;
    built->detail = kept;
    return true;
}

// tex and tld4. The level and the gradients choose among levels, and an array here has one.
bool lower_texture(Lowering *l, const PtxInstruction *in) {
    static const char *const channels[] = {"r", "g", "b", "a", NULL};
    TextureForm form = {.is_gather = !strcmp(in->opcode, "tld4")};
    Instruction built = blank(KIND_TEXTURE);
    PtxType types[2] = {PTX_NO_TYPE, PTX_NO_TYPE};
    int type_count = 0, more = 0;
    bool has_shape = false;
    for (int i = 0; i < in->modifier_count; i++) {
        const char *word = in->modifiers[i];
        const PtxType type = ptx_type_named(word);
        if (shape_word(word, &form))
            has_shape = true;
        else if (!strcmp(word, "level"))
            more = 1;
        else if (!strcmp(word, "grad"))
            more = 2;
        else if (type != PTX_NO_TYPE && type_count < 2)
            types[type_count++] = type;
        else if (strcmp(word, "base") && strcmp(word, "v4") &&
                 !(form.is_gather && position(word, channels, &form.channel)))
            return unsupported_form(l, in, word);
    }
    if (!has_shape || (types[0] != PTX_F32 && types[0] != PTX_S32 && types[0] != PTX_U32))
        return unsupported_form(l, in, has_shape ? ptx_type_name(types[0]) : "(no shape)");
    form.has_float_coordinates = types[1] == PTX_F32;
    if (!operands_fit(l, in, in->operand_count)) return false;
    if (in->operand_count != 2 + more || in->operands[0].kind == PTX_OPERAND_PAIR)
        return lower_fail(l, EMULATOR_UNSUPPORTED, in,
                          "%s with an offset, a depth or a predicate is not supported", in->opcode);
    const PtxOperand *elements[4];
    if (elements_of(&in->operands[0], elements) != 4) return wrong_operands(l, in, "four destinations");
    built.dst_count = 4;
    for (int k = 0; k < 4; k++)
        if (!lower_destination(l, in, elements[k], types[0], false, &built.dst[k])) return false;
    return place_operands(l, in, &in->operands[1], &form, &built) && keep_form(l, &form, &built) &&
           emit(l, in, &built);
}

// suld.b, sust.b and sured.b: x counts bytes.
bool lower_surface(Lowering *l, const PtxInstruction *in) {
    static const char *const outside[] = {"trap", "clamp", "zero", NULL};
    static const char *const operations[] = {"add", "and", "or", "min", "max", NULL};
    static const AtomicOperation atomic[] = {ATOMIC_ADD, ATOMIC_AND, ATOMIC_OR, ATOMIC_MIN, ATOMIC_MAX};
    TextureForm form = {.is_surface = true,
                        .surface = !strcmp(in->opcode, "suld")   ? SURFACE_LOAD
                                   : !strcmp(in->opcode, "sust") ? SURFACE_STORE
                                                                 : SURFACE_REDUCTION};
    Instruction built = blank(KIND_SURFACE);
    built.elements = 1;
    bool has_shape = false, is_bytes = false;
    int number;
    for (int i = 0; i < in->modifier_count; i++) {
        const char *word = in->modifiers[i];
        const PtxType type = ptx_type_named(word);
        if (shape_word(word, &form))
            has_shape = form.shape != TEXTURE_CUBE;
        else if (!strcmp(word, "b"))
            is_bytes = true;
        else if (!strcmp(word, "v2") || !strcmp(word, "v4"))
            built.elements = (uint8_t)(word[1] - '0');
        else if (position(word, outside, &number))
            form.outside = (OutsideSurface)number;
        else if (form.surface == SURFACE_REDUCTION && position(word, operations, &number))
            built.operation = (uint8_t)atomic[number];
        else if (type != PTX_NO_TYPE)
            built.type = (uint8_t)type;
        else if (strcmp(word, "ca") && strcmp(word, "cg") && strcmp(word, "cs") && strcmp(word, "cv") &&
                 strcmp(word, "wb") && strcmp(word, "wt"))
            return unsupported_form(l, in, word);
    }
    if (!has_shape || !is_bytes || !built.type)
        return unsupported_form(l, in, is_bytes ? "(no shape or type)" : "p");
    const PtxType type = (PtxType)built.type;
    built.width = (uint8_t)ptx_type_bytes(type);
    if (!operands_fit(l, in, in->operand_count)) return false;
    const bool is_load = form.surface == SURFACE_LOAD;
    const PtxOperand *elements[4] = {0};
    if (elements_of(&in->operands[is_load ? 0 : 1], elements) != built.elements)
        return wrong_operands(l, in, "as many registers as the vector has elements");
    built.literal[1] = lane_width(type);
    MoreOperands *values = more_operands(l, 0, is_load ? 0 : built.elements);
    if (!values) return false;
    for (int k = 0; k < built.elements; k++)
        if (!(is_load ? lower_destination(l, in, elements[k], type, false, &built.dst[k])
                      : lower_source(l, in, elements[k], type, false, &values->src[k])))
            return false;
    built.dst_count = is_load ? built.elements : 0;
    built.more = is_load ? NULL : values;
    return place_operands(l, in, &in->operands[is_load ? 1 : 0], &form, &built) &&
           keep_form(l, &form, &built) && emit(l, in, &built);
}

bool lower_texture_query(Lowering *l, const PtxInstruction *in) {
    static const char *const queries[] = {"width",         "height",
                                          "depth",         "channel_data_type",
                                          "channel_order", "normalized_coords",
                                          "array_size",    "num_mipmap_levels",
                                          "num_samples",   NULL};
    Instruction built = blank(KIND_TEXTURE_QUERY);
    int query = -1;
    for (int i = 0; i < in->modifier_count; i++)
        if (!position(in->modifiers[i], queries, &query) && strcmp(in->modifiers[i], "b32"))
            return unsupported_form(l, in, in->modifiers[i]);
    if (query < 0) return unsupported_form(l, in, "(no query)");
    if (!operands_fit(l, in, in->operand_count)) return false;
    const PtxOperand *object = &in->operands[1];
    if (object->kind != PTX_OPERAND_ADDRESS || object->element_count != 1)
        return wrong_operands(l, in, "an object in brackets");
    built.literal[0] = (uint32_t)query;
    built.dst_count = built.src_count = 1;
    return lower_destination(l, in, &in->operands[0], PTX_B32, false, &built.dst[0]) &&
           lower_source(l, in, &object->elements[0], PTX_U64, false, &built.src[0]) && emit(l, in, &built);
}
