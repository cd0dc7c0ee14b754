// Decodes asynchronous copies.
#include <string.h>

#include "emulator/program/lowering/lowering.h"

// ---- Copies of 4 to 16 bytes by every lane ----------------------------------------------------------------

// cp.async.commit_group, .wait_group and .wait_all.
static bool lower_async_wait(Lowering *l, const PtxInstruction *in, AsyncOperation operation) {
    Instruction built = blank(KIND_CP_ASYNC_WAIT);
    built.operation = (uint8_t)operation;
    if (operation == ASYNC_WAIT_GROUP) {
        if (in->operand_count != 1) return wrong_operands(l, in, "the number of groups that may be pending");
        if (!lower_literal(l, in, &in->operands[0], &built.literal[0])) return false;
    }
    return emit(l, in, &built);
}

// cp.async.mbarrier.arrive
static bool lower_async_arrive(Lowering *l, const PtxInstruction *in) {
    Instruction built = blank(KIND_CP_ASYNC_ARRIVE);
    built.flags = IS_VOLATILE | IS_RELAXED | IS_RELEASE | SCOPE_CTA;
    built.operation = MBARRIER_ARRIVE;
    built.width = 4;
    built.elements = built.src_count = 1;
    for (int i = 2; i < in->modifier_count; i++) {
        const char *word = in->modifiers[i];
        if (!strcmp(word, "noinc"))
            built.literal[1] = 1;
        else if (!strcmp(word, "shared") || !strcmp(word, "shared::cta"))
            built.space = PTX_SPACE_SHARED;
        else if (strcmp(word, "arrive") && strcmp(word, "b64"))
            return unsupported_form(l, in, word);
    }
    if (in->operand_count != 1) return wrong_operands(l, in, "the address of an mbarrier");
    return lower_address(l, in, &in->operands[0], &built, 0) && emit(l, in, &built);
}

static bool lower_cp_lanes(Lowering *l, const PtxInstruction *in) {
    const char *second = in->modifier_count > 1 ? in->modifiers[1] : "";
    if (!strcmp(second, "mbarrier")) return lower_async_arrive(l, in);
    if (!strcmp(second, "commit_group")) return lower_async_wait(l, in, ASYNC_COMMIT);
    if (!strcmp(second, "wait_group")) return lower_async_wait(l, in, ASYNC_WAIT_GROUP);
    if (!strcmp(second, "wait_all")) return lower_async_wait(l, in, ASYNC_WAIT_ALL);
    if (strcmp(second, "ca") && strcmp(second, "cg")) return unsupported_form(l, in, second);
    for (int i = 2; i < in->modifier_count; i++) {
        const char *word = in->modifiers[i];
        if (strcmp(word, "shared") && strcmp(word, "shared::cta") && strcmp(word, "global") &&
            !is_cache_word(word))
            return unsupported_form(l, in, word);
    }
    if (!operands_fit(l, in, in->operand_count)) return false;
    uint32_t size = 0;
    Instruction built = blank(KIND_CP_ASYNC), shared = {0}, global = {0};
    if (!lower_address(l, in, &in->operands[0], &shared, 0) ||
        !lower_address(l, in, &in->operands[1], &global, 0) || !lower_literal(l, in, &in->operands[2], &size))
        return false;
    if (size != 4 && size != 8 && size != 16) return wrong_operands(l, in, "4, 8 or 16 bytes");
    // src: shared address, global address, bytes to read (the rest is zeros). Both offsets are folded in as
    // Instruction.offset (global) and literal[0] (shared, which has 32 bits anyway).
    built.src[0] = global.src[0];
    built.offset = global.offset;
    built.flags = global.flags & ADDRESS_32;
    built.src[1] = shared.src[0];
    built.literal[0] = (uint32_t)shared.offset;
    built.literal[1] = shared.flags & ADDRESS_32 ? 4 : 8; // lane width of src[1]
    built.width = (uint8_t)size;
    built.elements = 1;
    built.space = PTX_SPACE_GLOBAL;
    built.src_count = 2;
    if (in->operand_count - ptx_has(in, "L2::cache_hint") > 3) {
        if (!lower_source(l, in, &in->operands[3], PTX_U32, false, &built.src[2])) return false;
        built.src_count = 3;
    }
    return emit(l, in, &built);
}

// ---- Bulk copies ------------------------------------------------------------------------------------------

// cp.async.bulk.commit_group and .wait_group.
static bool lower_bulk_wait(Lowering *l, const PtxInstruction *in, bool waits) {
    Instruction built = blank(KIND_BULK_WAIT);
    built.operation = !waits ? BULK_COMMIT : ptx_has(in, "read") ? BULK_WAIT_READ : BULK_WAIT_GROUP;
    if (in->operand_count != waits) return wrong_operands(l, in, "the number of groups that may be pending");
    if (waits && !lower_literal(l, in, &in->operands[0], &built.literal[0])) return false;
    return emit(l, in, &built);
}

bool lower_cp(Lowering *l, const PtxInstruction *in) {
    const char *words[4];
    for (int i = 0; i < 4; i++) words[i] = i < in->modifier_count ? in->modifiers[i] : "";
    if (!strcmp(words[0], "reduce") && !strcmp(words[1], "async") && !strcmp(words[2], "bulk"))
        return !strcmp(words[3], "tensor") ? lower_tensor_copy(l, in, 4, true) : lower_bulk(l, in, 3, true);
    if (strcmp(words[0], "async")) return unsupported_form(l, in, words[0]);
    if (strcmp(words[1], "bulk")) return lower_cp_lanes(l, in);
    if (!strcmp(words[2], "tensor")) return lower_tensor_copy(l, in, 3, false);
    if (!strcmp(words[2], "commit_group")) return lower_bulk_wait(l, in, false);
    if (!strcmp(words[2], "wait_group")) return lower_bulk_wait(l, in, true);
    if (strcmp(words[2], "prefetch")) return lower_bulk(l, in, 2, false);
    Instruction prefetch = blank(KIND_PREFETCH);
    return emit(l, in, &prefetch);
}
