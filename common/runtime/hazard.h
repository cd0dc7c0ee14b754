// Work that uses the same memory as other work, or as the host, while nothing orders the two: what has run is
// kept until nothing can be unordered with it any more, and compared with what runs later. Only `check` asks
// for it.
#pragma once

#include "runtime/reach.h"

// There is something that may run at the same time: another stream than the default one, or memory that the
// host shares with kernels.
void hazard_expect(void);
bool hazard_is_expected(void);

// What `op` is about to use; its `touched` is NULL unless a kernel is to fill it.
Reach hazard_before(const Op *op);
// It has run: reports what is not in order with it, and remembers it. Takes `reach` over.
void hazard_after(const Op *op, Reach reach);

// ---- The host

// What the host knows to be done.
const Known *hazard_host(void);
// The host has waited for this. Returns true if memory that was kept from the host no longer has to be.
bool hazard_host_waited(const Known *known);
// Forgets what neither the host nor any of `pending` can be unordered with.
void hazard_forget(const Op *pending);

// Reports that the host, at `place`, reads or writes a byte that work which has run, and which it has not
// waited for, uses as well.
bool hazard_of_host(uint64_t address, bool writes, const Place *place);
// The same of an operation that has not run yet, or that runs.
bool hazard_of_host_with(const Op *op, uint64_t address, bool writes, const Place *place);
// The parts of memory, from `from` on, that such work still uses, one after the other: `index` from 0 on.
// False after the last.
typedef struct {
    uint64_t start, bytes;
    bool written; // else only read
} HazardPart;
bool hazard_part(const Allocation *a, size_t *index, size_t *within, HazardPart *part);
