// cp.async.bulk and cp.reduce.async.bulk: copies that one thread starts. They arrive when a thread waits for
// them, never before, and in a drawn order under a seed. Observers hear of their accesses when they start,
// except of what they write to global memory, which belongs to the thread that waits.
#include "emulator/machine/bulk.h"

#include <stdlib.h>
#include <string.h>

#include "emulator/machine/async.h"
#include "emulator/machine/bulk_bytes.h"
#include "emulator/machine/handlers.h"
#include "emulator/machine/mbarrier.h"
#include "emulator/machine/resolve.h"
#include "emulator/machine/tensor_box.h"

enum { TENSOR_ALIGN = 128 }; // ISA, cp.async.bulk.tensor: of its place in shared memory

// ---- Starting ---------------------------------------------------------------------------------------------

// Where the operand `which` of a lane lies; false when the machine was stopped.
static bool resolve_operand(Machine *m, Warp *w, const Fragment *f, const Instruction *in, int which,
                            unsigned lane, uint32_t bytes, Memory **memory, uint64_t *offset) {
    const BulkDetail *detail = in->detail;
    const BulkAddress *at = &detail->at[which];
    Instruction operand = *in;
    operand.space = at->space;
    operand.flags = at->flags;
    operand.offset = at->offset;
    operand.src[0] = in->src[which];
    uint64_t addresses[WARP_SIZE];
    lane_addresses(f->frame->registers, &operand, addresses);
    const AccessKind kind = which == BULK_FROM ? ACCESS_LOAD
                            : which == BULK_TO ? ACCESS_STORE
                                               : ACCESS_ATOMIC;
    const uint32_t align = which == BULK_MBARRIER ? 8 : in->kind == KIND_ASYNC_STORE ? bytes : BULK_UNIT;
    return resolve_lane(m, w, &operand, kind, lane, addresses, bytes, align, memory, offset);
}

// Adds the copy to what its mbarrier, or the thread's group, waits for; false, with the machine stopped, if
// it cannot. Then `data` is still the caller's.
static bool start(Machine *m, const Flight *flight) {
    const Instruction *in = flight->in;
    const BulkDetail *detail = in->detail;
    if (flight->box && flight->to->space == PTX_SPACE_SHARED)
        for (uint32_t r = 0; r < flight->box->rows; r++) {
            const TensorRow row = tensor_row(flight->box, r);
            if (row.end)
                observe_async(m, flight->warp, in, ACCESS_LOAD, flight->lane, flight->from, row.offset,
                              row.end - row.begin, false);
        }
    else if (flight->from)
        observe_async(m, flight->warp, in, ACCESS_LOAD, flight->lane, flight->from, flight->from_offset,
                      flight->bytes, false);
    if (flight->to->space == PTX_SPACE_SHARED) {
        observe_async(m, flight->warp, in, detail->is_reduction ? ACCESS_REDUCTION : ACCESS_STORE,
                      flight->lane, flight->to, flight->to_offset, flight->bytes, detail->is_reduction);
        if (!detail->is_reduction) flight_garbage(m, flight);
    }
    Block *owner = flight->warp->block;
    if (flight->target) {
        // The bytes are visible to threads that see the end of the phase: as if the thread had arrived.
        owner = block_of_memory(flight->target);
        const Mbarrier *mbarrier = mbarrier_at(owner, flight->mbarrier);
        if (!mbarrier) {
            mbarrier_absent(m, flight->warp, flight->lane, in, owner, flight->mbarrier);
            return false;
        }
        observe_async(m, flight->warp, in, ACCESS_ATOMIC, flight->lane, flight->target,
                      flight->mbarrier + 4 * mbarrier_state(owner, mbarrier).parity, 4, true);
    }
    Flight *added = flight_add(m, owner);
    if (!added) return false;
    *added = *flight;
    if (!flight->box) return true;
    added->box = malloc(sizeof *added->box);
    if (added->box)
        *added->box = *flight->box;
    else
        m->out_of_memory = m->stopped = true;
    return true;
}

