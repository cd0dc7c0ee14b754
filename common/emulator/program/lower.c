// From parsed PTX to the decoded program: lays out shared memory, then decodes function after function. Each
// opcode's own function, which opcodes.def names, is in lowering/.
#include "emulator/program/lower.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emulator/program/choice.h"
#include "emulator/program/float_distance.h"
#include "emulator/program/gathered.h"
#include "emulator/program/meeting.h"
#include "emulator/program/merged.h"
#include "emulator/program/predicated.h"
#include "emulator/program/flow.h"
#include "emulator/program/lowering/lowering.h"
#include "emulator/program/reach.h"
#include "emulator/program/registers.h"
#include "emulator/program/sunk.h"
#include "emulator/program/unrolled.h"
#include "emulator/program/unset.h"

enum { SHARED_GAP = 128, MAX_SHARED = 1 << 30 };

// ---- Functions --------------------------------------------------------------------------------------------

// An atom whose result nothing reads is a red, as ptxas makes it; there is no red of exch and cas.
static bool mark_unused_results(Lowering *l) {
    unsigned char *is_read = arena_alloc(l->arena, l->register_bytes / 4 + 1); // by offset / 4
    if (!is_read) return lower_no_memory(l);
    for (int i = 0; i < l->count; i++) {
        const Instruction *in = &l->code[i];
        int32_t read[MOST_READ];
        for (int k = registers_read(in, read) - 1; k >= 0; k--) is_read[read[k] / 4] = 1;
    }
    for (int i = 0; i < l->count; i++) {
        Instruction *in = &l->code[i];
        bool used = false;
        for (int k = 0; k < 4; k++) used |= in->dst[k] >= 0 && is_read[in->dst[k] / 4];
        bool has_red = in->operation != ATOMIC_EXCH && in->operation != ATOMIC_CAS;
        if (in->kind != KIND_ATOMIC || used) continue;
        if (has_red) in->flags |= NO_RESULT;
        if (in->operation == ATOMIC_EXCH) // then the old value is not looked at, and it is a store
            for (int k = 0; k < 4; k++) in->dst[k] = -1;
    }
    return true;
}

// A compare-and-swap loop begins with a plain read of the word that it will swap. The CUDA C++ Programming
// Guide writes it so, and it is harmless: a stale value only costs a round. Such a read is as good as a
// relaxed one for racecheck.
static void mark_optimistic_reads(Lowering *l) {
    int left = 256; // swaps looked at: a real function has a few, and the search must not become quadratic
    for (int i = 0; i < l->count && left; i++) {
        const Instruction *swap = &l->code[i];
        if (swap->kind != KIND_ATOMIC || swap->operation != ATOMIC_CAS) continue;
        left--;
        for (int k = 0; k < l->count; k++) {
            Instruction *load = &l->code[k];
            bool same = load->kind == KIND_LOAD && load->width == swap->width && load->elements == 1 &&
                        load->offset == swap->offset && load->src[0].constant == swap->src[0].constant &&
                        load->src[0].offset == swap->src[0].offset;
            if (same && !(load->flags & IS_NC)) load->flags |= IS_VOLATILE | IS_RELAXED;
        }
    }
}

// In the place of what lowering has just refused: the launch ends with that message if a lane arrives here.
// False if memory ran out.
static bool emit_unsupported(Lowering *l, const PtxInstruction *in) {
    if (l->error->status == EMULATOR_NO_MEMORY) return false;
    *l->error = (EmulatorError){0};
    Instruction stop = blank(KIND_UNSUPPORTED);
    stop.detail = arena_string(l->arena, l->refused, strlen(l->refused));
    return stop.detail ? emit(l, in, &stop) : lower_no_memory(l);
}

static bool lower_instruction(Lowering *l, const PtxInstruction *in) {
    if (in->refused) return lower_fail(l, EMULATOR_UNSUPPORTED, in, "%s", in->refused);
    l->opcode = opcode_named(in->opcode);
    if (!l->opcode)
        return lower_fail(l, EMULATOR_UNSUPPORTED, in, "the instruction %s is not supported", in->opcode);
    return l->opcode->lower(l, in);
}

