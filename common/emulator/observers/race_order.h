// What happened before what: the order that barriers, fences, atomics and flags make among threads.
//
//   a barrier of all threads    one time a block: up to it everything in the block is ordered
//   __syncwarp() of all lanes   one time a warp
//   anything else               clocks (race_clock.h) of single threads, made only where a kernel does it
//
// A fence takes a picture of what its thread knows; a strong store or atomic publishes that picture at its
// address, and a strong load or atomic picks up what lies there, to be known when a fence follows. Behind an
// atomic everything but a plain load knows it at once. (By the letter of the memory model all need the
// fence; the CUDA C++ Programming Guide's own last-block sum, which reads through a volatile pointer, has
// none, and no kernel is to be blamed for following it.) .release and .acquire do both at once. What an
// atomic publishes is added to what is there, what a store publishes replaces it, unless a load may still
// return the value before (weak_memory.h): then that is added too.
//
// Under weak schedules, fences of sequential consistency are ordered among each other (PTX memory model,
// "Fence-SC"). Elsewhere they are not: that order is an accident of the schedule, and would hide races.
#pragma once

#include "emulator/machine/machine.h"
#include "emulator/observers/race_clock.h"
#include "emulator/observers/race_interval.h"
#include "emulator/observers/race_shadow.h"

typedef enum { SCOPE_BLOCK, SCOPE_GRID, SCOPES } RaceScope;

// What a thread knows beyond what its whole block or warp does, or what a whole block knows.
typedef struct {
    Clock *known;
    Clock *pending[SCOPES]; // picked up by strong loads and atomics, known after the next fence
    Clock *drawn;           // by atomics, which a plain load alone does not know yet
    // Of SCOPE_BLOCK only what comes on top of SCOPE_GRID:
    Clock *fenced[SCOPES]; // what strong stores publish, unless the thread made a fence itself:
    uint32_t fence_time[SCOPES], fence_warp_time[SCOPES]; // then its own, its warp's and its block's time,
    Clock *fence_known[SCOPES];                           // and what it knew of others. 0: it made none
} Knowledge;

// What was published, by address.
typedef struct {
    struct {
        uint64_t address;
        uint64_t history; // clock_grown's
        Clock *clock;     // NULL: nothing
        bool used;
    } * slots;
    uint32_t capacity, count;
} Flags;

// racecheck's part of a Block.
typedef struct RaceBlock {
    uint32_t first; // thread 0, as clocks name it; thread t is first + t
    uint32_t barrier_time;
    uint32_t warp_time[WARP_SIZE]; // of at most 32 warps
    uint32_t epoch[WARP_SIZE]; // of a warp: the time of its accesses until it takes part in an order again
    uint32_t all_time;         // every thread of the grid is known to here, seen so in all_known
    const Clock *all_known;
    Knowledge common;                 // of all threads; no fence times
    Knowledge *threads;               // or NULL
    bool threads_know;                // `threads` is not all zeros
    Knowledge arrived[BARRIER_COUNT]; // of threads that have arrived at a barrier without waiting
    Knowledge at_cluster[2];          // of threads that have arrived at the barrier of the cluster, by phase:
                                      // of its first block
    Flags flags;                      // published at block scope
    uint32_t proxy_time;              // a fence has made stores up to here visible to bulk copies
    Shadow *shared;                   // NULL: all accesses were quiet so far
    RaceInterval *interval;           // of these; NULL: none are
    struct RaceBlock *next;
} RaceBlock;

typedef struct {
    Machine *machine;
    uint32_t now;
    bool off;        // nothing more is found: there are enough races, or 4 billion synchronisations were made
    uint64_t blocks; // of the grid
    Clocks clocks;
    Flags flags;  // published at grid scope
    bool is_weak; // a load may return what an earlier store wrote
    Clock *sc;    // then: what the last fence.sc knew, its own thread's past included
} RaceOrder;

static inline RaceBlock *race_block(const Block *block) { return block->race_state; }

void order_start(RaceOrder *order, RaceBlock *b, const Block *block);
void order_end(RaceBlock *b, const Block *block); // forgets all but allocations
void order_barrier(RaceOrder *order, Block *block, int id);
void order_arrive(RaceOrder *order, Warp *warp, uint32_t lanes, int id);
void order_warp_sync(RaceOrder *order, Warp *warp, uint32_t lanes);
// The lanes arrive at the barrier of the cluster; before they count. They pass it.
void order_cluster_arrive(RaceOrder *order, Warp *warp, uint32_t lanes, uint16_t flags);
void order_cluster_wait(RaceOrder *order, Warp *warp, uint32_t lanes);
// `flags` are those of the instruction.
void order_fence(RaceOrder *order, Warp *warp, uint32_t lanes, uint16_t flags);
// A fence between the generic and the async proxy, by some threads of the block.
void order_proxy_fence(RaceOrder *order, Block *block);
// A strong load, strong store or atomic, before it is done.
void order_flag(RaceOrder *order, const Access *access);
void order_close(RaceOrder *order);
static inline void order_no_memory(RaceOrder *order) {
    order->machine->out_of_memory = order->machine->stopped = true;
}
void order_free(RaceBlock *b);

// Does what thread `who` did at `time` happen before what `thread` of `b` does now, a plain load or something
// else? This decides where the block's and the warp's times do not.
bool order_by_clocks(RaceOrder *order, RaceBlock *b, uint32_t thread, uint32_t who, uint32_t time,
                     bool is_plain_load);

// Would a fence by `thread` make that known to it?
bool order_is_pending(RaceOrder *order, const RaceBlock *b, uint32_t thread, uint32_t who, uint32_t time);

static inline bool is_plain_load(const Access *a) { return a->kind == ACCESS_LOAD && !a->is_volatile; }

static inline bool order_knows(RaceOrder *order, RaceBlock *b, uint32_t thread, uint32_t who, uint32_t time,
                               bool is_plain) {
    uint32_t me = b->first + thread;
    if (time <= b->all_time || who == me) return true;
    if (block_of(who) == block_of(me)) {
        if (time <= b->barrier_time) return true;
        if (thread_of(who) / WARP_SIZE == thread / WARP_SIZE && time <= b->warp_time[thread / WARP_SIZE])
            return true;
    }
    if (!b->common.known && !b->common.drawn && !b->threads_know) return false;
    return order_by_clocks(order, b, thread, who, time, is_plain);
}
