// Which well-known mistake was made: the evidence of a run matched against the catalogue.
#ifndef WARPBOOK_DIAGNOSE_H
#define WARPBOOK_DIAGNOSE_H

#include "driver/judge/judgement.h"
#include "driver/diagnose/mistakes.h"

typedef struct {
    const Mistake *mistake; // NULL: none that is known
    char why[700];          // its words, with the lines filled in
    int hint;               // step of this chapter's hints; 0: none of them is about it
    char lesson[96];        // "ch03#barriers"
} Diagnosis;

// `source` is the text of kernel.cu, or NULL. Where the mistake explains the numbers of the first failure,
// its report says so afterwards (check.why).
void diagnose(const Chapter *of, const char *source, Judgement *judgement, Diagnosis *diagnosis);

#endif
