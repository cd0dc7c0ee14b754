// Decodes what lanes and warps do together: barriers, fences, shuffles, votes and their kin.
#include <string.h>

#include "emulator/program/lowering/lowering.h"

// ---- Barriers and fences ----------------------------------------------------------------------------------

// barrier.cluster.arrive and .wait.
static bool lower_cluster_barrier(Lowering *l, const PtxInstruction *in) {
    Instruction built = blank(KIND_CLUSTER_BARRIER);
    bool is_relaxed = false;
    built.operation = ptx_has(in, "wait") ? BARRIER_SYNC : BARRIER_ARRIVE;
    for (int i = 1; i < in->modifier_count; i++) {
        const char *word = in->modifiers[i];
        if (!strcmp(word, "aligned"))
            built.flags |= IS_ALIGNED;
        else if (!strcmp(word, "relaxed"))
            is_relaxed = true;
        else if (strcmp(word, "arrive") && strcmp(word, "wait") && strcmp(word, "release") &&
                 strcmp(word, "acquire"))
            return unsupported_form(l, in, word);
    }
    if (built.operation == BARRIER_SYNC)
        built.flags |= IS_ACQUIRE;
    else if (!is_relaxed)
        built.flags |= IS_RELEASE;
    return in->operand_count ? wrong_operands(l, in, "no operands") : emit(l, in, &built);
}

bool lower_barrier(Lowering *l, const PtxInstruction *in) {
    if (ptx_has(in, "cluster")) return lower_cluster_barrier(l, in);
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
        // src[2] is the predicate, whatever comes before it.
        if (!lower_source(l, in, &in->operands[in->operand_count - 1], PTX_PRED, false, &built.src[2]))
            return false;
    }
    int last = in->operand_count - (is_red ? 1 : 0);
    if (!operands_fit(l, in, last - next)) return false;
    for (; next < last; next++)
        if (!lower_source(l, in, &in->operands[next], PTX_U32, false, &built.src[sources++])) return false;
    if (built.operation == BARRIER_ARRIVE && sources != 2)
        return wrong_operands(l, in, "a barrier and a number of threads");
    built.src_count = (uint8_t)sources; // 1: all threads; 2: src[1] of them
    return emit(l, in, &built);
}

// fence.proxy: between accesses by loads and stores and those of asynchronous copies; of other proxies there
// is nothing to order here.
static bool lower_proxy_fence(Lowering *l, const PtxInstruction *in) {
    static const char *const words[] = {"proxy",
                                        "alias",
                                        "async",
                                        "global",
                                        "shared::cta",
                                        "shared::cluster",
                                        "tensormap::generic",
                                        "async::generic",
                                        "sync_restrict::shared::cta",
                                        "sync_restrict::shared::cluster",
                                        "acquire",
                                        "release",
                                        "cta",
                                        "cluster",
                                        "gpu",
                                        "sys"};
    Instruction built = blank(KIND_FENCE);
    for (int i = 0; i < in->modifier_count; i++) {
        size_t known = 0;
        while (known < sizeof words / sizeof *words && strcmp(words[known], in->modifiers[i])) known++;
        if (known == sizeof words / sizeof *words) return unsupported_form(l, in, in->modifiers[i]);
    }
    // .acquire and .release order like other fences.
    if (!ptx_has(in, "acquire") && !ptx_has(in, "release")) built.operation = FENCE_OF_PROXY;
    return emit(l, in, &built);
}

bool lower_fence(Lowering *l, const PtxInstruction *in) {
    Instruction built = blank(KIND_FENCE);
    if (!strcmp(in->opcode, "membar") || ptx_has(in, "sc")) built.flags |= IS_SC;
    // fence.proxy.*, and fence.mbarrier_init, which orders what mbarrier.init stored for other blocks.
    const char *what = in->modifier_count ? in->modifiers[0] : "";
    if (!strcmp(what, "mbarrier_init")) return operands_fit(l, in, in->operand_count) && emit(l, in, &built);
    if (!strcmp(what, "proxy")) return lower_proxy_fence(l, in);
    for (int i = 0; i < in->modifier_count; i++) {
        const char *word = in->modifiers[i];
        if (!strcmp(word, "cta"))
            built.flags |= SCOPE_CTA;
        else if (strcmp(word, "sc") && strcmp(word, "acq_rel") && strcmp(word, "gl") && strcmp(word, "sys") &&
                 strcmp(word, "gpu") && strcmp(word, "cluster") && strcmp(word, "acquire") &&
                 strcmp(word, "release"))
            return unsupported_form(l, in, word);
    }
    return operands_fit(l, in, in->operand_count) && emit(l, in, &built);
}

// ---- Exchanges --------------------------------------------------------------------------------------------

// The words of shfl, vote, match and redux: .sync, the operation and a type. Operations are numbered as in
// `names`.
static bool exchange_words(Lowering *l, const PtxInstruction *in, const char *const *names,
                           Instruction *built) {
    bool named = false, is_sync = false;
    for (int i = 0; i < in->modifier_count; i++) {
        const char *word = in->modifiers[i];
        const PtxType type = ptx_type_named(word);
        int operation = 0;
        while (names[operation] && strcmp(names[operation], word)) operation++;
        if (names[operation]) {
            built->operation = (uint8_t)operation;
            named = true;
        } else if (!strcmp(word, "sync"))
            is_sync = true;
        else if (type != PTX_NO_TYPE)
            built->type = (uint8_t)type;
        else
            return unsupported_form(l, in, word);
    }
    built->width = (uint8_t)ptx_type_bytes((PtxType)built->type);
    if (!is_sync)
        return lower_fail(l, EMULATOR_UNSUPPORTED, in,
                          "%s without .sync was removed with compute capability 7.0", in->opcode);
    return named || unsupported_form(l, in, "(no operation)");
}

