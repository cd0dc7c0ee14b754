// Decodes every instruction that is not arithmetic: control flow here, the rest in lowering/memory.c and
// lowering/lanes.c.
#include <string.h>

#include "emulator/program/lowering/lowering.h"
#include "emulator/machine/machine.h"

// ---- For all of them --------------------------------------------------------------------------------------

bool unsupported_form(Lowering *l, const PtxInstruction *in, const char *word) {
    return lower_fail(l, EMULATOR_UNSUPPORTED, in, "this form of %s is not supported: .%s", in->opcode, word);
}

bool wrong_operands(Lowering *l, const PtxInstruction *in, const char *wanted) {
    return lower_fail(l, EMULATOR_BAD_PTX, in, "%s wants %s", in->opcode, wanted);
}

// Puts `built` where append() reserves a place, keeping what append() filled in.
bool emit(Lowering *l, const PtxInstruction *in, Instruction *built) {
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

Instruction blank(InstructionKind kind) {
    return (Instruction){
        .kind = (uint8_t)kind, .guard = -1, .reconverge = -1, .target = -1, .dst = {-1, -1, -1, -1}};
}

// Where a .param variable of a call sequence or of this function lies; NULL when it is none of these.
const ParamPlace *param_place(Lowering *l, const PtxVariable *v) {
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

// ---- The rest ---------------------------------------------------------------------------------------------

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
