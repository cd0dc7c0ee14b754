// Names the well-known mistake that was made, by matching the evidence of a run against the catalogue.
#pragma once

#include "driver/judge/judgement.h"
#include "driver/diagnose/mistakes.h"

typedef struct {
    const Mistake *mistake; // NULL: no known mistake
    char why[700];          // its explanation, with the lines filled in
    int task;               // whose goal it explains, if goals of several tasks are missed; else -1
    int hint;               // step of this chapter's hints; 0: no hint is about it
    char lesson[96];        // "ch03#barriers"
    const char *proof; // "repair", "accounting", "what-if", "counter", "message": how the run shows it; NULL:
                       // it is possible, no more
} Diagnosis;

// `source` is the text of kernel.cu, or NULL. If the mistake explains the numbers of the first failure, its
// report mentions that (check.why).
void diagnose(const Chapter *of, const char *source, Judgement *judgement, Diagnosis *diagnosis);
// The mistake that the what-if undoes, if `shown`, what diagnose() said, is about another missed goal. No
// mistake in it: there is none.
void diagnose_what_if(const Chapter *of, const char *source, const Judgement *judgement,
                      const Diagnosis *shown, Diagnosis *second);
// The same for each of judgement->others. `shown` is what diagnose() said: of all, one at most lacks a proof.
void diagnose_others(const Chapter *of, const char *source, Judgement *judgement, const Diagnosis *shown,
                     Diagnosis others[MOST_OTHERS]);
