// What racecheck remembers of memory: of every granule (a word, or 1 or 2 bytes where a kernel uses
// narrower types) the last plain write, every access since then that a later one may race with, and those
// before it that the write does not stand for (race_granule.c).
//
// Arrays side by side, so that 32 lanes that access 32 granules are checked by a handful of vector
// instructions: 20 bytes a granule, 8 more where several warps read it, and none where the kernel goes
// nowhere near.
#pragma once

#include "emulator/machine/machine.h"
#include "emulator/observers/race_readers.h"

// The kinds of access, in the lowest bits of a site. "Strong" is volatile, relaxed and stronger, atomic.
typedef enum { RACE_READ, RACE_STRONG_READ, RACE_STRONG_WRITE, RACE_WRITE } RaceKind;
enum {
    SITE_KIND = 3,
    // What access_site may be, besides the site of one access by the thread `access_who`:
    SITE_GROUP = 0x8000,   // and the site: by `access_lanes` of `access_warps`; `access_who` is a Readers.who
    SITE_READERS = 0xfffc, // plain reads: `access_who` is a list of Readers
    SITE_LIST = 0xffff,    // accesses of any kind: likewise
};
static inline bool is_list(uint16_t access_site) { return access_site >= SITE_READERS; }
static inline bool is_group(uint16_t access_site) {
    return access_site >= SITE_GROUP && access_site < SITE_READERS;
}

// A line is this many granules in a row, the first of them a multiple of it. In global memory, lines that
// lanes of one warp access whole, one lane after the other, are remembered as one (race_lines.c).
enum { LINE_GRANULES = 16 };
// ShadowLines.pattern, besides 1 + the logarithm of how many granules a lane accesses:
enum { LINE_EMPTY = 0, LINE_SPLIT = 255 }; // its granules are remembered one by one

// After `access` comes the place of the program: an index into a table of racecheck, times 4, plus the kind.
typedef struct Shadow {
    unsigned shift; // a granule has 1 << shift bytes
    unsigned skew;  // of the memory's base past a granule of 4 bytes
    size_t size;    // of the allocation, in bytes; 0 of the lines', which are in their owner's
    size_t count;
    uint32_t *write_time, *write_who;   // of the last plain write; time 0: none
    uint32_t *access_time, *access_who; // besides: accesses, and the time of the newest; 0: none
    uint16_t *write_site, *access_site;
    uint32_t *access_warps, *access_lanes; // of SITE_GROUP
    struct Shadow *lines; // what the first granule of each line has, or would have; NULL: no lines
    uint8_t *pattern;     // of each line
} Shadow;

// To be released with shadow_free(); NULL when memory runs out.
Shadow *shadow_new(size_t bytes, unsigned skew, unsigned shift, bool has_lines);
void shadow_free(Shadow *shadow); // or NULL
// The same with smaller granules and no line alike; frees the old one. NULL (and the old one stays) when
// memory runs out.
Shadow *shadow_refined(Shadow *old, size_t bytes, unsigned shift, ReaderPool *pool);

static inline size_t granule_of(const Shadow *s, uint64_t offset) {
    return (size_t)(offset + s->skew) >> s->shift;
}

// What granule g has besides the last write, when that is neither nothing nor a list.
Readers shadow_access(const Shadow *shadow, size_t g);
// From here on the granules of that line are remembered one by one.
void shadow_split(Shadow *s, size_t line, ReaderPool *pool);

// Puts it there.
void shadow_set_access(Shadow *s, size_t g, const Readers *one);
