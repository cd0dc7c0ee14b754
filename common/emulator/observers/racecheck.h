// racecheck: two accesses to the same bytes, by different threads, at least one of them a write, that
// nothing orders. Its parts, from the bottom up:
//
//   race_clock.c    what one thread knows of the others
//   race_order.c    what happened before what
//   race_shadow.c   what is remembered of memory
//   race_site.c     places of the program that access memory, and which pairs of them race
//   race_report.c   the findings
//   race_granule.c  one access against what the shadow remembers
//   racecheck.c     the observer, and whole warps at once
#pragma once

#include "emulator/machine/machine.h"
#include "emulator/observers/race_order.h"

// The order that it keeps; NULL when memory ran out.
RaceOrder *racecheck_observe(Machine *machine, Observer *observer);
