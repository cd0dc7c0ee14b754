// The verdict of all cases together, and the case that shows it best.
#pragma once

#include "driver/judge/state.h"

// A failure in the plain order, or with a finding. One of another order alone says only that something is
// wrong: a weak schedule may show which read got an old value.
bool case_explains_itself(const CaseReport *report);
// The case that shows best what is wrong with a task, or, if `task` is -1, with all of them, and its verdict;
// -1 and PASS if none failed.
int judge_choose_failure(const Judge *judge, int task, Verdict *verdict);
void judge_count_cases(Judge *judge);
