// Control flow: branches, calls, returns and exits, the parameters of calls, traps, and what does nothing at
// all. How lanes part and meet is in divergence.c.
#include <string.h>

#include "emulator/machine/cluster.h"
#include "emulator/machine/cycle.h"
#include "emulator/machine/divergence.h"
#include "emulator/machine/findings.h"
#include "emulator/machine/handlers.h"
#include "emulator/machine/idle.h"
#include "emulator/machine/local.h"
#include "emulator/machine/sync.h"
#include "emulator/machine/syscall.h"

enum { MAX_CALL_DEPTH = 2048 };

bool steps_used_up(Machine *m, Warp *w, Fragment *f, const Instruction *in) {
    if (m->lane_steps <= m->step_limit) return false;
    if (m->searched) {
        m->stopped = true;
        return true;
    }
    char text[160];
    const bool is_reported = report(
        m, FINDING_STEP_LIMIT, w, __builtin_ctz(f->mask), in, "still running after %llu steps; %s",
        (unsigned long long)(m->ended_early ? m->ended_early : m->launch->max_steps), blocks_words(m, text));
    if (is_reported && !m->ended_early) search_cycle(m, w, f, in);
    return true;
}

// ---- Branches ---------------------------------------------------------------------------------------------

// The lanes of the fragment part: the loop itself handles branches that all lanes take, or none.
Step run_branch(Machine *m, Warp *w, Fragment *f, const Instruction *in, uint32_t mask) {
    f->pc = in->index;
    if (steps_used_up(m, w, f, in)) return STEP_STOPS;
    diverge(m, w, f, in, mask);
    return m->stopped ? STEP_STOPS : STEP_MOVED;
}

Step run_branch_table(Machine *m, Warp *w, Fragment *f, const Instruction *in, uint32_t mask) {
    uint32_t active = f->mask;
    f->pc = in->index;
    if (steps_used_up(m, w, f, in)) return STEP_STOPS;
    if (m->tally) m->tally[in->number].done++;
    if (!branch_table(m, w, f, in, mask)) return STEP_STOPS;
    if (m->tally && f->mask != active) m->tally[in->number].parted++;
    return STEP_MOVED;
}

// ---- Calls ------------------------------------------------------------------------------------------------

static const Function *indirect_target(Machine *m, const CallDetail *detail, uint64_t address) {
    uint64_t index = (address - FUNCTION_WINDOW) / 16 - 1;
    if (address < FUNCTION_WINDOW + 16 || address % 16 ||
        index >= (uint64_t)m->program->module->function_count)
        return NULL;
    const Function *function = &m->program->functions[index];
    if (!function->lowered || function->ptx->is_entry) return NULL;
    if (function->parameter_count != detail->argument_count || function->return_count != detail->result_count)
        return NULL;
    for (int i = 0; i < detail->argument_count; i++)
        if (function->parameters[i].bytes != detail->arguments[i].bytes) return NULL;
    for (int i = 0; i < detail->result_count; i++)
        if (function->returns[i].bytes != detail->results[i].bytes) return NULL;
    return function;
}

// The frames may be in registers here, where ptxas would take a part of the stack for each call.
static void report_overflow(Machine *m, const Warp *w, int lane, const Instruction *in, int depth,
                            unsigned local_bytes) {
    if (local_bytes > MAX_LOCAL_BYTES)
        report(m, FINDING_STACK_OVERFLOW, w, lane, in,
               "calls %d deep, which takes %u bytes of local memory; a thread may have %d", depth,
               local_bytes, MAX_LOCAL_BYTES);
    else
        report(m, FINDING_STACK_OVERFLOW, w, lane, in,
               "calls %d deep: the emulator allows %d, and a stack of 1 KiB holds far fewer", depth,
               MAX_CALL_DEPTH);
}

// Enters the function that lanes `mask` of `f` call; false when the machine was stopped. Lanes that call
// another function become a separate fragment, which calls in its turn.
static bool enter_call(Machine *m, Warp *w, Fragment *f, const Instruction *in, uint32_t mask) {
    const CallDetail *detail = in->detail;
    const Function *function = detail->function;
    if (!split_off(m, w, f, mask, in->index)) return false;
    if (!function) {
        const uint64_t *targets = source(f->frame->registers, in, 0);
        uint32_t first = (uint32_t)__builtin_ctz(mask), same = 0;
        FOR_LANES(lane, mask) if (targets[lane] == targets[first]) same |= 1u << lane;
        function = indirect_target(m, detail, targets[first]);
        if (!function) {
            report(m, FINDING_BAD_CALL, w, (int)first, in,
                   "calls through a pointer that is not a function of this signature: 0x%llx",
                   (unsigned long long)targets[first]);
            return false;
        }
        if (!part_at(m, w, f, same, in->index)) return false;
        mask = same;
    }
    Frame *frame = frame_new(m, w, function, f->frame);
    if (!frame) return false;
    frame->live = mask;
    frame->call = in;
    frame->caller_join = f->join;
    uint32_t top = frame->local_base + function->local_bytes;
    if (frame->depth > MAX_CALL_DEPTH || top > MAX_LOCAL_BYTES) {
        report_overflow(m, w, __builtin_ctz(mask), in, frame->depth, top);
        frame_free(m, frame);
        return false;
    }
    if (!function->is_refused)
        copy_params(m, frame, function->parameters, f->frame, detail->arguments, detail->argument_count,
                    mask);
    f->frame = frame;
    f->join = NULL;
    f->pc = 0;
    return top <= w->local_capacity || grow_local(m, w, top, in);
}

