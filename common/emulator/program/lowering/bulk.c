// Decodes bulk copies and reductions of consecutive bytes: cp.async.bulk and cp.reduce.async.bulk.
#include <string.h>

#include "emulator/program/lowering/lowering.h"

BulkDetail *begin_bulk(Lowering *l, bool is_reduction, Instruction *built) {
    BulkDetail *detail = arena_alloc(l->arena, sizeof *detail);
    if (!detail) {
        lower_no_memory(l);
        return NULL;
    }
    *built = blank(KIND_BULK);
    built->flags = IS_VOLATILE | IS_RELAXED | IS_RELEASE; // of its mbarrier
    built->width = 4;
    built->elements = 1;
    built->detail = detail;
    detail->is_reduction = is_reduction;
    return detail;
}

// The words of a bulk copy or reduction after .bulk: the spaces of both sides come first.
static bool lower_bulk_words(Lowering *l, const PtxInstruction *in, int first, Instruction *built,
                             BulkDetail *detail) {
    int spaces = 0;
    for (int i = first; i < in->modifier_count; i++) {
        const char *word = in->modifiers[i];
        const PtxType type = ptx_type_named(word);
        const bool is_cluster = !strcmp(word, "shared::cluster");
        if (is_cluster || !strcmp(word, "shared::cta") || !strcmp(word, "global")) {
            if (spaces == 2) return unsupported_form(l, in, word);
            detail->at[spaces].space = *word == 'g' ? PTX_SPACE_GLOBAL : PTX_SPACE_SHARED;
            detail->at[spaces++].flags = is_cluster ? IN_CLUSTER : 0;
        } else if (!strcmp(word, "mbarrier::complete_tx::bytes"))
            detail->has_mbarrier = true;
        else if (!strcmp(word, "multicast::cluster"))
            detail->is_multicast = true;
        else if (!strcmp(word, "cp_mask"))
            detail->masks_bytes = true;
        else if (detail->is_reduction && type != PTX_NO_TYPE && type != PTX_PRED)
            built->type = (uint8_t)type;
        else if (strcmp(word, "bulk_group") && !is_cache_word(word) &&
                 !(detail->is_reduction && atomic_word(word, built)))
            return unsupported_form(l, in, word);
    }
    // Into shared memory they complete at an mbarrier, into global memory in a group.
    const bool to_shared = detail->at[BULK_TO].space == PTX_SPACE_SHARED,
               from_global = detail->at[BULK_FROM].space == PTX_SPACE_GLOBAL;
    if (spaces != 2 || to_shared != detail->has_mbarrier || (from_global && !to_shared) ||
        (from_global && detail->is_reduction))
        return unsupported_form(l, in, "bulk");
    if (detail->is_multicast && !from_global) return unsupported_form(l, in, "multicast::cluster");
    if (detail->masks_bytes && (to_shared || detail->is_reduction)) return unsupported_form(l, in, "cp_mask");
    if (!detail->is_reduction) return true;
    built->width = (uint8_t)ptx_type_bytes((PtxType)built->type);
    const bool is_known = built->literal[0] && built->type && atomic_type_known(built) &&
                          built->operation != ATOMIC_CAS && built->operation != ATOMIC_EXCH;
    return (is_known && choose_float_handler(built)) ||
           unsupported_form(l, in, built->type ? ptx_type_name((PtxType)built->type) : "(no type)");
}

bool lower_bulk(Lowering *l, const PtxInstruction *in, int first, bool is_reduction) {
    Instruction built;
    BulkDetail *detail = begin_bulk(l, is_reduction, &built);
    if (!detail) return false;
    if (!lower_bulk_words(l, in, first, &built, detail)) return false;
    detail->at[BULK_MBARRIER].space = PTX_SPACE_SHARED;
    detail->at[BULK_MBARRIER].flags = detail->at[BULK_TO].flags;
    const bool has_mask = detail->is_multicast || detail->masks_bytes;
    const int wanted = 3 + detail->has_mbarrier + has_mask + ptx_has(in, "L2::cache_hint");
    if (in->operand_count != wanted)
        return wrong_operands(
            l, in, "two addresses, a size, and an mbarrier, a mask and a cache policy if it names them");
    int next = 0;
    for (int k = 0; k < BULK_MBARRIER + detail->has_mbarrier; k++) {
        Instruction address = {0};
        if (k == BULK_MBARRIER) next++; // after the size
        if (!lower_address(l, in, &in->operands[next++], &address, 0)) return false;
        built.src[k] = address.src[0];
        detail->at[k].offset = address.offset;
        detail->at[k].flags |= address.flags & ADDRESS_32;
    }
    built.src_count = BULK_MASK + 1;
    if (!lower_source(l, in, &in->operands[2], PTX_U32, false, &built.src[BULK_SIZE])) return false;
    // The mask of multicast comes before a cache policy, that of bytes after it.
    const int mask = detail->is_multicast ? next : in->operand_count - 1;
    if (has_mask && !lower_source(l, in, &in->operands[mask], PTX_U16, true, &built.src[BULK_MASK]))
        return false;
    return emit(l, in, &built);
}
