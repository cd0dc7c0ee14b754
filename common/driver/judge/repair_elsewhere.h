// A line of a function that several kernels call is in each of them: what repairs one kernel there must not
// break another.
#pragma once

#include "driver/judge/repair/proposals.h"
#include "driver/judge/repair_trial.h"

// Whether a change that repairs the kernels of `ptx`, made as well in the other kernels that its line of
// kernel.cu is compiled into, fails a case that passed. `symptoms`: those that it was proposed for. Looks at
// small cases, with bounded work; a kernel in which the line has nothing to change in this way says nothing.
bool repair_breaks_another(const TaskPtx *ptx, const char *source, const Symptoms *symptoms,
                           const Change *const changes[], int count);
// Whether small cases of the task of `ptx` that passed fail with these changes, or, if `heeds_failures`,
// those without a finding get one. Bounded work.
bool repair_harms(const TaskPtx *ptx, const Change *const changes[], int count, bool heeds_failures);
// Makes each change from `first` on in the other kernels of the task as well that its line is compiled into.
void repair_extend(const TaskPtx *ptx, const Symptoms *symptoms, Changes *changes, int first);
