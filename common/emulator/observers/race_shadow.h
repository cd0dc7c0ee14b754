// What racecheck remembers of memory: of every granule (a word, or 1 or 2 bytes where a kernel uses
// narrower types) the last plain write, every access since then that a later one may race with, and those
// before it that the write does not stand for (race_granule.c).
//
// Arrays side by side, so that 32 lanes that access 32 granules are checked by a handful of vector
// instructions: 20 bytes a granule, and none where the kernel goes nowhere near.
#pragma once

#include "emulator/machine/machine.h"

// The kinds of access, in the lowest bits of a site. "Strong" is volatile, relaxed and stronger, atomic.
typedef enum { RACE_READ, RACE_STRONG_READ, RACE_STRONG_WRITE, RACE_WRITE } RaceKind;
enum { SITE_KIND = 3, SITE_LIST = 0xffff }; // SITE_LIST: `who` is a list of Readers, not a thread

// After `access` comes the place of the program: an index into a table of racecheck, times 4, plus the kind.
typedef struct {
    unsigned shift; // a granule has 1 << shift bytes
    unsigned skew;  // of the memory's base past a granule of 4 bytes
    size_t count;
    uint32_t *write_time, *write_who;   // of the last plain write; time 0: none
    uint32_t *access_time, *access_who; // besides: one access, or a list whose newest time this is
    uint16_t *write_site, *access_site;
} Shadow;

// Accesses of lanes of one warp, at one time, by one instruction.
typedef struct {
    uint32_t next; // in the list; 0: the end
    uint32_t time;
    uint32_t who; // lane 0 of the warp
    uint32_t lanes;
    uint16_t site;
} Readers;

typedef struct {
    Readers *readers; // [0] is not used
    uint32_t count, capacity, free;
} ReaderPool;

// In one allocation that free() releases; NULL when memory runs out.
Shadow *shadow_new(size_t bytes, unsigned skew, unsigned shift);
// The same with smaller granules; frees the old one. NULL (and the old one stays) when memory runs out.
Shadow *shadow_refined(Shadow *old, size_t bytes, unsigned shift, ReaderPool *pool);

static inline size_t granule_of(const Shadow *s, uint64_t offset) {
    return (size_t)(offset + s->skew) >> s->shift;
}

// A new element in front of the list `next`; 0 when memory runs out.
uint32_t readers_add(ReaderPool *pool, Readers readers);
void readers_free(ReaderPool *pool, uint32_t list);
