// What running a program left behind, as one file: for each case the files that the program and the runtime
// library wrote, and how it ended. It comes out of a sandbox through a pipe that parts its results with NUL
// bytes, and so it contains none: a NUL is written as 1 1, and a 1 as 1 2.
//
// All of it may have been written by the program itself. What is believed of it is decided by its reader.
#pragma once

#include "support/file.h"
#include "support/text.h"

typedef enum {
    OUTCOME_ENDED,
    OUTCOME_PRINTED,
    OUTCOME_RESULT,
    OUTCOME_FINDINGS,
    OUTCOME_RECORD,
    OUTCOME_PARTS
} OutcomePart;

typedef struct {
    Text parts[OUTCOME_PARTS]; // empty where there was none
    bool was_run;
} Outcome;

enum { MOST_OUTCOMES = 96, MOST_OUTCOME_BYTES = 1 << 29 };

enum { PROGRAM_CASE_SECONDS = 10 }; // for a case

// The file in a case's folder: "ended", "printed", "result", "findings", "record".
const char *outcome_name(OutcomePart part);
// The most bytes of it that are looked at.
size_t outcome_limit(OutcomePart part);

// Adds a part of a case to the text of the file.
void outcome_add(Text *file, int index, OutcomePart part, const Text *content);
// Takes the file apart; what makes no sense is left out. To be released with outcomes_free().
bool outcomes_read(const char *path, Outcome outcomes[MOST_OUTCOMES], FileError *error);
void outcomes_free(Outcome outcomes[MOST_OUTCOMES]);
