// Whether all blocks of a launch, of which a few were run, can reach every element of a buffer.
#pragma once

#include "driver/judge/large_case.h"

// Makes the report that of a wrong buffer, or element `index` of it. Returns true.
bool large_say_wrong(CaseReport *report, CheckOutcome outcome, const char *buffer, long long index);

// The buffer whose last element must be reached, and whether by a load; -1: there is none, because no element
// of the task is the last.
int large_watched_buffer(const Task *task, const CaseSize *size, bool *is_load);
// Whether a block has read up to 2^32, and then, without having asked other blocks for anything, much that is
// below it: its index of 32 bits starts at 0 again. Only where it has read many times its share.
bool large_starts_again(const Task *task, const CaseShape *shape, const SampleReply *sample,
                        CaseReport *report);
// Whether elements of buffer `b` are left out, which the report then says.
bool large_leaves_out(const Task *task, const LargeCase *large, const SampleReply *sample, int b,
                      bool is_read, CaseReport *report);
// Whether a launch of which all blocks ran leaves out elements of what an earlier launch wrote for it.
bool large_passes_too_few(const Task *task, const LargeCase *large, const SampleReply *sample,
                          CaseReport *report);
