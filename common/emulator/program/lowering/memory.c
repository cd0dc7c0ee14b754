// Decodes what reads, writes and names memory: loads, stores, atomics, and the conversions between address
// spaces.
#include <string.h>

#include "emulator/alu/alu.h"
#include "emulator/program/lowering/lowering.h"

// ---- Words ------------------------------------------------------------------------------------------------

static bool in_list(const char *word, const char *const *list) {
    for (; *list; list++)
        if (!strcmp(word, *list)) return true;
    return false;
}

// Words that change nothing here: caches and their hints.
static const char *const cache_words[] = {"ca",
                                          "cg",
                                          "cs",
                                          "lu",
                                          "cv",
                                          "wb",
                                          "wt",
                                          "L1::evict_normal",
                                          "L1::evict_unchanged",
                                          "L1::evict_first",
                                          "L1::evict_last",
                                          "L1::no_allocate",
                                          "L2::evict_normal",
                                          "L2::evict_first",
                                          "L2::evict_last",
                                          "L2::cache_hint",
                                          "L2::64B",
                                          "L2::128B",
                                          "L2::256B",
                                          "weak",
                                          "noftz",
                                          "unified",
                                          NULL};
bool is_cache_word(const char *word) { return in_list(word, cache_words); }

static const char *const scope_words[] = {"cta", "cluster", "gpu", "sys", NULL};

static PtxSpace space_named(const char *word) {
    if (!strcmp(word, "global")) return PTX_SPACE_GLOBAL;
    if (!strcmp(word, "shared") || !strcmp(word, "shared::cta") || !strcmp(word, "shared::cluster"))
        return PTX_SPACE_SHARED;
    if (!strcmp(word, "local")) return PTX_SPACE_LOCAL;
    if (!strcmp(word, "const")) return PTX_SPACE_CONST;
    if (!strcmp(word, "param") || !strcmp(word, "param::entry") || !strcmp(word, "param::func"))
        return PTX_SPACE_PARAM;
    return PTX_SPACE_NONE;
}

// Reads the dotted words of a memory instruction; `operation` (may be NULL) takes words that are none of
// the common ones.
static bool memory_words(Lowering *l, const PtxInstruction *in, Instruction *out,
                         bool (*operation)(const char *word, Instruction *out)) {
    out->elements = 1;
    for (int i = 0; i < in->modifier_count; i++) {
        const char *word = in->modifiers[i];
        PtxSpace space = space_named(word);
        PtxType type = ptx_type_named(word);
        if (space != PTX_SPACE_NONE) {
            out->space = (uint8_t)space;
            if (!strcmp(word, "shared::cluster")) out->flags |= IN_CLUSTER;
        } else if (type != PTX_NO_TYPE && type != PTX_PRED)
            out->type = (uint8_t)type;
        else if (!strcmp(word, "v2"))
            out->elements = 2;
        else if (!strcmp(word, "v4"))
            out->elements = 4;
        else if (!strcmp(word, "nc"))
            out->flags |= IS_NC;
        else if (!strcmp(word, "volatile") || !strcmp(word, "mmio"))
            out->flags |= IS_VOLATILE;
        else if (!strcmp(word, "relaxed"))
            out->flags |= IS_VOLATILE | IS_RELAXED;
        else if (!strcmp(word, "acquire"))
            out->flags |= IS_VOLATILE | IS_RELAXED | IS_ACQUIRE;
        else if (!strcmp(word, "release"))
            out->flags |= IS_VOLATILE | IS_RELAXED | IS_RELEASE;
        else if (!strcmp(word, "acq_rel"))
            out->flags |= IS_VOLATILE | IS_RELAXED | IS_ACQUIRE | IS_RELEASE;
        else if (in_list(word, scope_words)) {
            if (!strcmp(word, "cta")) out->flags |= SCOPE_CTA;
        } else if (!in_list(word, cache_words) && !(operation && operation(word, out)))
            return unsupported_form(l, in, word);
    }
    if (out->type == PTX_NO_TYPE || out->type == PTX_B128)
        return unsupported_form(l, in, out->type ? "b128" : "(no type)");
    out->width = (uint8_t)ptx_type_bytes((PtxType)out->type);
    return true;
}

