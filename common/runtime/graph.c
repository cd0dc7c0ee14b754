#include "runtime/graph.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/kernel.h"

// ---- Operations, which may have graphs --------------------------------------------------------------------

static void release_bodies(Decision *d) {
    for (unsigned i = 0; i < d->body_count; i++)
        if (d->bodies[i]) graph_free(d->bodies[i]);
    free(d->bodies);
    *d = (Decision){0};
}

static bool copy_bodies(const Decision *d, Decision *copy) {
    copy->bodies = calloc(d->body_count, sizeof(cudaGraph_t));
    bool is_whole = copy->bodies != NULL;
    if (!is_whole) copy->body_count = 0;
    for (unsigned i = 0; is_whole && i < d->body_count; i++)
        is_whole = (copy->bodies[i] = graph_ordered(d->bodies[i])) != NULL;
    if (!is_whole) release_bodies(copy);
    return is_whole;
}

bool op_copy(const Op *op, Op *copy) {
    *copy = *op;
    copy->known = (Known){0};
    if (op->kind == OP_DECIDE) return copy_bodies(&op->decision, &copy->decision);
    if (op->kind != OP_LAUNCH) return true; // a copy in a graph reads its source when it runs
    copy->launch.arguments = malloc(op->launch.argument_bytes + 1);
    if (!copy->launch.arguments) return false;
    memcpy(copy->launch.arguments, op->launch.arguments, op->launch.argument_bytes);
    return true;
}

void op_release(Op *op) {
    if (op->kind == OP_LAUNCH) kernel_release(&op->launch);
    if (op->kind == OP_COPY) copy_release(&op->copy);
    if (op->kind == OP_DECIDE) release_bodies(&op->decision);
    known_free(&op->known);
}

// ---- Nodes ------------------------------------------------------------------------------------------------

static bool append(cudaGraphNode_t **list, size_t *count, cudaGraphNode_t node) {
    cudaGraphNode_t *grown = realloc(*list, (*count + 1) * sizeof(cudaGraphNode_t));
    if (!grown) return false;
    *list = grown;
    grown[(*count)++] = node;
    return true;
}

static bool take_out(cudaGraphNode_t *list, size_t *count, const struct CUgraphNode_st *node) {
    size_t kept = 0;
    for (size_t i = 0; i < *count; i++)
        if (list[i] != node) list[kept++] = list[i];
    const bool was_there = kept < *count;
    *count = kept;
    return was_there;
}

bool graph_depend(cudaGraphNode_t node, cudaGraphNode_t after) {
    return append(&node->after, &node->after_count, after);
}
bool graph_depend_not(cudaGraphNode_t node, cudaGraphNode_t after) {
    return take_out(node->after, &node->after_count, after);
}

// What it does.
static void clear(cudaGraphNode_t node) {
    op_release(&node->op);
    if (node->child) graph_free(node->child);
    free(node->arguments);
    node->arguments = NULL;
    node->child = NULL;
}

static void free_node(cudaGraphNode_t node) {
    clear(node);
    known_free(&node->known);
    free(node->after);
    free(node);
}

void graph_remove(cudaGraphNode_t node) {
    cudaGraph_t graph = node->graph;
    take_out(graph->nodes, &graph->count, node);
    for (size_t i = 0; i < graph->count; i++) graph_depend_not(graph->nodes[i], node);
    free_node(node);
}

void graph_change(cudaGraphNode_t node, const struct CUgraphNode_st *content) {
    clear(node);
    node->op = content->op;
    node->child = content->child;
}

cudaGraphNode_t graph_add(cudaGraph_t graph, const struct CUgraphNode_st *content,
                          const cudaGraphNode_t *after, size_t count) {
    cudaGraphNode_t node = calloc(1, sizeof *node);
    if (!node) return NULL;
    node->type = content->type;
    node->op = content->op;
    node->child = content->child;
    node->is_disabled = content->is_disabled;
    node->graph = graph;
    bool is_whole = true;
    for (size_t i = 0; i < count; i++) is_whole = is_whole && graph_depend(node, after[i]);
    if (is_whole && append(&graph->nodes, &graph->count, node)) return node;
    free(node->after);
    free(node);
    return NULL;
}

cudaGraphNode_t graph_copy_of(cudaGraph_t graph, const struct CUgraphNode_st *node) {
    for (size_t i = 0; i < graph->count; i++)
        if (graph->nodes[i]->origin == node) return graph->nodes[i];
    return NULL;
}

static bool is_ready(const struct CUgraphNode_st *node) {
    for (size_t i = 0; i < node->after_count; i++)
        if (!node->after[i]->is_placed) return false;
    return !node->is_placed;
}

