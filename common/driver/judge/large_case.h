// A case of which only a few blocks run, because it is too large for more: how it is asked for, and what the
// elements that these blocks read and wrote say.
//
// A right kernel divides the work among its blocks, so that one of them does at least the fair share. If
// every block of the sample does less, elements are left out. Blocks that take their work from a queue or
// wait for each other cannot be judged alone: such a case says nothing.
#pragma once

#include "driver/judge/case.h"
#include "driver/plan/filter.h"

typedef struct {
    CaseLayout layout;
    uint64_t period[MAX_BUFFERS];   // elements after which an input repeats
    void *content[MAX_BUFFERS];     // that many of each input
    FilterWeights filter;           // of EXPECT_FILTER
    uint64_t blocks[MAX_LAUNCHES];  // of each launch of the request, and of them
    uint64_t sampled[MAX_LAUNCHES]; // those that run
    bool reaches_last;              // the blocks that ran reached the last element of large_watched_buffer()
    double *row;                    // EXPECT_ROWS: a row of numbers, their values and bounds; NULL: not yet
    long long row_number;           // whose
} LargeCase;

// What it needs of the arena.
size_t large_case_arena_bytes(const Task *task);
// Fills in the request and the arena. False if nothing is to be run: `report` has the reason.
bool large_case_begin(const Task *task, const CaseShape *shape, const ImageKernel kernels[], uint64_t seed,
                      Runner *runner, LargeCase *large, Request *request, CaseReport *report);
// As case_judge().
bool large_case_judge(const Task *task, const CaseShape *shape, LargeCase *large, const RunReply *reply,
                      const unsigned char *arena, CaseReport *report);
void large_case_free(LargeCase *large);
