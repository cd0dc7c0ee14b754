// The 64 bits of an mbarrier (ISA, "Size and alignment of mbarrier object": opaque to programs), which are
// also the state that an arrival returns.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "emulator/alu/instruction.h"

typedef struct {
    uint32_t pending;  // arrivals that the current phase waits for
    uint32_t expected; // arrivals of the next phase
    int32_t bytes;     // of asynchronous copies that the current phase waits for: the tx-count
    uint32_t parity;   // of the current phase
} MbarrierState;

// ISA, "mbarrier operations": a count is 1 to 2^20 - 1, a tx-count at most 2^20 - 1 in both directions.
enum { MBARRIER_MOST = (1 << 20) - 1 };

static inline uint64_t mbarrier_pack(MbarrierState s) {
    return (uint64_t)s.pending | (uint64_t)s.expected << 20 | ((uint64_t)(uint32_t)s.bytes & 0x1fffff) << 40 |
           (uint64_t)s.parity << 61;
}

static inline MbarrierState mbarrier_unpack(uint64_t word) {
    const int32_t bytes = (int32_t)(word >> 40 & 0x1fffff);
    return (MbarrierState){.pending = (uint32_t)(word & MBARRIER_MOST),
                           .expected = (uint32_t)(word >> 20 & MBARRIER_MOST),
                           .bytes = bytes & 1 << 20 ? bytes - (1 << 21) : bytes,
                           .parity = (uint32_t)(word >> 61 & 1)};
}

// mbarrier.pending_count: of the state that an arrival returned.
AluHandler mbarrier_pending_count;
