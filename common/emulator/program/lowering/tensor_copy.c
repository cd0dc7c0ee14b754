// Decodes tensor copies: cp.async.bulk.tensor and cp.reduce.async.bulk.tensor.
#include <string.h>

#include "emulator/program/lowering/lowering.h"
#include "emulator/tensor_map.h"

// A reduction's arithmetic is that of the tensor's type, which only the map names.
static bool lower_types(Lowering *l, const Instruction *built, BulkDetail *detail) {
    static const PtxType types[TENSOR_TYPES] = {
        [TENSOR_U32] = PTX_U32, [TENSOR_S32] = PTX_S32,   [TENSOR_U64] = PTX_U64,
        [TENSOR_S64] = PTX_S64, [TENSOR_F16] = PTX_F16,   [TENSOR_F32] = PTX_F32,
        [TENSOR_F64] = PTX_F64, [TENSOR_BF16] = PTX_BF16, [TENSOR_F32_FTZ] = PTX_F32};
    Instruction *all = arena_array(l->arena, TENSOR_TYPES, sizeof *all);
    if (!all) return lower_no_memory(l);
    for (int t = 0; t < TENSOR_TYPES; t++) {
        all[t] = *built;
        all[t].type = (uint8_t)types[t];
        all[t].width = (uint8_t)ptx_type_bytes(types[t]);
        const bool is_bits =
            built->operation == ATOMIC_AND || built->operation == ATOMIC_OR || built->operation == ATOMIC_XOR;
        const bool is_float = t >= TENSOR_F16;
        if (!types[t] || !atomic_type_known(&all[t]) || (is_bits && is_float) ||
            !choose_float_handler(&all[t]))
            all[t].type = PTX_NO_TYPE; // refused when a lane meets it
    }
    detail->by_type = all;
    return true;
}

static bool lower_words(Lowering *l, const PtxInstruction *in, int first, Instruction *built,
                        BulkDetail *detail) {
    int spaces = 0;
    for (int i = first; i < in->modifier_count; i++) {
        const char *word = in->modifiers[i];
        const bool is_cluster = !strcmp(word, "shared::cluster");
        if (is_cluster || !strcmp(word, "shared::cta") || !strcmp(word, "global")) {
            if (spaces == 2) return unsupported_form(l, in, word);
            detail->at[spaces].space = *word == 'g' ? PTX_SPACE_GLOBAL : PTX_SPACE_SHARED;
            detail->at[spaces++].flags = is_cluster ? IN_CLUSTER : 0;
        } else if (word[0] >= '1' && word[0] <= '5' && !strcmp(word + 1, "d"))
            detail->rank = (uint8_t)(word[0] - '0');
        else if (!strncmp(word, "im2col", 6))
            return lower_fail(l, EMULATOR_UNSUPPORTED, in,
                              "a tensor copy in im2col mode (.%s) is not supported: only .tile is", word);
        else if (!strcmp(word, "mbarrier::complete_tx::bytes"))
            detail->has_mbarrier = true;
        else if (!strcmp(word, "multicast::cluster"))
            detail->is_multicast = true;
        else if (strcmp(word, "tile") && strcmp(word, "bulk_group") && !is_cache_word(word) &&
                 !(detail->is_reduction && atomic_word(word, built)))
            return unsupported_form(l, in, word);
    }
    const bool is_load = detail->at[BULK_TO].space == PTX_SPACE_SHARED;
    if (!detail->rank || spaces != 2 || is_load != detail->has_mbarrier ||
        (is_load && detail->is_reduction) || (!is_load && detail->is_multicast) ||
        detail->at[BULK_FROM].space == detail->at[BULK_TO].space)
        return unsupported_form(l, in, "tensor");
    if (!detail->is_reduction) return true;
    if (!built->literal[0] || built->operation == ATOMIC_CAS || built->operation == ATOMIC_EXCH)
        return unsupported_form(l, in, "(no operation)");
    return lower_types(l, built, detail);
}

// [map, {coordinates}]
static bool lower_place(Lowering *l, const PtxInstruction *in, const PtxOperand *o, int which,
                        Instruction *built, BulkDetail *detail) {
    Instruction address = {0};
    if (o->kind != PTX_OPERAND_ADDRESS || o->element_count != 2)
        return wrong_operands(l, in, "a tensor map and coordinates in brackets");
    const PtxOperand *at = &o->elements[1];
    const int given = at->kind == PTX_OPERAND_VECTOR ? at->element_count : 1;
    if (given != detail->rank) return wrong_operands(l, in, "as many coordinates as dimensions");
    if (!lower_address(l, in, o, &address, 0)) return false;
    if (address.flags & ADDRESS_32) return wrong_operands(l, in, "a generic address of a tensor map");
    built->src[which] = address.src[0];
    detail->at[which].offset = address.offset;
    MoreOperands *more = more_operands(l, 0, given);
    if (!more) return false;
    built->more = more;
    for (int k = 0; k < given; k++)
        if (!lower_source(l, in, at->kind == PTX_OPERAND_VECTOR ? &at->elements[k] : at, PTX_B32, false,
                          &more->src[k]))
            return false;
    return true;
}

static bool lower_shared(Lowering *l, const PtxInstruction *in, const PtxOperand *o, int which,
                         Instruction *built, BulkDetail *detail) {
    Instruction address = {0};
    if (!lower_address(l, in, o, &address, 0)) return false;
    built->src[which] = address.src[0];
    detail->at[which].offset = address.offset;
    detail->at[which].flags |= address.flags & ADDRESS_32;
    return true;
}

bool lower_tensor_copy(Lowering *l, const PtxInstruction *in, int first, bool is_reduction) {
    Instruction built;
    BulkDetail *detail = begin_bulk(l, is_reduction, &built);
    if (!detail) return false;
    if (!lower_words(l, in, first, &built, detail)) return false;
    const bool is_load = detail->has_mbarrier;
    if (in->operand_count != 2 + is_load + detail->is_multicast + ptx_has(in, "L2::cache_hint"))
        return wrong_operands(
            l, in,
            "a tensor map, a shared address, and an mbarrier, a mask and a cache policy if it names them");
    detail->at[BULK_MBARRIER].space = PTX_SPACE_SHARED;
    detail->at[BULK_MBARRIER].flags = detail->at[BULK_TO].flags;
    built.src_count = is_load ? BULK_MASK + 1 : BULK_FROM + 1;
    if (!lower_place(l, in, &in->operands[is_load], is_load ? BULK_FROM : BULK_TO, &built, detail) ||
        !lower_shared(l, in, &in->operands[!is_load], is_load ? BULK_TO : BULK_FROM, &built, detail))
        return false;
    if (is_load && !lower_shared(l, in, &in->operands[2], BULK_MBARRIER, &built, detail)) return false;
    built.src[BULK_SIZE] = built.src[BULK_MASK] = built.src[BULK_TO]; // not looked at
    if (detail->is_multicast && !lower_source(l, in, &in->operands[3], PTX_U16, true, &built.src[BULK_MASK]))
        return false;
    return emit(l, in, &built);
}
