// What a kernel with changes costs. A change that makes a kernel right may do so in place of the one that is
// needed, because threads then do the same work again, or one of them does that of all.
#pragma once

#include "driver/judge/repair_trial.h"

// Whether, with these changes, the case at which the task's counts are taken is right, no count misses its
// goal by far, and no block takes much longer than the others that did not before. True if there is no such
// case. *work: what the runs took is taken away, as judge_work_of().
bool repair_keeps_the_cost(const TaskPtx *ptx, const Change *const changes[], int count, double *work);
