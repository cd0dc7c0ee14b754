// Runs a chapter's cases and comes to a verdict.
#ifndef WARPBOOK_JUDGE_H
#define WARPBOOK_JUDGE_H

#include "image.h"
#include "judgement.h"
#include "options.h"

// Called now and then with how many cases are done, of how many; NULL: never.
typedef void (*JudgeProgress)(int done, int total);

// `image` has been opened for the chapter. Fills the judgement in every case; release with judgement_free().
void judge(const Chapter *of, const Image *image, const Options *options, JudgeProgress progress,
           Judgement *judgement);

#endif
