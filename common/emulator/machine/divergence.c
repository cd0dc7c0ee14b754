// How the lanes of a warp part and meet again: fragments, the joins where they wait for each other at the
// immediate post-dominator of the branch that parted them, and the frames of calls.
//
// A fragment that reaches its join waits there as bits of Join.arrived, not as a fragment.
#include "emulator/machine/divergence.h"

#include <stdlib.h>
#include <string.h>

#include "emulator/machine/budget.h"
#include "emulator/machine/findings.h"
#include "emulator/machine/undefined_step.h"
#include "emulator/program/flow.h"

// Polls by lanes that others wait for, before the others continue without them. A barrier of the grid polls a
// few hundred times, and its waiting lanes should stay together.
static const uint64_t PATIENCE = 4096, LESS_PATIENCE = 64;

// ---- Frames and joins -------------------------------------------------------------------------------------

Frame *frame_new(Machine *m, const Warp *w, const Function *function, Frame *caller) {
    Frame *frame = m->free_frames;
    if (frame)
        m->free_frames = frame->caller;
    else if ((frame = arena_alloc(&m->arena, sizeof *frame))) {
        frame->next_made = m->all_frames;
        m->all_frames = frame;
        frame->undefined = NULL;
    }
    if (frame && frame->register_capacity < function->register_bytes) {
        free(frame->registers);
        frame->registers = NULL;
        const size_t more = function->register_bytes - frame->register_capacity;
        frame->register_capacity = 0;
        if (!budget_take(m, w, more, "the registers of a warp")) return NULL;
        frame->registers = aligned_alloc(64, function->register_bytes);
        frame->register_capacity = frame->registers ? function->register_bytes : 0;
    }
    if (!frame || !frame->registers) {
        m->out_of_memory = m->stopped = true;
        return NULL;
    }
    // The others hold whatever they held: clearing them takes longer than many a kernel.
    memset(frame->registers, 0, function->written_from);
    memset(frame->registers + function->written_to, 0, function->register_bytes - function->written_to);
    frame->function = function;
    frame->caller = caller;
    frame->local_base =
        caller ? caller->local_base + caller->function->local_bytes + caller->dynamic_bytes : 0;
    frame->dynamic_bytes = 0;
    frame->depth = caller ? caller->depth + 1 : 0;
    frame->returned = 0;
    frame->live = 0;
    frame->call = NULL;
    frame->caller_join = NULL;
    if (function->unset_count) undefined_start(m, w, frame);
    return frame;
}

void frame_free(Machine *m, Frame *frame) {
    if (frame->undefined) undefined_end(frame);
    frame->caller = m->free_frames;
    m->free_frames = frame;
}

static Join *join_new(Machine *m, Join *parent, int32_t pc, uint32_t live) {
    Join *join = m->free_joins;
    if (join)
        m->free_joins = join->parent;
    else
        join = arena_alloc(&m->arena, sizeof *join);
    if (!join) {
        m->out_of_memory = m->stopped = true;
        return NULL;
    }
    *join = (Join){.parent = parent, .pc = pc, .leave_pc = -1, .live = live};
    return join;
}

void join_free(Machine *m, Join *join) {
    join->parent = m->free_joins;
    m->free_joins = join;
}

// ---- Fragments --------------------------------------------------------------------------------------------

void add_fragment(Warp *w, int32_t pc, uint32_t mask, Frame *frame, Join *join) {
    // Masks of fragments are disjoint, so 32 places are enough once empty ones are gone.
    if (w->fragment_count == WARP_SIZE) {
        for (int i = 0; i < w->fragment_count; i++)
            if (!w->fragments[i].mask) {
                w->fragments[i] = (Fragment){.pc = pc, .mask = mask, .frame = frame, .join = join};
                return;
            }
    }
    w->fragments[w->fragment_count++] = (Fragment){.pc = pc, .mask = mask, .frame = frame, .join = join};
}

void release_join(Machine *m, Warp *w, Frame *frame, Join *join) {
    add_fragment(w, join->pc, join->arrived, frame, join->parent);
    join_free(m, join);
}

void copy_params(Machine *m, Frame *to, const ParamPlace *to_places, Frame *from,
                 const ParamPlace *from_places, int count, uint32_t mask) {
    for (int i = 0; i < count; i++) {
        uint32_t bytes = to_places[i].bytes;
        FOR_LANES(lane, mask)
        memcpy(to->registers + to_places[i].offset + (size_t)lane * bytes,
               from->registers + from_places[i].offset + (size_t)lane * bytes, bytes);
        if (to->undefined || from->undefined)
            undefined_copy(m, to, to_places[i].offset, from, from_places[i].offset, bytes, mask);
    }
}

