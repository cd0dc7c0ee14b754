// Seconds from work, a launch shape and a device.
#pragma once

#include "emulator/model/device.h"
#include "emulator/model/work.h"

typedef struct {
    double blocks, block_threads;
    double registers;    // per thread, as ptxas reports them; 0: few
    double shared_bytes; // per block, static and dynamic
} ModelShape;

typedef enum {
    MODEL_LAUNCH,
    MODEL_LATENCY,
    MODEL_MEMORY,
    MODEL_INSTRUCTIONS,
    MODEL_ATOMICS,
    MODEL_CHAIN
} ModelLimiter;

typedef struct {
    double seconds;
    // What each would take if the others took nothing, in seconds. They overlap.
    double launch, latency, dram, l2, units, blocks, atomics, chain;
    double issue, load_store; // of `units`
    const char *narrow;       // the arithmetic units that `issue` is the time of; NULL: it is that of all
    double dram_bytes;
    double bytes_in_flight,
        bytes_to_fill; // per SM: loads on their way, and what it takes to keep memory busy
    ModelLimiter limiter;
    char words[200]; // "bytes in flight: 16 KiB an SM, 40 KiB would fill it"
} ModelEstimate;

// What it takes a block to collect what the others have left, when they have ended, beyond a few trips to the
// L2.
double model_collecting_seconds(const ModelDevice *device, const ModelWork *work);
// Blocks of that shape that an SM holds at a time; 0: none.
double model_resident_blocks(const ModelDevice *device, const ModelShape *shape);
void model_estimate(const ModelDevice *device, const ModelShape *shape, const ModelWork *work,
                    ModelEstimate *estimate);
// A launch that follows the one estimated before, in the same stream: both together.
void model_estimate_next(const ModelDevice *device, const ModelEstimate *next, ModelEstimate *sum);
