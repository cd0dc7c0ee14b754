// What a launch does, as far as time is concerned.
#pragma once

// A point on a warp's clock, split by what was waited for: cycles of the SM itself, and trips to the L2 and
// to memory, whose length depends on the device and on how busy it is.
typedef struct {
    double cycles, l2_trips, dram_trips;
} ModelTime;

enum { MODEL_BINS = 32, TRIPS_OF_COLLECTING = 3 };

// What a launch does, followed on the emulator (EmulatorResult.work). Sums over all warps unless said
// otherwise.
typedef struct ModelWork {
    double blocks, warps; // that ran

    // Chains of dependent operations. A block takes as long as its slowest warp, barriers included.
    ModelTime block_time; // sum over blocks
    ModelTime block_most; // of the slowest block
    ModelTime warp_time;  // sum over warps, each to its own end
    // Memory answers some places sooner than others, and a warp that waits for several waits for the last.
    // Places are regions of 4 KiB; `regions` counts changes to another one. At points where warps meet, a
    // barrier or the end of the block: how often after waiting for memory, and the sum of sqrt(2 ln places)
    // over these points.
    double regions, meetings, meeting_spread;

    // Slots: issue of the SM's four schedulers, and of the pipes that are narrower than 32 lanes a clock.
    double issued;                              // warp instructions as ptxas would make them
    double code;                                // of the program, those that ran at least once
    double pipe_alu, pipe_special, pipe_double; // warp instructions that use these pipes
    double fused;             // multiply-adds that read three registers again, which take two issue slots
    double lsu;               // warp instructions through the load and store unit, shuffles too
    double shared_wavefronts; // of loads, stores and atomics
    double barriers;          // warp instructions

    // Global (and local) memory.
    double load_requests, load_lines, load_bytes; // lines: distinct 128-byte lines, summed over requests
    double load_sectors;                          // distinct 32-byte sectors, likewise
    double far_loads;                             // requests that wait for memory
    double store_requests, store_lines, store_sectors;
    double local_loads, local_stores; // words of all lanes: 4 sectors each
    // Of the sectors loaded: touched for the first time by anyone; or touched before, last by the same warp,
    // by another warp of its block, by another block.
    double first, again_warp, again_block, again_grid;
    // Those by log2 of the lines that a warp touched since: its own, or, taking it that warps keep pace, the
    // lines by which one was ahead of the other.
    double warp_distance[MODEL_BINS], block_distance[MODEL_BINS], grid_distance[MODEL_BINS];
    double first_pairs;  // 64-byte pairs of sectors that `first` lies in: what memory moves at least
    double stored_first; // sectors stored to for the first time
    double loads_stored; // of the sectors loaded: stored by this launch before

    // Atomics on global memory, by lanes.
    // An operation is what the L2 does at once: all lanes of a request that are on different addresses of one
    // sector; lanes on one address are as many operations.
    double atomic_requests, atomic_operations;
    double atomic_sectors; // touched by atomics of one block only
    // Of what several blocks share: operations on the slice of the L2 with most, those of them on all words
    // of a sector, and operations on the sector with most additions of floats.
    double atomic_slice, atomic_whole, atomic_floats;
    double atomic_waits; // requests whose result is used

    // Blocks that waited for others of the launch and then stored what others may wait for; and where each
    // waits until another has waited, the length of that chain and its links. They grow with the number of
    // blocks.
    double passed_on;
    ModelTime chain;
    double links;
    // Of those in no chain: blocks whose loads read what a block had stored after it had waited itself,
    // without an atomic for either.
    double told_plainly;
    // How long a block takes from when it first reads what others have stored until its end: by how much the
    // longest time is above the mean. The others have ended by then. If its threads read at once, it takes
    // TRIPS_OF_COLLECTING or fewer, a poll, a load and a store; if in turn, it grows with the number of
    // blocks.
    ModelTime collecting;
} ModelWork;
