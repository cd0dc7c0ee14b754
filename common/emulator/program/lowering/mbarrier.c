// Decodes the operations on mbarriers (ISA, "mbarrier").
#include <string.h>

#include "emulator/alu/mbarrier.h"
#include "emulator/program/lowering/lowering.h"

static const char *const operations[] = {
    [MBARRIER_INIT] = "init",           [MBARRIER_INVAL] = "inval",
    [MBARRIER_EXPECT_TX] = "expect_tx", [MBARRIER_COMPLETE_TX] = "complete_tx",
    [MBARRIER_ARRIVE] = "arrive",       [MBARRIER_ARRIVE_DROP] = "arrive_drop",
    [MBARRIER_WAIT] = "test_wait"};

// The words behind the first, which names the operation.
static bool lower_words(Lowering *l, const PtxInstruction *in, Instruction *built) {
    const bool arrives = built->operation == MBARRIER_ARRIVE || built->operation == MBARRIER_ARRIVE_DROP;
    const bool waits = built->operation == MBARRIER_WAIT;
    bool is_relaxed = false, is_wide = false;
    for (int i = 1; i < in->modifier_count; i++) {
        const char *word = in->modifiers[i];
        if (!strcmp(word, "shared") || !strcmp(word, "shared::cta"))
            built->space = PTX_SPACE_SHARED;
        else if (!strcmp(word, "shared::cluster")) {
            built->space = PTX_SPACE_SHARED;
            built->flags |= IN_CLUSTER;
        } else if (!strcmp(word, "b64"))
            continue;
        else if (!strcmp(word, "cluster"))
            is_wide = true;
        else if (!strcmp(word, "relaxed"))
            is_relaxed = true;
        else if (arrives && !strcmp(word, "expect_tx"))
            built->literal[0] |= MBARRIER_EXPECTS;
        else if (arrives && !strcmp(word, "noComplete"))
            built->literal[0] |= MBARRIER_KEEPS_PHASE;
        else if (waits && !strcmp(word, "parity"))
            built->literal[0] |= MBARRIER_PARITY;
        else if (strcmp(word, "cta") && !(arrives && !strcmp(word, "release")) &&
                 !(waits && !strcmp(word, "acquire")))
            return unsupported_form(l, in, word);
    }
    built->flags |= IS_VOLATILE | IS_RELAXED;
    if (arrives && !is_relaxed) built->flags |= IS_RELEASE;
    if (waits && !is_relaxed) built->flags |= IS_ACQUIRE;
    if (!is_wide) built->flags |= SCOPE_CTA;
    return true;
}

static bool lower_pending_count(Lowering *l, const PtxInstruction *in) {
    Instruction built = blank(KIND_ALU);
    built.alu = mbarrier_pending_count;
    built.dst_count = built.src_count = 1;
    if (in->operand_count != 2) return wrong_operands(l, in, "a destination and the state of an mbarrier");
    return lower_destination(l, in, &in->operands[0], PTX_U32, false, &built.dst[0]) &&
           lower_source(l, in, &in->operands[1], PTX_B64, false, &built.src[0]) && emit(l, in, &built);
}

bool lower_mbarrier(Lowering *l, const PtxInstruction *in) {
    Instruction built = blank(KIND_MBARRIER);
    const char *name = in->modifier_count ? in->modifiers[0] : "(no operation)";
    if (!strcmp(name, "pending_count")) return lower_pending_count(l, in);
    if (!strcmp(name, "try_wait")) name = "test_wait"; // a suspended thread may resume at any time
    int operation = 0;
    while (operation <= MBARRIER_WAIT && strcmp(name, operations[operation])) operation++;
    if (operation > MBARRIER_WAIT) return unsupported_form(l, in, name);
    built.operation = (uint8_t)operation;
    built.width = 4; // of the two words, each phase has its own for racecheck: mbarrier.c
    built.elements = 1;
    if (!lower_words(l, in, &built) || !operands_fit(l, in, in->operand_count)) return false;
    int next = 0;
    const bool is_wait = operation == MBARRIER_WAIT;
    if (is_wait || operation == MBARRIER_ARRIVE || operation == MBARRIER_ARRIVE_DROP) {
        if (is_wait) built.kind = KIND_MBARRIER_WAIT;
        // Without a state, which a remote arrival does not have, and PTX 7.8 allows to leave out.
        if (is_wait || in->operands[0].kind != PTX_OPERAND_ADDRESS) {
            if (!lower_destination(l, in, &in->operands[next++], is_wait ? PTX_PRED : PTX_B64, false,
                                   &built.dst[0]))
                return false;
            built.dst_count = 1;
        }
    }
    const int left = in->operand_count - next; // the last of try_wait's may be a time to wait at most
    const bool takes_count = operation != MBARRIER_INVAL;
    const bool needs_count = takes_count && !(operation >= MBARRIER_ARRIVE && !is_wait && !built.literal[0]);
    if (left < 1 + needs_count || left > 1 + takes_count + is_wait)
        return wrong_operands(l, in,
                              needs_count ? "an mbarrier and a count, a state or a parity" : "an mbarrier");
    if (!lower_address(l, in, &in->operands[next++], &built, 0)) return false;
    built.src_count = 1;
    if (left == 1) return emit(l, in, &built);
    const PtxType type = is_wait && !(built.literal[0] & MBARRIER_PARITY) ? PTX_B64 : PTX_U32;
    built.src_count = 2;
    return lower_source(l, in, &in->operands[next], type, false, &built.src[1]) && emit(l, in, &built);
}
