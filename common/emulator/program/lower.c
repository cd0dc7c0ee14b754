// From parsed PTX to the decoded program: functions and their variables get places, opcodes become handlers.
// Operands are read in lowering/operand.c; what is not arithmetic is decoded from lowering/control.c on.
#include "emulator/program/lowering/lowering.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emulator/machine/machine.h"

enum { MAX_REGISTER_FILE = 64 << 20, SHARED_GAP = 128 };

// ---- Errors -----------------------------------------------------------------------------------------------

bool lower_fail(Lowering *l, EmulatorStatus status, const PtxInstruction *in, const char *format, ...) {
    char message[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    ptx_error_at(l->error, status, l->module, l->program->name, in->line, in->column, "%s", message);
    Instruction here = {.location = in->location, .ptx_line = in->line};
    SourcePlace place = place_of(l->program, &here);
    if (place.line) {
        memcpy(l->error->file, place.file, sizeof l->error->file);
        l->error->source_line = place.line;
    }
    return false;
}

bool lower_no_memory(Lowering *l) {
    l->error->status = EMULATOR_NO_MEMORY;
    snprintf(l->error->message, sizeof l->error->message, "out of memory while decoding %s",
             l->program->name);
    return false;
}

// ---- Instructions ----------------------------------------------------------------------------------------

Instruction *append(Lowering *l, const PtxInstruction *in) {
    Instruction *grown =
        arena_grow(l->arena, l->code, &l->code_capacity, (size_t)l->count + 1, sizeof *l->code);
    if (!grown) {
        lower_no_memory(l);
        return NULL;
    }
    l->code = grown;
    Instruction *out = &l->code[l->count];
    *out = (Instruction){
        .index = l->count, .location = l->location, .guard = -1, .reconverge = -1, .target = -1};
    for (int k = 0; k < 4; k++) out->dst[k] = -1;
    l->count++;
    if (in) {
        out->ptx_line = in->line;
        if (in->guard) {
            out->guard = l->register_offset[in->guard->index];
            out->guard_negated = in->guard_negated;
        }
    }
    return out;
}

// Vectors, pairs and lists become their elements, in order.
static int flatten(const PtxOperand *operands, int count, const PtxOperand **flat, int capacity) {
    int used = 0;
    for (int i = 0; i < count; i++) {
        const PtxOperand *o = &operands[i];
        bool compound = o->kind == PTX_OPERAND_VECTOR || o->kind == PTX_OPERAND_PAIR;
        for (int k = 0; k < (compound ? o->element_count : 1); k++) {
            if (used == capacity) return capacity + 1;
            flat[used++] = compound ? &o->elements[k] : o;
        }
    }
    return used;
}

static bool lower_alu(Lowering *l, const PtxInstruction *in, const Opcode *opcode) {
    Selection selection = {0};
    if (!opcode->select(in, &selection)) {
        char words[128] = "";
        size_t used = 0;
        for (int i = 0; i < in->modifier_count && used < sizeof words - 1; i++)
            used += (size_t)snprintf(words + used, sizeof words - used, ".%s", in->modifiers[i]);
        return lower_fail(l, EMULATOR_UNSUPPORTED, in, "this form of %s is not supported: %s%s", in->opcode,
                          in->opcode, words);
    }
    int destinations = 0, sources = 0;
    while (destinations < 4 && selection.dst[destinations]) destinations++;
    while (sources < 5 && selection.src[sources]) sources++;
    const PtxOperand *flat[12];
    int flat_count = flatten(in->operands, in->operand_count, flat, 12);
    // The second of a destination pair may be left out.
    int given = destinations;
    if (flat_count == destinations + sources + selection.literals - 1 && destinations == 2 &&
        in->operands[0].kind != PTX_OPERAND_PAIR && in->operands[0].kind != PTX_OPERAND_VECTOR)
        given = 1;
    if (flat_count != given + sources + selection.literals)
        return lower_fail(l, EMULATOR_BAD_PTX, in, "%s takes %d operands; here are %d", in->opcode,
                          destinations + sources + selection.literals, flat_count);
    Instruction built = {0};
    for (int k = 0; k < 4; k++) built.dst[k] = -1;
    for (int k = 0; k < given; k++)
        if (!lower_destination(l, in, flat[k], selection.dst[k], selection.wide_ok, &built.dst[k]))
            return false;
    for (int k = 0; k < sources; k++)
        if (!lower_source(l, in, flat[given + k], selection.src[k], selection.wide_ok, &built.src[k]))
            return false;
    for (int k = 0; k < selection.literals && k < 2; k++)
        if (!lower_literal(l, in, flat[given + sources + k], &built.literal[k])) return false;
    Instruction *out = append(l, in);
    if (!out) return false;
    out->kind = KIND_ALU;
    out->alu = selection.handler;
    out->float_ops = (uint8_t)selection.float_ops;
    memcpy(out->dst, built.dst, sizeof built.dst);
    memcpy(out->src, built.src, sizeof built.src);
    memcpy(out->literal, built.literal, sizeof built.literal);
    out->dst_count = (uint8_t)given;
    out->src_count = (uint8_t)sources;
    return true;
}

// ---- Functions --------------------------------------------------------------------------------------------

static bool place_registers(Lowering *l) {
    PtxFunction *f = l->ptx;
    l->register_bytes = REGISTER_FILE_HEADER;
    l->register_offset = arena_array(l->arena, (size_t)f->register_count + 1, sizeof *l->register_offset);
    if (!l->register_offset) return false;
    // Predicates are four bytes each; together first, so that the 64-byte alignment of the rest wastes
    // nothing.
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < f->register_count; i++)
            if ((f->registers[i]->type == PTX_PRED) == (pass == 0))
                l->register_offset[i] = new_register(l, lane_width(f->registers[i]->type));
    return true;
}

