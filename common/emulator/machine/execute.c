// Runs warps: fetches decoded instructions and executes them for a fragment, until it waits, parts
// (divergence.c) or has had its turn. Fragments of a warp take turns, so that a lane that spins on a lock
// cannot starve the lane that holds it.
#include <stdlib.h>
#include <string.h>

#include "emulator/machine/divergence.h"
#include "emulator/machine/machine.h"
#include "emulator/model/warp_clocks.h"

enum {
    FRAGMENT_TURN = 512, // instructions before the next fragment of a warp gets a turn
    POLL_COST = 31,      // what a load that may be waiting for someone adds to the instructions of a turn
    MAX_CALL_DEPTH = 2048,
};

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

// Enters the function that lanes `mask` of `f` call; false when the machine was stopped. Lanes that call
// another function stay behind as a fragment of their own, to call in their turn.
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
            report(m, FINDING_BAD_CALL, w, (int)first, in, NULL, true,
                   "calls through a pointer that is no function of this signature: 0x%llx",
                   (unsigned long long)targets[first]);
            return false;
        }
        if (!part_at(m, w, f, same, in->index)) return false;
        mask = same;
    }
    Frame *frame = frame_new(m, function, f->frame);
    if (!frame) {
        m->out_of_memory = false; // too deep, not too little memory: the limit is on frames
        report(m, FINDING_STACK_OVERFLOW, w, __builtin_ctz(mask), in, NULL, true,
               "the calls are nested too deeply: the frames do not fit in memory");
        return false;
    }
    frame->live = mask;
    frame->call = in;
    frame->caller_join = f->join;
    uint32_t top = frame->local_base + function->local_bytes;
    if (frame->depth > MAX_CALL_DEPTH || top > MAX_LOCAL_BYTES) {
        report(m, FINDING_STACK_OVERFLOW, w, __builtin_ctz(mask), in, NULL, true,
               "the stack is full: %d calls deep, %u bytes of local memory a thread", frame->depth, top);
        frame_free(m, frame);
        return false;
    }
    copy_params(frame->registers, function->parameters, f->frame->registers, detail->arguments,
                detail->argument_count, mask);
    f->frame = frame;
    f->join = NULL;
    f->pc = 0;
    return top <= w->local_capacity || grow_local(m, w, top, in);
}

// ---- Parameters of device functions -----------------------------------------------------------------------

static void param_move(unsigned char *registers, const Instruction *in, uint32_t mask, bool is_load) {
    bool is_signed = in->type == PTX_S8 || in->type == PTX_S16 || in->type == PTX_S32;
    for (unsigned e = 0; e < in->elements; e++) {
        FOR_LANES(lane, mask) {
            unsigned char *param =
                registers + in->target + (size_t)lane * in->literal[0] + in->offset + e * in->width;
            if (!is_load) {
                const unsigned char *from = source(registers, in, 1 + (int)e);
                memcpy(param, from + lane * in->literal[1], in->width);
            } else if (in->dst[e] >= 0) {
                uint64_t value = 0;
                memcpy(&value, param, in->width);
                if (is_signed && value >> (in->width * 8 - 1)) value |= ~0ull << (in->width * 8 - 1);
                memcpy(registers + in->dst[e] + lane * in->literal[1], &value, in->literal[1]);
            }
        }
    }
}

static void frame_address(const Frame *frame, const Instruction *in, uint32_t mask) {
    uint64_t address = frame->local_base + (uint64_t)in->offset;
    unsigned char *to = frame->registers + in->dst[0];
    FOR_LANES(lane, mask) memcpy(to + lane * in->width, &address, in->width);
}

// ---- Addresses of spaces ----------------------------------------------------------------------------------

static void cvta(unsigned char *registers, const Instruction *in, uint32_t mask) {
    const uint64_t *from = source(registers, in, 0);
    uint64_t *to = destination(registers, in, 0);
    uint64_t window = in->space == PTX_SPACE_SHARED  ? SHARED_WINDOW
                      : in->space == PTX_SPACE_LOCAL ? LOCAL_WINDOW
                                                     : 0;
    if (in->flags) window = 0 - window; // to the space
    if (mask == FULL_MASK) {
        for (unsigned lane = 0; lane < WARP_SIZE; lane++) to[lane] = from[lane] + window;
        return;
    }
    FOR_LANES(lane, mask) to[lane] = from[lane] + window;
}

static void isspacep(const Machine *m, unsigned char *registers, const Instruction *in, uint32_t mask) {
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
        uint32_t bit = 1u << lane;
        *to = space == in->space ? *to | bit : *to & ~bit;
    }
}

