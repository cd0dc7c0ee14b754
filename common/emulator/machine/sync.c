// Where lanes wait for each other: block barriers, warp barriers, shuffles, votes, matches and reductions.
// What the lanes of a warp then exchange is computed in exchange.c.
//
// A *.sync instruction is complete when every lane that its mask names, and that has not exited, has
// arrived at an instruction of the same operation with the same mask; the lanes need not come in one
// fragment, nor at one place of the program (PTX ISA, shfl.sync, vote.sync, match.sync, redux.sync,
// bar.warp.sync). A barrier of the block counts threads.
#include "emulator/machine/sync.h"

#include <string.h>

#include "emulator/machine/divergence.h"
#include "emulator/machine/exchange.h"
#include "emulator/machine/handlers.h"

// ---- Block barriers ---------------------------------------------------------------------------------------

static void release_fragment(Fragment *f) {
    f->state = READY;
    f->pc++;
}

static void write_reduction(const Barrier *barrier, Fragment *f, const Instruction *in, uint32_t mask) {
    if (in->dst[0] < 0 || in->kind != KIND_BARRIER) return;
    unsigned char *registers = f->frame->registers;
    if (in->operation == BARRIER_RED_POPC) {
        uint32_t *to = destination(registers, in, 0);
        FOR_LANES(lane, mask) to[lane] = barrier->red_count;
    } else {
        uint32_t *to = destination(registers, in, 0);
        bool value = in->operation == BARRIER_RED_AND ? !barrier->red_and : barrier->red_or != 0;
        *to = value ? *to | mask : *to & ~mask;
    }
}

uint32_t lanes_at_barrier(const Warp *w, int id) {
    uint32_t lanes = 0;
    for (int i = 0; i < w->fragment_count; i++)
        if (w->fragments[i].state == WAIT_BARRIER && w->fragments[i].barrier == id)
            lanes |= w->fragments[i].mask;
    return lanes;
}

// The compiler may make several instructions of one barrier, and threads may meet at several
// instructions of barrier.sync.
static bool is_same_barrier(const Machine *m, const Instruction *a, const Instruction *b) {
    if (a == b || !(a->flags & b->flags & IS_ALIGNED)) return true;
    return place_of(m->program, a).line && place_of(m->program, a).line == place_of(m->program, b).line;
}

BarrierPart barrier_part(const Block *b, int id) {
    BarrierPart found = {.part = BARRIER_WHOLE};
    if (b->barriers[id].expected || (!b->exited_threads && !b->barriers[id].is_split)) return found;
    uint32_t here = 0;
    for (int k = 0; k < b->warp_count; k++) {
        const Warp *w = &b->warps[k];
        for (int i = 0; i < w->fragment_count; i++) {
            const Fragment *f = &w->fragments[i];
            if (!f->mask || f->state != WAIT_BARRIER || f->barrier != id) continue;
            const Instruction *in = instruction_of(f);
            if (!found.in) {
                found.in = in;
                found.waiting = w;
            }
            if (is_same_barrier(b->machine, in, found.in))
                here += (uint32_t)__builtin_popcount(f->mask);
            else if (!found.other) {
                found.part = BARRIER_SEPARATE;
                found.other = in;
                found.warp = w;
                found.lane = __builtin_ctz(f->mask);
            }
        }
    }
    found.threads = b->thread_count - here;
    if (!b->exited_threads || found.part == BARRIER_SEPARATE) return found;
    found.part = BARRIER_ENDED;
    for (int k = 0; k < b->warp_count && !found.warp; k++)
        if (b->warps[k].exited) {
            found.warp = &b->warps[k];
            found.lane = __builtin_ctz(b->warps[k].exited);
        }
    return found;
}

