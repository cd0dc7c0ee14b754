// Runs warps: executes the decoded instructions of one fragment after the other, until it waits, parts from
// some of its lanes or has had its turn. Fragments of a warp take turns, so that a lane that spins on a lock
// cannot starve the lane that holds it.
#include "emulator/machine/execute.h"

#include <string.h>

#include "emulator/alu/slow_path.h"
#include "emulator/machine/cycle.h"
#include "emulator/machine/deferred.h"
#include "emulator/machine/divergence.h"
#include "emulator/machine/handlers.h"
#include "emulator/machine/idle.h"
#include "emulator/machine/local.h"
#include "emulator/machine/memory.h"
#include "emulator/machine/rounds.h"
#include "emulator/machine/undefined_step.h"

enum {
    FRAGMENT_TURN = 512, // instructions before the next fragment of a warp gets a turn
    POLL_COST = 31,      // what an instruction that may be waiting for someone adds to those of a turn
    // What counts against the limit of steps besides lanes, so that it bounds the emulator's time whether one
    // lane runs or 32: each instruction of a warp, and each poll, which costs more than any other.
    WARP_STEPS = 16,
    POLL_STEPS = 128,
};

// By kind. The loop itself runs KIND_ALU.
static Handler *const handlers[KIND_COUNT] = {
#define OPCODE(name, kind, least, most, wanted, lower, run) [kind] = run,
#define LOWERED(kind, run) [kind] = run,
#include "emulator/program/opcodes.def"
};

// What a kind does besides changing registers. An atomic counts its own effects.
typedef enum { HAS_EFFECT, LOOKS, DOES_NO_MORE } Effect;
static const Effect effects[KIND_COUNT] = {
    // Their results may be others next time, though the fragment has changed nothing.
    [KIND_LOAD] = LOOKS,
    [KIND_ATOMIC] = LOOKS,
    [KIND_SPECIAL] = LOOKS,
    [KIND_ACTIVEMASK] = LOOKS,
    [KIND_MBARRIER_WAIT] = LOOKS,
    [KIND_TEXTURE] = LOOKS,
    [KIND_TEXTURE_QUERY] = LOOKS,
    [KIND_NANOSLEEP] = DOES_NO_MORE,
    [KIND_BRANCH] = DOES_NO_MORE,
    [KIND_FENCE] = DOES_NO_MORE,
    [KIND_CVTA] = DOES_NO_MORE,
    [KIND_ISSPACEP] = DOES_NO_MORE,
    [KIND_PREFETCH] = DOES_NO_MORE,
    [KIND_NOT_PREDICATE] = DOES_NO_MORE,
    [KIND_NOP] = DOES_NO_MORE,
    [KIND_PARAM_LOAD] = DOES_NO_MORE,
};

// What had been done in a turn when a fragment polled as it had before.
typedef struct {
    uint64_t ran, lanes, polls, looks; // ran: 0: it has not
    uint64_t effects;                  // of Machine
} Round;

// A fragment that polls as it did before will do so for the rest of the turn, since no other warp runs
// meanwhile. The rest is counted, not run; returns how many instructions that is.
static uint64_t pass_the_turn(Machine *m, Warp *w, Fragment *f, const Instruction *in, Round *round,
                              Round now, uint64_t budget) {
    const Round last = *round;
    *round = now;
    uint64_t ran, lanes, polls = 1;
    if (f->poll.loop.in) {
        ran = f->poll.loop.ran;
        lanes = f->poll.loop.lanes;
    } else {
        if (!last.ran || last.effects != now.effects) return 0;
        ran = now.ran - last.ran;
        lanes = now.lanes - last.lanes;
        polls = now.polls - last.polls;
        if (polls == 1 && now.looks - last.looks == 1) poll_is_all(f, in, ran, lanes);
    }
    if (now.ran >= budget) return 0;
    const uint64_t rounds = (budget - now.ran) / ran;
    m->lane_steps += rounds * lanes;
    m->polls += rounds * polls;
    w->polls += rounds * polls;
    return rounds * ran;
}

