// Decodes what lanes and warps do together: barriers, fences, shuffles, votes and their kin.
#include <string.h>

#include "emulator/program/lowering/lowering.h"

bool lower_barrier(Lowering *l, const PtxInstruction *in) {
    bool is_bar = !strcmp(in->opcode, "bar");
    Instruction built = blank(KIND_BARRIER);
    bool warp = false, named = false, is_red = false, is_aligned = is_bar;
    for (int i = 0; i < in->modifier_count; i++) {
        const char *word = in->modifiers[i];
        if (!strcmp(word, "warp"))
            warp = true;
        else if (!strcmp(word, "aligned"))
            is_aligned = true;
        else if (!strcmp(word, "sync"))
            built.operation = BARRIER_SYNC, named = true;
        else if (!strcmp(word, "arrive"))
            built.operation = BARRIER_ARRIVE, named = true;
        else if (!strcmp(word, "red"))
            is_red = named = true;
        else if (is_red && !strcmp(word, "popc"))
            built.operation = BARRIER_RED_POPC;
        else if (is_red && !strcmp(word, "and"))
            built.operation = BARRIER_RED_AND;
        else if (is_red && !strcmp(word, "or"))
            built.operation = BARRIER_RED_OR;
        else if (strcmp(word, "cta") && strcmp(word, "u32") && strcmp(word, "pred"))
            return unsupported_form(l, in, word);
    }
    if (!named) return unsupported_form(l, in, "(no operation)");
    if (is_aligned) built.flags |= IS_ALIGNED;
    if (warp) {
        built.kind = KIND_WARP_BARRIER;
        if (in->operand_count != 1) return wrong_operands(l, in, "a mask of lanes");
        built.src_count = 1;
        return lower_source(l, in, &in->operands[0], PTX_B32, false, &built.src[0]) && emit(l, in, &built);
    }
    int next = 0, sources = 0;
    if (is_red) {
        if (in->operand_count < 3) return wrong_operands(l, in, "a destination, a barrier and a predicate");
        if (!lower_destination(l, in, &in->operands[next++],
                               built.operation == BARRIER_RED_POPC ? PTX_U32 : PTX_PRED, false,
                               &built.dst[0]))
            return false;
        built.dst_count = 1;
        // src[2] is the predicate, whatever stands before it.
        if (!lower_source(l, in, &in->operands[in->operand_count - 1], PTX_PRED, false, &built.src[2]))
            return false;
    }
    int last = in->operand_count - (is_red ? 1 : 0);
    if (last - next < 1 || last - next > 2)
        return wrong_operands(l, in, "a barrier and perhaps a number of threads");
    for (; next < last; next++)
        if (!lower_source(l, in, &in->operands[next], PTX_U32, false, &built.src[sources++])) return false;
    if (built.operation == BARRIER_ARRIVE && sources != 2)
        return wrong_operands(l, in, "a barrier and a number of threads");
    built.src_count = (uint8_t)sources; // 1: all threads; 2: src[1] of them
    return emit(l, in, &built);
}

