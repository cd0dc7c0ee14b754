// Addresses as values: conversions between address spaces, questions about them, and addresses in a frame.
#include <string.h>

#include "emulator/machine/handlers.h"
#include "emulator/machine/resolve.h"

Step run_cvta(Machine *m, Warp *w, Fragment *f, const Instruction *in, uint32_t mask) {
    (void)m, (void)w;
    unsigned char *registers = f->frame->registers;
    const uint64_t *from = source(registers, in, 0);
    uint64_t *to = destination(registers, in, 0);
    uint64_t window = in->space == PTX_SPACE_SHARED  ? SHARED_WINDOW
                      : in->space == PTX_SPACE_LOCAL ? LOCAL_WINDOW
                                                     : 0;
    if (in->flags) window = 0 - window; // to the space
    if (mask == FULL_MASK) {
        for (unsigned lane = 0; lane < WARP_SIZE; lane++) to[lane] = from[lane] + window;
        return STEP_NEXT;
    }
    FOR_LANES(lane, mask) to[lane] = from[lane] + window;
    return STEP_NEXT;
}

Step run_isspacep(Machine *m, Warp *w, Fragment *f, const Instruction *in, uint32_t mask) {
    unsigned char *registers = f->frame->registers;
    const uint64_t *address = source(registers, in, 0);
    uint32_t *to = destination(registers, in, 0);
    FOR_LANES(lane, mask) {
        uint64_t object = address[lane] >> ADDRESS_SHIFT;
        PtxSpace space = PTX_SPACE_NONE;
        if (object == SHARED_WINDOW >> ADDRESS_SHIFT)
            space = PTX_SPACE_SHARED;
        else if (object == LOCAL_WINDOW >> ADDRESS_SHIFT)
            space = PTX_SPACE_LOCAL;
        else if (object == PARAM_WINDOW >> ADDRESS_SHIFT)
            space = PTX_SPACE_PARAM;
        else {
            const Memory *memory = memory_at(m->emulator, address[lane]);
            if (memory) space = memory->space;
        }
        // Of the addresses of shared memory, .shared::cta has those of the thread's own block.
        const bool is_far = space == PTX_SPACE_SHARED && w->block->cluster->size > 1 &&
                            (address[lane] & (SHARED_WINDOW - 1)) >> RANK_SHIFT;
        if (is_far && !(in->flags & IN_CLUSTER) &&
            ((address[lane] & (SHARED_WINDOW - 1)) >> RANK_SHIFT) - 1 != w->block->rank)
            space = PTX_SPACE_NONE;
        uint32_t bit = 1u << lane;
        *to = space == in->space ? *to | bit : *to & ~bit;
    }
    return STEP_NEXT;
}

Step run_frame_address(Machine *m, Warp *w, Fragment *f, const Instruction *in, uint32_t mask) {
    (void)m, (void)w;
    uint64_t address = f->frame->local_base + (uint64_t)in->offset;
    unsigned char *to = f->frame->registers + in->dst[0];
    FOR_LANES(lane, mask) memcpy(to + lane * in->width, &address, in->width);
    return STEP_NEXT;
}
