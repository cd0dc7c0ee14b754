// Where diverged lanes meet before the immediate post-dominator, while others leave for that.
//
// Between branches and their post-dominator, the ways that lead straight to it are left out; the immediate
// post-dominators of what remains are found as in flow.c.
#include "emulator/program/meeting.h"

#include <stdlib.h>

// The part of a function between branches and the post-dominator that they share. Arrays by block.
typedef struct {
    const Function *function;
    const Flow *flow;
    int end;            // the post-dominator
    bool *is_in;        // from one of the branches the lanes may come here before the end
    int *place, *order; // of the reversed graph, the end last; place -1: only ways that leave
    int *parent;        // immediate post-dominator among those that do not leave
    int *stack, *next;
    int reaching;
} Reach;

// Whether a way to block `b` is one to the end: also by a block that is nothing but a branch to it.
static bool is_end(const Reach *r, int b) {
    if (b == r->end || b == r->flow->count) return b == r->end;
    const FlowBlock *block = &r->flow->blocks[b];
    const Instruction *first = &r->function->code[block->first];
    return first->kind == KIND_BRANCH && block->successor_count == 1 && block->successors[0] == r->end;
}

static bool leads_back(const Reach *r, int from, int to) {
    return to < r->flow->count &&
           r->flow->blocks[to].first <= r->function->code[r->flow->blocks[from].last].index;
}

// A branch of which one way is the end and the other is not. If that leads back, it decides about a loop, and
// all lanes leave the loop there.
static bool leaves(const Reach *r, int from, int to) {
    const FlowBlock *block = &r->flow->blocks[from];
    if (!is_end(r, to) || r->function->code[block->last].kind != KIND_BRANCH || block->successor_count < 2)
        return false;
    int other = block->successors[block->successors[0] == to];
    return !is_end(r, other) && other < r->flow->count && !leads_back(r, from, other);
}

static void find_between(Reach *r) {
    const Flow *flow = r->flow;
    int depth = 0;
    for (int b = 0; b < flow->count; b++) {
        const Instruction *last = &r->function->code[flow->blocks[b].last];
        r->is_in[b] = flow->blocks[b].parent == r->end && last->reconverge >= 0;
        if (r->is_in[b]) r->stack[depth++] = b;
    }
    while (depth) {
        const FlowBlock *block = &flow->blocks[r->stack[--depth]];
        for (int k = 0; k < block->successor_count; k++) {
            int s = block->successors[k];
            if (s == r->end || s == flow->count || r->is_in[s]) continue;
            r->is_in[s] = true;
            r->stack[depth++] = s;
        }
    }
}

static void number_between(Reach *r) {
    const Flow *flow = r->flow;
    int depth = 0;
    r->reaching = 0;
    for (int b = 0; b <= flow->count; b++) {
        r->place[b] = r->parent[b] = -1;
        r->next[b] = 0;
    }
    r->stack[depth++] = r->end;
    r->place[r->end] = -2;
    while (depth) {
        int b = r->stack[depth - 1];
        if (r->next[b] < flow->blocks[b].predecessor_count) {
            int p = flow->blocks[b].predecessors[r->next[b]++];
            if (!r->is_in[p] || r->place[p] != -1 || leaves(r, p, b)) continue;
            r->place[p] = -2;
            r->stack[depth++] = p;
        } else {
            r->place[b] = r->reaching;
            r->order[r->reaching++] = b;
            depth--;
        }
    }
}

static int shared_parent(const Reach *r, int a, int b) {
    while (a != b) {
        while (r->place[a] < r->place[b]) a = r->parent[a];
        while (r->place[b] < r->place[a]) b = r->parent[b];
    }
    return a;
}

