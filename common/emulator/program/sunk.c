// `float m = mean[row]; if (column < n) x -= m;` loads in every lane. If a branch remains in the machine
// code, ptxas puts the load behind it, on the only way that needs the value, and behind further branches
// there: a warp that goes another way does not load. The same is true of a branch to the end of the kernel,
// which is an exit under a predicate. It is not so if that is the way that the branch leads to, and the other
// has work too. The rules are those of ptxas 13 for sm_90, found with 150 small kernels.
#include "emulator/program/sunk.h"

#include <stdlib.h>
#include <string.h>

#include "emulator/program/blocks.h"
#include "emulator/program/predicated.h"
#include "emulator/program/registers.h"

enum { LONGEST = UINT8_MAX, MOST_BLOCKS = 4096, NONE = -1 };

typedef struct {
    Function *function;
    Flow flow;
    int *writes;         // by register, which is its offset / 4: how many instructions write it
    int *writer;         // by register: the last of them
    int *last_read;      // by register: the number of its last entry in `reads`, or 0
    int *reads, *before; // by entry: the instruction that reads, and the register's entry before this one
    int *home;           // by instruction: the block that it is in now
    int *first_moved, *last_moved; // by block: what has been moved to its beginning, last instructions first
    int *next_moved;               // by instruction
    int reached_from;              // the block whose branch that is; NONE: not known yet
    unsigned char *from_way[2]; // by block: whether the way, 1 the taken one, leads there around the branch's
} Search;

// ---- The function as it is --------------------------------------------------------------------------------

static void note_reads(Search *s) {
    const Function *f = s->function;
    int32_t offsets[MOST_READ > MOST_WRITTEN ? MOST_READ : MOST_WRITTEN];
    int count = 1;
    for (int i = 0; i < f->count; i++) {
        for (int k = registers_written(&f->code[i], offsets) - 1; k >= 0; k--) {
            s->writes[offsets[k] / 4]++;
            s->writer[offsets[k] / 4] = i;
        }
        for (int k = registers_read(&f->code[i], offsets) - 1; k >= 0; k--) {
            s->reads[count] = i;
            s->before[count] = s->last_read[offsets[k] / 4];
            s->last_read[offsets[k] / 4] = count++;
        }
    }
}

static bool search_open(Search *s) {
    const Function *f = s->function;
    if (!flow_build(&s->flow, f)) return false;
    const size_t registers = f->register_bytes / 4 + 1, blocks = (size_t)s->flow.count + 1;
    const size_t instructions = (size_t)f->count + 1;
    size_t entries = 1;
    int32_t read[MOST_READ];
    for (int i = 0; i < f->count; i++) entries += (size_t)registers_read(&f->code[i], read);
    s->writes = calloc(registers, sizeof *s->writes);
    s->writer = calloc(registers, sizeof *s->writer);
    s->last_read = calloc(registers, sizeof *s->last_read);
    s->reads = malloc(entries * sizeof *s->reads);
    s->before = malloc(entries * sizeof *s->before);
    s->home = malloc(instructions * sizeof *s->home);
    s->next_moved = malloc(instructions * sizeof *s->next_moved);
    s->first_moved = malloc(blocks * sizeof *s->first_moved);
    s->last_moved = malloc(blocks * sizeof *s->last_moved);
    for (int way = 0; way < 2; way++) s->from_way[way] = malloc(blocks);
    if (!s->writes || !s->writer || !s->last_read || !s->reads || !s->before || !s->home || !s->next_moved ||
        !s->first_moved || !s->last_moved || !s->from_way[0] || !s->from_way[1])
        return false;
    note_reads(s);
    memcpy(s->home, s->flow.block_of, (size_t)f->count * sizeof *s->home);
    for (size_t b = 0; b < blocks; b++) s->first_moved[b] = s->last_moved[b] = NONE;
    return true;
}

static void search_close(Search *s) {
    for (int way = 0; way < 2; way++) free(s->from_way[way]);
    free(s->writes);
    free(s->writer);
    free(s->last_read);
    free(s->reads);
    free(s->before);
    free(s->home);
    free(s->next_moved);
    free(s->first_moved);
    free(s->last_moved);
    flow_free(&s->flow);
}

