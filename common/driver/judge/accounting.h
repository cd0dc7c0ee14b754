// Which elements reach which results, and how often: each leaves its own mark.
#pragma once

#include "driver/judge/state.h"

// Fills judgement->accounting if the shown failure is a wrong result of a sum, a vector or a matrix whose
// elements are only added or moved. Emulators only; with bounded work.
// `share`: of the work that this may be.
void judge_account(Judge *judge, double share);