static bool lower_function(Lowering *l, int index) {
    l->ptx = l->module->functions[index];
    l->function = &l->program->functions[index];
    l->count = 0;
    l->code = NULL;
    l->code_capacity = 0;
    l->location = -1;
    PtxFunction *f = l->ptx;
    if (!f->has_body) return true;
    PtxInstruction head = {.line = f->line, .column = 1, .location = -1};
    int32_t *start = arena_array(l->arena, (size_t)f->instruction_count + 1, sizeof *start);
    if (!start) return lower_no_memory(l);
    const bool fits = place_all(l) && l->register_bytes <= MAX_REGISTER_FILE;
    if (!fits)
        lower_fail(l, EMULATOR_UNSUPPORTED, &head, "%s: its registers or variables do not fit", f->name);
    else if (f->refused)
        lower_fail(l, EMULATOR_UNSUPPORTED, &head, "%s: %s", f->name, f->refused);
    const bool runs = fits && !f->refused;
    if (!runs) {
        l->register_bytes = l->function->written_to = 64;
        l->function->is_refused = true;
        if (!emit_unsupported(l, NULL)) return false;
    }
    for (int i = 0; runs && i < f->instruction_count; i++) {
        const PtxInstruction *in = &f->instructions[i];
        const PtxLocation *location = in->location >= 0 ? &l->module->locations[in->location] : NULL;
        if (location && location->line > 0) l->location = in->location;
        l->is_of_several_lines = location && location->line == 0 && location->inlined_at < 0;
        start[i] = l->count;
        if (!lower_instruction(l, in)) {
            l->count = start[i];
            if (!emit_unsupported(l, in)) return false;
        }
        if (l->register_bytes <= MAX_REGISTER_FILE) continue;
        lower_fail(l, EMULATOR_UNSUPPORTED, in, "%s has too many registers", f->name);
        l->register_bytes = l->function->written_to = 64;
        l->function->is_refused = true;
        l->count = 0;
        if (!emit_unsupported(l, NULL)) return false;
        break;
    }
    start[f->instruction_count] = l->count;
    // Falling off the end is a return.
    Instruction last = blank(f->is_entry ? KIND_EXIT : KIND_RETURN);
    if (!emit(l, NULL, &last)) return false;
    // Branch targets were label numbers until now.
    for (int i = 0; i < l->count; i++) {
        Instruction *in = &l->code[i];
        if (in->kind == KIND_BRANCH) in->target = start[f->labels[in->target].instruction];
        if (in->kind == KIND_BRANCH_TABLE) {
            const BranchTable *table = in->detail;
            int32_t *targets = (int32_t *)(uintptr_t)table->targets; // ours, built in lowering/control.c
            for (int k = 0; k < table->count; k++) targets[k] = start[f->labels[targets[k]].instruction];
        }
    }
    if (!mark_unused_results(l)) return false;
    for (int i = 0; i < l->count; i++) {
        const Instruction *in = &l->code[i];
        const bool is_read = in->kind == KIND_LOAD || in->kind == KIND_ATOMIC;
        l->program->may_wait |= is_read && can_poll(in);
    }
    mark_optimistic_reads(l);
    l->function->code = l->code;
    l->function->count = l->count;
    l->function->register_offset = l->register_offset;
    l->function->register_bytes = (l->register_bytes + 63) / 64 * 64;
    l->function->lowered = true;
    Flow flow = {0};
    bool ok = flow_build(&flow, l->function);
    if (ok) find_reconvergence(l->function, &flow);
    ok = ok && find_meetings(l->function, &flow);
    ok = ok && find_unset_registers(l->function, &flow, l->arena) && find_choices(l->function, &flow);
    flow_free(&flow);
    for (int i = 0; i < l->function->unset_count; i++)
        for (int k = 0; k < f->register_count; k++)
            if (l->register_offset[k] == l->function->unset[i].offset)
                l->function->unset[i].width = lane_width(f->registers[k]->type);
    return ok || lower_no_memory(l);
}

// ---- Shared memory ----------------------------------------------------------------------------------------

static uint64_t align_up(uint64_t value, uint64_t align) { return (value + align - 1) / align * align; }

// Lays out one owner's variables from `offset`; returns the end. A gap follows each variable; it is a
// multiple of 128 bytes, the width of all banks together, so that no bank number changes.
static uint64_t place_shared(Program *program, PtxVariable *const *variables, int count, uint64_t offset) {
    for (int i = 0; i < count; i++) {
        const PtxVariable *v = variables[i];
        if (v->space != PTX_SPACE_SHARED || v->is_unsized) continue;
        const uint64_t start = align_up(offset, v->align ? v->align : 1);
        if (start + v->bytes > MAX_SHARED) continue; // refused where it is used
        program->shared[program->shared_count++] = (SharedPlace){v, (uint32_t)start, (uint32_t)v->bytes};
        offset = start + v->bytes + SHARED_GAP;
    }
    return offset;
}

