// A register may be read before it is written if a path leads from the start of the function to a read and
// meets no write. nvcc leaves such registers for variables without a value: `float sum;` before a loop.
//
// Blocks whose reads come before their own writes are found first; from each of them the search goes
// backwards, block by block, until a block writes the register or the function begins.
#include "emulator/program/unset.h"

#include <stdlib.h>
#include <string.h>

#include "emulator/program/registers.h"

// A block that reads a register which it has not written before.
typedef struct {
    int block;
    int next; // exposure of the same register; -1: the last
} Exposure;

typedef struct {
    const Function *f;
    const Flow *flow;
    int32_t *number_of; // by offset / 4: the register's number and 1; 0: no register
    int32_t *offsets;   // by number
    int registers;
    unsigned char *writes; // [block][register], one bit each
    size_t row;            // bytes of a block in `writes`
    int *first;            // by register: an exposure, or -1
    Exposure *exposures;
    size_t exposure_count, exposure_room;
    int *seen;  // by block: the register that the search was for, and 1
    int *stack; // of blocks
} Search;

static void search_free(Search *s) {
    free(s->number_of);
    free(s->offsets);
    free(s->writes);
    free(s->first);
    free(s->exposures);
    free(s->seen);
    free(s->stack);
}

static void add_register(Search *s, int32_t offset) {
    int32_t *number = &s->number_of[offset / 4];
    if (*number || offset < REGISTER_FILE_HEADER) return;
    s->offsets[s->registers++] = offset;
    *number = s->registers;
}

static bool number_registers(Search *s) {
    const Function *f = s->f;
    s->number_of = calloc(f->register_bytes / 4 + 1, sizeof *s->number_of);
    s->offsets = malloc((f->register_bytes / 4 + 1) * sizeof *s->offsets);
    if (!s->number_of || !s->offsets) return false;
    for (int i = 0; i < f->count; i++) {
        int32_t read[MOST_READ], written[MOST_WRITTEN];
        for (int k = registers_read(&f->code[i], read) - 1; k >= 0; k--) add_register(s, read[k]);
        for (int k = registers_written(&f->code[i], written) - 1; k >= 0; k--) add_register(s, written[k]);
    }
    s->row = (size_t)s->registers / 8 + 1;
    s->writes = calloc((size_t)s->flow->count + 1, s->row);
    s->first = malloc(((size_t)s->registers + 1) * sizeof *s->first);
    s->seen = calloc((size_t)s->flow->count + 1, sizeof *s->seen);
    s->stack = malloc(((size_t)s->flow->count + 1) * sizeof *s->stack);
    if (!s->writes || !s->first || !s->seen || !s->stack) return false;
    memset(s->first, 0xff, ((size_t)s->registers + 1) * sizeof *s->first);
    return true;
}

static bool writes_register(const Search *s, int block, int number) {
    return s->writes[(size_t)block * s->row + (size_t)number / 8] >> (number % 8) & 1;
}

static bool expose(Search *s, int block, int number) {
    if (writes_register(s, block, number)) return true;
    int first = s->first[number];
    if (first >= 0 && (size_t)first < s->exposure_count && s->exposures[first].block == block) return true;
    if (s->exposure_count == s->exposure_room) {
        s->exposure_room = s->exposure_room ? 2 * s->exposure_room : 64;
        Exposure *grown = realloc(s->exposures, s->exposure_room * sizeof *grown);
        if (!grown) return false;
        memset(grown + s->exposure_count, 0, (s->exposure_room - s->exposure_count) * sizeof *grown);
        s->exposures = grown;
    }
    s->exposures[s->exposure_count] = (Exposure){block, first};
    s->first[number] = (int)s->exposure_count++;
    return true;
}

static bool look_at_block(Search *s, int block) {
    const FlowBlock *b = &s->flow->blocks[block];
    for (int i = b->first; i <= b->last; i++) {
        const Instruction *in = &s->f->code[i];
        int32_t read[MOST_READ], written[MOST_WRITTEN];
        for (int k = registers_read(in, read) - 1; k >= 0; k--)
            if (!expose(s, block, s->number_of[read[k] / 4] - 1)) return false;
        // A guarded write may not happen; that of a register which lowering made for one operand is guarded
        // like its only read.
        bool is_sure = in->guard < 0 || in->kind == KIND_SPECIAL || in->kind == KIND_FRAME_ADDRESS ||
                       in->kind == KIND_NOT_PREDICATE;
        for (int k = is_sure ? registers_written(in, written) - 1 : -1; k >= 0; k--) {
            int number = s->number_of[written[k] / 4] - 1;
            s->writes[(size_t)block * s->row + (size_t)number / 8] |= (unsigned char)(1 << number % 8);
        }
    }
    return true;
}

static bool comes_from_the_start(Search *s, int number) {
    int depth = 0;
    for (int e = s->first[number]; e >= 0; e = s->exposures[e].next) {
        int block = s->exposures[e].block;
        if (s->seen[block] == number + 1) continue;
        s->seen[block] = number + 1;
        s->stack[depth++] = block;
        while (depth) {
            int at = s->stack[--depth];
            if (at == 0) return true;
            const FlowBlock *b = &s->flow->blocks[at];
            for (int k = 0; k < b->predecessor_count; k++) {
                int before = b->predecessors[k];
                if (s->seen[before] == number + 1 || writes_register(s, before, number)) continue;
                s->seen[before] = number + 1;
                s->stack[depth++] = before;
            }
        }
    }
    return false;
}

bool find_unset_registers(Function *function, const Flow *flow, Arena *arena) {
    Search s = {.f = function, .flow = flow};
    bool ok = number_registers(&s);
    for (int b = 0; ok && b < flow->count; b++) ok = look_at_block(&s, b);
    int count = 0;
    for (int number = 0; ok && number < s.registers; number++)
        if (comes_from_the_start(&s, number)) s.offsets[count++] = s.offsets[number];
    if (ok && count) {
        function->unset = arena_array(arena, (size_t)count, sizeof *function->unset);
        function->unset_count = function->unset ? count : 0;
        ok = function->unset != NULL;
        for (int i = 0; i < function->unset_count; i++) function->unset[i].offset = s.offsets[i];
    }
    search_free(&s);
    return ok;
}
