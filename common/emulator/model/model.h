// The time model: how long a GPU would take for a kernel that the emulator has run.
//
// It has three stages, one file each:
//   cost.c   what ptxas will make of each PTX instruction: how many issue slots, which pipe, what
//                  latency
//   warp_clocks.c  while blocks run on the emulator: how long each warp's chain of dependent operations is,
//                  and which sectors were touched before, by whom, and how long ago (launch.timing)
//   time.c   from that, the launch shape and a device: seconds, and what they go to
// docs/time-model.md explains the terms, and how well they agree with a GPU.
#ifndef WARPBOOK_MODEL_H
#define WARPBOOK_MODEL_H

#include <stdbool.h>
#include <stdint.h>

// A point on a warp's clock, split by what was waited for: cycles of the SM itself, and trips to the L2 and
// to memory, whose length depends on the device and on how busy it is.
typedef struct {
    double cycles, l2_trips, dram_trips;
} ModelTime;

enum { MODEL_BINS = 32 };

// What a launch does, followed on the emulator (EmulatorResult.work). Sums over all warps unless said
// otherwise.
typedef struct ModelWork {
    double blocks, warps; // that ran

    // Chains of dependent operations. A block takes as long as its slowest warp, barriers included.
    ModelTime block_time; // sum over blocks
    ModelTime block_most; // of the slowest block
    ModelTime warp_time;  // sum over warps, each to its own end
    // Memory answers one place sooner than another, and who waits for several waits for the last. Places are
    // regions of 4 KiB; `regions` those that a warp came to anew. Where warps meet, at a barrier or the end
    // of the block: how often after waiting for memory, and the sum of sqrt(2 ln places) over those meetings.
    double regions, meetings, meeting_spread;

    // Slots: issue of the SM's four schedulers, and of the pipes that are narrower than 32 lanes a clock.
    double issued;                              // warp instructions as ptxas would make them
    double code;                                // of the program, those that ran at least once
    double pipe_alu, pipe_special, pipe_double; // warp instructions that use these pipes
    double fused;             // multiply-adds of three different registers, which take two issue slots
    double lsu;               // warp instructions through the load and store unit, shuffles too
    double shared_wavefronts; // of loads, stores and atomics
    double barriers;          // warp instructions

    // Global (and local) memory.
    double load_requests, load_lines, load_bytes; // lines: distinct 128-byte lines, summed over requests
    double load_sectors;                          // distinct 32-byte sectors, likewise
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
    double
        atomic_hottest;   // of what several blocks share, operations on the 128-byte line with most; of these
    double atomic_single; // on the sector of that line with most
    double atomic_waits;  // requests whose result is used
} ModelWork;

// ---- A device ---------------------------------------------------------------------------------------------

// What the model knows of a device. Cycles are the SM's. How each number was found, and which of them carry
// over to devices that nobody measured: device.c and docs/time-model.md.
typedef struct {
    // Published figures.
    double sm_count, clock_hz;
    double warps_per_sm, blocks_per_sm, registers_per_sm, shared_per_sm, shared_reserved_per_block;
    double l1_bytes; // of the SM, shared memory in it
    double l2_bytes;
    double peak_bytes_per_s; // of memory

    // Launches, in seconds.
    double launch;       // of an empty kernel of one block, from event to event
    double first_access; // more, where memory is touched: translations and code come from memory first
    double next_launch;  // a launch that follows another one in the same stream
    double code;         // per instruction that is fetched for the first time
    double block;        // for each block of the grid, which one unit hands out
    double warp_cycles;  // from a block's end to the start of the next in its place, for each of its warps

    // Waiting, in cycles.
    double l2_latency;
    double dram_latency; // of one place in memory, the device being idle
    double
        dram_latency_spread; // standard deviation: who waits for k places waits sqrt(2 ln k) of these longer
    double overlap;          // exponent by which waiting and moving bytes add up: 1 is one after the other

    // Bytes.
    double dram_read, dram_write; // of the peak, the share that is reached
    double dram_scattered;        // likewise, where every access is to another place
    double dram_mixed;            // share of time lost where reads and writes alternate
    double dirty_bytes;           // that stay in the L2 when a kernel ends
    double l2_line, l2_sector;    // seconds for each line and each sector that the L2 handles
    double l2_local;              // of a line of local memory, in global ones
    double l2_usable;             // share of the L2 that a kernel can count on

    // An SM's units, per cycle.
    double issue;                 // warp instructions
    double alu, special, doubles; // likewise, of the pipes so called
    double store_line;            // cycles of the load and store unit for each line stored; a load's takes 1
    double sharing;               // exponent by which the units' times add up
    double together;              // likewise of SM, L2 and memory

    // Atomics, in seconds.
    double atomic_same;  // an operation on the sector of the one before
    double atomic_other; // on another sector of its line
} ModelDevice;

