// What one operation reads and writes, by the addresses that kernels use, and where two operations meet.
#pragma once

#include "emulator/touched.h"
#include "runtime/op.h"

// Rows of bytes of one allocation.
typedef struct {
    uint64_t start; // 0: none
    size_t width, height, depth, pitch, slice;
} ReachRows;

typedef struct {
    ReachRows read, written; // of copies, of what allocates and of what frees
    Touched *touched;        // of a kernel; owned
} Reach;

// What an operation that is about to run uses; `touched` is for a kernel to fill.
Reach reach_of(const Op *op);
void reach_free(Reach *reach);
size_t reach_span(const ReachRows *rows); // from the first byte to the last

// One byte that both use, and one of them at least writes.
typedef struct {
    uint64_t address;
    bool first_writes, second_writes;
    const SourcePlace *first, *second; // the lines of kernels; NULL of others
} Meeting;
// Of two kernels, uses of which both are atomic or volatile do not count; kernels that wait for each other by
// means of these are taken to be in order.
bool reach_meet(const Reach *first, const Reach *second, Meeting *meeting);
// Whether a kernel uses that byte by atomics or volatile accesses alone: to talk to others.
bool reach_is_strong_at(const Reach *reach, uint64_t address);
// Of the host, which writes or only reads that byte, with the operation.
bool reach_meets_host(const Reach *reach, uint64_t address, bool writes, Meeting *meeting);
