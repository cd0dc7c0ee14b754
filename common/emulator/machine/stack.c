// alloca, stacksave and stackrestore. All lanes of a frame have one stack pointer, so that an address is the
// same in each: an allocation is as large as the largest that a lane asks for.
#include <string.h>

#include "emulator/machine/findings.h"
#include "emulator/machine/handlers.h"
#include "emulator/machine/local.h"

static uint32_t stack_top(const Frame *frame) {
    return frame->local_base + frame->function->local_bytes + frame->dynamic_bytes;
}

Step run_alloca(Machine *m, Warp *w, Fragment *f, const Instruction *in, uint32_t mask) {
    Frame *frame = f->frame;
    const uint64_t *sizes = source(frame->registers, in, 0);
    uint64_t most = 0, *to = destination(frame->registers, in, 0);
    FOR_LANES(lane, mask) most = sizes[lane] > most ? sizes[lane] : most;
    const uint64_t align = in->literal[0] > 16 ? in->literal[0] : 16;
    const uint64_t start = (stack_top(frame) + align - 1) / align * align,
                   top = start + (most + 15) / 16 * 16;
    if (most > MAX_LOCAL_BYTES || top > MAX_LOCAL_BYTES) {
        report(m, FINDING_STACK_OVERFLOW, w, __builtin_ctz(mask), in,
               "the stack is full: alloca() of %llu bytes, and a thread may have %d",
               (unsigned long long)most, MAX_LOCAL_BYTES);
        return STEP_TURN_ENDS;
    }
    frame->dynamic_bytes += (uint32_t)top - stack_top(frame);
    if (top > w->local_capacity && !grow_local(m, w, (uint32_t)top, in)) return STEP_TURN_ENDS;
    FOR_LANES(lane, mask) to[lane] = start;
    return STEP_NEXT;
}

Step run_stacksave(Machine *m, Warp *w, Fragment *f, const Instruction *in, uint32_t mask) {
    (void)m, (void)w;
    uint64_t *to = destination(f->frame->registers, in, 0);
    FOR_LANES(lane, mask) to[lane] = stack_top(f->frame);
    return STEP_NEXT;
}

// Only when all lanes of the frame restore together: others may still use what lies above.
Step run_stackrestore(Machine *m, Warp *w, Fragment *f, const Instruction *in, uint32_t mask) {
    (void)m, (void)w;
    Frame *frame = f->frame;
    const uint64_t saved = ((const uint64_t *)source(frame->registers, in, 0))[__builtin_ctz(mask)];
    const uint32_t bottom = frame->local_base + frame->function->local_bytes;
    if (mask == frame->live && saved >= bottom && saved <= stack_top(frame))
        frame->dynamic_bytes = (uint32_t)saved - bottom;
    return STEP_NEXT;
}