static bool place_variables(Lowering *l) {
    PtxFunction *f = l->ptx;
    l->variable_place = arena_array(l->arena, (size_t)f->variable_count + 1, sizeof *l->variable_place);
    l->local_offset = arena_array(l->arena, (size_t)f->variable_count + 1, sizeof *l->local_offset);
    if (!l->variable_place || !l->local_offset) return false;
    uint64_t local = 0;
    for (int i = 0; i < f->variable_count; i++) {
        const PtxVariable *v = f->variables[i];
        uint64_t align = v->align ? v->align : 1;
        if (v->space == PTX_SPACE_LOCAL) {
            local = (local + align - 1) / align * align;
            l->local_offset[i] = (uint32_t)local;
            local += v->bytes;
        } else if (v->space == PTX_SPACE_PARAM) {
            if (v->bytes > 65536) return false;
            l->register_bytes = (l->register_bytes + 63) / 64 * 64;
            l->variable_place[i] = (ParamPlace){(int32_t)l->register_bytes, (uint32_t)v->bytes};
            l->register_bytes += (uint32_t)v->bytes * WARP_SIZE;
        }
        if (local > 1u << 30 || l->register_bytes > MAX_REGISTER_FILE) return false;
    }
    l->function->local_bytes = (uint32_t)((local + 15) / 16 * 16);
    return true;
}