static void find_parents(Reach *r) {
    r->parent[r->end] = r->end;
    for (bool changed = true; changed;) {
        changed = false;
        for (int i = r->reaching - 2; i >= 0; i--) {
            int b = r->order[i], parent = -1;
            const FlowBlock *block = &r->flow->blocks[b];
            for (int k = 0; k < block->successor_count; k++) {
                int s = block->successors[k];
                if (s == r->flow->count || r->parent[s] < 0 || leaves(r, b, s)) continue;
                parent = parent < 0 ? s : shared_parent(r, parent, s);
            }
            changed = changed || parent != r->parent[b];
            r->parent[b] = parent;
        }
    }
}

// The block where the lanes that part at the end of `b` meet before r->end, or -1.
static int meeting_of(const Reach *r, int b) {
    const FlowBlock *block = &r->flow->blocks[b];
    if (block->parent != r->end || r->function->code[block->last].reconverge < 0) return -1;
    for (int k = 0; k < block->successor_count; k++)
        if (leaves(r, b, block->successors[k])) return -1;
    return r->parent[b] < 0 || is_end(r, r->parent[b]) ? -1 : r->parent[b];
}

static bool is_loop(const Reach *r, int b) {
    const FlowBlock *block = &r->flow->blocks[b];
    bool found = false;
    for (int k = 0; k < block->successor_count; k++) found = found || leads_back(r, b, block->successors[k]);
    return found;
}

// Whether every way to block `to` leads through block `by`. Overwrites `next`.
static bool dominates(Reach *r, int by, int to) {
    int depth = 0;
    for (int b = 0; b <= r->flow->count; b++) r->next[b] = b == by;
    r->stack[depth++] = to;
    while (depth && !r->next[0]) {
        const FlowBlock *block = &r->flow->blocks[r->stack[--depth]];
        for (int k = 0; k < block->predecessor_count; k++) {
            int p = block->predecessors[k];
            if (r->next[p]) continue;
            r->next[p] = 1;
            r->stack[depth++] = p;
        }
    }
    return by == 0 || !r->next[0];
}

static bool has_leaving(const Reach *r) {
    const FlowBlock *end = &r->flow->blocks[r->end];
    bool found = false;
    for (int k = 0; k < end->predecessor_count; k++) {
        int p = end->predecessors[k];
        found = found || leaves(r, p, r->end);
        if (!is_end(r, p)) continue;
        const FlowBlock *only = &r->flow->blocks[p];
        for (int i = 0; i < only->predecessor_count; i++)
            found = found || leaves(r, only->predecessors[i], p);
    }
    return found;
}

// ptxas lets lanes that leave for the post-dominator go (BREAK), and has the others meet before it. It opens
// such a meeting at a branch forward that all ways to it come by; other branches only take part.
bool find_meetings(Function *f, const Flow *flow) {
    size_t n = (size_t)flow->count + 1;
    Reach r = {.function = f, .flow = flow, .is_in = calloc(n, sizeof(bool))};
    int *numbers = malloc(5 * n * sizeof(int));
    bool ok = r.is_in && numbers;
    if (ok) {
        r.place = numbers;
        r.order = numbers + n;
        r.parent = numbers + 2 * n;
        r.stack = numbers + 3 * n;
        r.next = numbers + 4 * n;
    }
    for (r.end = 0; ok && r.end < flow->count; r.end++) {
        if (!has_leaving(&r)) continue;
        find_between(&r);
        number_between(&r);
        find_parents(&r);
        for (int b = 0; b < flow->count; b++)
            r.is_in[b] = false; // from here on: whether it is such a meeting
        for (int b = 0; b < flow->count; b++) {
            int at = meeting_of(&r, b);
            if (at >= 0 && !r.is_in[at] && !is_loop(&r, b)) r.is_in[at] = dominates(&r, b, at);
        }
        for (int b = 0; b < flow->count; b++) {
            int at = meeting_of(&r, b);
            if (at >= 0 && r.is_in[at]) f->code[flow->blocks[b].last].meeting = flow->blocks[at].first;
        }
    }
    free(r.is_in);
    free(numbers);
    return ok;
}
