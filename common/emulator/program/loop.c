// A slice of the loop (Weiser, "Program Slicing", 1984): the branches that lead out of it, what computes the
// registers that these read, what computes theirs, and the branches that decide whether one of all these is
// executed. Whatever the other instructions do, these do the same again when their registers are the same. A
// branch that decides whether the place at which states are compared is executed again is one of them, too:
// else the rounds of an inner loop around it, which ends, would seem to be rounds of the outer one.
#include "emulator/program/loop.h"

#include <stdlib.h>

#include "emulator/program/blocks.h"
#include "emulator/program/lowering/lowering.h"
#include "emulator/program/registers.h"

enum {
    MOST_INSTRUCTIONS = 1 << 14, // of a function: the search takes their square at worst
    LED_TO = 4,                  // beside LOOP_*: a path leads there from the instruction
    LEADS_BACK = 8,              // and one from there to it
    IS_COMPARED = 16,            // states are compared there
};

typedef struct {
    const Function *f;
    unsigned char *roles;
    unsigned char *is_read; // by register offset / 4: by an instruction that decides
    int *out;               // of successors_of()
    int *stack, *seen;      // of a walk: instructions, and by instruction the last walk that came there
    int walks;
} Search;

static bool has_role(const Search *s, int pc, int role) { return pc >= 0 && s->roles[pc] & role; }

// Marks what `from` leads to, and what leads to it.
static void find_members(Search *s, int from) {
    const int count = s->f->count;
    for (bool has_changed = true; has_changed;) {
        has_changed = false;
        for (int i = 0; i < count; i++) {
            const int edges = successors_of(s->f, &s->f->code[i], s->out);
            for (int k = 0; k < edges; k++) {
                const int to = s->out[k];
                if (to < 0) continue;
                const int gained = (i == from || s->roles[i] & LED_TO ? LED_TO : 0) & ~s->roles[to];
                s->roles[to] |= (unsigned char)gained;
                const int back = (to == from || s->roles[to] & LEADS_BACK ? LEADS_BACK : 0) & ~s->roles[i];
                s->roles[i] |= (unsigned char)back;
                has_changed = has_changed || gained || back;
            }
        }
    }
    for (int i = 0; i < count; i++)
        if ((s->roles[i] & (LED_TO | LEADS_BACK)) == (LED_TO | LEADS_BACK)) s->roles[i] |= LOOP_MEMBER;
}

// Whether a thread that executes it may end, or return, without a branch.
static bool may_end(const Instruction *in) {
    switch (in->kind) {
    case KIND_EXIT:
    case KIND_RETURN:
    case KIND_TRAP:
    case KIND_BREAKPOINT:
    case KIND_UNSUPPORTED: return true;
    case KIND_CALL: {
        const Syscall called = ((const CallDetail *)in->detail)->syscall;
        return called == NO_SYSCALL || called == SYSCALL_ASSERTFAIL;
    }
    default: return false;
    }
}

static bool writes_what_is_read(const Search *s, const Instruction *in) {
    int32_t written[MOST_WRITTEN];
    for (int k = registers_written(in, written) - 1; k >= 0; k--)
        if (s->is_read[written[k] / 4]) return true;
    return false;
}

// Whether a branch leads out of the loop, or its ways through the loop differ in what decides: between the
// branch and the place where they meet again.
static bool chooses(Search *s, const Instruction *in) {
    int depth = 0;
    s->walks++;
    const int edges = successors_of(s->f, in, s->out);
    if (edges < 2) return false;
    for (int k = 0; k < edges; k++) {
        if (!has_role(s, s->out[k], LOOP_MEMBER)) return true;
        s->stack[depth++] = s->out[k];
    }
    while (depth) {
        const int at = s->stack[--depth];
        if (at == in->reconverge || s->seen[at] == s->walks || !has_role(s, at, LOOP_MEMBER)) continue;
        s->seen[at] = s->walks;
        if (s->roles[at] & (LOOP_DECIDES | IS_COMPARED)) return true;
        const int next = successors_of(s->f, &s->f->code[at], s->out);
        for (int k = 0; k < next; k++)
            if (s->out[k] >= 0 && s->seen[s->out[k]] != s->walks) s->stack[depth++] = s->out[k];
    }
    return false;
}

static bool decides(Search *s, const Instruction *in) {
    if (may_end(in) || writes_what_is_read(s, in)) return true;
    return (in->kind == KIND_BRANCH || in->kind == KIND_BRANCH_TABLE) && chooses(s, in);
}

static void find_what_decides(Search *s) {
    for (bool has_changed = true; has_changed;) {
        has_changed = false;
        for (int i = s->f->count - 1; i >= 0; i--) {
            const Instruction *in = &s->f->code[i];
            if (!has_role(s, i, LOOP_MEMBER) || has_role(s, i, LOOP_DECIDES) || !decides(s, in)) continue;
            s->roles[i] |= LOOP_DECIDES;
            has_changed = true;
            int32_t read[MOST_READ];
            for (int k = registers_read(in, read) - 1; k >= 0; k--) s->is_read[read[k] / 4] = 1;
        }
    }
}

// The carry of add.cc and its kin is in no register that could be followed.
static bool has_carry(const Search *s) {
    for (int i = 0; i < s->f->count; i++)
        if (has_role(s, i, LOOP_MEMBER) && s->f->code[i].kind == KIND_ALU && s->f->code[i].flags & HAS_CARRY)
            return true;
    return false;
}

// Registers that lowering made are left out: each is written right before the one instruction that reads it.
static bool list_registers(const Search *s, Loop *loop) {
    const Function *f = s->f;
    loop->registers = malloc(((size_t)f->ptx->register_count + 1) * sizeof *loop->registers);
    for (int k = 0; loop->registers && k < f->ptx->register_count; k++)
        if (s->is_read[f->register_offset[k] / 4])
            loop->registers[loop->register_count++] =
                (RegisterPlace){f->register_offset[k], lane_width(f->ptx->registers[k]->type)};
    return loop->registers != NULL;
}

bool loop_around(Loop *loop, const Function *function, int pc) {
    *loop = (Loop){0};
    const size_t count = (size_t)function->count;
    if (function->count > MOST_INSTRUCTIONS) return false;
    size_t edges = 0;
    for (int i = 0; i < function->count; i++) edges += (size_t)successor_room(&function->code[i]);
    loop->roles = calloc(count + 1, 1);
    Search s = {.f = function,
                .roles = loop->roles,
                .is_read = calloc(function->register_bytes / 4 + 1, 1),
                .out = malloc((edges + 1) * sizeof(int)),
                .stack = malloc((edges + count + 1) * sizeof(int)),
                .seen = calloc(count + 1, sizeof(int))};
    bool found = s.roles && s.is_read && s.out && s.stack && s.seen;
    if (found) {
        find_members(&s, pc);
        s.roles[pc] |= IS_COMPARED;
        find_what_decides(&s);
        found = has_role(&s, pc, LOOP_MEMBER) && !has_carry(&s) && list_registers(&s, loop);
    }
    free(s.is_read);
    free(s.out);
    free(s.stack);
    free(s.seen);
    return found;
}

void loop_free(Loop *loop) {
    free(loop->roles);
    free(loop->registers);
}
