// What decides whether a thread leaves a loop.
#pragma once

#include "emulator/program/program.h"

// What one instruction is to the loop; bits.
enum {
    LOOP_MEMBER = 1,  // of the loop
    LOOP_DECIDES = 2, // whether a thread leaves it depends on what this instruction does
};

// The largest loop around an instruction: all instructions that it leads to, and that lead back to it.
typedef struct {
    unsigned char *roles;     // by instruction of the function: bits of LOOP_*
    RegisterPlace *registers; // that such a decision depends on; all others may be different in each round
    int register_count;
} Loop;

// The loop around instruction `pc`. False where there is none, or memory ran out, or the loop is too large to
// be looked at. loop_free() in any case.
bool loop_around(Loop *loop, const Function *function, int pc);
void loop_free(Loop *loop);
