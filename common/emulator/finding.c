#include "emulator/finding.h"

#include <string.h>

static const struct {
    const char *verdict, *name;
} kinds[FINDING_KINDS] = {
    [FINDING_NONE] = {"PASS", "nothing"},
    [FINDING_OUT_OF_BOUNDS] = {"OOB", "out of bounds"},
    [FINDING_MISALIGNED] = {"MISALIGNED", "misaligned"},
    [FINDING_WRONG_SPACE] = {"OOB", "wrong address space"},
    [FINDING_READ_ONLY] = {"OOB", "write to read-only memory"},
    [FINDING_UNINITIALISED] = {"UNINIT", "uninitialised read"},
    [FINDING_RACE] = {"RACE", "race"},
    [FINDING_RACE_SAME_VALUE] = {"INFO", "race of equal values"},
    [FINDING_STALE_READ] = {"INFO", "stale read"},
    [FINDING_DIVERGENT_BARRIER] = {"SYNC", "divergent barrier"},
    [FINDING_PARTIAL_BARRIER] = {"INFO", "barrier of a part of the block"},
    [FINDING_BAD_MASK] = {"SYNC", "wrong mask"},
    [FINDING_SHUFFLE_INACTIVE] = {"SYNC", "shuffle from an inactive lane"},
    [FINDING_DEADLOCK] = {"SYNC", "deadlock"},
    [FINDING_BAD_BARRIER] = {"SYNC", "misused barrier"},
    [FINDING_TRAP] = {"FAULT", "trap"},
    [FINDING_ASSERT] = {"FAULT", "assertion failed"},
    [FINDING_STACK_OVERFLOW] = {"FAULT", "stack overflow"},
    [FINDING_STEP_LIMIT] = {"TIMEOUT", "too many steps"},
    [FINDING_OUTPUT_LIMIT] = {"OUTPUT_LIMIT", "too much output"},
    [FINDING_BAD_LAUNCH] = {"LAUNCH", "launch refused"},
    [FINDING_RESOURCE] = {"RESOURCE", "out of resources"},
    [FINDING_BAD_CALL] = {"FAULT", "bad call"},
    [FINDING_UNSUPPORTED] = {"UNSUPPORTED", "unsupported"},
    [FINDING_BAD_FREE] = {"FAULT", "bad free"},
    [FINDING_LEAK] = {"INFO", "leak"},
};

const char *finding_verdict(FindingKind kind) {
    return kind >= 0 && kind < FINDING_KINDS ? kinds[kind].verdict : "INFRA";
}

bool finding_is_information(FindingKind kind) { return !strcmp(finding_verdict(kind), "INFO"); }

const char *finding_name(FindingKind kind) {
    return kind >= 0 && kind < FINDING_KINDS ? kinds[kind].name : "unknown";
}