static void complete_barrier(Machine *m, Block *b, int id) {
    TELL_OBSERVERS(m, barrier, b, id);
    Barrier *barrier = &b->barriers[id];
    b->idle = 0;
    for (int k = 0; k < b->warp_count; k++) {
        Warp *w = &b->warps[k];
        w->counted[id] = 0;
        for (int i = 0; i < w->fragment_count; i++) {
            Fragment *f = &w->fragments[i];
            if (!f->mask || f->state != WAIT_BARRIER || f->barrier != id) continue;
            write_reduction(barrier, f, instruction_of(f), f->mask);
            release_fragment(f);
        }
    }
    memset(barrier, 0, sizeof *barrier);
    b->exited_early = b->exited_threads;
}

static bool is_complete(const Block *b, const Barrier *barrier) {
    uint32_t expected = barrier->expected ? barrier->expected : b->thread_count - b->exited_threads;
    return barrier->arrived && barrier->arrived >= expected;
}

// True if the fragment can continue after the barrier; false if it waits or the machine was stopped. Lanes
// that do not execute it were split off.
static bool execute_barrier(Machine *m, Warp *w, Fragment *f, const Instruction *in, uint32_t mask) {
    Block *b = w->block;
    const unsigned char *registers = f->frame->registers;
    uint32_t first = (uint32_t)__builtin_ctz(mask);
    uint32_t id = ((const uint32_t *)source(registers, in, 0))[first];
    uint32_t expected = in->src_count > 1 ? ((const uint32_t *)source(registers, in, 1))[first] : 0;
    if (m->tally) m->tally[in->number].done++;
    if (id >= BARRIER_COUNT || expected > b->thread_count + WARP_SIZE - 1 ||
        (in->src_count > 1 && (!expected || expected % WARP_SIZE))) {
        m->stopped = true;
        TELL_OBSERVERS(m, bad_barrier, w, (int)first, in, id, expected);
        return false;
    }
    Barrier *barrier = &b->barriers[id];
    if (!barrier->arrived) {
        barrier->in = in;
        barrier->expected = expected;
    }
    barrier->is_split |= in != barrier->in;
    barrier->arrived += (uint32_t)__builtin_popcount(mask);
    if (expected) {
        // A counted barrier counts whole warps: lanes that do not exist, or have exited without arriving,
        // come with the last that do. A lane that arrives (bar.arrive) and then exits has been counted.
        uint32_t *counted = &w->counted[id];
        *counted |= mask;
        if (!(w->exists & ~w->exited & ~*counted)) {
            barrier->arrived += WARP_SIZE - (uint32_t)__builtin_popcount(*counted);
            *counted = UINT32_MAX;
        }
    }
    if (in->operation >= BARRIER_RED_POPC) {
        uint32_t predicate = *(const uint32_t *)source(registers, in, 2) & mask;
        barrier->red_count += (uint32_t)__builtin_popcount(predicate);
        barrier->red_or |= predicate;
        barrier->red_and |= mask & ~predicate; // any lane that said no
    }
    if (in->operation != BARRIER_ARRIVE) {
        f->state = WAIT_BARRIER;
        f->barrier = (int)id;
    } else
        TELL_OBSERVERS(m, arrive, w, mask, (int)id);
    if (!is_complete(b, barrier)) return in->operation == BARRIER_ARRIVE;
    complete_barrier(m, b, (int)id);
    if (in->operation != BARRIER_ARRIVE) f->pc--; // complete_barrier moved this fragment on; the caller will
    return !m->stopped;
}

Step run_barrier(Machine *m, Warp *w, Fragment *f, const Instruction *in, uint32_t mask) {
    f->pc = in->index;
    if (!split_off(m, w, f, mask, in->index) || !execute_barrier(m, w, f, in, mask)) return STEP_STOPS;
    f->pc = in->index + 1;
    return m->scrambled ? STEP_STOPS : STEP_MOVED; // under a seed another warp's turn
}

