// Barriers without which every case passes, where a goal allows fewer.
#pragma once

#include "driver/judge/state.h"

// Fills judgement->needless of a right kernel, with bounded work. PTX only.
void judge_find_needless_barriers(Judge *judge);