bool lower_lanes(Lowering *l, const PtxInstruction *in, InstructionKind kind) {
    static const struct {
        InstructionKind kind;
        const char *word;
        uint8_t operation;
    } words[] = {
        {KIND_SHUFFLE, "up", SHUFFLE_UP},     {KIND_SHUFFLE, "down", SHUFFLE_DOWN},
        {KIND_SHUFFLE, "bfly", SHUFFLE_BFLY}, {KIND_SHUFFLE, "idx", SHUFFLE_IDX},
        {KIND_VOTE, "all", VOTE_ALL},         {KIND_VOTE, "any", VOTE_ANY},
        {KIND_VOTE, "uni", VOTE_UNI},         {KIND_VOTE, "ballot", VOTE_BALLOT},
        {KIND_MATCH, "any", MATCH_ANY},       {KIND_MATCH, "all", MATCH_ALL},
        {KIND_REDUX, "add", REDUX_ADD},       {KIND_REDUX, "min", REDUX_MIN},
        {KIND_REDUX, "max", REDUX_MAX},       {KIND_REDUX, "and", REDUX_AND},
        {KIND_REDUX, "or", REDUX_OR},         {KIND_REDUX, "xor", REDUX_XOR},
    };
    Instruction built = blank(kind);
    bool named = false, is_sync = false;
    for (int i = 0; i < in->modifier_count; i++) {
        const char *word = in->modifiers[i];
        bool known = false;
        for (size_t k = 0; k < sizeof words / sizeof *words; k++)
            if (words[k].kind == kind && !strcmp(words[k].word, word)) {
                built.operation = words[k].operation;
                known = named = true;
            }
        if (!strcmp(word, "sync")) known = is_sync = true;
        PtxType type = ptx_type_named(word);
        if (type != PTX_NO_TYPE) {
            built.type = (uint8_t)type;
            known = true;
        }
        if (!known) return unsupported_form(l, in, word);
    }
    if (!is_sync)
        return lower_fail(l, EMULATOR_UNSUPPORTED, in,
                          "%s without .sync was removed with compute capability 7.0", in->opcode);
    if (!named) return unsupported_form(l, in, "(no operation)");
    PtxType type = (PtxType)built.type, result = type, second = PTX_NO_TYPE;
    PtxType sources[5] = {PTX_NO_TYPE};
    switch (kind) {
    case KIND_SHUFFLE:
        result = sources[0] = PTX_B32;
        second = PTX_PRED;
        sources[1] = sources[2] = sources[3] = PTX_B32;
        break;
    case KIND_VOTE:
        result = built.operation == VOTE_BALLOT ? PTX_B32 : PTX_PRED;
        sources[0] = PTX_PRED;
        sources[1] = PTX_B32;
        break;
    case KIND_MATCH:
        if (ptx_type_bytes(type) != 4 && ptx_type_bytes(type) != 8)
            return unsupported_form(l, in, ptx_type_name(type));
        result = PTX_B32;
        second = PTX_PRED;
        sources[0] = type;
        sources[1] = PTX_B32;
        break;
    default:
        if (type != PTX_U32 && type != PTX_S32 && type != PTX_B32)
            return unsupported_form(l, in, ptx_type_name(type));
        sources[0] = type;
        sources[1] = PTX_B32;
        break;
    }
    built.width = (uint8_t)ptx_type_bytes(type);
    int count = 0;
    while (sources[count]) count++;
    if (in->operand_count != 1 + count)
        return wrong_operands(l, in, "a destination, its sources and a mask of lanes");
    const PtxOperand *to = &in->operands[0];
    if (to->kind == PTX_OPERAND_PAIR) {
        if (second == PTX_NO_TYPE) return wrong_operands(l, in, "one destination");
        if (!lower_destination(l, in, &to->elements[1], second, false, &built.dst[1])) return false;
        built.dst_count = 2;
        to = &to->elements[0];
    } else
        built.dst_count = 1;
    if (!lower_destination(l, in, to, result, false, &built.dst[0])) return false;
    for (int k = 0; k < count; k++)
        if (!lower_source(l, in, &in->operands[1 + k], sources[k], false, &built.src[k])) return false;
    built.src_count = (uint8_t)count;
    return emit(l, in, &built);
}

bool lower_elect(Lowering *l, const PtxInstruction *in) {
    Instruction built = blank(KIND_ELECT);
    if (in->operand_count != 2 || in->operands[0].kind != PTX_OPERAND_PAIR)
        return wrong_operands(l, in, "d|p and a mask of lanes");
    built.dst_count = 2;
    built.src_count = 1;
    return lower_destination(l, in, &in->operands[0].elements[0], PTX_B32, false, &built.dst[0]) &&
           lower_destination(l, in, &in->operands[0].elements[1], PTX_PRED, false, &built.dst[1]) &&
           lower_source(l, in, &in->operands[1], PTX_B32, false, &built.src[0]) && emit(l, in, &built);
}

bool lower_fence(Lowering *l, const PtxInstruction *in) {
    Instruction built = blank(KIND_FENCE);
    for (int i = 0; i < in->modifier_count; i++) {
        const char *word = in->modifiers[i];
        if (!strcmp(word, "cta"))
            built.flags |= SCOPE_CTA;
        else if (strcmp(word, "sc") && strcmp(word, "acq_rel") && strcmp(word, "gl") && strcmp(word, "sys") &&
                 strcmp(word, "gpu") && strcmp(word, "cluster") && strcmp(word, "acquire") &&
                 strcmp(word, "release"))
            return unsupported_form(l, in, word);
    }
    return emit(l, in, &built);
}