// The lanes that have returned continue after the call; the frame is freed with the last of them.
static void release_returned(Machine *m, Warp *w, Frame *frame) {
    const CallDetail *detail = frame->call->detail;
    copy_params(m, frame->caller, detail->results, frame, frame->function->returns, detail->result_count,
                frame->returned);
    add_fragment(w, frame->call->index + 1, frame->returned, frame->caller, frame->caller_join);
    frame->live &= ~frame->returned;
    frame->returned = 0;
    if (!frame->live) frame_free(m, frame);
}

// The lanes that have arrived continue without the rest.
static void release_arrived(Warp *w, Frame *frame, Join *join) {
    add_fragment(w, join->pc, join->arrived, frame, join->parent);
    join->live &= ~join->arrived;
    join->arrived = 0;
}

Join *leave_join(Machine *m, Warp *w, Frame *frame, Join *join, uint32_t lanes) {
    Join *parent = join->parent;
    join->live &= ~lanes;
    if (!join->live)
        join_free(m, join);
    else if (join->arrived == join->live)
        release_join(m, w, frame, join);
    return parent;
}

// Takes lanes that exit or return out of every join of their frame from `join` up; joins that waited only
// for them are released.
static void leave_joins(Machine *m, Warp *w, Frame *frame, Join *join, uint32_t lanes) {
    while (join) join = leave_join(m, w, frame, join, lanes);
}

// Lanes that wait to join lanes of `f`, which polls memory, may be those that `f` waits for, such as the
// holder of a lock. After a while they continue alone. (GPUs promise this since compute capability 7.0: CUDA
// C++ Programming Guide, independent thread scheduling.)
void lose_patience(Machine *m, Warp *w, const Fragment *f) {
    uint64_t patience = m->scrambled || w->impatient ? LESS_PATIENCE : PATIENCE;
    Join *join = f->join;
    for (Frame *frame = f->frame; frame;) {
        for (; join; join = join->parent)
            if (join->arrived && w->polls - join->since >= patience) {
                w->impatient = true;
                m->effects++;
                release_arrived(w, frame, join);
            }
        Frame *caller = frame->caller;
        join = frame->caller_join;
        if (frame->returned && w->polls - frame->since >= patience) {
            w->impatient = true;
            m->effects++;
            release_returned(m, w, frame);
        }
        frame = caller;
    }
}

bool is_waited_for(const Fragment *f) {
    const Join *join = f->join;
    for (const Frame *frame = f->frame; frame; frame = frame->caller) {
        for (; join; join = join->parent)
            if (join->arrived) return true;
        if (frame->returned) return true;
        join = frame->caller_join;
    }
    return false;
}

// A thread that ends is counted out of barriers, wherever in the program it ends. nvcc lets an early `return`
// branch to the one at the end of the kernel, where lanes would wait to end together with those at the
// barrier. Lanes that may come to another barrier are not let go: they passed one by, and that is a deadlock.
static bool ends_unhindered(const Frame *frame, int32_t pc) {
    for (; frame; frame = frame->caller) {
        if (may_wait_from(frame->function, pc)) return false;
        if (frame->caller) pc = frame->call->index + 1;
    }
    return true;
}

bool release_bystanders(Machine *m, Block *b) {
    bool any = false;
    b->idle = 0;
    for (int k = 0; k < b->warp_count; k++) {
        Warp *w = &b->warps[k];
        for (int i = 0, count = w->fragment_count; i < count; i++) {
            if (!w->fragments[i].mask || w->fragments[i].state == READY) continue;
            Join *join = w->fragments[i].join;
            for (Frame *frame = w->fragments[i].frame, *caller; frame; frame = caller) {
                for (; join; join = join->parent)
                    if (join->arrived && ends_unhindered(frame, join->pc)) {
                        release_arrived(w, frame, join);
                        any = true;
                    }
                caller = frame->caller;
                join = frame->caller_join;
                if (frame->returned && ends_unhindered(caller, frame->call->index + 1)) {
                    release_returned(m, w, frame);
                    any = true;
                }
            }
        }
    }
    return any;
}

