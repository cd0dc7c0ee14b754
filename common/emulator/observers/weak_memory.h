// Weak memory: what a load may return besides the latest value. Its parts, from the bottom up:
//
//   weak_history.c  the values that words of global memory have had, and which of them a thread may still
//   read weak_report.c   stale reads that a fence would have prevented weak_memory.c   the observer: chooses
//   among those values, and puts the chosen one where the load finds it
//
// The rules are those of the PTX memory model as an operational model: a load may return an older value
// unless a store after it happens before the load, or the thread, or one whose reads happen before the load,
// has already read or written a later one (coherence). Atomics read the latest value. A store may count as
// overwritten by the latest one if nothing orders the two. Stores within the block are always visible.
// Happens-before is racecheck's (race_order.h): fences, barriers, atomics and scopes restrict what may be
// read through it alone.
#pragma once

#include "emulator/observers/race_order.h"

// False when memory ran out.
bool weak_memory_observe(Machine *machine, RaceOrder *order, Observer *observer);
