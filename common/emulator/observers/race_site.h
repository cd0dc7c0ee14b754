// Places of the program that access memory, and which pairs of them race where nothing orders them.
//
// Accesses come in four kinds, of which these pairs race when unordered:
//
//                   read    strong read   strong write   write
//   read             -          -            race         race
//   strong read      -          -             -           race
//   strong write    race        -             -           race
//   write           race       race          race         race
//
// Strong are atomics, relaxed and stronger accesses, and volatile ones, since kernels poll volatile flags.
// But volatile makes no data exchange safe, and two exceptions say so:
//   - a volatile store by which a warp writes several words, and a volatile access by another thread of the
//     same block: that is an array being worked on, such as the last steps of a tree reduction, no flag;
//   - atomics and relaxed accesses of .cta scope by threads of different blocks.
#pragma once

#include "emulator/machine/machine.h"
#include "emulator/observers/race_shadow.h"

enum { SITE_LIMIT = (SITE_READERS & ~SITE_GROUP) / 4 }; // places of the program that shadows can tell apart

// A place of the program that accesses memory in one way.
typedef struct {
    int32_t instruction; // number; -1: there were too many
    uint8_t kind;        // RaceKind
    bool is_atomic;      // read-modify-write
    bool observes;       // a strong read, or an atomic that tells what it read
    bool is_volatile;    // the weak promise of C's volatile, nothing stronger
    bool many_words;
    bool of_block; // .cta scope
} Site;

typedef struct {
    uint16_t *of; // [instruction number * SITE_VARIANTS + variant]: 0 or index + 1; sites_open() allocates it
    Site sites[SITE_LIMIT];
    uint32_t count;
} Sites;

// False when memory ran out.
bool sites_open(Sites *sites, const Program *program);
void sites_close(Sites *sites);

// True when the lanes touch more than one place.
bool touches_many(const Access *access);
// The code of an access's site: its index in `sites` times 4, plus its RaceKind.
uint16_t site_of(Sites *sites, const Access *access);
const Site *site_at(const Sites *sites, uint16_t code);

// Whether accesses of these kinds race where nothing orders them.
bool sites_race(const Site *x, const Site *y, bool same_block);

// An access of kind `later` that comes after one of kind `earlier` and is ordered behind it stands for
// both: whatever would race with the earlier one, and is not ordered behind the later, races with that.
static inline bool stands_for(RaceKind later, RaceKind earlier) {
    return later == earlier || earlier == RACE_STRONG_READ;
}
