#include "driver/plan/verdict.h"

#include <string.h>

static const struct {
    const char *word, *headline, *why;
} rows[VERDICTS] = {
    [VERDICT_REJECT] =
        {"REJECT", "is refused before it runs",
         "A submission holds the chapter's kernels with the chapter's parameters, and nothing that "
         "keeps state between launches or reaches outside."},
    [VERDICT_BUILD] = {"BUILD", "does not compile",
                       "The first message is the one to mend; those after it often "
                       "follow from it."},
    [VERDICT_BUILD_TIMEOUT] =
        {"BUILD_TIMEOUT", "takes too long to compile",
         "Large constant loops that are unrolled, or deep templates, keep a compiler busy."},
    [VERDICT_RESOURCE] =
        {"RESOURCE", "needs more than the GPU has",
         "Registers and shared memory are fixed per SM; a block that needs more than a whole SM "
         "has cannot start."},
    [VERDICT_LAUNCH] = {"LAUNCH", "asks for a launch that is not possible",
                        "Grid and block have limits that every GPU checks before it starts anything."},
    [VERDICT_OOB] =
        {"OOB", "reads or writes outside its buffers",
         "The grid is rounded up to whole blocks, so some threads have no element: each access needs "
         "its own bound."},
    [VERDICT_MISALIGNED] =
        {"MISALIGNED", "uses an address that is not aligned",
         "An access of 8 or 16 bytes needs an address divisible by its size; a GPU stops the "
         "kernel otherwise."},
    [VERDICT_FAULT] = {"FAULT", "was stopped by a fault",
                       "A trap, a failed assert or a full stack ends the whole "
                       "grid."},
    [VERDICT_SYNC] = {"SYNC", "waits for threads that do not come",
                      "All threads that a barrier or a *_sync function names must reach it, on every path."},
    [VERDICT_RACE] =
        {"RACE", "has a race between threads",
         "Two threads touch one address, at least one writes, and nothing orders them: the result "
         "depends on which comes first."},
    [VERDICT_UNINIT] = {"UNINIT", "reads memory that nobody wrote",
                        "Shared, local and scratch memory start with whatever was there before."},
    [VERDICT_TIMEOUT] =
        {"TIMEOUT", "does not come to an end",
         "Look for a loop whose variable does not reach its bound, or a flag that nobody sets."},
    [VERDICT_WRONG] = {"WRONG", "computes a wrong result", ""},
    [VERDICT_OUTPUT_LIMIT] =
        {"OUTPUT_LIMIT", "prints too much",
         "printf from every thread is millions of lines: print from one thread of one block."},
    [VERDICT_UNSUPPORTED] = {"UNSUPPORTED", "uses something the emulator does not know",
                             "It may be right; a GPU can tell: --device gpu."},
    [VERDICT_INFRA] = {"INFRA", "could not be judged",
                       "This is the machine's fault or ours, not the kernel's."},
    [VERDICT_UNTRUSTED_TIME] = {"UNTRUSTED_TIME", "was faster than the memory can be",
                                "A time below what the bytes need cannot be right."},
    [VERDICT_SLOW] = {"SLOW", "is right, and not yet as fast as it should be", ""},
    [VERDICT_PASS] = {"PASS", "passed", ""},
};

const char *verdict_word(Verdict verdict) { return rows[verdict].word; }
const char *verdict_headline(Verdict verdict) { return rows[verdict].headline; }
const char *verdict_why(Verdict verdict) { return rows[verdict].why; }

Verdict verdict_from_word(const char *word) {
    for (int i = 0; i < VERDICTS; i++)
        if (strcmp(rows[i].word, word) == 0) return (Verdict)i;
    return VERDICT_INFRA;
}

Verdict verdict_of_finding(FindingKind kind) {
    if (kind == FINDING_NONE || kind == FINDING_RACE_SAME_VALUE) return VERDICT_PASS;
    const char *word = finding_verdict(kind);
    return strcmp(word, "INFO") == 0 ? VERDICT_PASS : verdict_from_word(word);
}

const char *finding_why(FindingKind kind) {
    switch (kind) {
    case FINDING_READ_ONLY: return "Inputs are for reading: what is computed goes into the outputs.";
    case FINDING_WRONG_SPACE: return "The address belongs to none of the kernel's buffers or arrays.";
    case FINDING_BAD_MASK:
        return "The mask of a *_sync function names the lanes that take part, and the caller must be one of "
               "them.";
    case FINDING_SHUFFLE_INACTIVE: return "What a lane that takes no part holds is not defined.";
    case FINDING_STACK_OVERFLOW:
        return "Every call and every local array takes room on a thread's small stack, and it is full.";
    case FINDING_ASSERT: return "An assert of the kernel's own did not hold.";
    case FINDING_TRAP: return "The kernel itself asked for the stop: __trap() or a failed check.";
    default: return verdict_why(verdict_of_finding(kind));
    }
}

int verdict_exit_status(Verdict verdict) {
    if (verdict == VERDICT_PASS) return 0;
    return verdict == VERDICT_INFRA ? 3 : 1;
}