// A branch of the machine code alone: it parts lanes that take the longer way from the others.
static void tally_slow_path(Tally *tally, const unsigned char *registers, const Instruction *in,
                            uint32_t mask) {
    const uint32_t slow = slow_lanes(registers, in, mask);
    if (slow && slow != mask) tally->parted++;
}

// Runs one fragment until it waits, parts, ends, or `budget` instructions are done; returns how many it
// ran. Afterwards its place in w->fragments has mask 0 if the fragment is no more.
static uint64_t run_fragment(Machine *m, Warp *w, Fragment *f, uint64_t budget) {
    uint64_t ran = 0, looks = 0;
    Tally *tally = m->tally;
    const Observer *follower = m->of_instructions;
    Round round = {0};
reload:;
    Frame *frame = f->frame;
    bool is_watched =
        follower || frame->undefined || w->deferred.in || (m->of_choices && frame->function->has_choices);
    const Instruction *code = frame->function->code;
    unsigned char *registers = frame->registers;
    uint32_t active = f->mask;
    Join *join = f->join;
    int32_t pc = f->pc, join_pc = join ? join->pc : -1, leave_pc = join ? join->leave_pc : -1;
    while (ran < budget) {
        if (pc == leave_pc) {
            m->effects++;
            f->join = leave_join(m, w, frame, join, active);
            f->pc = pc;
            goto reload;
        }
        if (pc == join_pc) {
            m->effects++;
            join->arrived |= active;
            join->since = w->polls;
            if (join->arrived == join->live) {
                f->mask = join->arrived;
                f->join = join->parent;
                f->pc = pc;
                join_free(m, join);
                goto reload;
            }
            if (m->scrambled && random_one_in(&m->random, 8)) { // continues alone
                join->arrived &= ~active;
                join->live &= ~active;
                f->join = join->parent;
                f->pc = pc;
                if (join->arrived == join->live) release_join(m, w, frame, join);
                goto reload;
            }
            f->mask = 0;
            return ran;
        }
        const Instruction *in = &code[pc];
        uint32_t mask = active;
        if (in->guard >= 0) {
            uint32_t guard;
            memcpy(&guard, registers + in->guard, 4);
            mask &= in->guard_negated ? ~guard : guard;
        }
        ran++;
        uint32_t lanes = (uint32_t)__builtin_popcount(mask);
        m->lane_steps += lanes;
        if (tally) {
            tally[in->number].warps++;
            tally[in->number].lanes += lanes;
            if (in->slow_path) tally_slow_path(&tally[in->number], registers, in, mask);
        }
        if (is_watched) {
            if (follower) follower->instruction(follower->self, w, in, mask, active);
            if (w->deferred.in && !pass_deferred(m, w, f, in, active)) {
                f->pc = pc;
                return ran;
            }
            if (frame->undefined) undefined_step(m, w, f, in, mask);
            if (in->choice_of && m->of_choices) choose_loads(m, w, f, in, mask);
        }
        if (in->kind == KIND_ALU) {
            if (mask) in->alu(registers, in, mask);
            pc++;
            continue;
        }
        if (in->kind == KIND_BRANCH && m->lane_steps <= m->step_limit) {
            if (tally) {
                tally[in->number].done++;
                if (mask && mask != active) tally[in->number].parted++;
                if (in->branch_of) sink_loads(m, w, f, in, mask, active);
                if (in->unrolled) end_round(w, in, &tally[in->number], mask, active);
            }
            if (mask == active) {
                pc = in->target;
                continue;
            }
        }
        if (!mask && (in->kind != KIND_BRANCH || m->lane_steps <= m->step_limit)) {
            pc++;
            continue;
        }
        m->effects += effects[in->kind] == HAS_EFFECT;
        looks += effects[in->kind] == LOOKS;
        Step step = handlers[in->kind](m, w, f, in, mask);
        if (step & STEP_POLLED) ran += POLL_COST; // also where the frame is to be looked at again
        if (step & STEP_MOVED) {
            m->effects++;
            f->poll.loop.in = NULL;
            goto reload;
        }
        if (step & STEP_STOPS) return ran;
        pc++;
        // Under a seed, what a poll reads is random, and so is who runs next; not what an mbarrier says.
        if (step & STEP_POLLED && (!m->scrambled || in->kind == KIND_MBARRIER_WAIT) &&
            poll_repeats(m, f, in) && !runs_every_poll(m))
            ran += pass_the_turn(m, w, f, in, &round,
                                 (Round){ran, m->lane_steps, w->polls, looks, m->effects}, budget);
        if (!(step & STEP_TURN_ENDS)) continue;
        f->pc = pc;
        if (!m->stopped) steps_used_up(m, w, f, in);
        return ran;
    }
    f->pc = pc;
    return ran;
}

