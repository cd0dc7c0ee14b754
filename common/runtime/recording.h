// Writes the record that record.h describes; nothing if none was asked for.
#pragma once

#include "runtime/allocation.h"
#include "runtime/record.h"

struct CUstream_st;

bool recording_is_on(void);
// Writes a part of it, and its data.
void recording_put(Record record, const void *data, size_t data_bytes);
// Of what kind the memory is; NULL is the host's own.
RecordedMemory recording_memory(const Allocation *allocation);

void recording_allocation(const Allocation *allocation);
void recording_free(const Allocation *allocation);
void recording_wait_stream(const struct CUstream_st *stream);
void recording_wait_all(void);
void recording_wait_work(unsigned long number);
void recording_elapsed(unsigned long start, unsigned long end, double milliseconds);
void recording_end(int status);