bool lower_address(Lowering *l, const PtxInstruction *in, const PtxOperand *o, Instruction *out, int k) {
    if (o->kind != PTX_OPERAND_ADDRESS || o->element_count < 1)
        return wrong_operands(l, in, "an address in brackets");
    const PtxOperand *base = &o->elements[0];
    out->offset = o->offset;
    PtxType type = PTX_U64;
    if (base->kind == PTX_OPERAND_REGISTER) {
        unsigned width = lane_width(base->reg->type);
        if (width != 4 && width != 8) return wrong_operands(l, in, "a 32- or 64-bit register as an address");
        if (width == 4) {
            out->flags |= ADDRESS_32;
            type = PTX_U32;
        }
    }
    return lower_source(l, in, base, type, false, &out->src[k]);
}

// The elements of a load's destination or a store's source.
static int vector_elements(const PtxOperand *o, const PtxOperand **elements) {
    if (o->kind != PTX_OPERAND_VECTOR) {
        elements[0] = o;
        return 1;
    }
    for (int k = 0; k < o->element_count && k < 8; k++) elements[k] = &o->elements[k];
    return o->element_count;
}

// ---- Loads and stores -------------------------------------------------------------------------------------

static bool is_param_variable(const PtxOperand *address) {
    return address->kind == PTX_OPERAND_ADDRESS && address->element_count > 0 &&
           address->elements[0].kind == PTX_OPERAND_VARIABLE &&
           address->elements[0].variable->space == PTX_SPACE_PARAM;
}

static bool lower_load_store(Lowering *l, const PtxInstruction *in, bool is_load) {
    Instruction built = blank(l->opcode->kind);
    if (!memory_words(l, in, &built, NULL) || !operands_fit(l, in, in->operand_count)) return false;
    const PtxOperand *data = &in->operands[is_load ? 0 : 1], *address = &in->operands[is_load ? 1 : 0];
    const PtxOperand *elements[8];
    int count = vector_elements(data, elements);
    if (count != built.elements || count > 4)
        return wrong_operands(l, in, "as many registers as the vector has elements");
    PtxType type = (PtxType)built.type;
    const ParamPlace *place = NULL;
    if (built.space == PTX_SPACE_PARAM && is_param_variable(address)) {
        const PtxVariable *v = address->elements[0].variable;
        place = param_place(l, v);
        int64_t offset = address->offset + address->elements[0].offset;
        if (!place) return wrong_operands(l, in, "a parameter of this function or call");
        if (offset < 0 || (uint64_t)offset + (uint64_t)built.width * built.elements > place->bytes)
            return lower_fail(l, EMULATOR_BAD_PTX, in, "byte %lld is outside the parameter %s of %u bytes",
                              (long long)offset, v->name, place->bytes);
        if (!l->ptx->is_entry || v->parameter < 0) {
            built.kind = is_load ? KIND_PARAM_LOAD : KIND_PARAM_STORE;
            built.literal[0] = place->bytes;
            built.target = place->offset; // of lane 0 in the register file
            built.offset = offset;
        }
    }
    if (built.kind == KIND_LOAD || built.kind == KIND_STORE)
        if (!lower_address(l, in, address, &built, 0)) return false;
    if (!is_load && built.space == PTX_SPACE_CONST) return unsupported_form(l, in, "const");
    for (int k = 0; k < count; k++) {
        bool ok = is_load ? lower_destination(l, in, elements[k], type, true, &built.dst[k])
                          : lower_source(l, in, elements[k], type, true, &built.src[1 + k]);
        if (!ok) return false;
        // A register wider than the value: a load extends it, by its sign where the type has one.
        unsigned have =
            is_load && elements[k]->kind == PTX_OPERAND_REGISTER ? lane_width(elements[k]->reg->type) : 0;
        if (have) {
            if (built.literal[1] && built.literal[1] != have)
                return wrong_operands(l, in, "registers of one width");
            built.literal[1] = have;
        }
        if (!is_load)
            built.literal[1] = elements[k]->kind == PTX_OPERAND_REGISTER ? lane_width(elements[k]->reg->type)
                                                                         : lane_width(type);
    }
    built.dst_count = is_load ? (uint8_t)count : 0;
    built.src_count = is_load ? 1 : (uint8_t)(1 + count);
    return emit(l, in, &built);
}

