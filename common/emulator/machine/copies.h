// Asynchronous copies in flight: what each moves, and which bytes it has not delivered. What starts and ends
// them is in async.c and bulk.c.
#pragma once

#include "emulator/machine/machine.h"

// ---- cp.async ---------------------------------------------------------------------------------------------

// One cp.async of one warp instruction; lanes leave it as they wait for it.
typedef struct {
    const Instruction *in;
    uint64_t serial;               // among the warp's copies
    uint32_t lanes;                // whose bytes have not landed yet
    uint32_t group[WARP_SIZE];     // of each lane
    uint64_t to[WARP_SIZE];        // offsets in the block's shared memory
    uint32_t words[4][WARP_SIZE];  // up to 16 bytes a lane, as the registers of a vector store
    uint16_t undefined[WARP_SIZE]; // of these bytes, one bit each: nothing has written them
    uint64_t origin[WARP_SIZE];    // of these
} LaneCopy;

struct AsyncCopies {
    LaneCopy *copies;
    size_t count, capacity;
    uint64_t started;
    uint32_t committed[WARP_SIZE]; // groups, per lane
};

// ---- Bulk copies ------------------------------------------------------------------------------------------

// A bulk copy or reduction, or an arrival that waits for a lane's cp.async.
struct Flight {
    const Instruction *in; // KIND_BULK or KIND_CP_ASYNC_ARRIVE
    Warp *warp;            // whose lane started it
    unsigned lane;
    uint32_t lanes; // of an arrival: all that arrive
    Memory *from, *to;
    uint64_t from_offset, to_offset;
    uint32_t bytes;
    TensorBox *box;      // of a tensor copy, or NULL: `bytes` are then those of its place in shared memory
    uint32_t byte_mask;  // which of each 16 are written
    unsigned char *data; // what has been read already, or NULL
    Memory *target;      // where its mbarrier lies; NULL: it belongs to a group
    uint64_t mbarrier;   // its offset there
    uint32_t group;      // of the lane
    uint64_t serial;     // of an arrival: it waits for copies that are older
};

// Adds a copy of `block`, of its mbarrier or of a thread's group; NULL when memory ran out, which stops the
// machine.
Flight *flight_add(Machine *machine, Block *block);
// Takes the one at `index` out, in any order.
Flight flight_take(Block *block, int index);

// The asynchronous copy that has not yet delivered some of these bytes of shared memory; NULL: none.
const Instruction *undelivered(const Memory *memory, uint64_t offset, uint64_t bytes);
// The bulk copy that may still read some of these bytes of shared memory, or write them; NULL: none.
const Instruction *unfinished(const Memory *memory, uint64_t offset, uint64_t bytes, bool *is_source);
