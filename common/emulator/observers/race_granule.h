// One access against what the shadow remembers of the bytes that it touches.
#pragma once

#include "emulator/observers/race_order.h"
#include "emulator/observers/race_report.h"
#include "emulator/observers/race_shadow.h"
#include "emulator/observers/race_site.h"

// What racecheck has of one launch.
typedef struct {
    RaceOrder order;
    ReaderPool readers;
    uint64_t compared; // EmulatorResult.race_compared
    Sites sites;
    RaceReports reports;
    unsigned shared_shift;   // granules of shared memory, the same for all blocks
    unsigned interval_shift; // and of their intervals
    bool has_async_proxy;    // the program has bulk copies or wgmma
    bool is_of_shared_only;  // CHECK_SHARED_RACE, with
    long long lanes_left;    // whose accesses are looked at
    RaceBlock *free_blocks;
} Racecheck;

// One access while it is checked.
typedef struct {
    Racecheck *r;
    RaceBlock *b;
    const Access *a;
    Shadow *shadow;
    const Site *site;
    uint16_t code;     // of `site`, with its kind
    uint32_t all_time; // everyone who may access this memory is known to here
    uint32_t first;    // lane 0, as clocks name it
    uint32_t now;      // the time of the access
} RaceCheck;

// A write of granule `g` that the shadow remembers, plain or strong; false: there is none.
bool find_write(const RaceCheck *check, size_t g, uint32_t *who, uint16_t *site);

// Records that `lanes` read the `bytes` at `offset`, all at once, where that is simple: nothing has happened
// there since the last barrier but the same read by other warps. False (and perhaps some is recorded) if not.
bool reads_quietly(const RaceCheck *check, uint64_t offset, uint32_t bytes, uint32_t lanes);

// The lanes whose read may race or has to be remembered, of a contiguous access; all of them where that is
// not soon found out.
uint32_t reads_that_add(const RaceCheck *check);

// `lanes` access the `bytes` at `offset`: reports what races with it, and remembers it.
void check_bytes(const RaceCheck *check, uint64_t offset, uint32_t bytes, uint32_t lanes);

// Remembers a read by `lanes`, of global memory, which nothing that granule `g` has can race with.
void remember_read(const RaceCheck *check, size_t g, uint32_t lanes);
// Does a write or read of granule `g` that the shadow remembers as one, not in a list, not matter any more
// to a later access: is it known to all, over at a barrier, or by thread `me` itself?
static inline bool is_settled(const RaceCheck *c, uint32_t time, uint32_t who, uint32_t me) {
    return time <= c->all_time || who == me ||
           (block_of(who) == block_of(c->first) && time <= c->b->barrier_time);
}
