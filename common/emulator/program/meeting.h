// Meetings of lanes before the post-dominator of the branch that parts them.
#pragma once

#include "emulator/program/blocks.h"

// Fills Instruction.meeting of the branches of `function`, after find_reconvergence(). False when memory ran
// out.
bool find_meetings(Function *function, const Flow *flow);
