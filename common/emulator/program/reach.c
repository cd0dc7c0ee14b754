// Which kernels use which shared variables: those that name them, or call a function that does.
//
// A device function's variables, and those that nvcc moves to module scope because several kernels share
// them, take room only in the blocks of kernels that can reach them, as ptxas counts it.
#include "emulator/program/reach.h"

#include <string.h>

#include "emulator/program/lowering/lowering.h"

typedef struct {
    Lowering *l;
    unsigned char *uses;  // [function][place]
    unsigned char *calls; // [caller][callee]
    size_t functions, places;
} Reach;

static void look_at(Reach *r, size_t function, const PtxOperand *o) {
    const Program *p = r->l->program;
    if (o->kind == PTX_OPERAND_FUNCTION && o->function)
        r->calls[function * r->functions + (size_t)o->function->index] = 1;
    if (o->kind == PTX_OPERAND_VARIABLE)
        for (size_t i = 0; i < r->places; i++)
            if (p->shared[i].variable == o->variable) r->uses[function * r->places + i] = 1;
    for (int k = 0; k < o->element_count; k++) look_at(r, function, &o->elements[k]);
}

// A call through a pointer may reach every device function.
static bool is_indirect_call(const PtxInstruction *in) {
    if (strcmp(in->opcode, "call")) return false;
    for (int i = 0; i < in->operand_count; i++)
        if (in->operands[i].kind == PTX_OPERAND_FUNCTION) return false;
    return true;
}

static void look_through(Reach *r, size_t function) {
    const PtxModule *m = r->l->module;
    const PtxFunction *f = m->functions[function];
    for (int i = 0; i < f->instruction_count; i++) {
        const PtxInstruction *in = &f->instructions[i];
        for (int k = 0; k < in->operand_count; k++) look_at(r, function, &in->operands[k]);
        if (!is_indirect_call(in)) continue;
        for (size_t g = 0; g < r->functions; g++)
            if (!m->functions[g]->is_entry) r->calls[function * r->functions + g] = 1;
    }
}

static void follow_calls(Reach *r) {
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t f = 0; f < r->functions; f++)
            for (size_t g = 0; g < r->functions; g++) {
                if (!r->calls[f * r->functions + g]) continue;
                for (size_t i = 0; i < r->places; i++)
                    if (r->uses[g * r->places + i] && !r->uses[f * r->places + i]) {
                        r->uses[f * r->places + i] = 1;
                        changed = true;
                    }
            }
    }
}

bool find_shared_uses(Lowering *l) {
    Reach r = {
        .l = l, .functions = (size_t)l->module->function_count, .places = (size_t)l->program->shared_count};
    if (!r.places) return true;
    r.uses = arena_array(l->arena, r.functions * r.places + 1, 1);
    r.calls = arena_array(l->arena, r.functions * r.functions + 1, 1);
    if (!r.uses || !r.calls) return lower_no_memory(l);
    for (size_t f = 0; f < r.functions; f++) look_through(&r, f);
    follow_calls(&r);
    l->program->shared_uses = r.uses;
    return true;
}
