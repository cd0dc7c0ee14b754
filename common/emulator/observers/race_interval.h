// Accesses to the shared memory of a block since its last barrier: a quick answer for those that cannot race.
//
// A barrier of all threads orders everything before it, so only what happened since can race. Of every
// granule two words are kept: which thread has written it, and which has read it, or that several have. An
// access cannot race if no other thread has written what it touches and, if it writes, no other has read that
// either. Such accesses, nearly all of a correct kernel's, go into a log, and nothing more is done about
// them.
//
// The first access that may race ends this: race_granule.c, which knows all orders and all kinds of access,
// takes over until the next barrier, and the log tells it what came before.
#pragma once

#include "emulator/machine/machine.h"
#include "emulator/observers/race_shadow.h"

typedef struct {
    unsigned shift; // a granule has 1 << shift bytes
    size_t granules;
    uint16_t *written, *read; // by granule: the interval's `base` plus a thread; older entries are less
    uint16_t base;
    bool is_over;          // an access may race: all others until the next barrier are looked at closely
    unsigned needed_shift; // of what threads access
    uint32_t *log;
    size_t log_words, log_capacity;
} RaceInterval;

// For `bytes` of shared memory; NULL when memory runs out.
RaceInterval *interval_new(size_t bytes, unsigned shift);
void interval_free(RaceInterval *interval);
// All threads of the block have passed a barrier, or the block starts.
void interval_begin(RaceInterval *interval);

// Notes a plain load or store, made at `time`. False if it may race: nothing is noted, and interval.is_over.
bool interval_takes(RaceInterval *interval, const Access *access, uint32_t time);

// The accesses noted since the log was last empty, in order. `at` starts as 0; false: there are no more.
bool interval_next(const RaceInterval *interval, size_t *at, Block *block, Access *access,
                   uint64_t offsets[WARP_SIZE], uint32_t *time);
