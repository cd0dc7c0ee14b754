// Accesses that racecheck remembers besides the last write: by one instruction, of threads of one block.
//
// Most words that many warps read are read by the same lanes of each, at one time: a set of warps and a set
// of lanes tell it all. Otherwise a table has a row for every warp. Either way, a warp that reads the word
// again changes a bit or two.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "emulator/observers/race_clock.h"

typedef struct {
    uint32_t next;  // in a list; 0: the end
    uint32_t time;  // of the newest
    uint32_t who;   // lane 0 of the warp that came last
    uint32_t warps; // of its block, at least one
    uint32_t lanes; // of each of these warps, all at `time`; not used if there is
    uint32_t table; // in ReaderPool.tables; 0: none
    uint16_t site;  // where, and the kind of access (race_site.h)
    bool is_last;   // of its block: what follows in the list is of others
} Readers;

// What each warp of a block has done.
typedef struct {
    uint32_t time[32], lanes[32];
} ReaderTable;

typedef struct {
    Readers *readers; // [0] is not used
    uint32_t count, capacity, free;
    ReaderTable *tables; // the same; a free one has the next in time[0]
    uint32_t table_count, table_capacity, free_table;
} ReaderPool;

void readers_close(ReaderPool *pool);

static inline uint32_t warp_of(uint32_t who) { return thread_of(who) / 32; }

// Lanes of warp `warp` in `one`, and when they came.
static inline uint32_t reader_lanes(const ReaderPool *pool, const Readers *one, uint32_t warp) {
    if (one->table) return pool->tables[one->table].lanes[warp];
    return one->warps >> warp & 1 ? one->lanes : 0;
}
static inline uint32_t reader_time(const ReaderPool *pool, const Readers *one, uint32_t warp) {
    return one->table ? pool->tables[one->table].time[warp] : one->time;
}

// Adds `more`, lanes of one warp, to `one`, whose site and block they share. False if they have no place
// there: others of their warp came at another time, or memory ran out.
bool readers_join(ReaderPool *pool, Readers *one, const Readers *more);
// Takes lanes of warp `warp` out of `one`. True if none are left; the table is free then.
bool readers_leave(ReaderPool *pool, Readers *one, uint32_t warp, uint32_t lanes);

// A new element of a list, in front of readers.next; 0 when memory runs out.
uint32_t readers_add(ReaderPool *pool, Readers readers);
// A copy of list `list`; where memory runs out it lacks some.
uint32_t readers_copied(ReaderPool *pool, uint32_t list);
void readers_free(ReaderPool *pool, uint32_t list);
