// A register of the hardware holds 32 bits. At each instruction, the values that a later one reads need
// registers; the largest sum over all instructions is the pressure. ptxas does better in some places
// (parameters and constants need no register, since instructions read them from the constant bank) and worse
// in others (it keeps loads in flight), so the estimate is a line through ptxas's own counts:
// tests/test_clang.py compares them.
#include "driver/build/register_estimate.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "support/text.h"

typedef struct {
    int first, last;   // instructions
    int successors[2]; // blocks; -1: none
    const int *more;   // labels of brx.idx
    int more_count;
    uint64_t *in, *out; // what is live at the start and at the end
} Block;

typedef struct {
    const PtxFunction *f;
    Block *blocks;
    int count;
    int *block_of; // by instruction
    size_t words;  // of a set of registers
    uint64_t *sets;
    unsigned char *weight; // by register: 32-bit registers that it takes
} Liveness;

// Instructions whose first operand is read, if it is a register at all.
static bool writes_nothing(const PtxInstruction *in) {
    static const char *const opcodes[] = {"st",    "red",       "bra",       "brx",           "ret",
                                          "exit",  "bar",       "barrier",   "membar",        "fence",
                                          "cp",    "prefetch",  "prefetchu", "trap",          "nanosleep",
                                          "brkpt", "call",      "discard",   "applypriority", "stmatrix",
                                          "wgmma", "setmaxnreg"};
    for (size_t i = 0; i < sizeof opcodes / sizeof opcodes[0]; i++) {
        if (strcmp(in->opcode, opcodes[i]) == 0) return true;
    }
    return false;
}

typedef void Visit(void *context, int index);

static void visit_registers(const PtxOperand *operand, Visit *visit, void *context) {
    if (operand->reg) visit(context, operand->reg->index);
    for (int i = 0; i < operand->element_count; i++) visit_registers(&operand->elements[i], visit, context);
}

static void visit_read(const PtxInstruction *in, Visit *visit, void *context) {
    if (in->guard) visit(context, in->guard->index);
    for (int i = writes_nothing(in) ? 0 : 1; i < in->operand_count; i++) {
        const bool is_result = strcmp(in->opcode, "call") == 0 && i == 0;
        if (!is_result) visit_registers(&in->operands[i], visit, context);
    }
}

static void visit_written(const PtxInstruction *in, Visit *visit, void *context) {
    if (!writes_nothing(in) && in->operand_count > 0) visit_registers(&in->operands[0], visit, context);
}

static void set_bit(void *set, int index) { ((uint64_t *)set)[index / 64] |= 1ull << index % 64; }
static void clear_bit(void *set, int index) { ((uint64_t *)set)[index / 64] &= ~(1ull << index % 64); }

// ---- Weights ----------------------------------------------------------------------------------------------

typedef struct {
    unsigned char *seen; // how often each register is written, up to 2
} Writes;

static void count_write(void *context, int index) {
    Writes *writes = context;
    if (writes->seen[index] < 2) writes->seen[index]++;
}

typedef struct {
    const unsigned char *weight;
    bool all_free;
} Sources;

static void look_at_source(void *context, int index) {
    Sources *sources = context;
    if (sources->weight[index]) sources->all_free = false;
}

// Predicates are not in these registers. A parameter, a constant or an address of a variable that is written
// once is read from the constant bank or made again where it is needed.
static bool weigh(Liveness *l) {
    const PtxFunction *f = l->f;
    Writes writes = {calloc((size_t)f->register_count + 1, 1)};
    if (!writes.seen) return false;
    for (int i = 0; i < f->register_count; i++) {
        const PtxType type = f->registers[i]->type;
        const bool is_wide = type == PTX_B64 || type == PTX_U64 || type == PTX_S64 || type == PTX_F64;
        l->weight[i] = type == PTX_PRED ? 0 : is_wide ? 2 : 1;
    }
    for (int i = 0; i < f->instruction_count; i++) visit_written(&f->instructions[i], count_write, &writes);
    for (int i = 0; i < f->instruction_count; i++) {
        const PtxInstruction *in = &f->instructions[i];
        if (in->operand_count < 2 || !in->operands[0].reg) continue;
        const int to = in->operands[0].reg->index;
        const bool is_parameter = strcmp(in->opcode, "ld") == 0 && ptx_has(in, "param");
        const bool is_moved = strcmp(in->opcode, "mov") == 0 || strcmp(in->opcode, "cvta") == 0;
        if (writes.seen[to] != 1 || (!is_parameter && !is_moved)) continue;
        Sources sources = {l->weight, true};
        visit_read(in, look_at_source, &sources);
        const bool is_special = in->operands[1].kind == PTX_OPERAND_SPECIAL;
        if (sources.all_free && !is_special) l->weight[to] = 0;
    }
    free(writes.seen);
    return true;
}

