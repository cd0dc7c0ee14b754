// Explains how other tasks fail than the one that is shown in full.
#pragma once

#include "driver/judge/state.h"

// Fills judgement->others, with bounded work. Emulators only.
void judge_explain_others(Judge *judge);
