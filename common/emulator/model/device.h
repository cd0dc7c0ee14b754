// The constants of devices.
#pragma once

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
    double dram_latency;        // of one place in memory, the device being idle
    double dram_latency_spread; // standard deviation: waiting for k places takes sqrt(2 ln k) of these longer
    // The exponent of the overlap of waiting and moving bytes is 1 + overlap x exp(-overlap_written x the
    // share of the bytes that is written); 1 is one after the other.
    double overlap, overlap_written;

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
    double wavefront;             // likewise for each wavefront of shared memory
    double sharing;               // exponent by which the times of issue and of the arithmetic pipes add up
    double queued;                // likewise of these and the load and store unit
    double together, parties; // that of SM, L2 and memory is 1 + together x (what runs side by side)^parties

    // Atomics, in seconds.
    double atomic_word;   // an operation on some words of a sector, for a slice of the L2
    double atomic_sector; // likewise on all words of a sector
    double atomic_float;  // until a word is ready for the next addition of floats
    double atomic_l2;     // an operation, for the whole L2

    // Seconds that a block waits for what others tell it while memory is busy, and more where it is told by
    // plain stores and loads.
    double told, told_plainly;
} ModelDevice;

typedef struct {
    int sm_count, clock_khz, compute_major, compute_minor;
    int max_threads_per_sm, max_blocks_per_sm, registers_per_sm, shared_per_sm, shared_reserved_per_block;
    double l2_bytes, peak_gb_per_s;
} ModelFigures;

// The constants of a device with those figures. Measured for the H200; for others what is known of their
// generation, else the H200's.
void model_device(const ModelFigures *figures, ModelDevice *device);