// ---- Blocks -----------------------------------------------------------------------------------------------

static bool ends_block(const PtxInstruction *in) {
    return strcmp(in->opcode, "bra") == 0 || starts_with(in->opcode, "brx") ||
           strcmp(in->opcode, "ret") == 0 || strcmp(in->opcode, "exit") == 0 ||
           strcmp(in->opcode, "trap") == 0;
}

static int block_at(const Liveness *l, int instruction) {
    return instruction < l->f->instruction_count ? l->block_of[instruction] : -1;
}

static void find_blocks(Liveness *l) {
    const PtxFunction *f = l->f;
    for (int i = 0; i < f->label_count; i++) {
        if (f->labels[i].instruction < f->instruction_count) l->block_of[f->labels[i].instruction] = 1;
    }
    for (int i = 0; i + 1 < f->instruction_count; i++) {
        if (ends_block(&f->instructions[i])) l->block_of[i + 1] = 1;
    }
    for (int i = 0; i < f->instruction_count; i++) {
        if (i == 0 || l->block_of[i]) l->blocks[l->count++].first = i;
        l->block_of[i] = l->count - 1;
        l->blocks[l->count - 1].last = i;
    }
    for (int b = 0; b < l->count; b++) {
        Block *block = &l->blocks[b];
        const PtxInstruction *in = &f->instructions[block->last];
        const bool falls_through = !ends_block(in) || in->guard;
        block->successors[0] = falls_through ? block_at(l, block->last + 1) : -1;
        block->successors[1] = -1;
        for (int k = 0; k < in->operand_count; k++) {
            const PtxOperand *operand = &in->operands[k];
            if (strcmp(in->opcode, "bra") == 0 && operand->kind == PTX_OPERAND_LABEL)
                block->successors[1] = block_at(l, f->labels[operand->label].instruction);
            if (operand->kind == PTX_OPERAND_TARGETS) {
                block->more = f->targets[operand->label].labels;
                block->more_count = f->targets[operand->label].label_count;
            }
        }
    }
}

// ---- What is live -----------------------------------------------------------------------------------------

static bool join(Liveness *l, uint64_t *out, int successor) {
    bool has_changed = false;
    if (successor < 0) return false;
    for (size_t w = 0; w < l->words; w++) {
        const uint64_t joined = out[w] | l->blocks[successor].in[w];
        has_changed |= joined != out[w];
        out[w] = joined;
    }
    return has_changed;
}

static void step_back(const PtxInstruction *in, uint64_t *live) {
    if (!in->guard) visit_written(in, clear_bit, live); // a guarded write may leave the old value
    visit_read(in, set_bit, live);
}

static void find_live(Liveness *l, uint64_t *live) {
    for (bool has_changed = true; has_changed;) {
        has_changed = false;
        for (int b = l->count - 1; b >= 0; b--) {
            Block *block = &l->blocks[b];
            join(l, block->out, block->successors[0]);
            join(l, block->out, block->successors[1]);
            for (int k = 0; k < block->more_count; k++)
                join(l, block->out, block_at(l, l->f->labels[block->more[k]].instruction));
            memcpy(live, block->out, l->words * sizeof *live);
            for (int i = block->last; i >= block->first; i--) step_back(&l->f->instructions[i], live);
            if (memcmp(live, block->in, l->words * sizeof *live) == 0) continue;
            memcpy(block->in, live, l->words * sizeof *live);
            has_changed = true;
        }
    }
}

static int weight_of(const Liveness *l, const uint64_t *live) {
    int sum = 0;
    for (size_t w = 0; w < l->words; w++) {
        for (uint64_t left = live[w]; left; left &= left - 1)
            sum += l->weight[w * 64 + (size_t)__builtin_ctzll(left)];
    }
    return sum;
}

static int largest_weight(Liveness *l, uint64_t *live) {
    int most = 0;
    for (int b = 0; b < l->count; b++) {
        const Block *block = &l->blocks[b];
        memcpy(live, block->out, l->words * sizeof *live);
        for (int i = block->last; i >= block->first; i--) {
            visit_written(&l->f->instructions[i], set_bit,
                          live); // a result needs a register even if it is never read
            const int after = weight_of(l, live);
            step_back(&l->f->instructions[i], live);
            if (after > most) most = after;
        }
    }
    return most;
}

