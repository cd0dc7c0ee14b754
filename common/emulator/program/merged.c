// ptxas joins loads from shared memory that lie side by side, and stores likewise, into one instruction of 64
// or 128 bits: the same base register with the same value, offsets that fill 8 or 16 bytes without a gap, a
// base of which the alignment is known, no branch, barrier, call, division with a longer way or access that
// could change the values in between. The rules were found with the machine code of ptxas 13 for sm_90, and
// reproduce what an H200 counts (tests/hardware_truth). Two stores of 16 bits become one of 32. Loads of 16
// bits and elements of 8 bits stay as they are, and global memory is never joined.
#include "emulator/program/merged.h"

#include <stdlib.h>
#include <string.h>

#include "emulator/alu/slow_path.h"

enum { ALL_ZERO = 63, WIDEST = 16, MOST_OPEN = 64, SHARED_ALIGN_BITS = 4 };

// ---- Alignment --------------------------------------------------------------------------------------------

static uint8_t zero_bits_of(uint64_t value) { return value ? (uint8_t)__builtin_ctzll(value) : ALL_ZERO; }

static uint8_t lesser(uint8_t a, uint8_t b) { return a < b ? a : b; }

static uint8_t sum(uint8_t a, uint8_t b) { return a + b < ALL_ZERO ? (uint8_t)(a + b) : ALL_ZERO; }

// ptxas places arrays of 16 bytes and more at multiples of 16, whatever they ask for.
static uint8_t variable_bits(const PtxVariable *v) {
    const uint8_t declared = zero_bits_of(v->align ? v->align : 1);
    const bool is_placed = v->space == PTX_SPACE_SHARED && !v->is_unsized && v->bytes >= WIDEST;
    return is_placed && declared < SHARED_ALIGN_BITS ? SHARED_ALIGN_BITS : declared;
}

// How many low bits of an operand are 0 for certain.
static uint8_t operand_bits(const PtxOperand *o, const uint8_t *bits) {
    switch (o->kind) {
    case PTX_OPERAND_REGISTER: return o->part ? 0 : bits[o->reg->index];
    case PTX_OPERAND_INTEGER: return zero_bits_of(o->integer);
    case PTX_OPERAND_VARIABLE: return lesser(variable_bits(o->variable), zero_bits_of((uint64_t)o->offset));
    default: return 0;
    }
}

static bool is_called(const PtxInstruction *in, const char *opcode) {
    return strcmp(in->opcode, opcode) == 0;
}

static uint8_t result_bits(const PtxInstruction *in, const uint8_t *bits) {
    uint8_t of[3] = {0};
    for (int k = 1; k < in->operand_count && k < 4; k++) of[k - 1] = operand_bits(&in->operands[k], bits);
    const int sources = in->operand_count - 1;
    if (sources == 1 && (is_called(in, "mov") || is_called(in, "cvta"))) return of[0];
    if (sources == 1 && is_called(in, "cvt")) {
        const PtxType from = ptx_type_from_end(in, 0), to = ptx_type_from_end(in, 1);
        const bool is_whole = from != PTX_F16 && from != PTX_F32 && from != PTX_F64 && to != PTX_F32 &&
                              to != PTX_F64 && to != PTX_F16;
        return is_whole ? of[0] : 0;
    }
    if (sources == 2) {
        if (is_called(in, "add") || is_called(in, "sub") || is_called(in, "or") || is_called(in, "xor") ||
            is_called(in, "min") || is_called(in, "max"))
            return lesser(of[0], of[1]);
        if (is_called(in, "and")) return of[0] > of[1] ? of[0] : of[1];
        if (is_called(in, "mul") && !ptx_has(in, "hi")) return sum(of[0], of[1]);
        if (is_called(in, "shl") && in->operands[2].kind == PTX_OPERAND_INTEGER)
            return sum(of[0],
                       in->operands[2].integer < ALL_ZERO ? (uint8_t)in->operands[2].integer : ALL_ZERO);
    }
    if (sources == 3 && is_called(in, "mad") && !ptx_has(in, "hi")) return lesser(sum(of[0], of[1]), of[2]);
    if (sources == 3 && is_called(in, "selp")) return lesser(of[0], of[1]);
    return 0;
}

