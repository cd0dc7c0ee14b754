// Registers filled with what the machine knows: special registers, the active lanes, complements of
// predicates.
#include <string.h>

#include "emulator/machine/handlers.h"

// A number that a schedule determines.
static uint64_t drawn(const Machine *m, uint64_t index) {
    uint64_t bits = (m->launch->schedule + index) * 0x9e3779b97f4a7c15u;
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
    return bits ^ (bits >> 31);
}

// A clock that only goes forward, and the same in every run of a schedule. How fast it goes beside the work
// is nothing that a kernel may rely on: a GPU changes its clocks and interrupts its kernels.
static uint64_t clock_of(const Machine *m) {
    return m->scrambled ? m->lane_steps << drawn(m, 0) % 20 : m->lane_steps;
}

static uint64_t special_value(const Machine *m, const Warp *w, SpecialRegister which, unsigned lane) {
    const Block *b = w->block;
    const EmulatorLaunch *launch = m->launch;
    const EmulatorDevice *device = &m->emulator->device;
    switch (which) {
    case SPECIAL_TID_X: return w->thread_x[lane];
    case SPECIAL_TID_Y: return w->thread_y[lane];
    case SPECIAL_TID_Z: return w->thread_z[lane];
    case SPECIAL_NTID_X: return launch->block[0];
    case SPECIAL_NTID_Y: return launch->block[1];
    case SPECIAL_NTID_Z: return launch->block[2];
    case SPECIAL_CTAID_X: return b->id[0];
    case SPECIAL_CTAID_Y: return b->id[1];
    case SPECIAL_CTAID_Z: return b->id[2];
    case SPECIAL_NCTAID_X: return launch->grid[0];
    case SPECIAL_NCTAID_Y: return launch->grid[1];
    case SPECIAL_NCTAID_Z: return launch->grid[2];
    case SPECIAL_LANEID: return lane;
    case SPECIAL_WARPID: return (uint64_t)w->index;
    case SPECIAL_NWARPID: return (uint64_t)(device->max_threads_per_sm / (int)WARP_SIZE);
    case SPECIAL_SMID:
        return (m->scrambled ? drawn(m, b->number + 1) : b->number) % (uint64_t)device->sm_count;
    case SPECIAL_NSMID: return (uint64_t)device->sm_count;
    case SPECIAL_LANEMASK_EQ: return 1u << lane;
    case SPECIAL_LANEMASK_LT: return (1u << lane) - 1;
    case SPECIAL_LANEMASK_LE: return (2u << lane) - 1;
    case SPECIAL_LANEMASK_GE: return ~((1u << lane) - 1);
    case SPECIAL_LANEMASK_GT: return ~((2u << lane) - 1);
    case SPECIAL_CLOCK:
    case SPECIAL_CLOCK64:
    case SPECIAL_GLOBALTIMER:
    case SPECIAL_GLOBALTIMER_LO: return clock_of(m);
    case SPECIAL_CLOCK_HI:
    case SPECIAL_GLOBALTIMER_HI: return clock_of(m) >> 32;
    case SPECIAL_DYNAMIC_SHARED: return launch->dynamic_shared;
    case SPECIAL_TOTAL_SHARED: return launch->dynamic_shared + m->kernel->info.static_shared;
    case SPECIAL_WORKSPACE_HI: return m->workspace >> 32;
    case SPECIAL_WORKSPACE_LO: return m->workspace & 0xffffffffu;
    case SPECIAL_CLUSTERID_X: return b->id[0] / m->cluster[0];
    case SPECIAL_CLUSTERID_Y: return b->id[1] / m->cluster[1];
    case SPECIAL_CLUSTERID_Z: return b->id[2] / m->cluster[2];
    case SPECIAL_NCLUSTERID_X: return launch->grid[0] / m->cluster[0];
    case SPECIAL_NCLUSTERID_Y: return launch->grid[1] / m->cluster[1];
    case SPECIAL_NCLUSTERID_Z: return launch->grid[2] / m->cluster[2];
    case SPECIAL_CLUSTER_CTAID_X: return b->id[0] % m->cluster[0];
    case SPECIAL_CLUSTER_CTAID_Y: return b->id[1] % m->cluster[1];
    case SPECIAL_CLUSTER_CTAID_Z: return b->id[2] % m->cluster[2];
    case SPECIAL_CLUSTER_NCTAID_X: return m->cluster[0];
    case SPECIAL_CLUSTER_NCTAID_Y: return m->cluster[1];
    case SPECIAL_CLUSTER_NCTAID_Z: return m->cluster[2];
    case SPECIAL_CLUSTER_CTARANK: return b->rank;
    case SPECIAL_CLUSTER_NCTARANK: return b->cluster->size;
    case SPECIAL_IS_EXPLICIT_CLUSTER: return m->is_explicit_cluster ? FULL_MASK : 0;
    case SPECIAL_RESERVED_SHARED: return (uint64_t)device->shared_reserved_per_block;
    case SPECIAL_GRIDID:
    case SPECIAL_ZERO:
    case SPECIAL_COUNT: break;
    }
    return 0;
}

// Lowering made the destination register for this value, so lanes outside the mask may be written too.
Step run_special(Machine *m, Warp *w, Fragment *f, const Instruction *in, uint32_t mask) {
    (void)mask;
    SpecialRegister which = (SpecialRegister)in->literal[0];
    unsigned char *registers = f->frame->registers;
    bool is_wide = which == SPECIAL_CLOCK64 || which == SPECIAL_GLOBALTIMER || which == SPECIAL_GRIDID;
    if (is_wide) {
        uint64_t *to = destination(registers, in, 0);
        for (unsigned lane = 0; lane < WARP_SIZE; lane++) to[lane] = special_value(m, w, which, lane);
        return STEP_NEXT;
    }
    uint32_t *to = destination(registers, in, 0);
    if (which == SPECIAL_IS_EXPLICIT_CLUSTER) {
        *to = (uint32_t)special_value(m, w, which, 0);
        return STEP_NEXT;
    }
    if (which == SPECIAL_TID_X) {
        memcpy(to, w->thread_x, sizeof w->thread_x);
        return STEP_NEXT;
    }
    if ((which >= SPECIAL_TID_Y && which <= SPECIAL_TID_Z) || which == SPECIAL_LANEID ||
        (which >= SPECIAL_LANEMASK_EQ && which <= SPECIAL_LANEMASK_GT)) {
        for (unsigned lane = 0; lane < WARP_SIZE; lane++)
            to[lane] = (uint32_t)special_value(m, w, which, lane);
        return STEP_NEXT;
    }
    uint32_t value = (uint32_t)special_value(m, w, which, 0);
    for (unsigned lane = 0; lane < WARP_SIZE; lane++) to[lane] = value;
    return STEP_NEXT;
}

Step run_activemask(Machine *m, Warp *w, Fragment *f, const Instruction *in, uint32_t mask) {
    (void)m, (void)w;
    uint32_t *to = destination(f->frame->registers, in, 0);
    FOR_LANES(lane, mask) to[lane] = f->mask;
    return STEP_NEXT;
}

// As above, lanes outside the mask may be written too.
Step run_not_predicate(Machine *m, Warp *w, Fragment *f, const Instruction *in, uint32_t mask) {
    (void)m, (void)w, (void)mask;
    const uint32_t *from = source(f->frame->registers, in, 0);
    uint32_t *to = destination(f->frame->registers, in, 0);
    *to = ~*from;
    return STEP_NEXT;
}