// The places of a device function's parameters and return values; for an entry, offsets in its parameter
// block.
static bool place_parameters(Lowering *l) {
    PtxFunction *f = l->ptx;
    Function *out = l->function;
    out->parameters = arena_array(l->arena, (size_t)f->parameter_count + 1, sizeof *out->parameters);
    out->returns = arena_array(l->arena, (size_t)f->return_count + 1, sizeof *out->returns);
    if (!out->parameters || !out->returns) return false;
    out->parameter_count = f->parameter_count;
    out->return_count = f->return_count;
    size_t offset = 0;
    for (int pass = 0; pass < 2; pass++) {
        PtxVariable **list = pass ? f->returns : f->parameters;
        int count = pass ? f->return_count : f->parameter_count;
        for (int i = 0; i < count; i++) {
            const PtxVariable *v = list[i];
            ParamPlace *place = pass ? &out->returns[i] : &out->parameters[i];
            if (f->is_entry) {
                size_t align = v->align ? v->align : 1;
                offset = (offset + align - 1) / align * align;
                *place = (ParamPlace){(int32_t)offset, (uint32_t)v->bytes};
                offset += v->bytes;
            } else {
                l->register_bytes = (l->register_bytes + 63) / 64 * 64;
                *place = (ParamPlace){(int32_t)l->register_bytes, (uint32_t)v->bytes};
                l->register_bytes += (uint32_t)v->bytes * WARP_SIZE;
            }
            if (v->bytes > 65536 || offset > 65536 || l->register_bytes > MAX_REGISTER_FILE) return false;
        }
    }
    return true;
}

