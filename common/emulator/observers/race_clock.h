// The vector clocks of racecheck: what one thread knows of the others.
//
// Time is one counter for the whole launch, which moves on at every synchronisation. "Thread u is known to
// 7" means that all that u did up to time 7 happened before. A clock says that of single threads, of whole
// warps and of whole blocks. Clocks never change once made; they are shared and counted by their owners.
//
// Joining two clocks makes a small node that points at both, since most clocks are never looked into: of
// ten thousand blocks that take a ticket only the last reads what the others wrote. The first question
// flattens a clock into a sorted array, and so does a chain that has grown long.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Clock Clock; // NULL is the clock that knows nothing

// Makes clocks. Zero it to start; clocks_close() frees it, not the clocks.
typedef struct {
    uint64_t visits, chains;
    void *scratch; // of flattening
    size_t scratch_bytes;
    bool failed; // memory ran out; clocks made since may know too little
} Clocks;
void clocks_close(Clocks *clocks);

// A thread is named by one number: its block's number (the lowest 22 bits of it) and its place in the block.
enum { THREAD_BITS = 10, BLOCK_BITS = 32 - THREAD_BITS, BLOCK_MASK = (1 << BLOCK_BITS) - 1 };
static inline uint32_t block_of(uint32_t who) { return who >> THREAD_BITS; }
static inline uint32_t thread_of(uint32_t who) { return who & ((1u << THREAD_BITS) - 1); }

typedef struct {
    uint64_t key; // of a thread, a warp or a block
    uint32_t time;
} ClockEntry;
ClockEntry thread_entry(uint32_t who, uint32_t time);
ClockEntry warp_entry(uint32_t who, uint32_t time);  // the warp of thread `who`
ClockEntry block_entry(uint32_t who, uint32_t time); // its block

// Each returns a clock that the caller owns and must drop; none takes its arguments over.
Clock *clock_keep(Clock *clock);
Clock *clock_join(Clocks *clocks, Clock *a, Clock *b);
enum { CLOCK_ENTRIES = 34 }; // 32 lanes, their warp and their block
// `clock` and `count` entries more.
Clock *clock_with(Clocks *clocks, Clock *clock, const ClockEntry *entries, int count);
// `clock` and `more`, as the successor of `clock` in a history that only grows: joining two clocks of one
// history gives the later, at no cost. *history names it; a new one begins if `clock` is not part of it.
Clock *clock_grown(Clocks *clocks, Clock *clock, Clock *more, uint64_t *history);
// What `clock` knows of the threads of `block`.
Clock *clock_within(Clocks *clocks, Clock *clock, uint32_t block);

void clock_drop(Clock *clock);
// *clock becomes `value`, which is taken over.
void clock_set(Clock **clock, Clock *value);
// *clock becomes its join with `more`.
void clock_add(Clocks *clocks, Clock **clock, Clock *more);

// Until when thread `who` is known; 0: not at all.
uint32_t clock_time(Clocks *clocks, Clock *clock, uint32_t who);
// Until when every thread of all `blocks` blocks is known.
uint32_t clock_time_of_all(Clocks *clocks, Clock *clock, uint64_t blocks);
// True if it has entries only of threads of `block`.
bool clock_only_of(const Clock *clock, uint32_t block);
