#include "emulator/machine/mbarrier.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emulator/machine/findings.h"
#include "emulator/machine/handlers.h"
#include "emulator/machine/initialised.h"
#include "emulator/machine/resolve.h"

enum { MBARRIER_BYTES = 8 };

// ---- What a block has -------------------------------------------------------------------------------------

Mbarrier *mbarrier_at(const Block *b, uint64_t offset) {
    for (int i = 0; i < b->mbarrier_count; i++)
        if (b->mbarriers[i].offset == offset) return &b->mbarriers[i];
    return NULL;
}

MbarrierState mbarrier_state(const Block *b, const Mbarrier *mbarrier) {
    uint64_t word;
    memcpy(&word, b->shared.data + mbarrier->offset, sizeof word);
    return mbarrier_unpack(word);
}

static void set_state(Block *b, const Mbarrier *mbarrier, MbarrierState state) {
    const uint64_t word = mbarrier_pack(state);
    memcpy(b->shared.data + mbarrier->offset, &word, sizeof word);
}

static void init(Machine *m, Block *b, uint64_t offset, const Instruction *in, uint32_t count) {
    Mbarrier *mbarrier = mbarrier_at(b, offset);
    if (!mbarrier) {
        if (b->mbarrier_count == b->mbarrier_capacity) {
            const int capacity = b->mbarrier_capacity ? 2 * b->mbarrier_capacity : 4;
            Mbarrier *grown = realloc(b->mbarriers, (size_t)capacity * sizeof *grown);
            if (!grown) {
                m->out_of_memory = m->stopped = true;
                return;
            }
            b->mbarriers = grown;
            b->mbarrier_capacity = capacity;
        }
        mbarrier = &b->mbarriers[b->mbarrier_count++];
    }
    *mbarrier = (Mbarrier){.offset = (uint32_t)offset, .init = in};
    set_state(b, mbarrier, (MbarrierState){.pending = count, .expected = count});
    mark_initialised(&b->shared, offset, MBARRIER_BYTES);
}

// The phase ends when nothing is pending (ISA, "Phase of the mbarrier object").
void mbarrier_complete(Machine *m, Block *b, Mbarrier *mbarrier, uint32_t count, int32_t bytes) {
    MbarrierState state = mbarrier_state(b, mbarrier);
    state.pending -= count;
    state.bytes -= bytes;
    m->effects++;
    if (!state.pending && !state.bytes) {
        state.pending = state.expected;
        state.parity ^= 1;
        mbarrier->phases++;
    }
    set_state(b, mbarrier, state);
}

// ---- Reports ----------------------------------------------------------------------------------------------

MbarrierFacts mbarrier_facts(const Machine *m, const Warp *w, const Block *b, const Mbarrier *mbarrier,
                             uint64_t offset, char name[128]) {
    uint64_t index, bytes;
    name_object(m, w, &b->shared, offset, name, &index, &bytes);
    const size_t used = strlen(name);
    if (index) snprintf(name + used, 128 - used, " at byte %llu", (unsigned long long)index);
    MbarrierFacts facts = {.name = name};
    if (!mbarrier) return facts;
    const MbarrierState state = mbarrier_state(b, mbarrier);
    facts.init = mbarrier->init;
    facts.phases = mbarrier->phases;
    facts.pending = state.pending;
    facts.expected = state.expected;
    facts.bytes = state.bytes;
    return facts;
}

static void refuse(Machine *m, const Warp *w, unsigned lane, const Instruction *in, MbarrierFault fault,
                   const Block *b, uint64_t offset, uint32_t count) {
    char name[128];
    MbarrierFacts facts = mbarrier_facts(m, w, b, mbarrier_at(b, offset), offset, name);
    facts.count = count;
    m->stopped = true;
    TELL_OBSERVERS(m, bad_mbarrier, w, (int)lane, in, fault, &facts);
}

// ---- Operations -------------------------------------------------------------------------------------------

bool mbarrier_find(Machine *m, Warp *w, const Instruction *in, unsigned lane,
                   const uint64_t addresses[WARP_SIZE], Block **b, uint64_t *offset) {
    Memory *memory;
    Instruction shared =
        *in; // a generic address of other memory is refused like one outside of shared memory
    if (in->space == PTX_SPACE_NONE && addresses[lane] >> ADDRESS_SHIFT != SHARED_WINDOW >> ADDRESS_SHIFT)
        shared.space = PTX_SPACE_SHARED;
    const AccessKind kind = in->kind == KIND_MBARRIER_WAIT ? ACCESS_LOAD : ACCESS_ATOMIC;
    if (!resolve_lane(m, w, &shared, kind, lane, addresses, MBARRIER_BYTES, MBARRIER_BYTES, &memory, offset))
        return false;
    *b = block_of_memory(memory);
    if (in->operation == MBARRIER_INIT || mbarrier_at(*b, *offset)) return true;
    refuse(m, w, lane, in, MBARRIER_ABSENT, *b, *offset, 0);
    return false;
}

