// If PTX has a branch over a few instructions, ptxas puts these under a predicate: no lane branches, and a
// warp issues them even if all its lanes are switched off. A branch to the end of the kernel becomes an exit
// under a predicate. The rules and the limit are those that reproduce best what an H200 counts
// (tests/hardware_truth).
#include "emulator/program/predicated.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST_COST = 10,         // of the instructions under a predicate
    MOST_INSTRUCTIONS = 64, // that are looked at, with branches and what costs nothing
};

// ---- Additions that cost nothing --------------------------------------------------------------------------

// Notes the registers that an instruction reads other than as the address of an access.
static void note_uses(const PtxInstruction *in, bool *is_value) {
    const bool has_result = strcmp(in->opcode, "st") != 0 && strcmp(in->opcode, "red") != 0;
    for (int k = has_result ? 1 : 0; k < in->operand_count; k++) {
        const PtxOperand *o = &in->operands[k];
        if (o->kind == PTX_OPERAND_REGISTER) is_value[o->reg->index] = true;
        for (int e = 0; e < o->element_count && o->kind != PTX_OPERAND_ADDRESS; e++)
            if (o->elements[e].kind == PTX_OPERAND_REGISTER) is_value[o->elements[e].reg->index] = true;
    }
}

// The addition of a constant to an address, which becomes the offset of the accesses.
static bool is_offset(const PtxInstruction *in, const bool *is_value) {
    return strcmp(in->opcode, "add") == 0 && in->operand_count == 3 && !in->guard &&
           in->operands[0].kind == PTX_OPERAND_REGISTER && in->operands[1].kind == PTX_OPERAND_REGISTER &&
           in->operands[2].kind == PTX_OPERAND_INTEGER && !is_value[in->operands[0].reg->index];
}

static bool find_offsets(Function *function) {
    const PtxFunction *f = function->ptx;
    bool *is_value = calloc((size_t)f->register_count + 1, sizeof *is_value);
    if (!is_value) return false;
    for (int i = 0; i < f->instruction_count; i++) note_uses(&f->instructions[i], is_value);
    for (int i = 0; i < function->count; i++) {
        Instruction *in = &function->code[i];
        const PtxInstruction *ptx = in->kind == KIND_ALU ? ptx_at_line(f, in->ptx_line) : NULL;
        in->is_offset = ptx && is_offset(ptx, is_value);
    }
    free(is_value);
    return true;
}

// ---- Regions ----------------------------------------------------------------------------------------------

typedef struct {
    const Function *function;
    int branch, join; // the instruction where the lanes meet again; -1: at the end
    int members[MOST_INSTRUCTIONS];
    int count, cost;
} Region;

static bool is_end(const Function *f, int at) {
    while (f->code[at].kind == KIND_BRANCH && f->code[at].guard < 0 && f->code[at].target > at)
        at = f->code[at].target;
    return f->code[at].kind == KIND_EXIT && f->code[at].guard < 0;
}

static bool holds(const Region *r, int at) {
    for (int k = 0; k < r->count; k++)
        if (r->members[k] == at) return true;
    return false;
}

// Whether an instruction can be under a predicate; what it costs is added. An atomic that a warp gathers
// first cannot: it asks which lanes are there.
static bool is_simple(const Instruction *in, int *cost) {
    switch ((InstructionKind)in->kind) {
    case KIND_EXIT: return in->guard < 0;
    case KIND_BRANCH: return in->guard < 0;
    case KIND_ATOMIC: ++*cost; return !in->is_gathered && in->space == PTX_SPACE_SHARED;
    case KIND_LOAD:
    case KIND_STORE: *cost += in->merged_bytes != MERGED_AWAY; return true;
    case KIND_CVTA: return true;
    case KIND_ALU: *cost += !in->is_offset; return !in->slow_path; // a branch there
    case KIND_SPECIAL:
    case KIND_MAPA:
    case KIND_CP_ASYNC:
    case KIND_MBARRIER: ++*cost; return true;
    default: return false;
    }
}

// Follows one way from the branch to where the ways meet. False if that is not a straight line of
// simple instructions.
static bool follow(Region *r, int at) {
    while (at != r->join) {
        const Instruction *in = &r->function->code[at];
        if (r->count == MOST_INSTRUCTIONS || !is_simple(in, &r->cost)) return false;
        if (holds(r, at)) return r->join < 0; // both ways end alike
        r->members[r->count++] = at;
        if (in->kind == KIND_EXIT) return r->join < 0;
        const int next = in->kind == KIND_BRANCH ? in->target : at + 1;
        if (next <= at && next != r->join) return false;
        at = next;
    }
    return true;
}

// Whether control comes into the region from the branch alone.
static bool has_one_entry(const Region *r) {
    const Function *f = r->function;
    for (int i = 0; i < f->count; i++) {
        if (f->code[i].kind == KIND_BRANCH_TABLE) return false;
        if (f->code[i].kind != KIND_BRANCH || i == r->branch || holds(r, i)) continue;
        if (holds(r, f->code[i].target) && f->code[f->code[i].target].kind != KIND_EXIT) return false;
    }
    return true;
}

static void look_at(Function *f, int branch) {
    const int target = f->code[branch].target;
    Region r = {.function = f, .branch = branch, .join = f->code[branch].reconverge};
    if (target <= branch && target != r.join) return;
    if (is_end(f, target) || is_end(f, branch + 1)) {
        f->code[branch].is_predicated = true;
        return;
    }
    if (!follow(&r, branch + 1) || !follow(&r, target) || r.cost > MOST_COST || !has_one_entry(&r)) return;
    f->code[branch].is_predicated = true;
    for (int k = 0; k < r.count; k++)
        if (r.members[k] - branch <= UINT16_MAX)
            f->code[r.members[k]].predicated_back = (uint16_t)(r.members[k] - branch);
}

bool find_predicated(Function *f) {
    if (!find_offsets(f)) return false;
    for (int i = 0; i < f->count; i++)
        if (f->code[i].kind == KIND_BRANCH && f->code[i].guard >= 0) look_at(f, i);
    return true;
}
