// Whether a kernel with changes still does what its lines did. A change that makes a kernel right because a
// loop or a branch of another line runs no more is not the place of the mistake.
#pragma once

#include "driver/judge/repair_trial.h"

// Whether a line that loads, stores, adds or exchanges values in the failing case does so in no case with the
// changes. `failed`: its report. `largest`: elements of a case that is run. *work: what the runs took is
// taken away, as judge_work_of().
bool repair_switches_off(const TaskPtx *ptx, const CaseReport *failed, long long largest,
                         const Change *const changes[], int count, double *work);