static bool place_all_shared(Lowering *l) {
    PtxModule *m = l->module;
    size_t total = (size_t)m->variable_count;
    for (int i = 0; i < m->function_count; i++) total += (size_t)m->functions[i]->variable_count;
    l->program->shared = arena_array(l->arena, total + 1, sizeof *l->program->shared);
    if (!l->program->shared) return lower_no_memory(l);
    // What device functions and the module own is common to all entries and comes first.
    uint64_t common = place_shared(l->program, m->variables, m->variable_count, 0);
    for (int i = 0; i < m->function_count; i++)
        if (!m->functions[i]->is_entry)
            common =
                place_shared(l->program, m->functions[i]->variables, m->functions[i]->variable_count, common);
    uint64_t end = common;
    for (int i = 0; i < m->function_count; i++) {
        if (!m->functions[i]->is_entry) continue;
        uint64_t mine =
            place_shared(l->program, m->functions[i]->variables, m->functions[i]->variable_count, common);
        if (mine > end) end = mine;
    }
    // Every unsized array is the same memory: the dynamic part, after everything else.
    end = align_up(end, 1024);
    for (int pass = 0; pass <= m->function_count; pass++) {
        PtxVariable **list = pass ? m->functions[pass - 1]->variables : m->variables;
        int count = pass ? m->functions[pass - 1]->variable_count : m->variable_count;
        for (int i = 0; i < count; i++)
            if (list[i]->space == PTX_SPACE_SHARED && list[i]->is_unsized)
                l->program->shared[l->program->shared_count++] = (SharedPlace){list[i], (uint32_t)end, 0};
    }
    l->program->dynamic_shared_offset = (uint32_t)end;
    return true;
}

// ---- The program ------------------------------------------------------------------------------------------

static bool number_instructions(Lowering *l) {
    Program *p = l->program;
    size_t total = 0;
    for (int i = 0; i < l->module->function_count; i++) total += (size_t)p->functions[i].count;
    p->by_number = arena_array(l->arena, total + 1, sizeof *p->by_number);
    if (!p->by_number) return lower_no_memory(l);
    for (int i = 0; i < l->module->function_count; i++)
        for (int k = 0; k < p->functions[i].count; k++) {
            Instruction *in = &p->functions[i].code[k];
            in->number = p->instruction_count;
            p->by_number[p->instruction_count++] = in;
            p->uses_async_proxy |=
                in->kind == KIND_BULK || in->kind == KIND_ASYNC_STORE || in->kind == KIND_WGMMA;
        }
    return true;
}

Program *program_new(PtxModule *module, const char *name, AddressOf *address_of, void *context,
                     EmulatorError *error) {
    Program *program = calloc(1, sizeof *program);
    Arena *arena = malloc(sizeof *arena);
    if (!program || !arena) {
        free(program);
        free(arena);
        ptx_free(module);
        error->status = EMULATOR_NO_MEMORY;
        snprintf(error->message, sizeof error->message, "out of memory while decoding %s", name);
        return NULL;
    }
    arena_open(arena, (size_t)2 << 30);
    program->module = module;
    program->storage = arena;
    program->name = arena_string(arena, name, strlen(name));
    program->functions = arena_array(arena, (size_t)module->function_count + 1, sizeof *program->functions);
    Lowering l = {.arena = arena,
                  .program = program,
                  .module = module,
                  .error = error,
                  .address_of = address_of,
                  .context = context};
    bool ok = program->name && program->functions;
    if (!ok) {
        program->name = name;
        lower_no_memory(&l);
    }
    for (int i = 0; ok && i < module->function_count; i++) program->functions[i].ptx = module->functions[i];
    ok = ok && place_all_shared(&l) && find_shared_uses(&l);
    for (int i = 0; ok && i < module->function_count; i++) ok = lower_function(&l, i);
    ok = ok && number_instructions(&l);
    for (int i = 0; ok && i < module->function_count; i++) {
        set_float_distances(&program->functions[i]);
        if (!find_merged_accesses(&program->functions[i]) || !find_gathered_atomics(&program->functions[i]) ||
            !find_predicated(&program->functions[i]) || !find_sunk_loads(&program->functions[i]) ||
            !find_unrolled_loops(&program->functions[i]))
            ok = lower_no_memory(&l);
    }
    if (!ok) {
        program_free(program);
        return NULL;
    }
    return program;
}
