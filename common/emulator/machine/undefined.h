// Values that are not defined, in registers: those of registers never written, of memory that nothing has
// written, and of lanes that a shuffle may not read. The machine computes with them as with any others, and
// follows which bytes of which lanes they reach; observers hear of a use that makes a difference
// (Observer.undefined_use).
//
// Only frames that hold such a value are followed, from the instruction that brings the first one.
#pragma once

#include "emulator/machine/machine.h"

// Of one register of one frame.
typedef struct UndefinedRegister {
    uint32_t bytes[8];          // by byte of the value: the lanes where it is undefined. A predicate has one
    uint64_t origin[WARP_SIZE]; // by lane; 0: a register that nothing has read since it was made
    struct UndefinedRegister *next; // of the frame
} UndefinedRegister;

typedef struct UndefinedValues {
    UndefinedRegister **at; // by offset in the register file / 4; NULL where all is defined
    UndefinedRegister *all;
} UndefinedValues;

// The undefined bytes of the register at `offset`; NULL: none.
static inline UndefinedRegister *undefined_at(const Frame *frame, int32_t offset) {
    return frame->undefined ? frame->undefined->at[offset / 4] : NULL;
}
// The same, made if there are none; NULL when memory ran out, which stops the machine.
UndefinedRegister *undefined_make(Machine *machine, Frame *frame, int32_t offset);
// The lanes with an undefined byte.
static inline uint32_t undefined_lanes(const UndefinedRegister *r) {
    uint32_t lanes = 0;
    for (int b = 0; r && b < 8; b++) lanes |= r->bytes[b];
    return lanes;
}

// Fills the registers that a thread may read before it writes them with garbage, and follows it.
void undefined_start(Machine *machine, const Warp *warp, Frame *frame);
void undefined_end(Frame *frame);
// Garbage that depends on the schedule.
uint64_t undefined_garbage(const Machine *machine, uint64_t salt);

// ---- Origins ----------------------------------------------------------------------------------------------

// Remembers where lanes of `warp` got undefined values; its number. Of many the newest are remembered.
uint64_t undefined_origin(Machine *machine, const UndefinedOrigin *origin);
// The origin of a sum of `in`, wgmma of that group of its warp: defined once the warp has waited for it.
uint64_t undefined_pending(const Instruction *in, uint32_t group);
bool undefined_is_pending(uint64_t origin);
// A pending origin that has ended.
bool undefined_has_ended(const Warp *warp, uint64_t origin);
void undefined_close(Machine *machine);
// Remembers the origin of undefined bytes in shared or local memory of a block; 0: that of the next load.
void undefined_stored(Machine *machine, const Block *block, const Memory *memory, uint64_t offset,
                      uint32_t bytes, uint64_t origin);
// The origin of what one of its lanes read. It stays that of the lane wherever the value goes.
uint64_t undefined_of_lane(uint64_t origin, uint32_t lane);
// The origin that was remembered of a byte; 0: none. *is_unsure: it may have been forgotten.
uint64_t undefined_stored_at(const Machine *machine, const Block *block, const Memory *memory,
                             uint64_t offset, bool *is_unsure);
// Tells observers that `in` makes use of the undefined bytes of `r` in `lanes`, which from then on count as
// defined. NULL is defined.
void undefined_used(Machine *machine, const Warp *warp, const Instruction *in, UndefinedRegister *r,
                    uint32_t lanes, UndefinedUse use);
// The same of bytes of memory that `in`, a printf, prints for `lane`, if they are undefined.
void undefined_printed(Machine *machine, const Warp *warp, int lane, const Instruction *in,
                       const Memory *memory, uint64_t offset, uint64_t bytes);