Step run_fence(Machine *m, Warp *w, Fragment *f, const Instruction *in, uint32_t mask) {
    (void)f;
    if (in->operation == FENCE_OF_PROXY) {
        TELL_OBSERVERS(m, proxy_fence, w, mask);
        return STEP_NEXT;
    }
    TELL_OBSERVERS(m, fence, w, mask, in);
    return STEP_NEXT;
}

// ---- One warp ---------------------------------------------------------------------------------------------

static void tally_operation(const Machine *m, const Instruction *in) {
    if (m->tally) m->tally[in->number].done++;
}

static bool same_operation(const Instruction *a, const Instruction *b) {
    return a->kind == b->kind && a->operation == b->operation && a->type == b->type;
}

// Fragments that met here and would continue in the same way are merged.
static void merge_parts(Gathering *g) {
    for (int a = 0; a < g->count; a++)
        for (int b = a + 1; b < g->count; b++) {
            Fragment *x = g->parts[a].fragment, *y = g->parts[b].fragment;
            if (!x->mask || !y->mask || x->pc != y->pc || x->frame != y->frame || x->join != y->join)
                continue;
            x->mask |= y->mask;
            y->mask = 0;
        }
}

// The parts of one operation that wait, with `own` (which runs, and comes first) among them.
static void gather(Warp *w, const Instruction *in, uint32_t members, Fragment *own, Gathering *g) {
    *g = (Gathering){.members = members};
    if (own) g->parts[g->count++] = (Part){own, in, own->mask};
    for (int i = 0; i < w->fragment_count; i++) {
        Fragment *f = &w->fragments[i];
        if (f == own || !f->mask || f->state != WAIT_SYNC || f->member_mask != members) continue;
        const Instruction *other = instruction_of(f);
        if (same_operation(in, other)) g->parts[g->count++] = (Part){f, other, f->mask};
    }
    for (int p = 0; p < g->count; p++) g->lanes |= g->parts[p].lanes;
}

static void go_on(Gathering *g, const Fragment *own) {
    for (int p = 0; p < g->count; p++)
        if (g->parts[p].fragment != own) release_fragment(g->parts[p].fragment);
}

// The lanes of `mask` that give the same mask as the first of them.
static uint32_t with_equal_masks(const uint32_t *masks, uint32_t mask) {
    uint32_t members = masks[__builtin_ctz(mask)], group = 0;
    for (uint32_t lane = 0; lane < WARP_SIZE; lane++) group |= (uint32_t)(masks[lane] == members) << lane;
    return group & mask;
}

static const uint32_t *member_masks(const Fragment *f, const Instruction *in) {
    return source(f->frame->registers, in, in->src_count - 1);
}

// Tiles of a warp execute one instruction side by side, each with its own mask. What a mask names must not
// give another mask: then the lanes wait for each other for ever.
static bool masks_conflict(const uint32_t *masks, uint32_t mask) {
    for (uint32_t left = mask; left;) {
        uint32_t group = with_equal_masks(masks, left);
        if (masks[__builtin_ctz(group)] & mask & ~group) return true;
        left &= ~group;
    }
    return false;
}

// The lanes of `mask` to pass to execute_warp_sync() together; the rest, whose masks name lanes that have not
// arrived yet, become a separate fragment.
static uint32_t lanes_that_sync(const Warp *w, const Fragment *f, const Instruction *in, uint32_t mask) {
    if (in->src[in->src_count - 1].constant) return mask;
    const uint32_t *masks = member_masks(f, in);
    uint32_t first = with_equal_masks(masks, mask);
    if (first == mask || masks_conflict(masks, mask)) return mask;
    for (uint32_t left = mask; left;) {
        uint32_t group = with_equal_masks(masks, left);
        if (((masks[__builtin_ctz(group)] | group) & w->exists & ~w->exited) != group)
            return first; // waits for others
        left &= ~group;
    }
    return mask;
}

static void tell_members(const Machine *m, const Warp *w, const Instruction *in, const uint32_t *masks,
                         uint32_t group, uint32_t mask) {
    if (group == mask && masks[__builtin_ctz(group)] == mask) return;
    TELL_OBSERVERS(m, members, w, in, masks, group, mask);
}

