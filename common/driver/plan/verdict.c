#include "driver/plan/verdict.h"

#include <string.h>

static const struct {
    const char *word, *headline, *why;
} rows[VERDICTS] = {
    [VERDICT_REJECT] = {"REJECT", "is refused before it runs",
                        "A submission contains only the chapter's kernels with the chapter's parameters, and "
                        "nothing that keeps state between launches or calls external code."},
    [VERDICT_BUILD] = {"BUILD", "does not compile",
                       "Begin with the first message: if there are others, they often follow from it."},
    [VERDICT_BUILD_TIMEOUT] =
        {"BUILD_TIMEOUT", "takes too long to compile",
         "Unrolling large constant loops, or deep templates, can take the compiler a long time."},
    [VERDICT_RESOURCE] = {"RESOURCE", "needs more resources than the GPU has",
                          "An SM has a fixed number of registers and a fixed amount of shared memory; a "
                          "block that needs more cannot start."},
    [VERDICT_LAUNCH] = {"LAUNCH", "asks for a launch that is refused",
                        "Every GPU checks the limits of grid and block before it starts a kernel."},
    [VERDICT_OOB] = {"OOB", "reads or writes where it may not",
                     "Every access must lie inside its buffer, and inputs may only be read."},
    [VERDICT_MISALIGNED] = {"MISALIGNED", "uses an address that is not aligned",
                            "The address of an 8- or 16-byte access must be a multiple of its size; "
                            "otherwise a GPU stops the kernel."},
    [VERDICT_FAULT] = {"FAULT", "was stopped by a fault",
                       "A trap, a failed assert or a stack overflow ends the whole grid."},
    [VERDICT_SYNC] = {"SYNC", "leaves threads out of a barrier or a *_sync function",
                      "All threads that a barrier or a *_sync function names must reach it on every path."},
    [VERDICT_RACE] = {"RACE", "has a race between threads",
                      "Two threads access one address, at least one of them writes, and nothing orders them: "
                      "the result depends on which comes first."},
    [VERDICT_UNINIT] = {"UNINIT", "uses a value that was never set",
                        "Variables and memory have undefined contents until they are written."},
    [VERDICT_TIMEOUT] = {"TIMEOUT", "does not finish in time",
                         "Look for a loop whose variable never reaches its bound, or far too slowly, or for "
                         "a flag that is never set."},
    [VERDICT_WRONG] = {"WRONG", "computes a wrong result", ""},
    [VERDICT_OUTPUT_LIMIT] =
        {"OUTPUT_LIMIT", "prints too much",
         "printf prints each time that a thread reaches it: print from one thread of one block."},
    [VERDICT_UNSUPPORTED] = {"UNSUPPORTED", "uses something that the emulator does not support",
                             "It may be correct; run it on a GPU: --device gpu."},
    [VERDICT_INFRA] = {"INFRA", "could not be judged",
                       "The cause is the machine or Warpbook, not the kernel."},
    [VERDICT_UNTRUSTED_TIME] =
        {"UNTRUSTED_TIME", "was faster than the memory allows",
         "The time is shorter than moving the bytes takes, so some work was not done."},
    [VERDICT_SLOW] = {"SLOW", "is correct, but not as fast as it should be", ""},
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
    if (kind == FINDING_NONE || finding_is_information(kind)) return VERDICT_PASS;
    return verdict_from_word(finding_verdict(kind));
}

const char *finding_why(FindingKind kind) {
    switch (kind) {
    case FINDING_STALE_READ:
        return "What one block stores becomes visible to other blocks in any order, unless fences, or "
               "atomics with "
               "release and acquire, order it on both sides.";
    case FINDING_READ_ONLY: return "Inputs are only for reading: write results to the outputs.";
    case FINDING_WRONG_SPACE: return "The address is not in any of the kernel's buffers or arrays.";
    case FINDING_BAD_MASK:
        return "The mask of a *_sync function names the lanes that take part, and the caller must be one of "
               "them.";
    case FINDING_SHUFFLE_INACTIVE: return "The value of a lane that does not take part is undefined.";
    case FINDING_STACK_OVERFLOW:
        return "Every call and every local array takes space on a thread's stack, which is small.";
    case FINDING_ASSERT: return "An assert in the kernel failed.";
    case FINDING_TRAP:
        return "A trap ended the kernel: __trap(), a failed check, or code that the compiler replaced by "
               "one.";
    default: return verdict_why(verdict_of_finding(kind));
    }
}

int verdict_exit_status(Verdict verdict) {
    if (verdict == VERDICT_PASS) return 0;
    return verdict == VERDICT_INFRA ? 3 : 1;
}
