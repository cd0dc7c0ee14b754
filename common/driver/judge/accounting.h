// Which elements of the input reach a wrong sum, and how often: each element leaves its own mark.
#pragma once

#include "driver/judge/state.h"

// Fills judgement->accounting if the shown failure is a wrong sum. Emulators only; with bounded work.
void judge_account(Judge *judge);