// What st.async and red.async add to the words of a store.
static bool async_word(const char *word, Instruction *out) {
    return !strcmp(word, "async") || !strcmp(word, "mbarrier::complete_tx::bytes") || !strcmp(word, "weak") ||
           atomic_word(word, out);
}

// st.async and red.async: a store that counts its bytes at an mbarrier.
static bool lower_async_store(Lowering *l, const PtxInstruction *in, bool is_reduction) {
    Instruction built = blank(KIND_ASYNC_STORE), mbarrier = {0};
    BulkDetail *detail = arena_alloc(l->arena, sizeof *detail);
    if (!detail) return lower_no_memory(l);
    if (!memory_words(l, in, &built, async_word)) return false;
    const bool is_known = !is_reduction || (atomic_type_known(&built) && built.operation != ATOMIC_CAS &&
                                            built.operation != ATOMIC_EXCH && built.elements == 1 &&
                                            built.type != PTX_F32 && built.type != PTX_F64);
    if (is_reduction != (built.literal[0] != 0) || !ptx_has(in, "mbarrier::complete_tx::bytes") ||
        built.width < 4 || !is_known)
        return unsupported_form(l, in, ptx_type_name((PtxType)built.type));
    if (in->operand_count != 3) return wrong_operands(l, in, "an address, a source and an mbarrier");
    const PtxOperand *elements[8];
    const int count = vector_elements(&in->operands[1], elements);
    if (count != built.elements) return wrong_operands(l, in, "as many registers as the vector has elements");
    MoreOperands *more = more_operands(l, 0, count);
    if (!more || !lower_address(l, in, &in->operands[0], &built, 0) ||
        !lower_address(l, in, &in->operands[2], &mbarrier, 0))
        return false;
    for (int k = 0; k < count; k++)
        if (!lower_source(l, in, elements[k], (PtxType)built.type, false, &more->src[k])) return false;
    const uint16_t in_cluster = IN_CLUSTER;
    detail->at[BULK_TO] =
        (BulkAddress){built.offset, PTX_SPACE_SHARED, (built.flags & ADDRESS_32) | in_cluster};
    detail->at[BULK_MBARRIER] =
        (BulkAddress){mbarrier.offset, PTX_SPACE_SHARED, (mbarrier.flags & ADDRESS_32) | in_cluster};
    // A generic address is one of shared memory as well.
    for (int k = BULK_TO; k <= BULK_MBARRIER; k += BULK_MBARRIER - BULK_TO)
        if (!(detail->at[k].flags & ADDRESS_32) && built.space == PTX_SPACE_NONE)
            detail->at[k].space = PTX_SPACE_NONE;
    detail->is_reduction = is_reduction;
    detail->has_mbarrier = true;
    built.src[BULK_FROM] = built.src[BULK_TO]; // not looked at
    built.src[BULK_MBARRIER] = mbarrier.src[0];
    built.src_count = BULK_MBARRIER + 1;
    built.flags = IS_VOLATILE | IS_RELAXED | IS_RELEASE; // of its mbarrier
    built.detail = detail;
    built.more = more;
    return emit(l, in, &built);
}

static bool is_async(const PtxInstruction *in) {
    return in->modifier_count && !strcmp(in->modifiers[0], "async");
}

bool lower_load(Lowering *l, const PtxInstruction *in) { return lower_load_store(l, in, true); }
bool lower_store(Lowering *l, const PtxInstruction *in) {
    return is_async(in) ? lower_async_store(l, in, false) : lower_load_store(l, in, false);
}