static void exchange_alone(Machine *m, Warp *w, const Part *part, uint32_t members) {
    Gathering g; // of which no other part is looked at
    g.parts[0] = *part;
    g.count = 1;
    g.lanes = part->lanes;
    g.members = members;
    exchange(m, w, &g);
}

// As execute_barrier().
static bool execute_warp_sync(Machine *m, Warp *w, Fragment *f, const Instruction *in, uint32_t mask) {
    const uint32_t *masks = member_masks(f, in);
    uint32_t group = with_equal_masks(masks, mask), members = masks[__builtin_ctz(mask)];
    tell_members(m, w, in, masks, group, mask);
    if (group != mask &&
        !masks_conflict(masks, mask)) { // lanes_that_sync() has seen that each group is complete
        // The masks may lie in the register that the first group's results go to.
        uint32_t kept[WARP_SIZE];
        memcpy(kept, masks, sizeof kept);
        tally_operation(m, in);
        for (uint32_t left = mask; left && !m->stopped; left &= ~group) {
            group = with_equal_masks(kept, left);
            if (left != mask) {
                tell_members(m, w, in, kept, group, mask);
                // REDUX takes one mask at a time, and the machine code has a branch for that.
                if (m->tally && in->kind == KIND_REDUX) m->tally[in->number].parted++;
            }
            exchange_alone(m, w, &(Part){f, in, group}, kept[__builtin_ctz(group)]);
        }
        return !m->stopped;
    }
    members |= mask;
    uint32_t needed = members & w->exists & ~w->exited;
    if (needed == mask) {
        tally_operation(m, in);
        if (in->kind == KIND_SHUFFLE && !m->has_exchange_observer && exchange_quickly(f, in, mask))
            return true;
        exchange_alone(m, w, &(Part){f, in, mask}, members);
        return !m->stopped;
    }
    Gathering g;
    gather(w, in, members, f, &g);
    if ((g.lanes & needed) != needed) {
        f->state = WAIT_SYNC;
        f->member_mask = members;
        return false;
    }
    tally_operation(m, in);
    exchange(m, w, &g);
    go_on(&g, f);
    f->pc++;
    merge_parts(&g);
    f->pc--; // the caller moves it on
    return !m->stopped;
}

Step run_warp_sync(Machine *m, Warp *w, Fragment *f, const Instruction *in, uint32_t mask) {
    f->pc = in->index;
    if (!split_off(m, w, f, mask, in->index)) return STEP_STOPS;
    mask = lanes_that_sync(w, f, in, mask);
    if (!part_at(m, w, f, mask, in->index) || !execute_warp_sync(m, w, f, in, mask)) return STEP_STOPS;
    f->pc = in->index + 1;
    return STEP_MOVED;
}

void recheck_waits(Machine *m, Warp *w) {
    for (int i = 0; i < w->fragment_count && !m->stopped; i++) {
        Fragment *f = &w->fragments[i];
        if (!f->mask || f->state != WAIT_SYNC) continue;
        const Instruction *in = instruction_of(f);
        Gathering g;
        gather(w, in, f->member_mask, NULL, &g);
        uint32_t needed = f->member_mask & w->exists & ~w->exited;
        if ((g.lanes & needed) != needed) continue;
        uint32_t exited = f->member_mask & w->exited;
        if (exited) TELL_OBSERVERS(m, deserted, w, in, f->mask, f->member_mask);
        tally_operation(m, in);
        exchange(m, w, &g);
        go_on(&g, NULL);
        merge_parts(&g);
    }
    Block *b = w->block;
    for (int id = 0; id < BARRIER_COUNT && !m->stopped; id++)
        if (is_complete(b, &b->barriers[id]) && !b->barriers[id].expected) complete_barrier(m, b, id);
}
