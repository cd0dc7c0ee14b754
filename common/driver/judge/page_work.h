// What may still be looked for once the cases of a page are run. All searches of the page draw on the same
// work, so that a failing page is not much slower than a passing one, whatever it fails by.
#pragma once

#include "driver/judge/state.h"

// In units of about half a millisecond, as judge_work_of(): counted and not timed, so that every machine
// finds the same. Only what takes far longer than its count is taken by its time.
void page_work_begin(Judge *judge, double most);
void page_work_take(Judge *judge, double work);
bool page_work_is_over(const Judge *judge);
// The most that a launch may take with what is left.
uint64_t page_work_steps(const Judge *judge);
double page_work_seconds(const Judge *judge);
// What a run of this report takes.
double judge_work_of(const CaseReport *report);
// The same for a run of the first and the last block of a large case alone.
double page_work_of_ends(const CaseReport *report);
