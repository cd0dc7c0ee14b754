// Findings: what a kernel did wrong, and where.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emulator/status.h"

typedef enum {
    FINDING_NONE,
    FINDING_OUT_OF_BOUNDS,
    FINDING_MISALIGNED,
    FINDING_WRONG_SPACE, // an address that is in no buffer of the space that the instruction names
    FINDING_READ_ONLY,   // a store to constant memory or to a read-only buffer
    FINDING_UNINITIALISED,
    FINDING_RACE,
    FINDING_RACE_SAME_VALUE, // an information, never a failure
    FINDING_STALE_READ,      // an information: why a result is wrong, where it is
    FINDING_DIVERGENT_BARRIER,
    FINDING_PARTIAL_BARRIER,  // of all threads, but not all execute it: an information
    FINDING_BAD_MASK,         // a *.sync whose mask names an exited lane or leaves out the caller
    FINDING_SHUFFLE_INACTIVE, // a shuffle that reads a lane that does not take part
    FINDING_DEADLOCK,
    FINDING_BAD_BARRIER, // an operation on an mbarrier, or on a barrier of the cluster, that is undefined
    FINDING_TRAP,
    FINDING_ASSERT,
    FINDING_STACK_OVERFLOW, // call depth or local memory
    FINDING_STEP_LIMIT,
    FINDING_OUTPUT_LIMIT, // printf
    FINDING_BAD_LAUNCH,   // grid, block or shared memory beyond the device's limits
    FINDING_RESOURCE,     // the kernel needs more registers, shared or local memory than there is
    FINDING_BAD_CALL,     // an indirect call or branch to an address that is not a function or target
    FINDING_UNSUPPORTED,  // met while running
    FINDING_BAD_FREE,     // free() of an address that malloc() did not return, or twice
    FINDING_LEAK,         // memory of malloc() that the kernel does not free: an information
    FINDING_KINDS
} FindingKind;

// The verdict that a finding leads to: "OOB", "RACE" ...; "INFO" for an information.
const char *finding_verdict(FindingKind kind);
// True of an information: no failure.
bool finding_is_information(FindingKind kind);
// "out of bounds", "race": the kind in words.
const char *finding_name(FindingKind kind);

typedef struct {
    FindingKind kind;
    bool fatal; // the kernel was stopped here
    SourcePlace place;
    SourcePlace other_place; // the other side of a race, the definition of a barrier; line 0 when none
    unsigned block[3];
    unsigned thread[3];
    unsigned other_thread[3];
    unsigned other_block[3];
    int warp, lane; // within the block; -1 when they do not apply
    uint64_t address;
    unsigned bytes; // of the access
    bool is_store;
    bool is_atomic;
    char object[128]; // the buffer or variable, "in" or "shared tile"; "" when none
    int64_t index;    // byte offset in that object; may be negative or past the end
    uint64_t object_bytes;
    bool is_endless;    // of FINDING_STEP_LIMIT: proved that the thread never leaves the loop that it is in
    uint64_t count;     // how often this finding (same kind, same two lines) was met
    char message[1024]; // one or two sentences for a person: what happened, with the numbers
} Finding;