// ---- The loop ---------------------------------------------------------------------------------------------

// Runs one fragment until it waits, parts, ends, or `budget` instructions are done; returns how many it
// ran. Afterwards its place in w->fragments has mask 0 if the fragment is no more.
static uint64_t run_fragment(Machine *m, Warp *w, Fragment *f, uint64_t budget) {
    uint64_t ran = 0;
    Counters *counts = m->counts;
reload:;
    Frame *frame = f->frame;
    const Instruction *code = frame->function->code;
    unsigned char *registers = frame->registers;
    uint32_t active = f->mask;
    Join *join = f->join;
    int32_t pc = f->pc, join_pc = join ? join->pc : -1;
    w->active_now = active;
    while (ran < budget) {
        if (join && pc == join_pc) {
            join->arrived |= active;
            join->since = w->polls;
            if (join->arrived == join->live) {
                f->mask = join->arrived;
                f->join = join->parent;
                f->pc = pc;
                join_free(m, join);
                goto reload;
            }
            if (m->scrambled && random_one_in(&m->random, 8)) { // goes on alone
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
        if (counts) {
            counts[in->number].instructions++;
            counts[in->number].thread_instructions += lanes;
            counts[in->number].float_ops += (uint64_t)lanes * in->float_ops;
        }
        if (m->timing) timing_instruction(m->timing, w, in, mask, active);
        switch ((InstructionKind)in->kind) {
        case KIND_ALU:
            if (mask) in->alu(registers, in, mask);
            pc++;
            continue;
        case KIND_BRANCH:
            if (m->lane_steps > m->step_limit) break;
            if (counts) {
                counts[in->number].branches++;
                if (mask && mask != active) counts[in->number].branch_divergent++;
            }
            if (mask == active)
                pc = in->target;
            else if (!mask)
                pc++;
            else {
                f->pc = pc;
                diverge(m, w, f, in, mask);
                if (m->stopped) return ran;
                goto reload;
            }
            continue;
        case KIND_LOAD:
        case KIND_STORE:
        case KIND_ATOMIC:
            pc++;
            if (!mask) continue;
            if (in->kind == KIND_LOAD)
                execute_load(m, w, f, in, mask);
            else if (in->kind == KIND_STORE)
                execute_store(m, w, f, in, mask);
            else
                execute_atomic(m, w, f, in, mask);
            if (m->stopped) break;
            if (in->flags & IS_VOLATILE) ran += POLL_COST, m->polls++, w->polls++;
            if (m->scrambled && random_one_in(&m->random, 8)) break; // somebody else's turn
            continue;
        case KIND_SPECIAL:
            if (mask) execute_special(m, w, in, registers, mask);
            pc++;
            continue;
        case KIND_FRAME_ADDRESS:
            frame_address(frame, in, mask);
            pc++;
            continue;
        case KIND_NOT_PREDICATE: {
            uint32_t value;
            memcpy(&value, registers + in->src[0].offset, 4);
            value = ~value;
            memcpy(registers + in->dst[0], &value, 4); // a temporary: all lanes may be written
            pc++;
            continue;
        }
        case KIND_CVTA:
            if (mask) cvta(registers, in, mask);
            pc++;
            continue;
        case KIND_ISSPACEP:
            if (mask) isspacep(m, registers, in, mask);
            pc++;
            continue;
        case KIND_PARAM_LOAD:
        case KIND_PARAM_STORE:
            param_move(registers, in, mask, in->kind == KIND_PARAM_LOAD);
            pc++;
            continue;
        case KIND_ACTIVEMASK: {
            uint32_t *to = destination(registers, in, 0);
            FOR_LANES(lane, mask) to[lane] = active;
            pc++;
            continue;
        }
        case KIND_FENCE:
            if (counts) counts[in->number].fences++;
            for (int i = 0; i < m->observer_count && mask; i++)
                if (m->observers[i].fence) m->observers[i].fence(m->observers[i].self, w, mask, in);
            pc++;
            continue;
        case KIND_CP_ASYNC:
        case KIND_CP_ASYNC_WAIT:
            pc++;
            if (!mask) continue;
            if (in->kind == KIND_CP_ASYNC)
                execute_async_copy(m, w, f, in, mask);
            else
                execute_async_wait(m, w, f, in, mask);
            if (m->stopped) break;
            continue;
        case KIND_NANOSLEEP:
            pc++;
            ran += POLL_COST;
            m->polls++;
            w->polls++;
            break;
        case KIND_NOP:
        case KIND_PREFETCH: pc++; continue;
        case KIND_BRANCH_TABLE:
            if (!mask) {
                pc++;
                continue;
            }
            if (m->lane_steps > m->step_limit) break;
            f->pc = pc;
            if (counts) counts[in->number].branches++;
            if (!branch_table(m, w, f, in, mask)) return ran;
            if (counts && f->mask != active) counts[in->number].branch_divergent++;
            goto reload;
        case KIND_CALL: {
            if (!mask) {
                pc++;
                continue;
            }
            if (m->lane_steps > m->step_limit) break;
            const CallDetail *detail = in->detail;
            f->pc = pc;
            if (detail->syscall != NO_SYSCALL) {
                execute_syscall(m, w, f, in, mask);
                pc++;
                if (m->stopped) break;
                continue;
            }
            if (!enter_call(m, w, f, in, mask)) return ran;
            goto reload;
        }
        case KIND_RETURN:
        case KIND_EXIT: {
            if (!mask) {
                pc++;
                continue;
            }
            // A kernel without a branch meets the limit here, warp after warp.
            if (m->lane_steps > m->step_limit) break;
            f->pc = pc + 1;
            f->mask = active & ~mask;
            if (in->kind == KIND_RETURN)
                return_lanes(m, w, frame, join, mask);
            else {
                // What waits in other joins and calls is freed with its last lane, so take what this fragment
                // needs before the lanes go: with lanes left in it, its frame and join stay.
                exit_lanes(m, w, frame, join, mask);
                recheck_waits(m, w);
            }
            if (!f->mask || m->stopped) return ran;
            goto reload;
        }
        case KIND_TRAP:
        case KIND_BREAKPOINT:
            pc++;
            if (!mask) continue;
            report(m, FINDING_TRAP, w, __builtin_ctz(mask), in, NULL, true, "%s ended the kernel",
                   in->kind == KIND_TRAP ? "a trap instruction" : "a breakpoint");
            break;
        case KIND_BARRIER:
        case KIND_WARP_BARRIER:
        case KIND_SHUFFLE:
        case KIND_VOTE:
        case KIND_MATCH:
        case KIND_REDUX:
        case KIND_ELECT: {
            if (!mask) {
                pc++;
                continue;
            }
            f->pc = pc;
            if (!split_off(m, w, f, mask, pc)) return ran;
            if (in->kind != KIND_BARRIER) {
                mask = lanes_that_sync(w, f, in, mask);
                if (!part_at(m, w, f, mask, pc)) return ran;
            }
            bool goes_on = in->kind == KIND_BARRIER ? execute_barrier(m, w, f, in, mask)
                                                    : execute_warp_sync(m, w, f, in, mask);
            if (!goes_on) return ran;
            f->pc = pc + 1;
            if (m->scrambled && in->kind == KIND_BARRIER) return ran;
            goto reload;
        }
        case KIND_ALLOCA:
        case KIND_GETCTARANK: break; // lowering refuses them
        }
        // Only what ends a turn gets here.
        f->pc = pc;
        if (!m->stopped && m->lane_steps > m->step_limit)
            report(m, FINDING_STEP_LIMIT, w, __builtin_ctz(f->mask), in, NULL, true,
                   "still running after %llu instructions of single threads",
                   (unsigned long long)m->step_limit);
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

uint64_t run_warp(Machine *m, Warp *w, uint64_t budget) {
    uint64_t ran = 0;
    while (ran < budget && !m->stopped) {
        drop_empty_fragments(w);
        int count = w->fragment_count, chosen = -1;
        for (int k = 0; k < count && chosen < 0; k++) {
            int i = (w->turn + k) % count;
            if (w->fragments[i].state == READY) chosen = i;
        }
        if (chosen < 0) break;
        uint64_t turn = count > 1 ? FRAGMENT_TURN : budget - ran;
        if (turn > budget - ran) turn = budget - ran;
        // Arriving at a join runs nothing, and is progress all the same.
        uint64_t polls = w->polls, done = run_fragment(m, w, &w->fragments[chosen], turn);
        if (w->polls != polls && w->fragments[chosen].mask && !m->stopped)
            lose_patience(m, w, &w->fragments[chosen]);
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
    Frame *frame = frame_new(m, function, NULL);
    w->fragment_count = 0;
    w->turn = 0;
    w->exited = 0;
    w->polls = 0;
    w->impatient = false;
    if (!frame) return;
    frame->live = w->exists;
    add_fragment(w, 0, w->exists, frame, NULL);
    if (function->local_bytes > w->local_capacity)
        grow_local(m, w, function->local_bytes, &function->code[0]);
}
