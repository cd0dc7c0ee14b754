// Where diverged lanes meet again: the immediate post-dominator of every branch.
//
// The algorithm is that of K. Cooper, T. Harvey and K. Kennedy, "A Simple, Fast Dominance Algorithm",
// run on the reversed control-flow graph with one virtual exit.
#include "emulator/program/flow.h"

#include <stdlib.h>

typedef struct {
    int first, last; // instructions
    int *successors; // block numbers; -1 is the virtual exit
    int successor_count;
    int order;  // in reverse postorder of the reversed graph; -1: cannot reach the exit
    int parent; // immediate post-dominator as a block number; block_count is the exit
    int *predecessors;
    int predecessor_count;
} FlowBlock;

static bool ends_block(const Instruction *in) {
    return in->kind == KIND_BRANCH || in->kind == KIND_BRANCH_TABLE || in->kind == KIND_RETURN ||
           in->kind == KIND_EXIT || in->kind == KIND_TRAP;
}

// Successors as instruction indices into `out` (room for one per table entry and two more); -1: the exit.
static int successors_of(const Function *f, const Instruction *in, int *out) {
    int count = 0, next = in->index + 1;
    bool falls_through = in->guard >= 0;
    switch (in->kind) {
    case KIND_BRANCH: out[count++] = in->target; break;
    case KIND_BRANCH_TABLE: {
        const BranchTable *table = in->detail;
        for (int k = 0; k < table->count; k++) out[count++] = table->targets[k];
        break;
    }
    case KIND_RETURN:
    case KIND_EXIT:
    case KIND_TRAP: out[count++] = -1; break;
    default: falls_through = true;
    }
    if (falls_through) out[count++] = next < f->count ? next : -1;
    return count;
}

static int successor_room(const Instruction *in) {
    return in->kind == KIND_BRANCH_TABLE ? ((const BranchTable *)in->detail)->count + 2 : 2;
}

typedef struct {
    FlowBlock *blocks; // block_count, and the exit as one more
    int count;
    int *block_of; // by instruction
    int *edges, *back_edges, *order, *stack, *next_child;
} Flow;

static void flow_free(Flow *flow) {
    free(flow->blocks);
    free(flow->block_of);
    free(flow->edges);
    free(flow->back_edges);
    free(flow->order);
    free(flow->stack);
    free(flow->next_child);
}

static bool build_blocks(Flow *flow, const Function *f) {
    size_t n = (size_t)f->count;
    unsigned char *leader = calloc(n + 1, 1);
    flow->block_of = calloc(n + 1, sizeof(int));
    size_t edge_room = 0;
    for (int i = 0; i < f->count; i++) edge_room += (size_t)successor_room(&f->code[i]);
    flow->edges = malloc((edge_room + 1) * sizeof(int));
    flow->back_edges = malloc((edge_room + 1) * sizeof(int));
    if (!leader || !flow->block_of || !flow->edges || !flow->back_edges) {
        free(leader);
        return false;
    }
    leader[0] = 1;
    for (int i = 0; i < f->count; i++) {
        if (!ends_block(&f->code[i])) continue;
        int count = successors_of(f, &f->code[i], flow->edges);
        for (int k = 0; k < count; k++)
            if (flow->edges[k] >= 0) leader[flow->edges[k]] = 1;
        leader[i + 1] = 1;
    }
    for (int i = 0; i < f->count; i++) {
        flow->count += leader[i];
        flow->block_of[i] = flow->count - 1;
    }
    free(leader);
    flow->blocks = calloc((size_t)flow->count + 1, sizeof *flow->blocks);
    size_t nodes = (size_t)flow->count + 1;
    flow->order = malloc(nodes * sizeof(int));
    flow->stack = malloc(nodes * sizeof(int));
    flow->next_child = calloc(nodes, sizeof(int));
    if (!flow->blocks || !flow->order || !flow->stack || !flow->next_child) return false;
    int *edge = flow->edges;
    for (int b = 0, i = 0; b < flow->count; b++) {
        FlowBlock *block = &flow->blocks[b];
        block->first = i;
        do i++;
        while (i < f->count && flow->block_of[i] == b);
        block->last = i - 1;
        block->successors = edge;
        block->successor_count = successors_of(f, &f->code[block->last], edge);
        for (int k = 0; k < block->successor_count; k++)
            edge[k] = edge[k] < 0 ? flow->count : flow->block_of[edge[k]];
        edge += block->successor_count;
    }
    // Predecessors, by counting.
    for (int b = 0; b < flow->count; b++)
        for (int k = 0; k < flow->blocks[b].successor_count; k++)
            flow->blocks[flow->blocks[b].successors[k]].predecessor_count++;
    int *back = flow->back_edges;
    for (int b = 0; b <= flow->count; b++) {
        flow->blocks[b].predecessors = back;
        back += flow->blocks[b].predecessor_count;
        flow->blocks[b].predecessor_count = 0;
    }
    for (int b = 0; b < flow->count; b++)
        for (int k = 0; k < flow->blocks[b].successor_count; k++) {
            FlowBlock *to = &flow->blocks[flow->blocks[b].successors[k]];
            to->predecessors[to->predecessor_count++] = b;
        }
    return true;
}

