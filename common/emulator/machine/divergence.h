// Parting and meeting of the lanes of a warp (divergence.c), for execute.c. Internal to common/emulator.
//
// Fragments are in Warp.fragments, whose places do not move until the warp's next turn; a fragment with mask
// 0 has ended. Functions that run out of memory stop the machine and report it.
#pragma once

#include "emulator/machine/machine.h"

// A frame of registers that are 0, or garbage if they may be read before they are written; NULL when memory
// ran out or its limit is reached.
Frame *frame_new(Machine *machine, const Warp *warp, const Function *function, Frame *caller);
void frame_free(Machine *machine, Frame *frame);
void join_free(Machine *machine, Join *join);
void add_fragment(Warp *warp, int32_t pc, uint32_t mask, Frame *frame, Join *join);

// Lanes `taken` of a fragment go to the target of the branch `in`, the other lanes continue after it.
// Both sets are non-empty. Its pc is set; its mask may become 0, when all its lanes wait at the join.
void diverge(Machine *machine, Warp *warp, Fragment *fragment, const Instruction *in, uint32_t taken);
// The same of a branch through a table by the lanes of `mask`. False when the machine was stopped.
bool branch_table(Machine *machine, Warp *warp, Fragment *fragment, const Instruction *in, uint32_t mask);
// Leaves only `mask` in a fragment; the rest skip the instruction at `pc` and meet the others behind it.
// False when the machine was stopped.
bool split_off(Machine *machine, Warp *warp, Fragment *fragment, uint32_t mask, int32_t pc);
// Leaves only `mask` in a fragment; the rest execute the instruction at `pc` again, as a separate fragment,
// and join the others after it. False when the machine was stopped.
bool part_at(Machine *machine, Warp *warp, Fragment *fragment, uint32_t mask, int32_t pc);

// If a block cannot continue: lets lanes that only wait to join others, and that wait for nothing afterwards,
// run to their end without them. True when there were any.
bool release_bystanders(Machine *machine, Block *block);

// `lanes` do not come to `join`, which is released if it waited only for them. Returns its parent.
Join *leave_join(Machine *machine, Warp *warp, Frame *frame, Join *join, uint32_t lanes);
// The lanes that have arrived at `join` continue after it, and the join is freed.
void release_join(Machine *machine, Warp *warp, Frame *frame, Join *join);
// Lanes that wait to join lanes of a fragment that polls memory continue alone after a while.
void lose_patience(Machine *machine, Warp *warp, const Fragment *fragment);
// Whether any lanes wait to join lanes of this fragment.
bool is_waited_for(const Fragment *fragment);

// `lanes`, under `join` of `frame`, end, or return from the call that the frame is of.
void exit_lanes(Machine *machine, Warp *warp, Frame *frame, Join *join, uint32_t lanes);
void return_lanes(Machine *machine, Warp *warp, Frame *frame, Join *join, uint32_t lanes);
// Copies parameters of the lanes of `mask` from one register file to another.
void copy_params(Machine *machine, Frame *to, const ParamPlace *to_places, Frame *from,
                 const ParamPlace *from_places, int count, uint32_t mask);
