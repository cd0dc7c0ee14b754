// Blocks that wait for other blocks of their launch: a block polls a word until another one has stored it,
// and then stores what a third one polls. Internal to the time model.
//
// On the emulator, blocks run one after the other and find what they wait for. So the chain is put together
// from the warps' clocks: how much later each block stores, if all begin at once. Only words count that are
// stored and read by volatile, relaxed or stronger accesses and atomics.
//
// A block may tell two things in one place: first what it knows by itself, such as the sum of its tile, and
// later what it has waited for. Does a reader wait for the second? Of the last few blocks that told both, a
// warp gets the first for a number of polls. If it takes no more than these, the first is enough.
#pragma once

#include "emulator/machine/machine.h"
#include "emulator/model/stamp.h"
#include "emulator/model/work.h"

typedef struct BlockChain BlockChain;

// What a block has waited for so far. All 0 when it begins.
typedef struct {
    bool has_read;        // what another block had stored
    bool has_passed_on;   // stored after that
    bool is_told_plainly; // a load read what a store of a block that had waited told
    bool is_collecting;   // has read what another block had stored, or counted itself after another one
    Stamp collecting;     // since when: the first such load, or the last such atomic
    Stamp delay;          // of its clock, by the chain of blocks that it waited for
    uint32_t depth;       // blocks of that chain
    uint64_t met[32]; // blocks, number + 1, that told something before they waited themselves: the last ones
    uint32_t met_count;
} Waiting;

BlockChain *block_chain_new(void); // NULL when memory ran out
void block_chain_free(BlockChain *chain);
// An access to global memory that starts at `start` of its warp's clock, before it is done. False when memory
// ran out. What it reads may be replaced until block_chain_done(), after it is done; `of_warp` counts such
// accesses of a warp from the start of its block on.
bool block_chain_access(BlockChain *chain, const Access *access, Waiting *of_block, uint32_t *of_warp,
                        Stamp start);
void block_chain_done(BlockChain *chain);
// What only the end tells, of a launch of which so many blocks ran.
void block_chain_summary(const BlockChain *chain, double blocks, ModelWork *work);