static const PtxRegister *written_by(const PtxInstruction *in) {
    const bool has_result = in->operand_count > 0 && in->operands[0].kind == PTX_OPERAND_REGISTER &&
                            !is_called(in, "st") && !is_called(in, "red") && !is_called(in, "bra");
    return has_result ? in->operands[0].reg : NULL;
}

// The bits of every register, over all instructions that write it: from all bits down to what holds for each.
static void find_zero_bits(const PtxFunction *f, uint8_t *bits) {
    memset(bits, ALL_ZERO, (size_t)f->register_count + 1);
    for (bool has_changed = true; has_changed;) {
        has_changed = false;
        for (int i = 0; i < f->instruction_count; i++) {
            const PtxInstruction *in = &f->instructions[i];
            if (in->operand_count == 0) continue;
            const PtxOperand *first = &in->operands[0];
            for (int k = 0; first->kind == PTX_OPERAND_VECTOR && k < first->element_count; k++)
                if (first->elements[k].kind == PTX_OPERAND_REGISTER) bits[first->elements[k].reg->index] = 0;
            const PtxRegister *to = written_by(in);
            if (!to) continue;
            const uint8_t known = lesser(bits[to->index], result_bits(in, bits));
            has_changed = has_changed || known != bits[to->index];
            bits[to->index] = known;
        }
    }
}

// ---- Accesses ---------------------------------------------------------------------------------------------

typedef struct {
    int instruction; // in PtxFunction.instructions
    const PtxRegister *base;
    const PtxVariable *variable; // where there is no register
    int version;                 // how often the register had been written
    int64_t offset;
    int bytes;
    bool is_store, is_taken;
} Open;

typedef struct {
    const PtxFunction *ptx;
    Function *function;
    uint8_t *bits;
    int *versions;
    Open open[MOST_OPEN];
    int count;
} Search;

static Instruction *decoded(Function *f, int line) {
    for (int i = 0; i < f->count; i++)
        if (f->code[i].ptx_line == line && (f->code[i].kind == KIND_LOAD || f->code[i].kind == KIND_STORE))
            return &f->code[i];
    return NULL;
}

static bool has_same_base(const Open *a, const Open *b) {
    return a->base == b->base && a->variable == b->variable && a->version == b->version &&
           a->is_store == b->is_store;
}

// The accesses that fill `width` bytes from `start`: their number, 0 if there is a gap or an overlap.
static int fill(Search *s, const Open *first, int64_t start, int width, Open *parts[WIDEST / 4]) {
    int count = 0;
    for (int64_t at = start; at < start + width;) {
        Open *found = NULL;
        for (int i = 0; i < s->count && !found; i++)
            if (!s->open[i].is_taken && has_same_base(&s->open[i], first) && s->open[i].offset == at)
                found = &s->open[i];
        if (!found || at + found->bytes > start + width || (found->bytes < 4 && width > 4)) return 0;
        parts[count++] = found;
        at += found->bytes;
    }
    return count;
}

static void merge(Search *s, Open *parts[], int count, int64_t start, int width) {
    int first = 0;
    for (int k = 1; k < count; k++)
        if (parts[k]->instruction < parts[first]->instruction) first = k;
    for (int k = 0; k < count; k++) {
        Instruction *in = decoded(s->function, s->ptx->instructions[parts[k]->instruction].line);
        parts[k]->is_taken = true;
        if (!in) return;
        in->merged_bytes = k == first ? (uint8_t)width : MERGED_AWAY;
        in->merged_shift = (int8_t)(start - parts[k]->offset);
    }
}