// An atom whose result nothing reads is a red, as ptxas makes it; there is no red of exch and cas.
static bool mark_unused_results(Lowering *l) {
    unsigned char *is_read = arena_alloc(l->arena, l->register_bytes / 4 + 1); // by offset / 4
    if (!is_read) return lower_no_memory(l);
    for (int i = 0; i < l->count; i++) {
        const Instruction *in = &l->code[i];
        if (in->guard >= 0) is_read[in->guard / 4] = 1;
        for (int k = 0; k < 5; k++)
            if (!in->src[k].constant) is_read[in->src[k].offset / 4] = 1;
    }
    for (int i = 0; i < l->count; i++) {
        Instruction *in = &l->code[i];
        bool used = false;
        for (int k = 0; k < 4; k++) used |= in->dst[k] >= 0 && is_read[in->dst[k] / 4];
        bool has_red = in->operation != ATOMIC_EXCH && in->operation != ATOMIC_CAS;
        if (in->kind != KIND_ATOMIC || used) continue;
        if (has_red) in->flags |= NO_RESULT;
        if (in->operation == ATOMIC_EXCH) // a store, for those who ask whether the old value is looked at
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
    if (!place_registers(l) || !place_variables(l) || !place_parameters(l))
        return lower_fail(l, EMULATOR_UNSUPPORTED, &head, "%s: its registers or variables do not fit",
                          f->name);
    for (int i = 0; i < f->instruction_count; i++) {
        const PtxInstruction *in = &f->instructions[i];
        if (in->location >= 0 && l->module->locations[in->location].line > 0) l->location = in->location;
        start[i] = l->count;
        const Opcode *opcode = opcode_named(in->opcode);
        if (!opcode)
            return lower_fail(l, EMULATOR_UNSUPPORTED, in, "the instruction %s is not supported", in->opcode);
        if (!(opcode->kind == KIND_ALU ? lower_alu(l, in, opcode) : lower_kind(l, in, opcode))) return false;
        if (l->register_bytes > MAX_REGISTER_FILE)
            return lower_fail(l, EMULATOR_UNSUPPORTED, in, "%s has too many registers", f->name);
    }
    start[f->instruction_count] = l->count;
    // Falling off the end is a return.
    Instruction *last = append(l, NULL);
    if (!last) return false;
    last->kind = f->is_entry ? KIND_EXIT : KIND_RETURN;
    // Branch targets were label numbers until now.
    for (int i = 0; i < l->count; i++) {
        Instruction *in = &l->code[i];
        if (in->kind == KIND_BRANCH) in->target = start[f->labels[in->target].instruction];
        if (in->kind == KIND_BRANCH_TABLE) {
            const BranchTable *table = in->detail;
            int32_t *targets = (int32_t *)(uintptr_t)table->targets; // ours, built in lowering/control.c
            for (int k = 0; k < table->count; k++) targets[k] = start[f->labels[targets[k]].instruction];
        }
        in->index = i;
    }
    if (!mark_unused_results(l)) return false;
    mark_optimistic_reads(l);
    l->function->code = l->code;
    l->function->count = l->count;
    l->function->register_bytes = (l->register_bytes + 63) / 64 * 64;
    l->function->lowered = true;
    return find_reconvergence(l->function) || lower_no_memory(l);
}

// ---- Shared memory ----------------------------------------------------------------------------------------

static uint64_t align_up(uint64_t value, uint64_t align) { return (value + align - 1) / align * align; }

size_t static_shared_bytes(const Program *program, const PtxFunction *entry) {
    uint64_t bytes = 0;
    for (int i = 0; i < program->shared_count; i++) {
        const PtxVariable *v = program->shared[i].variable;
        if (v->is_unsized || !uses_shared(program, entry, i)) continue;
        bytes = align_up(bytes, v->align ? v->align : 1) + v->bytes;
    }
    return (size_t)bytes;
}

// Lays out one owner's variables from `offset`; returns the end. A gap follows each variable; it is a
// multiple of 128 bytes, the width of all banks together, so that no bank number changes.
static uint64_t place_shared(Program *program, PtxVariable *const *variables, int count, uint64_t offset) {
    for (int i = 0; i < count; i++) {
        const PtxVariable *v = variables[i];
        if (v->space != PTX_SPACE_SHARED || v->is_unsized) continue;
        offset = align_up(offset, v->align ? v->align : 1);
        program->shared[program->shared_count++] = (SharedPlace){v, (uint32_t)offset, (uint32_t)v->bytes};
        offset += v->bytes + SHARED_GAP;
        if (offset > 1u << 30) return UINT64_MAX;
    }
    return offset;
}

static bool place_all_shared(Lowering *l) {
    PtxModule *m = l->module;
    size_t total = (size_t)m->variable_count;
    for (int i = 0; i < m->function_count; i++) total += (size_t)m->functions[i]->variable_count;
    l->program->shared = arena_array(l->arena, total + 1, sizeof *l->program->shared);
    if (!l->program->shared) return lower_no_memory(l);
    PtxInstruction head = {.line = 1, .column = 1, .location = -1};
    // What device functions and the module own is common to all entries and comes first.
    uint64_t common = place_shared(l->program, m->variables, m->variable_count, 0);
    for (int i = 0; i < m->function_count && common != UINT64_MAX; i++)
        if (!m->functions[i]->is_entry)
            common =
                place_shared(l->program, m->functions[i]->variables, m->functions[i]->variable_count, common);
    uint64_t end = common;
    for (int i = 0; i < m->function_count && common != UINT64_MAX; i++) {
        if (!m->functions[i]->is_entry) continue;
        uint64_t mine =
            place_shared(l->program, m->functions[i]->variables, m->functions[i]->variable_count, common);
        if (mine > end) end = mine;
    }
    if (common == UINT64_MAX || end == UINT64_MAX)
        return lower_fail(l, EMULATOR_UNSUPPORTED, &head, "the shared variables do not fit in 1 GiB");
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
            p->functions[i].code[k].number = p->instruction_count;
            p->by_number[p->instruction_count++] = &p->functions[i].code[k];
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
    for (int i = 0; ok && i < module->function_count; i++) {
        program->functions[i].ptx = module->functions[i];
        // Callers need the places of a callee's parameters before its body is lowered: they are compared
        // when the call is made, so nothing has to be known here but the names.
    }
    ok = ok && place_all_shared(&l) && find_shared_uses(&l);
    for (int i = 0; ok && i < module->function_count; i++) ok = lower_function(&l, i);
    ok = ok && number_instructions(&l);
    if (!ok) {
        program_free(program);
        return NULL;
    }
    return program;
}

void program_free(Program *program) {
    if (!program) return;
    arena_close(program->storage);
    free(program->storage);
    ptx_free(program->module);
    free(program);
}
