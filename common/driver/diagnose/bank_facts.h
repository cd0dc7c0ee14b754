// What the counts show of the banks in which the counters of a histogram are.
#pragma once

#include "driver/diagnose/mistakes.h"
#include "driver/judge/judgement.h"

Facts facts_of_banks(const Chapter *of, const Judgement *judgement);
