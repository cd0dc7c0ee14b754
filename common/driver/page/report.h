// All data of one run, for the page, the profile and the JSON.
#pragma once

#include "driver/build/compile.h"
#include "driver/diagnose/diagnose.h"
#include "driver/build/image.h"
#include "driver/judge/judgement.h"
#include "driver/plan/options.h"
#include "driver/run/cpu_baseline.h"

typedef struct {
    const Chapter *of;
    const Options *options;
    const CompileResult *build; // NULL if an image came from elsewhere
    const Image *image;         // NULL if there was none to open
    const Judgement *judgement;
    const Diagnosis *diagnosis; // its mistake is NULL if none is known by name
    const Diagnosis *second;    // of diagnose_what_if()
    const Diagnosis *others;    // of judgement->others
    const Baselines *baselines; // NULL where not asked for
    const char *source;         // kernel.cu relative to the root
    const char *next_chapter;   // "ch05"; NULL: there is none
} Report;