void exit_lanes(Machine *m, Warp *w, Frame *frame, Join *join, uint32_t lanes) {
    w->exited |= lanes;
    w->block->exited_threads += (uint32_t)__builtin_popcount(lanes);
    while (frame) {
        leave_joins(m, w, frame, join, lanes);
        Frame *caller = frame->caller;
        join = frame->caller_join;
        frame->live &= ~lanes;
        if (!frame->live)
            frame_free(m, frame);
        else if (frame->returned == frame->live)
            release_returned(m, w, frame);
        frame = caller;
    }
    if (w->exited == w->exists) w->block->live_warps--;
}

void return_lanes(Machine *m, Warp *w, Frame *frame, Join *join, uint32_t lanes) {
    leave_joins(m, w, frame, join, lanes);
    frame->returned |= lanes;
    frame->since = w->polls;
    if (frame->returned == frame->live) release_returned(m, w, frame);
}

// Where lanes that part at a branch are to meet: a new join, or the present one if it is that very place.
static Join *join_for(Machine *m, Fragment *f, int32_t pc, uint32_t live) {
    if (pc < 0 || (f->join && (f->join->pc == pc || f->join->leave_pc == pc))) return f->join;
    return join_new(m, f->join, pc, live);
}

// The same of the branch `in`: at its post-dominator, and before it if lanes may leave for that on their own.
static Join *join_for_branch(Machine *m, Fragment *f, const Instruction *in, uint32_t live) {
    Join *join = join_for(m, f, in->reconverge, live);
    if (in->meeting < 0 || m->stopped || (join->pc == in->meeting && join->leave_pc == in->reconverge))
        return join;
    join = join_new(m, join, in->meeting, live);
    if (join) join->leave_pc = in->reconverge;
    return join;
}

// Sends lanes of `f` to `pc`, under `join`. Where that is the join itself they have arrived already.
static void send_lanes(Machine *m, Warp *w, Frame *frame, Join *join, int32_t pc, uint32_t lanes) {
    if (join && join->pc == pc && !(m->scrambled && random_one_in(&m->random, 8))) {
        join->arrived |= lanes;
        join->since = w->polls;
    } else
        add_fragment(w, pc, lanes, frame, join);
}

bool split_off(Machine *m, Warp *w, Fragment *f, uint32_t mask, int32_t pc) {
    uint32_t rest = f->mask & ~mask;
    if (!rest) return true;
    Join *join = join_for(m, f, pc + 1, f->mask);
    if (m->stopped) return false;
    f->join = join;
    f->mask = mask;
    send_lanes(m, w, f->frame, join, pc + 1, rest);
    return true;
}

bool part_at(Machine *m, Warp *w, Fragment *f, uint32_t mask, int32_t pc) {
    uint32_t rest = f->mask & ~mask;
    if (!rest) return true;
    Join *join = join_for(m, f, pc + 1, f->mask);
    if (m->stopped) return false;
    f->join = join;
    f->mask = mask;
    add_fragment(w, pc, rest, f->frame, join);
    return true;
}

// ---- Branches ---------------------------------------------------------------------------------------------

void diverge(Machine *m, Warp *w, Fragment *f, const Instruction *in, uint32_t taken) {
    uint32_t rest = f->mask & ~taken;
    Join *join = join_for_branch(m, f, in, f->mask);
    if (m->stopped) return;
    f->join = join;
    f->mask = rest;
    f->pc = in->index + 1;
    send_lanes(m, w, f->frame, join, in->target, taken);
}

bool branch_table(Machine *m, Warp *w, Fragment *f, const Instruction *in, uint32_t mask) {
    const BranchTable *table = in->detail;
    const uint32_t *index = source(f->frame->registers, in, 0);
    uint32_t rest = f->mask & ~mask;
    FOR_LANES(lane, mask) {
        if (index[lane] >= (uint32_t)table->count) {
            report(m, FINDING_BAD_CALL, w, (int)lane, in, "branches to entry %u of a table of %d",
                   index[lane], table->count);
            return false;
        }
    }
    Join *join = join_for_branch(m, f, in, f->mask);
    if (m->stopped) return false;
    Frame *frame = f->frame;
    bool is_first = true;
    while (mask) {
        int32_t target = table->targets[index[__builtin_ctz(mask)]];
        uint32_t same = 0;
        FOR_LANES(lane, mask) if (table->targets[index[lane]] == target) same |= 1u << lane;
        mask &= ~same;
        if (is_first) {
            f->mask = same;
            f->pc = target;
            // A join made for nothing, when all lanes go one way, is harmless: they arrive together.
            f->join = join;
        } else
            send_lanes(m, w, frame, join, target, same);
        is_first = false;
    }
    if (rest) send_lanes(m, w, frame, join, in->index + 1, rest);
    return true;
}
