// Stale reads that a fence would have prevented: a thread missed a store although its block had already seen
// what the same block stored later.
//
// By itself that is not a mistake: two counters may be read in any order. The finding is information; where
// the result is wrong, it names the order that is missing.
#pragma once

#include "emulator/observers/weak_history.h"

typedef struct {
    Machine *machine;
    History *history;
    uint32_t events; // stores, fences, and reads of what another block stored
} StaleReads;

void stale_reads_start(StaleReads *stale, Block *block);
void stale_reads_end(Block *block);
static inline uint32_t stale_reads_event(StaleReads *stale) { return ++stale->events; }
void stale_reads_fence(StaleReads *stale, Block *block, bool of_block);
// When `block` last executed a fence of each scope, in events.
void stale_reads_fences(const Block *block, uint32_t fence[SCOPES]);

// The access reads version `index` of `word`.
void stale_reads_note(StaleReads *stale, const Access *access, uint32_t word, int index);
// `lane` of it does, and that version is not the newest: reports it if the block has seen a store behind one
// that is missed.
void stale_reads_check(StaleReads *stale, const Access *access, uint32_t lane, uint32_t word, int index);
