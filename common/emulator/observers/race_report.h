// Reports races: every pair of places once.
#pragma once

#include "emulator/observers/race_site.h"

// A pair of places that was reported, to make the ten-thousandth time cheap.
typedef struct {
    uint64_t pair; // 0: an empty slot
    int finding;   // -1: it has none
} Reported;

enum { REPORTED_SLOTS = 1024 };

typedef struct {
    Machine *machine;
    const Sites *sites;
    Reported reported[REPORTED_SLOTS];
    uint32_t count;
    uint64_t races; // met, those of equal values not counted
} RaceReports;

typedef struct {
    const Access *access;
    uint32_t lane;       // of it
    uint32_t me, other;  // the two threads, as clocks name them
    uint16_t code;       // of the access's site
    uint16_t other_code; // of the site of the one before
    uint64_t offset;     // in the access's memory
    bool same_value;     // both write it
    bool is_one_access;  // two lanes of one instruction
    bool is_read_only;   // a load of the read-only path
    bool is_pending;     // a fence would make the one before known to the thread
} Race;

void report_race(RaceReports *reports, const Race *race);
