// How undefined values spread from register to register, and to and from memory.
#pragma once

#include "emulator/machine/exchange.h"
#include "emulator/machine/undefined.h"

// Before `in` is executed by the lanes of `mask` in a frame that holds undefined values: notes what becomes
// undefined or defined, and reports uses. Loads, stores and exchanges come to the functions below as well.
void undefined_step(Machine *machine, const Warp *warp, Fragment *fragment, const Instruction *in,
                    uint32_t mask);

// After an access that is a load, of which `lanes` read bytes that are not initialised; or a store.
void undefined_load(Machine *machine, Fragment *fragment, const Access *access, uint32_t lanes);
void undefined_store(Machine *machine, Fragment *fragment, const Access *access);

// A new origin: the lanes of `lanes` read memory that nothing has written.
uint64_t undefined_read(Machine *machine, const Access *access, uint32_t lanes);

// What the lanes of a register give each other, or an instruction computes for them.
typedef struct {
    uint32_t bytes[8];
    uint64_t origin[WARP_SIZE];
} UndefinedLanes;
// Adds what is undefined of an operand of `in` in the lanes of `mask`.
void undefined_add(Machine *machine, const Warp *warp, const Frame *frame, const Instruction *in,
                   const Operand *operand, uint32_t mask, UndefinedLanes *value);
// The lanes of `mask` of the register at `offset` become `value`.
void undefined_write(Machine *machine, Frame *frame, int32_t offset, uint32_t mask,
                     const UndefinedLanes *value);

// Parameters of a call: `bytes` of each lane of `mask`.
void undefined_copy(Machine *machine, Frame *to, int32_t to_offset, const Frame *from, int32_t from_offset,
                    uint32_t bytes, uint32_t mask);

// What is undefined of the values that the lanes of `gathering` give.
void undefined_given(Machine *machine, const Warp *warp, const Gathering *gathering, UndefinedLanes *given);
// The lanes of `part` take those of the lanes from[l], which are defined if `given` is NULL; those of
// `missing` read lanes that take no part.
void undefined_taken(Machine *machine, const Warp *warp, const Gathering *gathering, const Part *part,
                     const UndefinedLanes *given, const uint32_t *from, uint32_t missing);
// Every lane takes a result that depends on all of them.
void undefined_shared(Machine *machine, const Warp *warp, const Gathering *gathering);
