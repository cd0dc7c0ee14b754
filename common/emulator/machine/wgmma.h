// wgmma: products whose sums are in registers, and whose factors are in shared memory. Internal to
// common/emulator.
#pragma once

#include "emulator/machine/exchange.h"

// A product that a warp has not waited for: it may still read its factors.
typedef struct {
    const Instruction *in;
    uint64_t a, b; // descriptors
    uint32_t group;
} Wgmma;

struct Wgmmas {
    Wgmma *pending;
    int count, capacity;
    uint32_t committed, completed; // groups
    bool has_fence;                // wgmma.fence was executed
};

void wgmma_forget(Wgmmas *wgmmas); // of a block that ended
void wgmma_free(Wgmmas *wgmmas);

// KIND_WGMMA, by the lanes of `gathering`.
void wgmma_multiply(Machine *machine, Warp *warp, const Gathering *gathering);