// The destination, or a pair d|p where `has_predicate`; then sources of the types listed up to PTX_NO_TYPE.
static bool exchange_operands(Lowering *l, const PtxInstruction *in, PtxType result, bool has_predicate,
                              const PtxType *sources, Instruction *built) {
    if (!operands_fit(l, in, in->operand_count)) return false;
    const PtxOperand *to = &in->operands[0];
    built->dst_count = 1;
    if (to->kind == PTX_OPERAND_PAIR) {
        if (!has_predicate) return wrong_operands(l, in, "one destination");
        if (!lower_destination(l, in, &to->elements[1], PTX_PRED, false, &built->dst[1])) return false;
        built->dst_count = 2;
        to = &to->elements[0];
    }
    if (!lower_destination(l, in, to, result, false, &built->dst[0])) return false;
    int count = 0;
    for (; sources[count] != PTX_NO_TYPE; count++)
        if (!lower_source(l, in, &in->operands[1 + count], sources[count], false, &built->src[count]))
            return false;
    built->src_count = (uint8_t)count;
    return emit(l, in, built);
}
#define SOURCES(...) ((const PtxType[]){__VA_ARGS__, PTX_NO_TYPE})

bool lower_shuffle(Lowering *l, const PtxInstruction *in) {
    static const char *const names[] = {
        [SHUFFLE_UP] = "up", [SHUFFLE_DOWN] = "down", [SHUFFLE_BFLY] = "bfly", [SHUFFLE_IDX] = "idx", NULL};
    Instruction built = blank(KIND_SHUFFLE);
    return exchange_words(l, in, names, &built) &&
           exchange_operands(l, in, PTX_B32, true, SOURCES(PTX_B32, PTX_B32, PTX_B32, PTX_B32), &built);
}

bool lower_vote(Lowering *l, const PtxInstruction *in) {
    static const char *const names[] = {
        [VOTE_ALL] = "all", [VOTE_ANY] = "any", [VOTE_UNI] = "uni", [VOTE_BALLOT] = "ballot", NULL};
    Instruction built = blank(KIND_VOTE);
    if (!exchange_words(l, in, names, &built)) return false;
    const PtxType result = built.operation == VOTE_BALLOT ? PTX_B32 : PTX_PRED;
    return exchange_operands(l, in, result, false, SOURCES(PTX_PRED, PTX_B32), &built);
}

bool lower_match(Lowering *l, const PtxInstruction *in) {
    static const char *const names[] = {[MATCH_ANY] = "any", [MATCH_ALL] = "all", NULL};
    Instruction built = blank(KIND_MATCH);
    if (!exchange_words(l, in, names, &built)) return false;
    const PtxType type = (PtxType)built.type;
    if (built.width != 4 && built.width != 8) return unsupported_form(l, in, ptx_type_name(type));
    return exchange_operands(l, in, PTX_B32, true, SOURCES(type, PTX_B32), &built);
}

bool lower_redux(Lowering *l, const PtxInstruction *in) {
    static const char *const names[] = {[REDUX_ADD] = "add",
                                        [REDUX_MIN] = "min",
                                        [REDUX_MAX] = "max",
                                        [REDUX_AND] = "and",
                                        [REDUX_OR] = "or",
                                        [REDUX_XOR] = "xor",
                                        NULL};
    Instruction built = blank(KIND_REDUX);
    if (!exchange_words(l, in, names, &built)) return false;
    const PtxType type = (PtxType)built.type;
    if (type != PTX_U32 && type != PTX_S32 && type != PTX_B32)
        return unsupported_form(l, in, ptx_type_name(type));
    return exchange_operands(l, in, type, false, SOURCES(type, PTX_B32), &built);
}

bool lower_elect(Lowering *l, const PtxInstruction *in) {
    Instruction built = blank(KIND_ELECT);
    if (!operands_fit(l, in, in->operand_count)) return false;
    if (in->operands[0].kind != PTX_OPERAND_PAIR) return wrong_operands(l, in, l->opcode->wanted);
    built.dst_count = 2;
    built.src_count = 1;
    return lower_destination(l, in, &in->operands[0].elements[0], PTX_B32, false, &built.dst[0]) &&
           lower_destination(l, in, &in->operands[0].elements[1], PTX_PRED, false, &built.dst[1]) &&
           lower_source(l, in, &in->operands[1], PTX_B32, false, &built.src[0]) && emit(l, in, &built);
}

bool lower_activemask(Lowering *l, const PtxInstruction *in) {
    Instruction built = blank(KIND_ACTIVEMASK);
    built.dst_count = 1;
    return operands_fit(l, in, in->operand_count) &&
           lower_destination(l, in, &in->operands[0], PTX_B32, false, &built.dst[0]) && emit(l, in, &built);
}
