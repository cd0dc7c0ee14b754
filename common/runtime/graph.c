#include "runtime/graph.h"

#include <stdlib.h>

static bool append(cudaGraphNode_t **list, size_t *count, cudaGraphNode_t node) {
    cudaGraphNode_t *grown = realloc(*list, (*count + 1) * sizeof(cudaGraphNode_t));
    if (!grown) return false;
    *list = grown;
    grown[(*count)++] = node;
    return true;
}

bool graph_depend(cudaGraphNode_t node, cudaGraphNode_t after) {
    return append(&node->after, &node->after_count, after);
}

static void free_node(cudaGraphNode_t node) {
    op_release(&node->op);
    free(node->after);
    free(node);
}

cudaGraphNode_t graph_add(cudaGraph_t graph, const Op *op, const cudaGraphNode_t *after, size_t count) {
    cudaGraphNode_t node = calloc(1, sizeof *node);
    if (!node) return NULL;
    if (op)
        node->op = *op;
    else
        node->does_nothing = true;
    bool is_whole = true;
    for (size_t i = 0; i < count; i++) is_whole = is_whole && graph_depend(node, after[i]);
    if (is_whole && append(&graph->nodes, &graph->count, node)) return node;
    free_node(node);
    return NULL;
}

static bool is_ready(const struct CUgraphNode_st *node) {
    for (size_t i = 0; i < node->after_count; i++)
        if (!node->after[i]->is_placed) return false;
    return !node->is_placed;
}

cudaGraph_t graph_ordered(cudaGraph_t graph, cudaGraphNode_t *originals) {
    cudaGraph_t ordered = calloc(1, sizeof *ordered);
    if (!ordered) return NULL;
    for (size_t i = 0; i < graph->count; i++) graph->nodes[i]->is_placed = false;
    while (ordered->count < graph->count) {
        size_t next = 0;
        while (next < graph->count && !is_ready(graph->nodes[next])) next++;
        Op copy;
        if (next == graph->count || !op_copy(&graph->nodes[next]->op, &copy)) { // a cycle
            graph_free(ordered);
            return NULL;
        }
        graph->nodes[next]->is_placed = true;
        originals[ordered->count] = graph->nodes[next];
        cudaGraphNode_t node = graph_add(ordered, &copy, NULL, 0);
        if (!node) {
            graph_free(ordered);
            return NULL;
        }
        node->does_nothing = graph->nodes[next]->does_nothing;
    }
    return ordered;
}

void graph_free(cudaGraph_t graph) {
    for (size_t i = 0; i < graph->count; i++) free_node(graph->nodes[i]);
    free(graph->nodes);
    free(graph);
}