// The largest number of 32-bit registers whose values are needed at one place; -1 when memory runs out.
static int pressure(const PtxFunction *f) {
    Liveness l = {.f = f, .words = (size_t)f->register_count / 64 + 1};
    const size_t instructions = (size_t)f->instruction_count + 1;
    l.blocks = calloc(instructions, sizeof *l.blocks);
    l.block_of = calloc(instructions, sizeof *l.block_of);
    l.weight = calloc(l.words * 64, 1);
    int most = -1;
    if (l.blocks && l.block_of && l.weight && weigh(&l)) {
        find_blocks(&l);
        l.sets = calloc(((size_t)l.count * 2 + 1) * l.words, sizeof *l.sets);
        for (int b = 0; l.sets && b < l.count; b++) {
            l.blocks[b].in = l.sets + (size_t)b * 2 * l.words;
            l.blocks[b].out = l.blocks[b].in + l.words;
        }
        if (l.sets) {
            uint64_t *live = l.sets + (size_t)l.count * 2 * l.words;
            find_live(&l, live);
            most = largest_weight(&l, live);
        }
    }
    free(l.sets);
    free(l.weight);
    free(l.block_of);
    free(l.blocks);
    return most;
}

// ---- Kernels ----------------------------------------------------------------------------------------------

// ptxas gives a kernel of one instruction 8 registers on sm_90, and at most 255. Launch bounds leave fewer:
// .minnctapersm blocks must fit into the 65,536 of an SM, in units of 8 for each thread of a warp.
static int registers_for(const PtxFunction *f, int most_live) {
    enum { LEAST = 8, MOST = 255, OF_AN_SM = 65536 };
    int estimate = (int)(0.85 * most_live + 7.7);
    long long threads = 1;
    for (int d = 0; d < 3; d++) {
        const int size = f->required_threads[d] > 0 ? f->required_threads[d] : f->max_threads[d];
        if (size > 0) threads *= size;
    }
    const long long warps = (threads + 31) / 32 * (f->min_blocks > 0 ? f->min_blocks : 1);
    const int bound = (int)(OF_AN_SM / (warps * 32) / 8 * 8);
    if (threads > 1 && estimate > bound) estimate = bound;
    // An estimate must not refuse a launch: with 64, a block of 1,024 threads fits.
    if (threads == 1 && estimate > 64) estimate = 64;
    return estimate < LEAST ? LEAST : estimate > MOST ? MOST : estimate;
}

static void mention(const PtxOperand *operand, const PtxModule *module, bool *is_used) {
    for (int v = 0; operand->variable && v < module->variable_count; v++)
        is_used[v] |= module->variables[v] == operand->variable;
    for (int i = 0; i < operand->element_count; i++) mention(&operand->elements[i], module, is_used);
}

static size_t after(size_t bytes, const PtxVariable *variable) {
    const size_t align = variable->align ? variable->align : 1;
    return (bytes + align - 1) / align * align + variable->bytes;
}

// Variables of the kernel itself, and those of the module that it or a function of the file mentions.
static bool static_shared(const PtxModule *module, const PtxFunction *kernel, size_t *bytes) {
    bool *is_used = calloc((size_t)module->variable_count + 1, sizeof *is_used);
    if (!is_used) return false;
    *bytes = 0;
    for (int i = 0; i < module->function_count; i++) {
        const PtxFunction *f = module->functions[i];
        if (f != kernel && f->is_entry) continue;
        for (int v = 0; v < f->variable_count; v++) {
            if (f->variables[v]->space == PTX_SPACE_SHARED) *bytes = after(*bytes, f->variables[v]);
        }
        for (int n = 0; n < f->instruction_count; n++) {
            for (int k = 0; k < f->instructions[n].operand_count; k++)
                mention(&f->instructions[n].operands[k], module, is_used);
        }
    }
    for (int v = 0; v < module->variable_count; v++) {
        if (is_used[v] && module->variables[v]->space == PTX_SPACE_SHARED)
            *bytes = after(*bytes, module->variables[v]);
    }
    free(is_used);
    return true;
}

bool estimate_kernels(const PtxModule *module, CompileResult *result) {
    for (int i = 0; i < module->function_count; i++) {
        const PtxFunction *f = module->functions[i];
        if (!f->is_entry) continue;
        CompiledKernel *kernel = compile_add_kernel(result, f->name, strlen(f->name));
        size_t shared = 0;
        const int most_live = pressure(f);
        if (!kernel || most_live < 0 || !static_shared(module, f, &shared)) return false;
        kernel->registers = registers_for(f, most_live);
        kernel->shared_bytes = shared > INT32_MAX ? INT32_MAX : (int)shared;
    }
    return true;
}
