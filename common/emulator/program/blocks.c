#include "emulator/program/blocks.h"

#include <stdlib.h>

static bool ends_block(const Instruction *in) {
    return in->kind == KIND_BRANCH || in->kind == KIND_BRANCH_TABLE || in->kind == KIND_RETURN ||
           in->kind == KIND_EXIT || in->kind == KIND_TRAP;
}

int successors_of(const Function *f, const Instruction *in, int *out) {
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

int successor_room(const Instruction *in) {
    return in->kind == KIND_BRANCH_TABLE ? ((const BranchTable *)in->detail)->count + 2 : 2;
}

void flow_free(Flow *flow) {
    free(flow->blocks);
    free(flow->block_of);
    free(flow->edges);
    free(flow->back_edges);
    free(flow->order);
    free(flow->stack);
    free(flow->next_child);
}

bool flow_build(Flow *flow, const Function *f) {
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
