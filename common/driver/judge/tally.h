// The verdict of all cases together, and the case that shows it best.
#pragma once

#include "driver/judge/state.h"

void judge_count_cases(Judge *judge);
