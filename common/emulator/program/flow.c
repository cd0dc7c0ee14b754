// Where diverged lanes meet again: the immediate post-dominator of every branch.
//
// The algorithm is that of K. Cooper, T. Harvey and K. Kennedy, "A Simple, Fast Dominance Algorithm",
// run on the reversed control-flow graph with one virtual exit.
#include "emulator/program/flow.h"

#include <stdlib.h>

// A branch to the end of the kernel is an exit under a predicate: the lanes that take it are gone, and the
// others meet where they would if it were not there.
static bool leads_away(const Function *f, const Flow *flow, const FlowBlock *from, int to) {
    const Instruction *last = &f->code[from->last];
    if (!from->drops_exits || from->successor_count < 2 || last->kind == KIND_BRANCH_TABLE) return false;
    if (to == flow->count) return last->kind == KIND_EXIT;
    const Instruction *first = &f->code[flow->blocks[to].first];
    return first->kind == KIND_EXIT && first->guard < 0;
}

// Numbers the blocks that reach the exit, the exit last (postorder of the reversed graph); returns how many.
static int number_blocks(const Function *f, Flow *flow) {
    int count = 0, depth = 0;
    for (int b = 0; b <= flow->count; b++) {
        flow->blocks[b].order = -1;
        flow->next_child[b] = 0;
    }
    flow->stack[depth++] = flow->count;
    flow->blocks[flow->count].order = -2; // on the stack
    while (depth) {
        int b = flow->stack[depth - 1];
        FlowBlock *block = &flow->blocks[b];
        if (flow->next_child[b] < block->predecessor_count) {
            int p = block->predecessors[flow->next_child[b]++];
            if (flow->blocks[p].order == -1 && !leads_away(f, flow, &flow->blocks[p], b)) {
                flow->blocks[p].order = -2;
                flow->stack[depth++] = p;
            }
        } else {
            block->order = count;
            flow->order[count++] = b;
            depth--;
        }
    }
    return count;
}

static int common_parent(const Flow *flow, int a, int b) {
    while (a != b) {
        while (flow->blocks[a].order < flow->blocks[b].order) a = flow->blocks[a].parent;
        while (flow->blocks[b].order < flow->blocks[a].order) b = flow->blocks[b].parent;
    }
    return a;
}

void find_reconvergence(Function *f, Flow *flow) {
    for (int b = 0; b < flow->count; b++) flow->blocks[b].drops_exits = true;
    number_blocks(f, flow);
    // A loop that nothing else leaves keeps its exits.
    for (int b = 0; b < flow->count; b++) flow->blocks[b].drops_exits = flow->blocks[b].order >= 0;
    int reaching = number_blocks(f, flow);
    for (int b = 0; b <= flow->count; b++) flow->blocks[b].parent = -1;
    flow->blocks[flow->count].parent = flow->count;
    for (bool changed = true; changed;) {
        changed = false;
        for (int i = reaching - 2; i >= 0; i--) {
            FlowBlock *block = &flow->blocks[flow->order[i]];
            int parent = -1;
            for (int k = 0; k < block->successor_count; k++) {
                int s = block->successors[k];
                if (leads_away(f, flow, block, s)) continue;
                if (flow->blocks[s].parent < 0) continue; // not known yet, or never reaches the exit
                parent = parent < 0 ? s : common_parent(flow, parent, s);
            }
            if (parent != block->parent) {
                block->parent = parent;
                changed = true;
            }
        }
    }
    for (int b = 0; b < flow->count; b++) {
        Instruction *in = &f->code[flow->blocks[b].last];
        int parent = flow->blocks[b].parent;
        if ((in->kind != KIND_BRANCH && in->kind != KIND_BRANCH_TABLE) || parent < 0 || parent >= flow->count)
            continue;
        bool is_exit = false; // the lanes that stay have nothing to wait for
        for (int k = 0; k < flow->blocks[b].successor_count; k++)
            is_exit = is_exit || leads_away(f, flow, &flow->blocks[b], flow->blocks[b].successors[k]);
        if (is_exit) continue;
        // Threads that meet only to exit do not wait for each other: a GPU lets each exit where it is,
        // and a barrier that the others still have to pass does not count them.
        const Instruction *meeting = &f->code[flow->blocks[parent].first];
        if (meeting->kind != KIND_EXIT || meeting->guard >= 0) in->reconverge = meeting->index;
    }
}

static bool is_wait(const Instruction *in) {
    switch ((InstructionKind)in->kind) {
    case KIND_BARRIER:
    case KIND_WARP_BARRIER:
    case KIND_SHUFFLE:
    case KIND_VOTE:
    case KIND_MATCH:
    case KIND_REDUX:
    case KIND_ELECT:
    case KIND_MMA:
    case KIND_WGMMA:
    case KIND_MATRIX_MOVE: return true;
    case KIND_CALL: return !((const CallDetail *)in->detail)->syscall;
    default: return false;
    }
}

// The instructions that a thread at `pc` may come to, one byte each, `pc` included: as far as those that
// `stops` names, and not beyond. NULL without memory.
static unsigned char *reached_from(const Function *f, int32_t pc, bool (*stops)(const Instruction *)) {
    size_t room = 2;
    for (int i = 0; i < f->count; i++) room += (size_t)successor_room(&f->code[i]);
    unsigned char *seen = calloc((size_t)f->count + 1, 1);
    int *stack = malloc(room * sizeof *stack), depth = 0;
    if (!seen || !stack) {
        free(seen);
        free(stack);
        return NULL;
    }
    if (pc < f->count) {
        stack[depth++] = pc;
        seen[pc] = 1;
    }
    while (depth) {
        const Instruction *in = &f->code[stack[--depth]];
        if (stops && stops(in)) continue;
        int *next = stack + depth, count = successors_of(f, in, next);
        for (int k = 0; k < count; k++) {
            int to = next[k];
            if (to < 0 || seen[to]) continue;
            seen[to] = 1;
            stack[depth++] = to; // never ahead of next[k]
        }
    }
    free(stack);
    return seen;
}

bool may_wait_from(const Function *f, int32_t pc) {
    unsigned char *seen = reached_from(f, pc, is_wait);
    bool found = !seen; // without memory to look: who knows
    for (int i = 0; i < f->count && !found; i++) found = seen[i] && is_wait(&f->code[i]);
    free(seen);
    return found;
}

static bool is_block_barrier(const Instruction *in) {
    return in->kind == KIND_BARRIER && in->operation != BARRIER_ARRIVE && in->guard < 0 && in->src_count < 2;
}

bool always_meets_before(const Function *f, int32_t pc, bool (*is_there)(void *, const Instruction *),
                         void *context) {
    unsigned char *at_once = reached_from(f, pc + 1, is_block_barrier);
    unsigned char *ever = reached_from(f, pc + 1, NULL);
    bool comes = false, comes_at_once = !at_once || !ever;
    for (int i = 0; i < f->count && !comes_at_once; i++) {
        if (!ever[i] || !is_there(context, &f->code[i])) continue;
        comes = true;
        comes_at_once = at_once[i];
    }
    free(at_once);
    free(ever);
    return comes && !comes_at_once;
}
