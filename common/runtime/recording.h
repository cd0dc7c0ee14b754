// Writes the record that record.h describes; nothing if none was asked for.
#pragma once

#include "runtime/op.h"

void recording_allocation(const Allocation *allocation);
void recording_free(const Allocation *allocation);
void recording_issue(const Op *op);
// Before it runs, and after.
void recording_run(const Op *op);
void recording_ran(const Op *op);
void recording_wait_stream(const struct CUstream_st *stream);
void recording_wait_all(void);
void recording_wait_work(unsigned long number);
void recording_elapsed(unsigned long start, unsigned long end, double milliseconds);
void recording_end(int status);
