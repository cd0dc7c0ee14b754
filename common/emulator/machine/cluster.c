#include "emulator/machine/cluster.h"

#include <string.h>

#include "emulator/machine/divergence.h"
#include "emulator/machine/handlers.h"
#include "emulator/machine/sync.h"

// ---- The barrier ------------------------------------------------------------------------------------------

// Lanes of `mask` that have arrived in the current phase.
static uint32_t arrived_lanes(const Warp *w, uint32_t mask) {
    const uint32_t parity = w->block->cluster->phase & 1 ? FULL_MASK : 0;
    return mask & w->at_cluster & ~(w->cluster_phase ^ parity);
}

// The barrier is passed when every thread that has not exited has arrived (ISA, barrier.cluster).
static bool is_complete(const Cluster *cluster) {
    if (!cluster->arrived) return false;
    for (uint32_t rank = 0; rank < cluster->size; rank++) {
        const Block *b = cluster->blocks[rank];
        for (int k = 0; k < b->warp_count && b->live_warps; k++) {
            const uint32_t alive = b->warps[k].exists & ~b->warps[k].exited;
            if (arrived_lanes(&b->warps[k], alive) != alive) return false;
        }
    }
    return true;
}

static void pass(Machine *m, Warp *w, uint32_t mask, const Instruction *in) {
    w->at_cluster &= ~mask;
    TELL_OBSERVERS(m, cluster_wait, w, mask, in);
}

static void complete(Machine *m, Cluster *cluster) {
    cluster->arrived = 0;
    cluster->phase++;
    m->effects++;
    for (uint32_t rank = 0; rank < cluster->size; rank++) {
        Block *b = cluster->blocks[rank];
        b->idle = 0;
        b->is_stuck = false;
        for (int k = 0; k < b->warp_count && b->live_warps; k++)
            for (int i = 0; i < b->warps[k].fragment_count; i++) {
                Fragment *f = &b->warps[k].fragments[i];
                if (!f->mask || f->state != WAIT_CLUSTER) continue;
                pass(m, &b->warps[k], f->mask, instruction_of(f));
                f->state = READY;
                f->pc++;
            }
    }
}

void cluster_recheck(Machine *m, Block *b) {
    if (is_complete(b->cluster)) complete(m, b->cluster);
}

static bool misused(Machine *m, const Warp *w, uint32_t lanes, const Instruction *in, ClusterFault fault) {
    if (!lanes) return false;
    m->stopped = true;
    TELL_OBSERVERS(m, bad_cluster_barrier, w, __builtin_ctz(lanes), in, fault);
    return true;
}

Step run_cluster_barrier(Machine *m, Warp *w, Fragment *f, const Instruction *in, uint32_t mask) {
    Cluster *cluster = w->block->cluster;
    f->pc = in->index;
    if (!split_off(m, w, f, mask, in->index)) return STEP_STOPS;
    if (in->operation == BARRIER_ARRIVE) {
        // Lanes of a warp may come one after the other, but to one instruction.
        const bool is_other = arrived_lanes(w, FULL_MASK) && w->cluster_at != in;
        if (is_other && in->flags & IS_ALIGNED && misused(m, w, mask, in, CLUSTER_DIVERGED))
            return STEP_STOPS;
        w->cluster_at = in;
        if (misused(m, w, mask & w->at_cluster, in, CLUSTER_ARRIVED_TWICE)) return STEP_STOPS;
        TELL_OBSERVERS(m, cluster_arrive, w, mask, in);
        w->at_cluster |= mask;
        w->cluster_phase = cluster->phase & 1 ? w->cluster_phase | mask : w->cluster_phase & ~mask;
        cluster->arrived += (uint32_t)__builtin_popcount(mask);
        cluster_recheck(m, w->block);
    } else {
        if (misused(m, w, mask & ~w->at_cluster, in, CLUSTER_NOT_ARRIVED)) return STEP_STOPS;
        if (arrived_lanes(w, mask)) {
            f->state = WAIT_CLUSTER;
            return STEP_STOPS;
        }
        pass(m, w, mask, in);
    }
    f->pc = in->index + 1;
    return m->scrambled ? STEP_STOPS : STEP_MOVED; // under a seed another warp's turn
}

// ---- Addresses --------------------------------------------------------------------------------------------

// ISA, mapa: the same place in the shared memory of another block of the cluster.
Step run_mapa(Machine *m, Warp *w, Fragment *f, const Instruction *in, uint32_t mask) {
    (void)m;
    const unsigned char *registers = f->frame->registers, *from = source(registers, in, 0);
    const uint32_t *ranks = source(registers, in, 1);
    unsigned char *to = destination(f->frame->registers, in, 0);
    const uint64_t window = in->space == PTX_SPACE_SHARED ? 0 : SHARED_WINDOW;
    FOR_LANES(lane, mask) {
        uint64_t address = 0;
        memcpy(&address, from + lane * in->width, in->width);
        const uint32_t rank = ranks[lane] < MAX_CLUSTER ? ranks[lane] : MAX_CLUSTER; // of no block
        if (w->block->cluster->size > 1)
            address = window + ((address - window) & ((1u << RANK_SHIFT) - 1)) +
                      ((uint64_t)(rank + 1) << RANK_SHIFT);
        memcpy(to + lane * in->width, &address, in->width);
    }
    return STEP_NEXT;
}

Step run_getctarank(Machine *m, Warp *w, Fragment *f, const Instruction *in, uint32_t mask) {
    (void)m;
    const unsigned char *registers = f->frame->registers, *from = source(registers, in, 0);
    uint32_t *to = destination(f->frame->registers, in, 0);
    FOR_LANES(lane, mask) {
        uint64_t address = 0;
        memcpy(&address, from + lane * in->width, in->width);
        const uint32_t rank = (uint32_t)(address & (SHARED_WINDOW - 1)) >> RANK_SHIFT;
        to[lane] = rank && w->block->cluster->size > 1 ? rank - 1 : w->block->rank;
    }
    return STEP_NEXT;
}
