// Why a kernel is slow: the model is asked how fast it would be with one thing changed, or two.
#pragma once

#include "driver/judge/state.h"

// Fills in judgement->what_if for the first goal of bandwidth that the model says is missed.
void judge_find_what_if(Judge *judge);