// Adds a copy of the node, and of the graph that it may hold, at the end. NULL: that is not possible.
static cudaGraphNode_t add_copy(cudaGraph_t ordered, cudaGraphNode_t node) {
    struct CUgraphNode_st content = {.type = node->type, .is_disabled = node->is_disabled};
    if (!op_copy(&node->op, &content.op)) return NULL;
    if (node->child && !(content.child = graph_ordered(node->child))) {
        op_release(&content.op);
        return NULL;
    }
    cudaGraphNode_t copy = graph_add(ordered, &content, NULL, 0);
    if (!copy) {
        op_release(&content.op);
        if (content.child) graph_free(content.child);
    }
    for (size_t i = 0; copy && i < node->after_count; i++)
        if (!graph_depend(copy, graph_copy_of(ordered, node->after[i]))) return NULL;
    if (copy) copy->origin = node;
    return copy;
}

cudaGraph_t graph_ordered(cudaGraph_t graph) {
    cudaGraph_t ordered = calloc(1, sizeof *ordered);
    if (!ordered) return NULL;
    for (size_t i = 0; i < graph->count; i++) graph->nodes[i]->is_placed = false;
    while (ordered->count < graph->count) {
        size_t next = 0;
        while (next < graph->count && !is_ready(graph->nodes[next])) next++;
        if (next == graph->count || !add_copy(ordered, graph->nodes[next])) { // a cycle
            graph_free(ordered);
            return NULL;
        }
        graph->nodes[next]->is_placed = true;
    }
    return ordered;
}

static bool differs(cudaGraphExecUpdateResultInfo *info, enum cudaGraphExecUpdateResult result,
                    cudaGraphNode_t node, cudaGraphNode_t from) {
    *info = (cudaGraphExecUpdateResultInfo){.result = result,
                                            .errorNode = node ? node->origin : NULL,
                                            .errorFromNode = from ? from->origin : NULL};
    return false;
}

static bool pair_nodes(cudaGraphNode_t was, cudaGraphNode_t now, cudaGraphExecUpdateResultInfo *info) {
    if (now->pair) return true; // with `was`: its caller has looked
    if (now->type != was->type) return differs(info, cudaGraphExecUpdateErrorNodeTypeChanged, now, NULL);
    if (now->after_count != was->after_count)
        return differs(info, cudaGraphExecUpdateErrorTopologyChanged, now, NULL);
    was->pair = now;
    now->pair = was;
    for (size_t i = 0; i < now->after_count; i++) {
        cudaGraphNode_t before = now->after[i], other = was->after[i];
        if (before->pair != (other->pair ? other : NULL))
            return differs(info, cudaGraphExecUpdateErrorTopologyChanged, now, before);
        if (!pair_nodes(other, before, info)) return false;
    }
    if (now->child) graph_compare(was->child, now->child, info);
    if (now->op.kind != OP_DECIDE) return info->result == cudaGraphExecUpdateSuccess;
    const Decision *d = &was->op.decision, *other = &now->op.decision;
    if (d->type != other->type || d->body_count != other->body_count)
        return differs(info, cudaGraphExecUpdateErrorParametersChanged, now, NULL);
    for (unsigned i = 0; i < d->body_count && info->result == cudaGraphExecUpdateSuccess; i++)
        graph_compare(d->bodies[i], other->bodies[i], info);
    return info->result == cudaGraphExecUpdateSuccess;
}

// The next node from `at` on that no other depends on; the number of nodes: there is none.
static size_t next_exit(cudaGraph_t graph, size_t at) {
    for (; at < graph->count; at++) {
        bool is_exit = true;
        for (size_t i = at + 1; is_exit && i < graph->count; i++)
            for (size_t k = 0; k < graph->nodes[i]->after_count; k++)
                is_exit = is_exit && graph->nodes[i]->after[k] != graph->nodes[at];
        if (is_exit) break;
    }
    return at;
}

void graph_compare(cudaGraph_t was, cudaGraph_t now, cudaGraphExecUpdateResultInfo *info) {
    *info = (cudaGraphExecUpdateResultInfo){.result = cudaGraphExecUpdateSuccess};
    if (was->count != now->count) {
        differs(info, cudaGraphExecUpdateErrorTopologyChanged, NULL, NULL);
        return;
    }
    for (size_t i = 0; i < now->count; i++) was->nodes[i]->pair = now->nodes[i]->pair = NULL;
    size_t of_was = next_exit(was, 0), of_now = next_exit(now, 0);
    while (of_was < was->count && of_now < now->count) {
        if (!pair_nodes(was->nodes[of_was], now->nodes[of_now], info)) return;
        of_was = next_exit(was, of_was + 1);
        of_now = next_exit(now, of_now + 1);
    }
    if (of_now < now->count)
        differs(info, cudaGraphExecUpdateErrorTopologyChanged, now->nodes[of_now], NULL);
    else if (of_was < was->count)
        differs(info, cudaGraphExecUpdateErrorTopologyChanged, NULL, NULL);
}

void graph_free(cudaGraph_t graph) {
    for (size_t i = 0; i < graph->count; i++) free_node(graph->nodes[i]);
    free(graph->nodes);
    free(graph);
}
