// Graphs: operations that the program asks for once and launches as often as it likes.
#pragma once

#include "runtime/op.h"

struct CUgraphNode_st {
    Op op;
    bool does_nothing;      // an empty node
    cudaGraphNode_t *after; // those it depends on
    size_t after_count;
    bool is_placed; // while an order is looked for
};

struct CUgraph_st {
    cudaGraphNode_t *nodes;
    size_t count;
};

// Adds a node that depends on `after`. The operation is the graph's from then on. NULL when memory ran out.
cudaGraphNode_t graph_add(cudaGraph_t graph, const Op *op, const cudaGraphNode_t *after, size_t count);
bool graph_depend(cudaGraphNode_t node, cudaGraphNode_t after);
// A copy whose nodes are in an order in which they may run; NULL when there is none, or memory ran out.
// `originals` receives, for each, the node that it is a copy of.
cudaGraph_t graph_ordered(cudaGraph_t graph, cudaGraphNode_t *originals);
void graph_free(cudaGraph_t graph);
