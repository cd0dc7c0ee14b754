// The verdicts: one word each, the same in every view of a result.
#pragma once

#include <stdbool.h>

#include "emulator/emulator.h"

// In order of precedence: if the cases of a run differ, the first of these is the verdict. Errors that stop a
// kernel come before wrong results, and a race before the wrong values that it causes.
typedef enum {
    VERDICT_REJECT,
    VERDICT_BUILD,
    VERDICT_BUILD_TIMEOUT,
    VERDICT_RESOURCE,
    VERDICT_LAUNCH,
    VERDICT_OOB,
    VERDICT_MISALIGNED,
    VERDICT_FAULT,
    VERDICT_SYNC,
    VERDICT_RACE,
    VERDICT_UNINIT,
    VERDICT_TIMEOUT,
    VERDICT_WRONG,
    VERDICT_OUTPUT_LIMIT,
    VERDICT_UNSUPPORTED,
    VERDICT_INFRA,
    VERDICT_UNTRUSTED_TIME,
    VERDICT_SLOW,
    VERDICT_PASS,
    VERDICTS,
} Verdict;

const char *verdict_word(Verdict verdict);
// The verdict with that word; VERDICT_INFRA for an unknown word.
Verdict verdict_from_word(const char *word);
// The verdict of a finding; VERDICT_PASS for information.
Verdict verdict_of_finding(FindingKind kind);
// "reads or writes where it may not": what the kernel does, for the headline of a page.
const char *verdict_headline(Verdict verdict);
// One sentence on why that is wrong or its usual cause.
const char *verdict_why(Verdict verdict);
// The same for one kind of finding, if it is more specific than its verdict.
const char *finding_why(FindingKind kind);
// 0 passed, 1 not passed, 3 the machine's fault.
int verdict_exit_status(Verdict verdict);
