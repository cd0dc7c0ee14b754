// Counters: what a launch did, named as the columns of hardware_truth/counters.csv.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "emulator/status.h"

typedef struct {
    uint64_t instructions;        // executed by warps (PTX instructions)
    uint64_t thread_instructions; // the same by lanes, guard predicate applied
    uint64_t global_ld_requests, global_ld_sectors, global_ld_bytes;
    uint64_t input_ld_requests, input_ld_sectors; // of these, from memory that no kernel may write to
    uint64_t global_st_requests, global_st_sectors, global_st_bytes;
    uint64_t global_red_requests, global_red_sectors;
    uint64_t global_atom_requests, global_atom_sectors;
    uint64_t shared_ld, shared_st, shared_atom; // warp instructions
    uint64_t shared_ld_wavefronts, shared_st_wavefronts, shared_atom_wavefronts;
    uint64_t shared_ld_conflicts, shared_st_conflicts;
    uint64_t local_ld_requests, local_ld_sectors, local_st_requests, local_st_sectors;
    uint64_t const_ld;
    uint64_t texture_requests, texture_sectors; // of textures and surfaces
    uint64_t branches, branch_divergent;
    // As the machine code has it (program/predicated.h): divergent branches that are branches there, and warp
    // instructions issued, also those with all lanes switched off.
    uint64_t issued_branch_divergent, issued_shared_ld, issued_shared_st, issued_shared_atom;
    uint64_t barriers;         // warp instructions: bar.sync, barrier.sync and their kin
    uint64_t partial_barriers; // of these, those of all threads that not all threads have executed
    uint64_t warp_barriers;    // bar.warp.sync
    uint64_t shuffles, votes, matches, reductions;
    uint64_t fences;
    uint64_t atomic_max_lanes; // the most lanes of one request on one address (a maximum, not a sum)
    uint64_t float_ops;        // floating-point operations by lanes; a fused multiply-add is two
    uint64_t float_distance; // the same, each times the operations back to the last that it needs, at most 8
} Counters;

// Adds `more` to `sum`, field by field (atomic_max_lanes: the larger).
void counters_add(Counters *sum, const Counters *more);

// The fields of Counters as data, in order, for writers of JSON and tables.
typedef struct {
    const char *name;
    size_t offset; // of a uint64_t
} CounterField;
extern const CounterField counter_fields[];
extern const int counter_field_count;
uint64_t counter_value(const Counters *counters, int field);

// How lanes meet in the banks of shared memory, in the worst of the requests of a load or store.
typedef struct {
    uint32_t extra; // wavefronts that it takes more than without conflicts; 0: there was no such request
    // Of the lanes that are served together:
    uint32_t lanes;       // how many there are
    uint32_t lane_words;  // words that each accesses
    uint32_t banks;       // of 32, in which their words are
    uint32_t most;        // words in one of these
    uint32_t pair[2];     // the first two that want different words of such a bank
    uint32_t pair_apart;  // words between these
    uint32_t words_apart; // from each lane to the next; 0: not the same everywhere
} BankConflict;

// How lanes lie in sectors of global memory, in the worst of the requests of a load or store.
typedef struct {
    uint32_t extra;       // sectors that it touches more than its bytes fill; 0: there was no such request
    uint32_t lanes;       // that take part,
    uint32_t lane_bytes;  // with so many each,
    uint32_t sectors;     // in so many sectors
    uint64_t bytes_apart; // from each lane to the next; 0: not the same everywhere
    // Of all requests: those whose lanes lie side by side, but begin between two sectors, and so touch one
    // more
    uint64_t between;
} Scatter;

typedef struct {
    SourcePlace place;
    Counters counters;
    BankConflict conflict;
    Scatter scatter;
} LineCounters;

// Adds `more`, of the same line, to `sum`.
void line_counters_add(LineCounters *sum, const LineCounters *more);
