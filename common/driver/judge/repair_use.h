// Whether a kernel with changes uses what its threads load. A change that makes a kernel right by dropping
// what some threads have added is not the place of the mistake.
#pragma once

#include "driver/judge/repair_trial.h"

// Whether some threads load elements in the failing case, which counted without the changes, and do not with
// them. `failed`: its report. *work: what the runs took is taken away, as judge_work_of().
bool repair_drops_results(const TaskPtx *ptx, const CaseReport *failed, const Change *const changes[],
                          int count, double *work);
