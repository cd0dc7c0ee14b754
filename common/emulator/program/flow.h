// Control flow of one decoded function.
#pragma once

#include "emulator/program/blocks.h"

// Fills Instruction.reconverge of every branch of `function`.
void find_reconvergence(Function *function, Flow *flow);

// True when lanes at `pc` of `function` may still come to an instruction where lanes wait for each other
// before they leave the function. A call counts as one.
bool may_wait_from(const Function *function, int32_t pc);

// True when a thread that has executed `pc`, which must not be a branch, may come to an instruction that
// `is_there` accepts, and always passes a barrier of its block on the way.
bool always_meets_before(const Function *function, int32_t pc,
                         bool (*is_there)(void *context, const Instruction *), void *context);