static void close_all(Search *s) {
    for (int width = WIDEST; width >= 4; width /= 2) {
        for (int i = 0; i < s->count; i++) {
            const Open *one = &s->open[i];
            const uint8_t known = one->base ? s->bits[one->base->index] : variable_bits(one->variable);
            Open *parts[WIDEST / 4];
            if (one->is_taken || one->offset % width != 0 || 1 << lesser(known, 6) < width) continue;
            const int count = fill(s, one, one->offset, width, parts);
            if (count > 1) merge(s, parts, count, one->offset, width);
        }
    }
    s->count = 0;
}

static bool is_ordered(const PtxInstruction *in) {
    static const char *const words[] = {"volatile", "relaxed", "acquire", "release", "mmio"};
    for (size_t k = 0; k < sizeof words / sizeof words[0]; k++)
        if (ptx_has(in, words[k])) return true;
    return false;
}

static bool is_shared_access(const PtxInstruction *in) {
    return (is_called(in, "ld") || is_called(in, "st")) && ptx_has(in, "shared");
}

// Whether nothing after the instruction may be joined with anything before it.
static bool parts_code(const PtxInstruction *in) {
    static const char *const opcodes[] = {"bra", "brx",     "call",   "ret",      "exit",
                                          "bar", "barrier", "membar", "fence",    "mbarrier",
                                          "cp",  "atom",    "red",    "ldmatrix", "stmatrix"};
    for (size_t k = 0; k < sizeof opcodes / sizeof opcodes[0]; k++)
        if (is_called(in, opcodes[k])) return true;
    if (slow_path_of(in) != NO_SLOW_PATH) return true; // a call in machine code
    return is_shared_access(in) && (is_ordered(in) || in->guard);
}

static void note_access(Search *s, int index) {
    const PtxInstruction *in = &s->ptx->instructions[index];
    Open one = {.instruction = index, .is_store = is_called(in, "st")};
    const PtxOperand *address = one.is_store ? &in->operands[0] : &in->operands[1];
    const PtxOperand *value = one.is_store ? &in->operands[1] : &in->operands[0];
    one.bytes = (int)ptx_type_bytes(ptx_type_from_end(in, 0)) *
                (value->kind == PTX_OPERAND_VECTOR ? value->element_count : 1);
    const bool has_others = s->count > 0 && (one.is_store || s->open[s->count - 1].is_store);
    const bool is_plain = address->kind == PTX_OPERAND_ADDRESS && address->element_count == 1 &&
                          (one.bytes >= 4 || (one.bytes == 2 && one.is_store));
    if (is_plain && address->elements[0].kind == PTX_OPERAND_REGISTER) {
        one.base = address->elements[0].reg;
        one.version = s->versions[one.base->index];
        one.offset = address->offset;
    } else if (is_plain && address->elements[0].kind == PTX_OPERAND_VARIABLE) {
        one.variable = address->elements[0].variable;
        one.offset = address->offset + address->elements[0].offset;
    } else {
        close_all(s);
        return;
    }
    // A store may change what is loaded behind it, and stores of other places keep their order.
    if (s->count == MOST_OPEN || (has_others && !has_same_base(&s->open[s->count - 1], &one))) close_all(s);
    s->open[s->count++] = one;
}

static void search(Search *s) {
    int label = 0;
    for (int i = 0; i < s->ptx->instruction_count; i++) {
        const PtxInstruction *in = &s->ptx->instructions[i];
        for (; label < s->ptx->label_count && s->ptx->labels[label].instruction <= i; label++) close_all(s);
        if (parts_code(in))
            close_all(s);
        else if (is_shared_access(in) && in->operand_count >= 2)
            note_access(s, i);
        const PtxRegister *to = written_by(in);
        if (to) s->versions[to->index]++;
    }
    close_all(s);
}

bool find_merged_accesses(Function *function) {
    const PtxFunction *f = function->ptx;
    if (!f->has_body) return true;
    Search s = {.ptx = f, .function = function};
    s.bits = malloc((size_t)f->register_count + 1);
    s.versions = calloc((size_t)f->register_count + 1, sizeof *s.versions);
    const bool is_ready = s.bits && s.versions;
    if (is_ready) {
        find_zero_bits(f, s.bits);
        search(&s);
    }
    free(s.bits);
    free(s.versions);
    return is_ready;
}