// To the same place in every block of the cluster whose rank `mask` names, and its mbarrier at the same
// place.
static void start_multicast(Machine *m, const Flight *flight, uint32_t mask) {
    const Cluster *cluster = flight->warp->block->cluster;
    for (uint32_t rank = 0; rank < MAX_CLUSTER * 2 && !m->stopped; rank++) {
        if (!(mask >> rank & 1)) continue;
        if (rank >= cluster->size || !cluster->blocks[rank]->live_warps) {
            m->stopped = true;
            TELL_OBSERVERS(m, bad_copy, flight->warp, (int)flight->lane, flight->in, COPY_NOWHERE, rank);
            return;
        }
        Flight one = *flight;
        one.to = one.target = &cluster->blocks[rank]->shared;
        start(m, &one);
    }
}

static bool refuse(Machine *m, const Flight *flight, CopyFault fault, uint32_t bytes) {
    m->stopped = true;
    TELL_OBSERVERS(m, bad_copy, flight->warp, (int)flight->lane, flight->in, fault, bytes);
    return false;
}

// Both sides of a tensor copy.
static bool resolve_tensor(Machine *m, const Fragment *f, Flight *flight, TensorBox *box) {
    const Instruction *in = flight->in;
    const BulkDetail *detail = in->detail;
    const bool is_load = detail->has_mbarrier;
    if (!tensor_box(m, flight->warp, f, in, flight->lane, box)) return false;
    if (detail->is_reduction && !detail->by_type[box->map.type].type) return refuse(m, flight, COPY_TYPE, 0);
    flight->box = box;
    flight->bytes = box->room;
    Memory **shared = is_load ? &flight->to : &flight->from;
    uint64_t *offset = is_load ? &flight->to_offset : &flight->from_offset;
    if (!resolve_operand(m, flight->warp, f, in, is_load ? BULK_TO : BULK_FROM, flight->lane, box->room,
                         shared, offset))
        return false;
    if (*offset % TENSOR_ALIGN) return refuse(m, flight, COPY_ALIGN, (uint32_t)*offset);
    if (!tensor_find(m, flight->warp, in, flight->lane, box)) return false;
    *(is_load ? &flight->from : &flight->to) = box->memory;
    return true;
}

static bool resolve_bytes(Machine *m, const Fragment *f, Flight *flight) {
    Warp *w = flight->warp;
    const Instruction *in = flight->in;
    flight->bytes = ((const uint32_t *)source(f->frame->registers, in, BULK_SIZE))[flight->lane];
    if (flight->bytes % BULK_UNIT) return refuse(m, flight, COPY_SIZE, flight->bytes);
    return resolve_operand(m, w, f, in, BULK_FROM, flight->lane, flight->bytes, &flight->from,
                           &flight->from_offset) &&
           resolve_operand(m, w, f, in, BULK_TO, flight->lane, flight->bytes, &flight->to,
                           &flight->to_offset);
}

// st.async and red.async take the values at once.
static bool resolve_values(Machine *m, const Fragment *f, Flight *flight) {
    const Instruction *in = flight->in;
    flight->bytes = (uint32_t)in->width * in->elements;
    flight->data = malloc(flight->bytes);
    if (!flight->data) m->out_of_memory = m->stopped = true;
    for (int k = 0; k < in->elements && flight->data; k++) {
        const Operand *o = &in->more->src[k];
        const unsigned char *from = o->constant ? o->constant : f->frame->registers + o->offset;
        memcpy(flight->data + k * in->width, from + flight->lane * in->width, in->width);
    }
    return flight->data && resolve_operand(m, flight->warp, f, in, BULK_TO, flight->lane, flight->bytes,
                                           &flight->to, &flight->to_offset);
}