static void reach(Search *s, int first, int around, unsigned char *reached) {
    const Flow *flow = &s->flow;
    int count = 0;
    memset(reached, 0, (size_t)flow->count + 1);
    reached[first] = reached[around] = 1;
    flow->stack[count++] = first;
    while (count) {
        const FlowBlock *block = &flow->blocks[flow->stack[--count]];
        for (int k = 0; k < block->successor_count; k++)
            if (!reached[block->successors[k]]) {
                reached[block->successors[k]] = 1;
                flow->stack[count++] = block->successors[k];
            }
    }
    reached[around] = 0;
}

// ---- Moving -----------------------------------------------------------------------------------------------

// Whether `load` cannot be put behind `in`: what orders accesses, or a store that could change what it reads.
static bool stops(const Instruction *load, const Instruction *in) {
    int32_t written[MOST_WRITTEN];
    for (int k = registers_written(in, written) - 1; k >= 0; k--)
        if (!load->src[0].constant && written[k] == load->src[0].offset) return true;
    switch (in->kind) {
    case KIND_ALU:
    case KIND_CVTA:
    case KIND_SPECIAL:
    case KIND_NOT_PREDICATE:
    case KIND_LOAD: return false;
    case KIND_BARRIER: return !(load->flags & IS_NC);
    case KIND_STORE:
        return !(load->flags & IS_NC) &&
               (in->space == PTX_SPACE_NONE || load->space == PTX_SPACE_NONE || in->space == load->space);
    default: return true;
    }
}

// Whether what is in a block, or has been moved to its beginning, can be put behind the branch at its end.
static bool is_movable(const Search *s, const Instruction *in, const FlowBlock *block) {
    if (in->guard >= 0 || in->index >= block->last || block->last - in->index > LONGEST) return false;
    if (in->kind != KIND_LOAD) return in->kind == KIND_ALU || in->kind == KIND_CVTA;
    if (in->flags & (IS_VOLATILE | IS_ACQUIRE)) return false;
    for (int i = in->index > block->first ? in->index : block->first; i < block->last; i++)
        if (stops(in, &s->function->code[i])) return false;
    return true;
}

// The only way from the branch of `block` that needs what `in` writes, and nothing else does, 1 the taken
// one; or NONE.
static int way_of(const Search *s, const Instruction *in) {
    int32_t written[MOST_WRITTEN];
    bool is_needed[2] = {false, false};
    for (int k = registers_written(in, written) - 1; k >= 0; k--) {
        const int at = written[k] / 4;
        for (int entry = s->last_read[at]; entry; entry = s->before[entry]) {
            const int home = s->home[s->reads[entry]];
            if (!s->from_way[0][home] && !s->from_way[1][home]) return NONE;
            for (int way = 0; way < 2; way++) is_needed[way] |= s->from_way[way][home];
        }
    }
    return is_needed[0] == is_needed[1] ? NONE : is_needed[1];
}

// Whether a register is one of the kernel's parameters, which the machine code reads where it needs them.
static bool is_parameter(const Search *s, int32_t offset) {
    const Instruction *in = NULL;
    for (int step = 0; step < 2; step++) {
        if (s->writes[offset / 4] != 1) return false;
        in = &s->function->code[s->writer[offset / 4]];
        if (in->kind != KIND_CVTA || in->src[0].constant) break;
        offset = in->src[0].offset; // of the parameter before it was converted
    }
    return in->kind == KIND_LOAD && in->space == PTX_SPACE_PARAM;
}

static bool is_needed_anyway(const Search *s, int32_t offset, const Instruction *except, int way) {
    for (int entry = s->last_read[offset / 4]; entry; entry = s->before[entry])
        if (s->reads[entry] != except->index && s->from_way[way][s->home[s->reads[entry]]]) return true;
    return false;
}

// Whether there are no more registers to keep until the way if `in` is moved there: what it reads, where
// nothing else there reads it, against what it writes. A pointer that a loop moves counts two.
static bool keeps_no_more(const Search *s, const Instruction *in, int way) {
    int32_t read[MOST_READ], written[MOST_WRITTEN];
    const int results = registers_written(in, written);
    int kept = 0;
    for (int k = registers_read(in, read) - 1; k >= 0; k--) {
        bool is_known = is_parameter(s, read[k]) || is_needed_anyway(s, read[k], in, way);
        for (int i = 0; i < k && !is_known; i++) is_known = read[i] == read[k];
        if (in->kind == KIND_LOAD)
            kept += is_known || s->writes[read[k] / 4] == 1 ? 0 : 2;
        else
            kept += !is_known;
    }
    return kept <= results;
}

