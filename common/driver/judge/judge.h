// Runs a chapter's cases and determines the verdict.
#pragma once

#include "driver/build/builds.h"
#include "driver/judge/judgement.h"
#include "driver/plan/options.h"

// Called now and then with how many cases are done, of how many; NULL: never.
typedef void (*JudgeProgress)(int done, int total);

// Fills the judgement in every case; release with judgement_free().
void judge(const Chapter *of, const Subjects *subjects, const Options *options, JudgeProgress progress,
           Judgement *judgement);
void judgement_free(Judgement *judgement);
