// What all cases of a task show together: which of them fail, and how those that do are alike.
#pragma once

#include "driver/diagnose/mistakes.h"
#include "driver/judge/judgement.h"

// Of the task of the first failure, which there is.
Facts facts_of_cases(const Chapter *of, const Judgement *judgement);