// ---- Atomics ----------------------------------------------------------------------------------------------

bool atomic_word(const char *word, Instruction *out) {
    static const char *const names[] = {"add", "and", "or", "xor", "exch", "cas", "inc", "dec", "min", "max"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(word, names[i])) {
            out->operation = (uint8_t)i;
            out->literal[0] = 1; // an operation was named
            return true;
        }
    return false;
}

bool atomic_type_known(const Instruction *in) {
    switch (in->operation) {
    case ATOMIC_ADD:
        return in->type != PTX_B32 && in->type != PTX_B64 && in->type != PTX_B16 && in->width >= 2;
    case ATOMIC_MIN:
    case ATOMIC_MAX:
        return in->type == PTX_U32 || in->type == PTX_S32 || in->type == PTX_U64 || in->type == PTX_S64 ||
               in->type == PTX_F16 || in->type == PTX_F16X2 || in->type == PTX_BF16 || in->type == PTX_BF16X2;
    case ATOMIC_INC:
    case ATOMIC_DEC: return in->type == PTX_U32;
    case ATOMIC_CAS: return in->width == 2 || in->width == 4 || in->width == 8;
    default: return in->width == 4 || in->width == 8;
    }
}

// 16-bit floats are added and compared by the handlers of the arithmetic instructions.
bool choose_float_handler(Instruction *atomic) {
    const PtxType type = (PtxType)atomic->type;
    if (type != PTX_F16 && type != PTX_F16X2 && type != PTX_BF16 && type != PTX_BF16X2) return true;
    Selector *selector = atomic->operation == ATOMIC_ADD   ? half_add
                         : atomic->operation == ATOMIC_MIN ? half_min
                                                           : half_max;
    const char *words[] = {ptx_type_name(type)};
    PtxInstruction alike = {.modifiers = words, .modifier_count = 1};
    Selection selection = {0};
    if (!selector(&alike, &selection)) return false;
    atomic->alu = selection.handler;
    return true;
}

bool lower_atomic(Lowering *l, const PtxInstruction *in) {
    bool is_red = !strcmp(in->opcode, "red");
    if (is_red && is_async(in)) return lower_async_store(l, in, true);
    Instruction built = blank(KIND_ATOMIC);
    built.flags = IS_VOLATILE;
    if (!memory_words(l, in, &built, atomic_word)) return false;
    if (!built.literal[0] || !atomic_type_known(&built)) {
        return lower_fail(l, EMULATOR_UNSUPPORTED, in, "this form of %s is not supported for .%s", in->opcode,
                          ptx_type_name((PtxType)built.type));
    }
    if (!choose_float_handler(&built)) return unsupported_form(l, in, ptx_type_name((PtxType)built.type));
    int first = is_red ? 0 : 1, operands = built.operation == ATOMIC_CAS ? 2 : 1;
    if (!operands_fit(l, in, in->operand_count)) return false;
    if (in->operand_count < first + 1 + operands) return wrong_operands(l, in, l->opcode->wanted);
    if (built.elements > 1 && built.operation == ATOMIC_CAS) return unsupported_form(l, in, "cas");
    PtxType type = (PtxType)built.type;
    const PtxOperand *elements[8];
    if (!is_red) {
        int count = vector_elements(&in->operands[0], elements);
        if (count != built.elements)
            return wrong_operands(l, in, "as many registers as the vector has elements");
        for (int k = 0; k < count; k++)
            if (!lower_destination(l, in, elements[k], type, false, &built.dst[k])) return false;
        built.dst_count = (uint8_t)count;
    }
    if (is_red) built.flags |= NO_RESULT; // lower.c finds the atoms whose result is never read
    if (!lower_address(l, in, &in->operands[first], &built, 0)) return false;
    int sources = 1;
    for (int i = 0; i < operands; i++) {
        int count = vector_elements(&in->operands[first + 1 + i], elements);
        if (count != built.elements || sources + count > 5)
            return wrong_operands(l, in, "as many registers as the vector has elements");
        for (int k = 0; k < count; k++)
            if (!lower_source(l, in, elements[k], type, false, &built.src[sources++])) return false;
    }
    built.src_count = (uint8_t)sources;
    return emit(l, in, &built);
}

