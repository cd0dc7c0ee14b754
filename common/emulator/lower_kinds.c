// Decodes every instruction that is not arithmetic: memory, control flow, barriers and the exchange of
// values between lanes.
#include <stdio.h>
#include <string.h>

#include "lowering.h"
#include "machine.h"

static bool in_list(const char *word, const char *const *list) {
    for (; *list; list++)
        if (!strcmp(word, *list)) return true;
    return false;
}

static bool unsupported_form(Lowering *l, const PtxInstruction *in, const char *word) {
    return lower_fail(l, EMULATOR_UNSUPPORTED, in, "this form of %s is not supported: .%s", in->opcode, word);
}

static bool wrong_operands(Lowering *l, const PtxInstruction *in, const char *wanted) {
    return lower_fail(l, EMULATOR_BAD_PTX, in, "%s wants %s", in->opcode, wanted);
}

// Puts `built` where append() reserves a place, keeping what append() filled in.
static bool emit(Lowering *l, const PtxInstruction *in, Instruction *built) {
    Instruction *out = append(l, in);
    if (!out) return false;
    built->index = out->index;
    built->location = out->location;
    built->ptx_line = out->ptx_line;
    built->guard = out->guard;
    built->guard_negated = out->guard_negated;
    *out = *built;
    return true;
}

static Instruction blank(InstructionKind kind) {
    return (Instruction){
        .kind = (uint8_t)kind, .guard = -1, .reconverge = -1, .target = -1, .dst = {-1, -1, -1, -1}};
}

// ---- Memory -----------------------------------------------------------------------------------------------

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
static const char *const scope_words[] = {"cta", "cluster", "gpu", "sys", NULL};

