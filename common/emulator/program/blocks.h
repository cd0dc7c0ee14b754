// The basic blocks of a function, and the edges between them.
#pragma once

#include "emulator/program/program.h"

typedef struct {
    int first, last; // instructions
    int *successors; // block numbers; the number of blocks is the virtual exit
    int successor_count;
    int *predecessors;
    int predecessor_count;
    int order;  // of find_reconvergence(): in reverse postorder of the reversed graph; -1: never reaches the
                // exit
    int parent; // likewise: immediate post-dominator as a block number
    bool drops_exits; // likewise: its branches to the end of the kernel count as no ways
} FlowBlock;

typedef struct {
    FlowBlock *blocks; // `count`, and the exit as one more
    int count;
    int *block_of; // by instruction
    int *edges, *back_edges;
    int *order, *stack, *next_child; // for walks over the blocks: count + 1 each, the last all zeros
} Flow;

// False when memory ran out; flow_free() in any case.
bool flow_build(Flow *flow, const Function *function);
void flow_free(Flow *flow);

// Successors as instruction indices into `out` (room for successor_room()); -1: the exit.
int successors_of(const Function *function, const Instruction *in, int *out);
int successor_room(const Instruction *in);