static bool resolve(Machine *m, const Fragment *f, Flight *flight, TensorBox *box) {
    const BulkDetail *detail = flight->in->detail;
    if (flight->in->kind == KIND_ASYNC_STORE) return resolve_values(m, f, flight);
    return detail->rank ? resolve_tensor(m, f, flight, box) : resolve_bytes(m, f, flight);
}

// Whether the copy may start: its memory is there, and may be written.
static bool is_good(Machine *m, const Fragment *f, Flight *flight, TensorBox *box) {
    const Instruction *in = flight->in;
    const BulkDetail *detail = in->detail;
    if (!resolve(m, f, flight, box) || !flight->to ||
        (detail->has_mbarrier && !resolve_operand(m, flight->warp, f, in, BULK_MBARRIER, flight->lane, 8,
                                                  &flight->target, &flight->mbarrier)))
        return false;
    if (!flight->to->read_only && flight->to->space != PTX_SPACE_CONST) return true;
    uint64_t offsets[WARP_SIZE];
    offsets[flight->lane] = flight->to_offset;
    refuse_read_only(m, &(Access){.warp = flight->warp,
                                  .in = in,
                                  .kind = ACCESS_STORE,
                                  .memory = flight->to,
                                  .mask = 1u << flight->lane,
                                  .bytes = BULK_UNIT,
                                  .offsets = offsets});
    return false;
}

static bool start_lane(Machine *m, Warp *w, const Fragment *f, const Instruction *in, unsigned lane) {
    const BulkDetail *detail = in->detail;
    const unsigned char *registers = f->frame->registers;
    TensorBox box;
    Flight flight = {.in = in, .warp = w, .lane = lane, .byte_mask = 0xffff, .group = w->bulk_groups[lane]};
    if (detail->masks_bytes) flight.byte_mask = ((const uint16_t *)source(registers, in, BULK_MASK))[lane];
    const bool good = is_good(m, f, &flight, &box);
    if (good && detail->is_multicast) {
        start_multicast(m, &flight, ((const uint16_t *)source(registers, in, BULK_MASK))[lane]);
        return !m->stopped;
    }
    if (!good || !start(m, &flight)) {
        free(flight.data);
        return false;
    }
    return !m->stopped;
}

Step run_bulk(Machine *m, Warp *w, Fragment *f, const Instruction *in, uint32_t mask) {
    FOR_LANES(lane, mask) if (!start_lane(m, w, f, in, lane)) return STEP_TURN_ENDS;
    return m->scrambled && random_one_in(&m->random, 8) ? STEP_TURN_ENDS : STEP_NEXT;
}

// cp.async.mbarrier.arrive: an arrival for each lane, once its copies until now have landed.
Step run_async_arrive(Machine *m, Warp *w, Fragment *f, const Instruction *in, uint32_t mask) {
    uint64_t addresses[WARP_SIZE];
    lane_addresses(f->frame->registers, in, addresses);
    for (uint32_t left = mask; left;) {
        const unsigned lane = (unsigned)__builtin_ctz(left);
        uint32_t lanes = 0; // that arrive at the same mbarrier, whose copies land together
        FOR_LANES(other, left) if (addresses[other] == addresses[lane]) lanes |= 1u << other;
        left &= ~lanes;
        Block *b;
        uint64_t offset;
        if (!mbarrier_find(m, w, in, lane, addresses, &b, &offset)) return STEP_TURN_ENDS;
        const Mbarrier *mbarrier = mbarrier_at(b, offset);
        if (!in->literal[1]) mbarrier_await(b, mbarrier, (uint32_t)__builtin_popcount(lanes));
        Flight *flight = flight_add(m, b);
        if (!flight) return STEP_TURN_ENDS;
        *flight = (Flight){.in = in,
                           .warp = w,
                           .lane = lane,
                           .lanes = lanes,
                           .target = &b->shared,
                           .mbarrier = offset,
                           .serial = async_started(w)};
    }
    return STEP_NEXT;
}

// ---- Delivering -------------------------------------------------------------------------------------------

