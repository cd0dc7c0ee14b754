// What executes a decoded instruction: one handler for each kind, named by its row in program/opcodes.def.
#pragma once

#include "emulator/machine/machine.h"

// What a handler leaves behind, bits of one Step.
enum {
    STEP_NEXT = 0,      // the fragment runs on behind the instruction
    STEP_POLLED = 1,    // the same, but it may be waiting for someone: its turn is shorter
    STEP_TURN_ENDS = 2, // the fragment's turn is over; it resumes behind the instruction
    STEP_MOVED = 4,     // the fragment runs on at its pc: mask, frame, join or pc have changed
    STEP_STOPS = 8,     // the fragment waits, or is empty, or the machine has stopped
};
typedef unsigned Step;

// Executes `in` for the lanes of `mask`, never 0 but of a branch, which are among those of the fragment that
// runs. Fragment.pc is out of date: the instruction is at in->index.
typedef Step Handler(Machine *machine, Warp *warp, Fragment *fragment, const Instruction *in, uint32_t mask);

#define OPCODE(name, kind, least, most, wanted, lower, run) Handler run;
#define LOWERED(kind, run) Handler run;
#include "emulator/program/opcodes.def"

// Keeps a warp from its next turns: some of the times for long enough that other blocks come to their end,
// and at others until nothing else can run, or others may be waiting for it (machine/schedule.c).
static inline void rest(Machine *machine, Warp *warp) {
    const uint64_t draw = random_next(&machine->random);
    const uint32_t turns = (uint32_t)(draw >> 54) + (draw & 3 ? 0 : 1u << 20);
    Block *block = warp->block;
    block->rests[warp->index] = turns;
    block->resting = (block->resting & ~(1u << warp->index)) | (turns ? 1u << warp->index : 0);
}

// What a load, store or atomic leaves behind once it is done.
static inline Step after_access(Machine *machine, Warp *warp, const Instruction *in) {
    if (machine->stopped) return STEP_TURN_ENDS;
    Step step = STEP_NEXT;
    // An atomic whose result is not used tells its thread nothing, so it is not what a thread waits with.
    if (can_poll(in)) {
        step = STEP_POLLED;
        machine->polls++;
        warp->polls++;
    }
    // While a load is late, others get a turn sooner: it is to return what they store.
    if (machine->scrambled && random_one_in(&machine->random, warp->deferred.in ? 2 : 8))
        step |= STEP_TURN_ENDS;
    // Behind a flag is where it matters what others do before this warp continues.
    if (machine->is_weak && in->flags & IS_VOLATILE && in->kind != KIND_LOAD &&
        random_one_in(&machine->random, 2)) {
        rest(machine, warp);
        step |= STEP_TURN_ENDS;
    }
    return step;
}

// True when the launch has used up its steps, which is then reported: the machine has stopped, or runs on for
// a while to find out whether the fragment can leave its loop. Only control flow asks: code without it ends
// by itself.
bool steps_used_up(Machine *machine, Warp *warp, Fragment *fragment, const Instruction *in);