static PtxSpace space_named(const char *word) {
    if (!strcmp(word, "global")) return PTX_SPACE_GLOBAL;
    if (!strcmp(word, "shared") || !strcmp(word, "shared::cta")) return PTX_SPACE_SHARED;
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
        if (space != PTX_SPACE_NONE)
            out->space = (uint8_t)space;
        else if (type != PTX_NO_TYPE && type != PTX_PRED)
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

// [register + offset] or [variable + offset]: src[k] and Instruction.offset.
static bool lower_address(Lowering *l, const PtxInstruction *in, const PtxOperand *o, Instruction *out,
                          int k) {
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

// Where a .param variable of a call sequence or of this function lies; NULL when it is none of these.
static const ParamPlace *param_place(Lowering *l, const PtxVariable *v) {
    if (v->space != PTX_SPACE_PARAM) return NULL;
    for (int i = 0; i < l->ptx->return_count; i++)
        if (l->ptx->returns[i] == v) return &l->function->returns[i];
    for (int i = 0; i < l->ptx->parameter_count; i++)
        if (l->ptx->parameters[i] == v) return &l->function->parameters[i];
    if (v->owner == l->ptx && v->index >= 0 && v->index < l->ptx->variable_count &&
        l->ptx->variables[v->index] == v)
        return &l->variable_place[v->index];
    return NULL;
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

static bool is_param_variable(const PtxOperand *address) {
    return address->kind == PTX_OPERAND_ADDRESS && address->element_count > 0 &&
           address->elements[0].kind == PTX_OPERAND_VARIABLE &&
           address->elements[0].variable->space == PTX_SPACE_PARAM;
}

static bool lower_load_store(Lowering *l, const PtxInstruction *in, bool is_load) {
    Instruction built = blank(is_load ? KIND_LOAD : KIND_STORE);
    if (!memory_words(l, in, &built, NULL)) return false;
    if (in->operand_count < 2 || in->operand_count > 3)
        return wrong_operands(l, in, is_load ? "a destination and an address" : "an address and a source");
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
            return lower_fail(l, EMULATOR_BAD_PTX, in, "byte %lld lies outside the parameter %s of %u bytes",
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

static bool atomic_word(const char *word, Instruction *out) {
    static const char *const names[] = {"add", "and", "or", "xor", "exch", "cas", "inc", "dec", "min", "max"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(word, names[i])) {
            out->operation = (uint8_t)i;
            out->literal[0] = 1; // an operation was named
            return true;
        }
    return false;
}

static bool atomic_type_known(const Instruction *in) {
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

static bool lower_atomic(Lowering *l, const PtxInstruction *in) {
    bool is_red = !strcmp(in->opcode, "red");
    Instruction built = blank(KIND_ATOMIC);
    built.flags = IS_VOLATILE;
    if (!memory_words(l, in, &built, atomic_word)) return false;
    if (!built.literal[0] || !atomic_type_known(&built)) {
        return lower_fail(l, EMULATOR_UNSUPPORTED, in, "this form of %s is not supported for .%s", in->opcode,
                          ptx_type_name((PtxType)built.type));
    }
    // 16-bit floats are added and compared by the handlers of the arithmetic instructions.
    if (built.type == PTX_F16 || built.type == PTX_F16X2 || built.type == PTX_BF16 ||
        built.type == PTX_BF16X2) {
        const char *operation = built.operation == ATOMIC_ADD   ? "add"
                                : built.operation == ATOMIC_MIN ? "min"
                                                                : "max";
        const char *words[] = {ptx_type_name((PtxType)built.type)};
        PtxInstruction alike = {.opcode = operation, .modifiers = words, .modifier_count = 1};
        Selection selection = {0};
        const Opcode *opcode = opcode_named(operation);
        if (!opcode || !opcode->select(&alike, &selection)) return unsupported_form(l, in, words[0]);
        built.alu = selection.handler;
    }
    int first = is_red ? 0 : 1, operands = built.operation == ATOMIC_CAS ? 2 : 1;
    if (in->operand_count < first + 1 + operands) return wrong_operands(l, in, "an address and its operands");
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
    if (is_red) built.flags |= NO_RESULT; // lower.c finds the atoms that nobody reads
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

static bool lower_cp_async(Lowering *l, const PtxInstruction *in) {
    Instruction built = blank(KIND_CP_ASYNC);
    if (in->modifier_count < 1 || strcmp(in->modifiers[0], "async"))
        return unsupported_form(l, in, in->modifier_count ? in->modifiers[0] : "");
    const char *second = in->modifier_count > 1 ? in->modifiers[1] : "";
    if (!strcmp(second, "commit_group") || !strcmp(second, "wait_group") || !strcmp(second, "wait_all")) {
        built.kind = KIND_CP_ASYNC_WAIT;
        built.operation = !strcmp(second, "commit_group") ? ASYNC_COMMIT
                          : !strcmp(second, "wait_all")   ? ASYNC_WAIT_ALL
                                                          : ASYNC_WAIT_GROUP;
        if (built.operation == ASYNC_WAIT_GROUP &&
            (in->operand_count != 1 || !lower_literal(l, in, &in->operands[0], &built.literal[0])))
            return in->operand_count == 1 ? false
                                          : wrong_operands(l, in, "the number of groups that may be pending");
        return emit(l, in, &built);
    }
    if (strcmp(second, "ca") && strcmp(second, "cg")) return unsupported_form(l, in, second);
    for (int i = 2; i < in->modifier_count; i++) {
        const char *word = in->modifiers[i];
        if (strcmp(word, "shared") && strcmp(word, "shared::cta") && strcmp(word, "global") &&
            !in_list(word, cache_words))
            return unsupported_form(l, in, word);
    }
    if (in->operand_count < 3) return wrong_operands(l, in, "a shared address, a global address and a size");
    uint32_t size = 0;
    Instruction shared = {0}, global = {0};
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
    if (in->operand_count > 3 && !ptx_has(in, "L2::cache_hint")) {
        if (!lower_source(l, in, &in->operands[3], PTX_U32, false, &built.src[2])) return false;
        built.src_count = 3;
    }
    return emit(l, in, &built);
}

static bool lower_fence(Lowering *l, const PtxInstruction *in) {
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

// ---- Control flow -----------------------------------------------------------------------------------------

static bool lower_branch(Lowering *l, const PtxInstruction *in) {
    Instruction built = blank(KIND_BRANCH);
    if (in->operand_count != 1 || in->operands[0].kind != PTX_OPERAND_LABEL)
        return wrong_operands(l, in, "a label");
    built.uniform = ptx_has(in, "uni");
    built.target = in->operands[0].label;
    return emit(l, in, &built);
}

static bool lower_branch_table(Lowering *l, const PtxInstruction *in) {
    Instruction built = blank(KIND_BRANCH_TABLE);
    if (!ptx_has(in, "idx")) return unsupported_form(l, in, "(no .idx)");
    if (in->operand_count != 2) return wrong_operands(l, in, "an index and a list of branch targets");
    const PtxOperand *list = &in->operands[1];
    if (list->kind != PTX_OPERAND_TARGETS || list->label < 0 || list->label >= l->ptx->target_count)
        return wrong_operands(l, in, "a list of branch targets that this function declares");
    const PtxBranchTargets *found = &l->ptx->targets[list->label];
    BranchTable *table = arena_alloc(l->arena, sizeof *table);
    int32_t *targets = arena_array(l->arena, (size_t)found->label_count + 1, sizeof *targets);
    if (!table || !targets) return lower_no_memory(l);
    for (int k = 0; k < found->label_count; k++) targets[k] = found->labels[k];
    *table = (BranchTable){targets, found->label_count};
    built.detail = table;
    built.src_count = 1;
    return lower_source(l, in, &in->operands[0], PTX_U32, false, &built.src[0]) && emit(l, in, &built);
}

static bool call_places(Lowering *l, const PtxInstruction *in, const PtxOperand *list, ParamPlace **places,
                        int *count) {
    *count = list ? list->element_count : 0;
    *places = arena_array(l->arena, (size_t)*count + 1, sizeof **places);
    if (!*places) return lower_no_memory(l);
    for (int i = 0; i < *count; i++) {
        const PtxOperand *o = &list->elements[i];
        const ParamPlace *place = o->kind == PTX_OPERAND_VARIABLE ? param_place(l, o->variable) : NULL;
        if (!place) return wrong_operands(l, in, ".param variables as arguments");
        (*places)[i] = *place;
    }
    return true;
}

static bool lower_call(Lowering *l, const PtxInstruction *in) {
    Instruction built = blank(KIND_CALL);
    CallDetail *detail = arena_alloc(l->arena, sizeof *detail);
    if (!detail) return lower_no_memory(l);
    const PtxOperand *results = NULL, *target = NULL, *arguments = NULL;
    for (int i = 0; i < in->operand_count; i++) {
        const PtxOperand *o = &in->operands[i];
        if (o->kind == PTX_OPERAND_LIST)
            *(target ? &arguments : &results) = o;
        else if (!target)
            target = o;
    }
    if (!target) return wrong_operands(l, in, "a function to call");
    if (!call_places(l, in, results, &detail->results, &detail->result_count) ||
        !call_places(l, in, arguments, &detail->arguments, &detail->argument_count))
        return false;
    if (target->kind == PTX_OPERAND_FUNCTION) {
        const PtxFunction *callee = target->function;
        if (callee->has_body) {
            if (callee->is_entry)
                return lower_fail(l, EMULATOR_UNSUPPORTED, in, "a call of the kernel %s", callee->name);
            bool same = callee->parameter_count == detail->argument_count &&
                        callee->return_count == detail->result_count;
            for (int i = 0; same && i < detail->argument_count; i++)
                same = callee->parameters[i]->bytes == detail->arguments[i].bytes;
            for (int i = 0; same && i < detail->result_count; i++)
                same = callee->returns[i]->bytes == detail->results[i].bytes;
            if (!same)
                return lower_fail(l, EMULATOR_BAD_PTX, in, "the arguments are not those that %s takes",
                                  callee->name);
            detail->function = &l->program->functions[callee->index];
        } else {
            detail->syscall = (int)syscall_named(callee->name);
            if (detail->syscall == (int)NO_SYSCALL)
                return lower_fail(l, EMULATOR_UNSUPPORTED, in, "a call of %s, which this file only declares",
                                  callee->name);
        }
    } else {
        if (!lower_source(l, in, target, PTX_U64, false, &built.src[0])) return false;
        built.src_count = 1;
    }
    built.detail = detail;
    return emit(l, in, &built);
}

// ---- Lanes and barriers -----------------------------------------------------------------------------------

static bool lower_barrier(Lowering *l, const PtxInstruction *in) {
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

static bool lower_lanes(Lowering *l, const PtxInstruction *in, InstructionKind kind) {
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

// ---- The rest ---------------------------------------------------------------------------------------------

static bool lower_isspacep(Lowering *l, const PtxInstruction *in) {
    Instruction built = blank(KIND_ISSPACEP);
    PtxSpace space = in->modifier_count ? space_named(in->modifiers[0]) : PTX_SPACE_NONE;
    if (space == PTX_SPACE_NONE)
        return unsupported_form(l, in, in->modifier_count ? in->modifiers[0] : "(no space)");
    if (in->operand_count != 2) return wrong_operands(l, in, "a predicate and an address");
    built.space = (uint8_t)space;
    built.dst_count = built.src_count = 1;
    return lower_destination(l, in, &in->operands[0], PTX_PRED, false, &built.dst[0]) &&
           lower_source(l, in, &in->operands[1], PTX_U64, false, &built.src[0]) && emit(l, in, &built);
}

static bool lower_cvta(Lowering *l, const PtxInstruction *in) {
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
    if (in->operand_count != 2) return wrong_operands(l, in, "a destination and an address");
    built.dst_count = built.src_count = 1;
    return lower_destination(l, in, &in->operands[0], PTX_U64, false, &built.dst[0]) &&
           lower_source(l, in, &in->operands[1], PTX_U64, false, &built.src[0]) && emit(l, in, &built);
}

static bool lower_elect(Lowering *l, const PtxInstruction *in) {
    Instruction built = blank(KIND_ELECT);
    if (in->operand_count != 2 || in->operands[0].kind != PTX_OPERAND_PAIR)
        return wrong_operands(l, in, "d|p and a mask of lanes");
    built.dst_count = 2;
    built.src_count = 1;
    return lower_destination(l, in, &in->operands[0].elements[0], PTX_B32, false, &built.dst[0]) &&
           lower_destination(l, in, &in->operands[0].elements[1], PTX_PRED, false, &built.dst[1]) &&
           lower_source(l, in, &in->operands[1], PTX_B32, false, &built.src[0]) && emit(l, in, &built);
}

static bool lower_simple(Lowering *l, const PtxInstruction *in, InstructionKind kind) {
    Instruction built = blank(kind);
    if (kind == KIND_ACTIVEMASK) {
        if (in->operand_count != 1) return wrong_operands(l, in, "a destination");
        built.dst_count = 1;
        if (!lower_destination(l, in, &in->operands[0], PTX_B32, false, &built.dst[0])) return false;
    }
    // A return from a kernel ends the thread.
    if (kind == KIND_RETURN && l->ptx->is_entry) built.kind = KIND_EXIT;
    return emit(l, in, &built);
}

bool lower_kind(Lowering *l, const PtxInstruction *in, const Opcode *opcode) {
    switch (opcode->kind) {
    case KIND_LOAD: return lower_load_store(l, in, true);
    case KIND_STORE: return lower_load_store(l, in, false);
    case KIND_ATOMIC: return lower_atomic(l, in);
    case KIND_CP_ASYNC: return lower_cp_async(l, in);
    case KIND_FENCE: return lower_fence(l, in);
    case KIND_BRANCH: return lower_branch(l, in);
    case KIND_BRANCH_TABLE: return lower_branch_table(l, in);
    case KIND_CALL: return lower_call(l, in);
    case KIND_BARRIER: return lower_barrier(l, in);
    case KIND_SHUFFLE:
    case KIND_VOTE:
    case KIND_MATCH:
    case KIND_REDUX: return lower_lanes(l, in, opcode->kind);
    case KIND_ISSPACEP: return lower_isspacep(l, in);
    case KIND_CVTA: return lower_cvta(l, in);
    case KIND_ELECT: return lower_elect(l, in);
    case KIND_PREFETCH:
    case KIND_RETURN:
    case KIND_EXIT:
    case KIND_TRAP:
    case KIND_BREAKPOINT:
    case KIND_ACTIVEMASK:
    case KIND_NANOSLEEP:
    case KIND_NOP: return lower_simple(l, in, opcode->kind);
    default: break;
    }
    return lower_fail(l, EMULATOR_UNSUPPORTED, in, "the instruction %s is not supported", in->opcode);
}