static void drop_empty_fragments(Warp *w) {
    int kept = 0;
    for (int i = 0; i < w->fragment_count; i++)
        if (w->fragments[i].mask) {
            if (kept != i) w->fragments[kept] = w->fragments[i];
            kept++;
        }
    w->fragment_count = kept;
}

// The first from the warp's turn on that can run, or -1.
static int next_fragment(const Warp *w) {
    const int count = w->fragment_count;
    if (count == 1) return w->fragments[0].state == READY ? 0 : -1; // the usual case, without a division
    for (int k = 0; k < count; k++) {
        const int i = (w->turn + k) % count;
        if (w->fragments[i].state == READY) return i;
    }
    return -1;
}

static void count_steps(Machine *m, uint64_t done, uint64_t polls) {
    const uint64_t others = done > POLL_COST * polls ? done - POLL_COST * polls : 0;
    const uint64_t steps = WARP_STEPS * others + POLL_STEPS * polls;
    m->step_limit -= steps < m->step_limit ? steps : m->step_limit;
}

uint64_t run_warp(Machine *m, Warp *w, uint64_t budget) {
    uint64_t ran = 0;
    if (m->searched && is_passed_over(m, w)) return 1;
    while (ran < budget && !m->stopped) {
        drop_empty_fragments(w);
        const int count = w->fragment_count, chosen = next_fragment(w);
        if (chosen < 0) break;
        uint64_t turn = count > 1 ? FRAGMENT_TURN : budget - ran;
        if (turn > budget - ran) turn = budget - ran;
        // Arriving at a join runs no instruction but is progress.
        uint64_t polls = w->polls, done = run_fragment(m, w, &w->fragments[chosen], turn);
        if (w->polls != polls && w->fragments[chosen].mask && !m->stopped)
            lose_patience(m, w, &w->fragments[chosen]);
        count_steps(m, done, w->polls - polls);
        ran += done ? done : 1;
        w->turn = (chosen + 1) & (int)(WARP_SIZE - 1);
        if (m->scrambled) {
            if (count > 1) w->turn = (int)(random_next(&m->random) >> 40) & (int)(WARP_SIZE - 1);
            break; // the scheduler draws again
        }
    }
    return ran;
}

void warp_start(Machine *m, Warp *w) {
    const Function *function = &m->program->functions[m->kernel_function];
    Frame *frame = frame_new(m, w, function, NULL);
    w->fragment_count = 0;
    w->turn = 0;
    w->exited = 0;
    memset(w->counted, 0, sizeof w->counted);
    w->at_cluster = 0;
    memset(w->rounds, 0, sizeof w->rounds);
    w->left_loop = w->turning = w->turned = 0;
    w->polls = 0;
    w->impatient = false;
    w->block->resting &= ~(1u << w->index);
    w->deferred.in = NULL;
    if (!frame) return;
    frame->live = w->exists;
    add_fragment(w, 0, w->exists, frame, NULL);
    if (function->local_bytes > w->local_capacity)
        grow_local(m, w, function->local_bytes, &function->code[0]);
}
