// Runs a chapter's cases and comes to a verdict.
#ifndef WARPBOOK_JUDGE_H
#define WARPBOOK_JUDGE_H

#include "driver/build/image.h"
#include "driver/judge/judgement.h"
#include "driver/plan/options.h"

// What is run. Every image has been opened for the chapter.
typedef struct {
    const Image *kernel;      // the one that is judged, for the device
    const Image *emulated;    // beside a GPU: the same for the emulator; NULL: none, the GPU judges alone
    const Image *reference;   // for the device, to be as fast as; NULL: none
    char reference_name[160]; // as shown to people
    bool is_solution;         // the chapter's own, which the workbook has judged before
    char no_reference[320];   // why there is none
} Subjects;

// Called now and then with how many cases are done, of how many; NULL: never.
typedef void (*JudgeProgress)(int done, int total);

// Fills the judgement in every case; release with judgement_free().
void judge(const Chapter *of, const Subjects *subjects, const Options *options, JudgeProgress progress,
           Judgement *judgement);

#endif
