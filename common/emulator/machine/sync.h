// Where lanes wait for each other. The handlers are declared in handlers.h.
#pragma once

#include "emulator/machine/machine.h"

// After threads have exited: barriers and warp-wide waits that they held up may complete.
void recheck_waits(Machine *machine, Warp *warp);
// The lanes of a warp that wait at a barrier of its block.
uint32_t lanes_at_barrier(const Warp *warp, int id);
// Whether all threads of a block execute the barrier that they wait at and are about to pass.
typedef struct {
    enum {
        BARRIER_WHOLE,    // or one of a number of threads, which is met
        BARRIER_ENDED,    // some threads have ended without it
        BARRIER_SEPARATE, // warps wait at different barriers of the source
    } part;
    const Instruction *in, *other; // where the first warp waits, and of BARRIER_SEPARATE another
    const Warp *waiting;           // that warp
    const Warp *warp;              // the first with threads that do not wait at `in`,
    int lane;                      // and the first of them
    uint32_t threads;              // all of them
} BarrierPart;
BarrierPart barrier_part(const Block *block, int id);
// The instruction at which a fragment waits, or that it runs next.
static inline const Instruction *instruction_of(const Fragment *fragment) {
    return &fragment->frame->function->code[fragment->pc];
}
