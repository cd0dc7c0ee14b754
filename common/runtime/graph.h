// Graphs: operations that the program asks for once and launches as often as it likes.
#pragma once

#include "runtime/op.h"

struct CUgraphNode_st {
    enum cudaGraphNodeType type;
    Op op;                  // nothing of nodes that are empty or hold a graph
    cudaGraph_t child;      // the graph that the node holds, owned; or NULL
    cudaGraph_t graph;      // the one it belongs to
    cudaGraphNode_t *after; // those it depends on
    size_t after_count;
    bool is_disabled;
    bool is_placed;         // while an order is looked for
    void **arguments;       // of a kernel: what cudaGraphKernelNodeGetParams hands out
    Known known;            // of a launch: what happens before it, and itself
    int lane;               // 0: none yet
    bool has_heir;          // a node that depends on it has its lane
    cudaGraphNode_t origin; // of a copy: the node that it is a copy of
    cudaGraphNode_t pair;   // while graphs are compared: the other graph's
};

struct CUgraph_st {
    cudaGraphNode_t *nodes;
    size_t count;
};

struct CUgraphExec_st {
    cudaGraph_t graph; // in an order in which it may run
};

// A copy with its own arguments, or graphs. False when memory ran out, or a graph has no order.
bool op_copy(const Op *op, Op *copy);
// What it owns.
void op_release(Op *op);

// A node that depends on `after`; `content` has its type and what it does, which is the graph's from then on.
// NULL when memory ran out; the content is then still the caller's.
cudaGraphNode_t graph_add(cudaGraph_t graph, const struct CUgraphNode_st *content,
                          const cudaGraphNode_t *after, size_t count);
bool graph_depend(cudaGraphNode_t node, cudaGraphNode_t after);
bool graph_depend_not(cudaGraphNode_t node, cudaGraphNode_t after);
// Takes a node out, and those that depend on it depend on nothing of it.
void graph_remove(cudaGraphNode_t node);
// What the node does becomes what `content` does.
void graph_change(cudaGraphNode_t node, const struct CUgraphNode_st *content);
// The copy of a node in `graph`; NULL: there is none.
cudaGraphNode_t graph_copy_of(cudaGraph_t graph, const struct CUgraphNode_st *node);
// A copy whose nodes are in an order in which they may run; NULL when there is none, or memory ran out.
cudaGraph_t graph_ordered(cudaGraph_t graph);
// Compares two ordered copies: the same number of nodes, and from the nodes on which no other depends, in
// their order, to what each depends on, in that order, nodes of the same type. `info`: where the first
// difference is, as cudaGraphExecUpdate() documents it; its nodes are those that `now` was copied from.
void graph_compare(cudaGraph_t was, cudaGraph_t now, cudaGraphExecUpdateResultInfo *info);
void graph_free(cudaGraph_t graph);
