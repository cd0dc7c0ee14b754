// Where lanes wait for each other. The handlers are declared in handlers.h.
#pragma once

#include "emulator/machine/machine.h"

// After threads have exited: barriers and warp-wide waits that they held up may complete.
void recheck_waits(Machine *machine, Warp *warp);
// The lanes of a warp that wait at a barrier of its block.
uint32_t lanes_at_barrier(const Warp *warp, int id);
// The instruction at which a fragment waits, or that it runs next.
static inline const Instruction *instruction_of(const Fragment *fragment) {
    return &fragment->frame->function->code[fragment->pc];
}
