// Decodes control flow: branches, calls, returns, traps.
#include <string.h>

#include "emulator/program/lowering/lowering.h"

// ---- Branches ---------------------------------------------------------------------------------------------

bool lower_branch(Lowering *l, const PtxInstruction *in) {
    Instruction built = blank(KIND_BRANCH);
    if (!operands_fit(l, in, in->operand_count)) return false;
    if (in->operands[0].kind != PTX_OPERAND_LABEL) return wrong_operands(l, in, l->opcode->wanted);
    built.uniform = ptx_has(in, "uni");
    built.target = in->operands[0].label;
    return emit(l, in, &built);
}

bool lower_branch_table(Lowering *l, const PtxInstruction *in) {
    Instruction built = blank(KIND_BRANCH_TABLE);
    if (!ptx_has(in, "idx")) return unsupported_form(l, in, "(no .idx)");
    if (!operands_fit(l, in, in->operand_count)) return false;
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

// ---- Calls ------------------------------------------------------------------------------------------------

static Syscall syscall_named(const char *name) {
    static const struct {
        const char *name;
        Syscall syscall;
    } known[] = {
        {"vprintf", SYSCALL_VPRINTF},
        {"__assertfail", SYSCALL_ASSERTFAIL},
        {"malloc", SYSCALL_MALLOC},
        {"free", SYSCALL_FREE},
        {"cudaGraphSetConditional", SYSCALL_SET_CONDITION},
        {"__cudaCDP2GetParameterBufferV2", SYSCALL_PARAMETER_BUFFER},
        {"__cudaCDP2LaunchDeviceV2", SYSCALL_LAUNCH_DEVICE},
        {"__cudaCDP2LaunchDeviceV2_ptsz", SYSCALL_LAUNCH_DEVICE},
        {"__cudaCDP2MemcpyAsync", SYSCALL_COPY_ASYNC},
        {"__cudaCDP2MemcpyAsync_ptsz", SYSCALL_COPY_ASYNC},
        {"__cudaCDP2StreamCreateWithFlags", SYSCALL_STREAM_CREATE},
        {"__cudaCDP2StreamDestroy", SYSCALL_STREAM_DESTROY},
        {"__cudaCDP2GetLastError", SYSCALL_LAST_ERROR},
        {"__cudaCDP2PeekAtLastError", SYSCALL_PEEK_ERROR},
        {"__cudaCDP2Malloc", SYSCALL_DEVICE_MALLOC},
        {"__cudaCDP2Free", SYSCALL_DEVICE_FREE},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(name, known[i].name)) return known[i].syscall;
    return NO_SYSCALL;
}

static bool uses_heap(Syscall syscall) {
    return syscall == SYSCALL_MALLOC || syscall == SYSCALL_FREE || syscall == SYSCALL_PARAMETER_BUFFER ||
           syscall == SYSCALL_LAUNCH_DEVICE || syscall == SYSCALL_DEVICE_MALLOC ||
           syscall == SYSCALL_DEVICE_FREE;
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

static bool is_call_of(const CallDetail *detail, const PtxFunction *callee) {
    if (callee->parameter_count != detail->argument_count || callee->return_count != detail->result_count)
        return false;
    for (int i = 0; i < detail->argument_count; i++)
        if (callee->parameters[i]->bytes != detail->arguments[i].bytes) return false;
    for (int i = 0; i < detail->result_count; i++)
        if (callee->returns[i]->bytes != detail->results[i].bytes) return false;
    return true;
}

// Whether it is a function of the CUDA runtime for device code (CUDA C++ Programming Guide, "CUDA Dynamic
// Parallelism").
static bool is_of_the_runtime(const char *name) {
    return !strncmp(name, "cuda", 4) || !strncmp(name, "__cudaCDP", 9);
}

// Fills in what `detail` calls: a function of this file, or a system call.
static bool call_target(Lowering *l, const PtxInstruction *in, const PtxFunction *callee,
                        CallDetail *detail) {
    if (callee->refused)
        return lower_fail(l, EMULATOR_UNSUPPORTED, in, "a call of %s: %s", callee->name, callee->refused);
    if (!callee->has_body) {
        detail->syscall = syscall_named(callee->name);
        l->program->uses_heap |= uses_heap(detail->syscall);
        if (detail->syscall != NO_SYSCALL) return true;
        if (is_of_the_runtime(callee->name))
            return lower_fail(l, EMULATOR_UNSUPPORTED, in,
                              "a call of %s: this function of the runtime for kernels is not supported",
                              callee->name);
        return lower_fail(l, EMULATOR_UNSUPPORTED, in, "a call of %s, which this file only declares",
                          callee->name);
    }
    if (callee->is_entry)
        return lower_fail(l, EMULATOR_UNSUPPORTED, in, "a call of the kernel %s", callee->name);
    if (!is_call_of(detail, callee))
        return lower_fail(l, EMULATOR_BAD_PTX, in, "the arguments are not those that %s takes", callee->name);
    detail->function = &l->program->functions[callee->index];
    return true;
}

bool lower_call(Lowering *l, const PtxInstruction *in) {
    Instruction built = blank(KIND_CALL);
    CallDetail *detail = arena_alloc(l->arena, sizeof *detail);
    if (!detail) return lower_no_memory(l);
    if (!operands_fit(l, in, in->operand_count)) return false;
    const PtxOperand *results = NULL, *target = NULL, *arguments = NULL;
    for (int i = 0; i < in->operand_count; i++) {
        const PtxOperand *o = &in->operands[i];
        if (o->kind == PTX_OPERAND_LIST)
            *(target ? &arguments : &results) = o;
        else if (!target)
            target = o;
    }
    if (!target) return wrong_operands(l, in, l->opcode->wanted);
    if (!call_places(l, in, results, &detail->results, &detail->result_count) ||
        !call_places(l, in, arguments, &detail->arguments, &detail->argument_count))
        return false;
    if (target->kind == PTX_OPERAND_FUNCTION) {
        if (!call_target(l, in, target->function, detail)) return false;
    } else {
        if (!lower_source(l, in, target, PTX_U64, false, &built.src[0])) return false;
        built.src_count = 1;
    }
    built.detail = detail;
    return emit(l, in, &built);
}

// A return from a kernel ends the thread.
bool lower_return(Lowering *l, const PtxInstruction *in) {
    Instruction built = blank(l->ptx->is_entry ? KIND_EXIT : KIND_RETURN);
    return operands_fit(l, in, in->operand_count) && emit(l, in, &built);
}

// ---- The stack --------------------------------------------------------------------------------------------

bool lower_alloca(Lowering *l, const PtxInstruction *in) {
    Instruction built = blank(KIND_ALLOCA);
    built.dst_count = built.src_count = 1;
    if (!ptx_has(in, "u64"))
        return unsupported_form(l, in, in->modifier_count ? in->modifiers[0] : "(no type)");
    return operands_fit(l, in, in->operand_count) &&
           lower_destination(l, in, &in->operands[0], PTX_U64, false, &built.dst[0]) &&
           lower_source(l, in, &in->operands[1], PTX_U64, false, &built.src[0]) &&
           (in->operand_count < 3 || lower_literal(l, in, &in->operands[2], &built.literal[0])) &&
           emit(l, in, &built);
}

bool lower_stack(Lowering *l, const PtxInstruction *in) {
    Instruction built = blank(l->opcode->kind);
    if (!ptx_has(in, "u64"))
        return unsupported_form(l, in, in->modifier_count ? in->modifiers[0] : "(no type)");
    if (!operands_fit(l, in, in->operand_count)) return false;
    const bool saves = built.kind == KIND_STACK_SAVE;
    built.dst_count = saves;
    built.src_count = !saves;
    return (saves ? lower_destination(l, in, &in->operands[0], PTX_U64, false, &built.dst[0])
                  : lower_source(l, in, &in->operands[0], PTX_U64, false, &built.src[0])) &&
           emit(l, in, &built);
}

// ---- Instructions whose operands, if any, change nothing here ---------------------------------------------

bool lower_plain(Lowering *l, const PtxInstruction *in) {
    Instruction built = blank(l->opcode->kind);
    return operands_fit(l, in, in->operand_count) && emit(l, in, &built);
}
