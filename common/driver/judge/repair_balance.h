// Whether a kernel with changes leaves the work with the blocks that do it. A change may make a kernel right
// because one block then does the work of others, whose mistake no longer shows, or because elements are
// loaded again.
#pragma once

#include "driver/judge/repair_trial.h"

// Whether, with these changes, the case at which the task's counts are taken is right, no block takes much
// longer than the others that did not before, and elements are not loaded more often. True if there is no
// such case. *work: what the runs took is taken away, as judge_work_of().
bool repair_keeps_balance(const TaskPtx *ptx, const Change *const changes[], int count, double *work);
