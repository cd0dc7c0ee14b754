// Waiting for the phase of an mbarrier to end: what asynchronous copies bring arrives meanwhile.
#include "emulator/machine/bulk.h"
#include "emulator/machine/handlers.h"
#include "emulator/machine/mbarrier.h"
#include "emulator/machine/mbarrier_wait.h"
#include "emulator/machine/resolve.h"

// The parity of the phase that a lane waits for.
static uint32_t awaited_parity(const unsigned char *registers, const Instruction *in, unsigned lane) {
    if (in->literal[0] & MBARRIER_PARITY) return ((const uint32_t *)source(registers, in, 1))[lane] & 1;
    return mbarrier_unpack(((const uint64_t *)source(registers, in, 1))[lane]).parity;
}

Step run_mbarrier_wait(Machine *m, Warp *w, Fragment *f, const Instruction *in, uint32_t mask) {
    uint64_t addresses[WARP_SIZE];
    const unsigned char *registers = f->frame->registers;
    lane_addresses(registers, in, addresses);
    uint32_t complete = 0;
    FOR_LANES(lane, mask) {
        Block *b;
        uint64_t offset;
        if (!mbarrier_find(m, w, in, lane, addresses, &b, &offset)) return STEP_TURN_ENDS;
        const uint32_t awaited = awaited_parity(registers, in, lane);
        const Mbarrier *mbarrier = mbarrier_at(b, offset);
        while (mbarrier_state(b, mbarrier).parity == awaited && bulk_deliver(m, b, f, offset)) {
            mbarrier = mbarrier_at(b, offset);
            if (m->stopped || (m->scrambled && random_one_in(&m->random, 2))) break;
        }
        if (m->stopped) return STEP_TURN_ENDS;
        if (mbarrier_state(b, mbarrier).parity == awaited) continue;
        observe_async(m, w, in, ACCESS_LOAD, lane, &b->shared, offset + 4 * awaited, 4, true);
        complete |= 1u << lane;
    }
    if (in->dst[0] >= 0) {
        uint32_t *to = destination(f->frame->registers, in, 0);
        *to = (*to & ~mask) | complete;
    }
    if (complete == mask) return STEP_NEXT;
    m->polls++;
    w->polls++;
    return STEP_POLLED | (m->scrambled && random_one_in(&m->random, 8) ? STEP_TURN_ENDS : 0);
}

void mbarrier_deadlock(Machine *m, Warp *w, unsigned lane, const unsigned char *registers,
                       const Instruction *in, uint32_t threads) {
    uint64_t addresses[WARP_SIZE], offset = 0;
    lane_addresses(registers, in, addresses);
    const Memory *memory = find_object(m, w, in, addresses[lane], 8, &offset);
    const Block *b = memory && memory->space == PTX_SPACE_SHARED ? block_of_memory(memory) : w->block;
    char name[128];
    MbarrierFacts facts = mbarrier_facts(m, w, b, mbarrier_at(b, offset), offset, name);
    facts.parity = awaited_parity(registers, in, lane);
    facts.threads = threads;
    m->stopped = true;
    TELL_OBSERVERS(m, mbarrier_deadlock, w, (int)lane, in, &facts);
}