static void land(Machine *m, Block *b, Fragment *f, int index) {
    Flight flight = flight_take(b, index);
    m->effects++;
    if (flight.in->kind == KIND_CP_ASYNC_ARRIVE)
        async_land(m, flight.warp, f, flight.lanes, flight.serial);
    else if (flight_read(m, &flight))
        flight_write(m, &flight);
    const uint32_t bytes = flight.box ? flight.box->bytes : flight.bytes;
    free(flight.data);
    free(flight.box);
    if (!flight.target || m->stopped) return;
    Mbarrier *mbarrier = mbarrier_at(b, flight.mbarrier);
    if (!mbarrier)
        mbarrier_absent(m, flight.warp, flight.lane, flight.in, b, flight.mbarrier);
    else if (flight.in->kind != KIND_CP_ASYNC_ARRIVE)
        mbarrier_complete(m, b, mbarrier, 0, (int32_t)bytes);
    else
        FOR_LANES(lane, flight.lanes)
    if (!m->stopped) mbarrier_arrive(m, flight.warp, lane, flight.in, b, mbarrier);
}

bool bulk_deliver(Machine *m, Block *b, Fragment *f, uint64_t offset) {
    int found = -1;
    uint32_t count = 0;
    for (int i = 0; i < b->flight_count; i++) {
        if (!b->flights[i].target || b->flights[i].mbarrier != offset) continue;
        count++;
        if (found < 0 || (m->scrambled && random_one_in(&m->random, count))) found = i;
    }
    if (found < 0) return false;
    land(m, b, f, found);
    return true;
}

Step run_bulk_wait(Machine *m, Warp *w, Fragment *f, const Instruction *in, uint32_t mask) {
    if (in->operation == BULK_COMMIT) {
        FOR_LANES(lane, mask) w->bulk_groups[lane]++;
        return STEP_NEXT;
    }
    Block *b = w->block;
    for (int i = 0; i < b->flight_count && !m->stopped;) {
        Flight *flight = &b->flights[i];
        const uint32_t committed = w->bulk_groups[flight->lane];
        // wait_group N: all but the N newest committed groups.
        if (flight->target || flight->warp != w || !(mask >> flight->lane & 1) ||
            flight->group >= committed || committed - flight->group <= in->literal[0]) {
            i++;
            continue;
        }
        if (in->operation == BULK_WAIT_GROUP)
            land(m, b, f, i);
        else if (flight_read(m, flight))
            i++;
    }
    return m->stopped ? STEP_TURN_ENDS : STEP_NEXT;
}

// Copies to other blocks of the cluster that still read the block's shared memory.
static void end_sources(Machine *m, const Block *b) {
    for (uint32_t rank = 0; rank < b->cluster->size && b->cluster->size > 1; rank++) {
        const Block *other = b->cluster->blocks[rank];
        for (int i = 0; i < other->flight_count && other != b && !m->stopped; i++) {
            Flight *flight = &other->flights[i];
            if (flight->from != &b->shared || flight->data) continue;
            TELL_OBSERVERS(m, bad_copy, flight->warp, (int)flight->lane, flight->in, COPY_UNREAD,
                           flight->bytes);
            flight_read(m, flight);
        }
    }
}

void bulk_end(Machine *m, Block *b) {
    end_sources(m, b);
    while (b->flight_count) {
        Flight flight = flight_take(b, b->flight_count - 1);
        const bool is_bulk = flight.in->kind != KIND_CP_ASYNC_ARRIVE;
        if (is_bulk && (flight.target || !flight.data) && !m->stopped)
            TELL_OBSERVERS(m, bad_copy, flight.warp, (int)flight.lane, flight.in,
                           flight.target ? COPY_LEFT : COPY_UNREAD, flight.bytes);
        if (is_bulk && !flight.target && !m->stopped && flight_read(m, &flight)) flight_write(m, &flight);
        free(flight.data);
        free(flight.box);
    }
}
