// The compiler makes no branch of `if (threadIdx.x == 0) x = s[0] + s[1];`. All threads load, and selp
// chooses between the sum and the old x: in most of them nothing uses what was loaded, and the source reads
// nothing there. A load is of this kind if all that reads its value is arithmetic of the same basic block,
// and in the end one selection, which takes it or the other operand.
#include "emulator/program/choice.h"

#include <stdlib.h>

#include "emulator/program/registers.h"

enum { MOST_CARRIERS = 16, LONGEST = UINT8_MAX };

typedef struct {
    const int *reads;                // by offset / 4: how many operands of the function are that register
    int32_t carriers[MOST_CARRIERS]; // registers with the value, or what was computed from it
    int count;
    int left; // reads of carriers that the search has not come to
} Search;

static bool is_carrier(const Search *s, int32_t offset) {
    for (int k = 0; k < s->count; k++)
        if (s->carriers[k] == offset) return true;
    return false;
}

// A register that is read before it is written here keeps some of `left`.
static bool add_carriers(Search *s, const Instruction *in) {
    int32_t written[MOST_WRITTEN];
    for (int k = registers_written(in, written) - 1; k >= 0; k--) {
        if (s->count == MOST_CARRIERS) return false;
        s->carriers[s->count++] = written[k];
        s->left += s->reads[written[k] / 4];
    }
    return true;
}

// Whether `in` changes what the load's value, or its address, is kept in.
static bool overwrites(const Search *s, const Instruction *load, const Instruction *in) {
    int32_t written[MOST_WRITTEN];
    for (int k = registers_written(in, written) - 1; k >= 0; k--)
        if (is_carrier(s, written[k]) || (!load->src[0].constant && written[k] == load->src[0].offset))
            return true;
    return false;
}

static bool is_plain_load(const Instruction *in) {
    return in->kind == KIND_LOAD && !(in->flags & (IS_VOLATILE | IS_ACQUIRE));
}

// What may come between the load and the selection: nothing that orders accesses, or that a lane waits at.
static bool is_passed(const Instruction *in) {
    return in->kind == KIND_ALU || in->kind == KIND_CVTA || in->kind == KIND_SPECIAL ||
           in->kind == KIND_NOT_PREDICATE || is_plain_load(in);
}

static bool is_selection(const Instruction *in) {
    return in->kind == KIND_ALU && in->operation == VALUE_CHOSEN && in->guard < 0;
}

// The only operand of a selection that carries the value: 0 or 1; -1: it is not so.
static int chosen_operand(const Search *s, const Instruction *in) {
    bool is_carried[3];
    for (int k = 0; k < 3; k++) is_carried[k] = !in->src[k].constant && is_carrier(s, in->src[k].offset);
    return is_carried[2] || is_carried[0] == is_carried[1] ? -1 : is_carried[1];
}

// Follows the value of `load` to the end of its block at `last`.
static void follow(Function *f, Instruction *load, int last, const int *reads) {
    Search s = {.reads = reads};
    if (!is_plain_load(load) || load->guard >= 0 || load->space == PTX_SPACE_LOCAL ||
        load->space == PTX_SPACE_PARAM || load->space == PTX_SPACE_CONST || !add_carriers(&s, load))
        return;
    if (last - load->index > LONGEST) last = load->index + LONGEST;
    for (int i = load->index + 1; i <= last && is_passed(&f->code[i]); i++) {
        Instruction *in = &f->code[i];
        int32_t read[MOST_READ];
        int before = s.left;
        for (int k = registers_read(in, read) - 1; k >= 0; k--) s.left -= is_carrier(&s, read[k]);
        if (s.left == before) {
            if (overwrites(&s, load, in)) return;
            continue;
        }
        const int operand = is_selection(in) ? chosen_operand(&s, in) : -1;
        if (operand >= 0 && s.left == 0) {
            load->to_choice = (uint8_t)(i - load->index);
            load->is_second_choice = operand == 1;
            if (load->to_choice > in->choice_of) in->choice_of = load->to_choice;
            f->has_choices = true;
            return;
        }
        if (in->kind != KIND_ALU || in->guard >= 0 || in->flags & HAS_CARRY || overwrites(&s, load, in) ||
            !add_carriers(&s, in))
            return;
    }
}

bool find_choices(Function *f, const Flow *flow) {
    int *reads = calloc(f->register_bytes / 4 + 1, sizeof *reads);
    if (!reads) return false;
    for (int i = 0; i < f->count; i++) {
        int32_t read[MOST_READ];
        for (int k = registers_read(&f->code[i], read) - 1; k >= 0; k--) reads[read[k] / 4]++;
    }
    for (int b = 0; b < flow->count; b++)
        for (int i = flow->blocks[b].first; i <= flow->blocks[b].last; i++)
            follow(f, &f->code[i], flow->blocks[b].last, reads);
    free(reads);
    return true;
}