// ---- Addresses of spaces ----------------------------------------------------------------------------------

bool lower_isspacep(Lowering *l, const PtxInstruction *in) {
    Instruction built = blank(KIND_ISSPACEP);
    PtxSpace space = in->modifier_count ? space_named(in->modifiers[0]) : PTX_SPACE_NONE;
    if (space == PTX_SPACE_NONE)
        return unsupported_form(l, in, in->modifier_count ? in->modifiers[0] : "(no space)");
    if (!operands_fit(l, in, in->operand_count)) return false;
    built.space = (uint8_t)space;
    if (!strcmp(in->modifiers[0], "shared::cluster")) built.flags |= IN_CLUSTER;
    built.dst_count = built.src_count = 1;
    return lower_destination(l, in, &in->operands[0], PTX_PRED, false, &built.dst[0]) &&
           lower_source(l, in, &in->operands[1], PTX_U64, false, &built.src[0]) && emit(l, in, &built);
}

// mapa and getctarank: of a generic address, or one of .shared::cluster.
static bool cluster_words(Lowering *l, const PtxInstruction *in, Instruction *built, PtxType *type) {
    *type = PTX_NO_TYPE;
    for (int i = 0; i < in->modifier_count; i++) {
        const PtxType named = ptx_type_named(in->modifiers[i]);
        if (named == PTX_U32 || named == PTX_U64)
            *type = named;
        else if (!strcmp(in->modifiers[i], "shared::cluster"))
            built->space = PTX_SPACE_SHARED;
        else
            return unsupported_form(l, in, in->modifiers[i]);
    }
    built->width = *type == PTX_U64 ? 8 : 4;
    return *type != PTX_NO_TYPE ? operands_fit(l, in, in->operand_count)
                                : unsupported_form(l, in, "(no type)");
}

bool lower_mapa(Lowering *l, const PtxInstruction *in) {
    Instruction built = blank(KIND_MAPA);
    PtxType type;
    built.dst_count = 1;
    built.src_count = 2;
    return cluster_words(l, in, &built, &type) &&
           lower_destination(l, in, &in->operands[0], type, false, &built.dst[0]) &&
           lower_source(l, in, &in->operands[1], type, false, &built.src[0]) &&
           lower_source(l, in, &in->operands[2], PTX_U32, false, &built.src[1]) && emit(l, in, &built);
}

bool lower_getctarank(Lowering *l, const PtxInstruction *in) {
    Instruction built = blank(KIND_GETCTARANK);
    PtxType type;
    built.dst_count = built.src_count = 1;
    return cluster_words(l, in, &built, &type) &&
           lower_destination(l, in, &in->operands[0], PTX_U32, false, &built.dst[0]) &&
           lower_source(l, in, &in->operands[1], type, false, &built.src[0]) && emit(l, in, &built);
}

bool lower_cvta(Lowering *l, const PtxInstruction *in) {
    Instruction built = blank(KIND_CVTA);
    for (int i = 0; i < in->modifier_count; i++) {
        PtxSpace space = space_named(in->modifiers[i]);
        if (space != PTX_SPACE_NONE)
            built.space = (uint8_t)space;
        else if (!strcmp(in->modifiers[i], "to"))
            built.flags = 1;
        else if (strcmp(in->modifiers[i], "u64"))
            return unsupported_form(l, in, in->modifiers[i]);
    }
    if (!operands_fit(l, in, in->operand_count)) return false;
    built.dst_count = built.src_count = 1;
    return lower_destination(l, in, &in->operands[0], PTX_U64, false, &built.dst[0]) &&
           lower_source(l, in, &in->operands[1], PTX_U64, false, &built.src[0]) && emit(l, in, &built);
}