typedef struct {
    int sm_count, clock_khz, compute_major, compute_minor;
    int max_threads_per_sm, max_blocks_per_sm, registers_per_sm, shared_per_sm, shared_reserved_per_block;
    double l2_bytes, peak_gb_per_s;
} ModelFigures;

// The constants of a device with those figures. Measured for the H200; for others what is known of their
// generation, else the H200's.
void model_device(const ModelFigures *figures, ModelDevice *device);

// ---- From a part to the whole ----------------------------------------------------------------------------

// A GPU runs 2^28 elements in a millisecond, an emulator does not. Where blocks do not look at how many they
// are, the first few of the grid tell of all. Else what a block does depends on the elements that are its
// share, and the more of them, the more of everything, in a straight line: a few blocks with fewer elements
// are run, twice where the line is needed.
typedef struct {
    uint64_t blocks; // of the grid, in x
    double elements; // that these blocks work on
    bool is_all_n;   // the kernel is told n; else `elements`
} ModelRun;

// The one or two runs from which a launch of `blocks` one-dimensional blocks over n elements is known;
// returns how many. `reads_grid`: the kernel asks how many blocks there are.
int model_plan(uint64_t blocks, uint64_t block_threads, double n, bool reads_grid, ModelRun runs[2]);
// What the launch does, from what its runs did. Where blocks have more dimensions, or the grid follows n, one
// run of a smaller grid will do: `count` is 1.
void model_whole(const ModelRun runs[2], const ModelWork works[2], int count, uint64_t blocks, double n,
                 ModelWork *whole);

// ---- Time ------------------------------------------------------------------------------------------------

typedef struct {
    double blocks, block_threads;
    double registers;    // per thread, as ptxas reports them; 0: few
    double shared_bytes; // per block, static and dynamic
} ModelShape;

typedef enum { MODEL_LAUNCH, MODEL_LATENCY, MODEL_MEMORY, MODEL_INSTRUCTIONS, MODEL_ATOMICS } ModelLimiter;

typedef struct {
    double seconds;
    // What each would take if the others took nothing, in seconds. They overlap.
    double launch, latency, dram, l2, units, blocks, atomics;
    double issue, load_store; // of `units`
    double dram_bytes;
    double bytes_in_flight,
        bytes_to_fill; // per SM: loads on their way, and what it takes to keep memory busy
    ModelLimiter limiter;
    char words[200]; // "bytes in flight: 16 KiB an SM, 40 KiB would fill it"
} ModelEstimate;

// Blocks of that shape that an SM holds at a time; 0: none.
double model_resident_blocks(const ModelDevice *device, const ModelShape *shape);
void model_estimate(const ModelDevice *device, const ModelShape *shape, const ModelWork *work,
                    ModelEstimate *estimate);
// A launch that follows the one estimated before, in the same stream: both together.
void model_estimate_next(const ModelDevice *device, const ModelEstimate *next, ModelEstimate *sum);

#endif