// What can be wrong with the counts of an operation.
static bool check_counts(Machine *m, const Warp *w, const Instruction *in, unsigned lane, const Block *b,
                         uint64_t offset, MbarrierState state, uint32_t count, uint32_t bytes) {
    MbarrierFault fault;
    const int64_t after = (int64_t)state.bytes + bytes;
    if ((in->operation == MBARRIER_INIT || in->operation >= MBARRIER_ARRIVE) &&
        (count < 1 || count > MBARRIER_MOST))
        fault = MBARRIER_BAD_COUNT;
    else if (bytes > MBARRIER_MOST || after > MBARRIER_MOST)
        fault = MBARRIER_BAD_BYTES, count = bytes;
    else if (in->operation >= MBARRIER_ARRIVE &&
             (count > state.pending || (in->operation == MBARRIER_ARRIVE_DROP && count > state.expected)))
        fault = MBARRIER_TOO_MANY;
    else if (in->literal[0] & MBARRIER_KEEPS_PHASE && count == state.pending && !after)
        fault = MBARRIER_ENDED;
    else
        return true;
    refuse(m, w, lane, in, fault, b, offset, count);
    return false;
}

static bool operate(Machine *m, Warp *w, const Fragment *f, const Instruction *in, unsigned lane,
                    const uint64_t addresses[WARP_SIZE]) {
    Block *b;
    uint64_t offset;
    if (!mbarrier_find(m, w, in, lane, addresses, &b, &offset)) return false;
    unsigned char *registers = f->frame->registers;
    const uint32_t operand = in->src_count > 1 ? ((const uint32_t *)source(registers, in, 1))[lane] : 1;
    Mbarrier *mbarrier = mbarrier_at(b, offset);
    const bool is_plain = in->operation == MBARRIER_INIT || in->operation == MBARRIER_INVAL;
    const bool is_arrival = in->operation == MBARRIER_ARRIVE || in->operation == MBARRIER_ARRIVE_DROP;
    const bool has_bytes = !is_plain && (!is_arrival || in->literal[0] & MBARRIER_EXPECTS);
    const uint32_t bytes = has_bytes ? operand : 0, count = has_bytes && is_arrival ? 1 : operand;
    MbarrierState state = is_plain ? (MbarrierState){0} : mbarrier_state(b, mbarrier);
    const bool is_brought = in->operation == MBARRIER_COMPLETE_TX && bytes <= MBARRIER_MOST;
    const uint32_t expected_bytes = is_brought ? 0 : bytes;
    if (!check_counts(m, w, in, lane, b, offset, state, count, expected_bytes)) return false;
    // Even phases are released to, and acquired from, the lower word, odd ones the upper.
    observe_async(m, w, in, is_plain ? ACCESS_STORE : ACCESS_ATOMIC, lane, &b->shared,
                  offset + 4 * state.parity, is_plain ? MBARRIER_BYTES : 4, !is_plain);
    if (in->operation == MBARRIER_INIT) {
        init(m, b, offset, in, count);
        return !m->stopped;
    }
    if (in->operation == MBARRIER_INVAL) {
        *mbarrier = b->mbarriers[--b->mbarrier_count];
        return true;
    }
    if (in->dst_count && in->dst[0] >= 0)
        ((uint64_t *)destination(registers, in, 0))[lane] = mbarrier_pack(state);
    if (in->operation == MBARRIER_COMPLETE_TX) {
        mbarrier_complete(m, b, mbarrier, 0, (int32_t)bytes);
        return true;
    }
    state.bytes += (int32_t)bytes;
    if (in->operation == MBARRIER_ARRIVE_DROP) state.expected -= count;
    set_state(b, mbarrier, state);
    if (is_arrival) mbarrier_complete(m, b, mbarrier, count, 0);
    return true;
}

Step run_mbarrier(Machine *m, Warp *w, Fragment *f, const Instruction *in, uint32_t mask) {
    uint64_t addresses[WARP_SIZE];
    lane_addresses(f->frame->registers, in, addresses);
    const uint32_t rotate = m->scrambled ? (uint32_t)(random_next(&m->random) >> 59) : 0;
    for (unsigned k = 0; k < WARP_SIZE; k++) {
        const unsigned lane = (k + rotate) % WARP_SIZE;
        if (mask >> lane & 1 && !operate(m, w, f, in, lane, addresses)) return STEP_TURN_ENDS;
    }
    return m->scrambled && random_one_in(&m->random, 8) ? STEP_TURN_ENDS : STEP_NEXT;
}

void mbarrier_await(Block *b, const Mbarrier *mbarrier, uint32_t count) {
    MbarrierState state = mbarrier_state(b, mbarrier);
    const uint32_t room = MBARRIER_MOST - state.pending;
    state.pending += count < room ? count : room;
    set_state(b, mbarrier, state);
}

void mbarrier_absent(Machine *m, const Warp *w, unsigned lane, const Instruction *in, const Block *b,
                     uint64_t offset) {
    refuse(m, w, lane, in, MBARRIER_ABSENT, b, offset, 0);
}

void mbarrier_arrive(Machine *m, Warp *w, unsigned lane, const Instruction *in, Block *b,
                     Mbarrier *mbarrier) {
    const MbarrierState state = mbarrier_state(b, mbarrier);
    if (!check_counts(m, w, in, lane, b, mbarrier->offset, state, 1, 0)) return;
    observe_async(m, w, in, ACCESS_ATOMIC, lane, &b->shared, mbarrier->offset + 4 * state.parity, 4, true);
    mbarrier_complete(m, b, mbarrier, 1, 0);
}
