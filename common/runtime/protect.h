// Protection of memory that the host shares with kernels: while work on it is not waited for, the host must
// not read what the work writes, nor write what it reads. Whole pages are protected; those that other data
// share are not.
#pragma once

#include "runtime/op.h"

// Protects what work uses that is pending, or has run and is not waited for; and nothing else of the
// allocation.
void protect_allocation(const Allocation *allocation, const Op *pending);
// All allocations that are shared.
void protect_all(const Op *pending);
// Those that `op`, which was added or has run, uses.
void protect_used(const Op *op, const Op *pending);
// Opens an allocation to the host, or the page that an address lies in.
void protect_open(const Allocation *allocation);
void protect_open_page(const void *address);
// Whether an argument of the launch points into the allocation.
bool protect_points_into(const Launch *launch, const Allocation *allocation);
// Whether a launch may use the allocation, or a decision choose something that does. False of copies.
bool protect_may_use(const Op *op, const Allocation *allocation);