// Whether a way does nothing before the lanes meet, so that the machine code's branch leads there past the
// other.
static bool does_nothing(const Function *f, int at, int reconverge) {
    while (at < f->count && at != reconverge && f->code[at].kind == KIND_ALU &&
           f->code[at].operation == VALUE_MOVED)
        at++;
    const Instruction *in = &f->code[at];
    return at == f->count || at == reconverge || leads_to_end(f, at) ||
           (in->kind == KIND_BRANCH && in->guard < 0 && in->target == reconverge);
}

// Whether nothing else writes what `in` writes, and nothing in the block needs it before the branch. Asked
// first: reach() looks at the whole function.
static bool may_be_moved(const Search *s, const Instruction *in, int block) {
    int32_t written[MOST_WRITTEN];
    for (int k = registers_written(in, written) - 1; k >= 0; k--) {
        if (s->writes[written[k] / 4] != 1) return false;
        for (int entry = s->last_read[written[k] / 4]; entry; entry = s->before[entry])
            if (s->home[s->reads[entry]] == block) return false;
    }
    return true;
}

static void move(Search *s, int block, int i, const int first[2]) {
    Instruction *in = &s->function->code[i];
    const FlowBlock *from = &s->flow.blocks[block];
    if (!may_be_moved(s, in, block) || !is_movable(s, in, from)) return;
    for (int way = 0; way < 2 && s->reached_from != block; way++)
        reach(s, first[way], block, s->from_way[way]);
    s->reached_from = block;
    const int way = way_of(s, in);
    if (way == NONE || s->flow.blocks[first[way]].predecessor_count > 1 || !keeps_no_more(s, in, way)) return;
    const Instruction *branch = &s->function->code[from->last];
    if (way == 1 && !does_nothing(s->function, from->last + 1, branch->reconverge)) return;
    const int to = first[way];
    s->home[i] = to;
    s->next_moved[i] = NONE;
    if (s->last_moved[to] == NONE)
        s->first_moved[to] = i;
    else
        s->next_moved[s->last_moved[to]] = i;
    s->last_moved[to] = i;
    const bool is_counted =
        in->space == PTX_SPACE_GLOBAL || in->space == PTX_SPACE_SHARED || in->space == PTX_SPACE_NONE;
    if (in->kind != KIND_LOAD || !is_counted || in->merged_bytes) return;
    in->to_branch = (uint8_t)(from->last - i);
    in->is_for_taken = way == 1;
}

static void look_at(Search *s, int block) {
    const Function *f = s->function;
    const FlowBlock *b = &s->flow.blocks[block];
    const Instruction *branch = &f->code[b->last];
    if (branch->kind != KIND_BRANCH || branch->guard < 0 || b->last + 1 >= f->count) return;
    if (branch->is_predicated && !leads_to_end(f, branch->target) && !leads_to_end(f, b->last + 1)) return;
    const int first[2] = {s->flow.block_of[b->last + 1], s->flow.block_of[branch->target]};
    if (first[0] == first[1]) return;
    const FlowBlock *blocks = s->flow.blocks; // only what leads to its block from here alone takes any more
    if (blocks[first[0]].predecessor_count > 1 && blocks[first[1]].predecessor_count > 1) return;
    for (int i = b->last - 1; i >= b->first && b->last - i <= LONGEST; i--) move(s, block, i, first);
    for (int i = s->first_moved[block], next; i != NONE; i = next) {
        next = s->next_moved[i];
        move(s, block, i, first);
    }
}

bool find_sunk_loads(Function *f) {
    Search s = {.function = f, .reached_from = NONE};
    const bool ok = search_open(&s);
    for (int b = 0; ok && s.flow.count <= MOST_BLOCKS && b < s.flow.count; b++) look_at(&s, b);
    search_close(&s);
    for (int i = 0; i < f->count; i++) {
        const uint8_t back = f->code[i].to_branch;
        if (back && f->code[i + back].branch_of < back) f->code[i + back].branch_of = back;
    }
    return ok;
}
