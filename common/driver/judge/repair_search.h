// Looks for a change of the kernel with which the failing cases pass: what a diagnosis can be proved by.
#pragma once

#include "driver/judge/state.h"

// Fills judgement->repair if the first failure is one of kernel.cu's, with bounded work. Emulators only.
// `share`: of the work of edits that a search usually takes. `known`: repairs of other tasks, whose changes
// are tried first.
void judge_find_repair(Judge *judge, double share, const Repair known[], int known_count);