// Numbers the blocks that reach the exit, the exit last (postorder of the reversed graph); returns how many.
static int number_blocks(Flow *flow) {
    int count = 0, depth = 0;
    for (int b = 0; b <= flow->count; b++) flow->blocks[b].order = -1;
    flow->stack[depth++] = flow->count;
    flow->blocks[flow->count].order = -2; // on the stack
    while (depth) {
        int b = flow->stack[depth - 1];
        FlowBlock *block = &flow->blocks[b];
        if (flow->next_child[b] < block->predecessor_count) {
            int p = block->predecessors[flow->next_child[b]++];
            if (flow->blocks[p].order == -1) {
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

bool find_reconvergence(Function *f) {
    Flow flow = {0};
    if (!build_blocks(&flow, f)) {
        flow_free(&flow);
        return false;
    }
    int reaching = number_blocks(&flow);
    for (int b = 0; b <= flow.count; b++) flow.blocks[b].parent = -1;
    flow.blocks[flow.count].parent = flow.count;
    for (bool changed = true; changed;) {
        changed = false;
        for (int i = reaching - 2; i >= 0; i--) {
            FlowBlock *block = &flow.blocks[flow.order[i]];
            int parent = -1;
            for (int k = 0; k < block->successor_count; k++) {
                int s = block->successors[k];
                if (flow.blocks[s].parent < 0) continue; // not known yet, or never reaches the exit
                parent = parent < 0 ? s : common_parent(&flow, parent, s);
            }
            if (parent != block->parent) {
                block->parent = parent;
                changed = true;
            }
        }
    }
    for (int b = 0; b < flow.count; b++) {
        Instruction *in = &f->code[flow.blocks[b].last];
        int parent = flow.blocks[b].parent;
        if ((in->kind != KIND_BRANCH && in->kind != KIND_BRANCH_TABLE) || parent < 0 || parent >= flow.count)
            continue;
        // Threads that meet only to exit do not wait for each other: a GPU lets each exit where it is,
        // and a barrier that the others still have to pass does not count them.
        const Instruction *meeting = &f->code[flow.blocks[parent].first];
        if (meeting->kind != KIND_EXIT || meeting->guard >= 0) in->reconverge = meeting->index;
    }
    flow_free(&flow);
    return true;
}

static bool is_wait(const Instruction *in) {
    switch ((InstructionKind)in->kind) {
    case KIND_BARRIER:
    case KIND_WARP_BARRIER:
    case KIND_SHUFFLE:
    case KIND_VOTE:
    case KIND_MATCH:
    case KIND_REDUX:
    case KIND_ELECT: return true;
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