Step run_call(Machine *m, Warp *w, Fragment *f, const Instruction *in, uint32_t mask) {
    const CallDetail *detail = in->detail;
    f->pc = in->index;
    if (steps_used_up(m, w, f, in)) return STEP_STOPS;
    if (detail->syscall != NO_SYSCALL) {
        execute_syscall(m, w, f, in, mask);
        return m->stopped ? STEP_TURN_ENDS : STEP_NEXT;
    }
    return enter_call(m, w, f, in, mask) ? STEP_MOVED : STEP_STOPS;
}

// Takes the lanes that return or exit out of the fragment; false when the steps are used up. A kernel without
// a branch meets that limit here, warp after warp.
static bool leave(Machine *m, Warp *w, Fragment *f, const Instruction *in, uint32_t mask) {
    f->pc = in->index;
    if (steps_used_up(m, w, f, in)) return false;
    f->pc = in->index + 1;
    f->mask &= ~mask;
    return true;
}

static Step after_leaving(const Machine *m, const Fragment *f) {
    return !f->mask || m->stopped ? STEP_STOPS : STEP_MOVED;
}

Step run_return(Machine *m, Warp *w, Fragment *f, const Instruction *in, uint32_t mask) {
    if (!leave(m, w, f, in, mask)) return STEP_STOPS;
    return_lanes(m, w, f->frame, f->join, mask);
    return after_leaving(m, f);
}

Step run_exit(Machine *m, Warp *w, Fragment *f, const Instruction *in, uint32_t mask) {
    if (!leave(m, w, f, in, mask)) return STEP_STOPS;
    // Frames and joins go with their last lane, but those of a fragment that still has lanes stay.
    exit_lanes(m, w, f->frame, f->join, mask);
    recheck_waits(m, w);
    if (!m->stopped) cluster_recheck(m, w->block);
    return after_leaving(m, f);
}

// ---- Parameters of device functions -----------------------------------------------------------------------

static unsigned char *param_at(unsigned char *registers, const Instruction *in, uint32_t lane,
                               unsigned element) {
    return registers + in->target + (size_t)lane * in->literal[0] + in->offset + element * in->width;
}

Step run_param_load(Machine *m, Warp *w, Fragment *f, const Instruction *in, uint32_t mask) {
    (void)m, (void)w;
    unsigned char *registers = f->frame->registers;
    bool is_signed = in->type == PTX_S8 || in->type == PTX_S16 || in->type == PTX_S32;
    for (unsigned e = 0; e < in->elements; e++) {
        if (in->dst[e] < 0) continue;
        FOR_LANES(lane, mask) {
            uint64_t value = 0;
            memcpy(&value, param_at(registers, in, lane, e), in->width);
            if (is_signed && value >> (in->width * 8 - 1)) value |= ~0ull << (in->width * 8 - 1);
            memcpy(registers + in->dst[e] + lane * in->literal[1], &value, in->literal[1]);
        }
    }
    return STEP_NEXT;
}

Step run_param_store(Machine *m, Warp *w, Fragment *f, const Instruction *in, uint32_t mask) {
    (void)m, (void)w;
    unsigned char *registers = f->frame->registers;
    for (unsigned e = 0; e < in->elements; e++) {
        const unsigned char *from = source(registers, in, 1 + (int)e);
        FOR_LANES(lane, mask)
        memcpy(param_at(registers, in, lane, e), from + lane * in->literal[1], in->width);
    }
    return STEP_NEXT;
}

// ---- The rest ---------------------------------------------------------------------------------------------

Step run_trap(Machine *m, Warp *w, Fragment *f, const Instruction *in, uint32_t mask) {
    (void)f;
    report(m, FINDING_TRAP, w, __builtin_ctz(mask), in, "executes %s, which ends the kernel",
           in->kind == KIND_TRAP ? "a trap instruction" : "a breakpoint");
    return STEP_TURN_ENDS;
}

Step run_unsupported(Machine *m, Warp *w, Fragment *f, const Instruction *in, uint32_t mask) {
    (void)f;
    report(m, FINDING_UNSUPPORTED, w, __builtin_ctz(mask), in,
           "reached code that the emulator cannot run: %s", (const char *)in->detail);
    return STEP_TURN_ENDS;
}

Step run_nanosleep(Machine *m, Warp *w, Fragment *f, const Instruction *in, uint32_t mask) {
    (void)f, (void)in, (void)mask;
    m->polls++;
    w->polls++;
    return STEP_POLLED | STEP_TURN_ENDS;
}

Step run_nothing(Machine *m, Warp *w, Fragment *f, const Instruction *in, uint32_t mask) {
    (void)m, (void)w, (void)f, (void)in, (void)mask;
    return STEP_NEXT;
}
