// Reports what a kernel did wrong: each kind once for a place. Internal to common/emulator.
#pragma once

#include "emulator/machine/machine.h"

// Records a finding at `in` by `lane` of `warp` (-1: the whole warp, and no warp: nobody in particular).
// Returns it with a message that holds no more than the thread, for the caller to complete; or NULL when one
// of the same kind, line and other line is there already (its count is raised) or none can be kept. A fatal
// one stops the machine. The pointer is good until the next finding.
Finding *add_finding(Machine *machine, FindingKind kind, const Warp *warp, int lane, const Instruction *in,
                     const Instruction *other, bool fatal);
// What code of several lines accesses has no line: that of the code before it may do something else.
SourcePlace place_in_report(const Machine *machine, const Instruction *in);
// `other` as the second place of a finding at `in`, or NULL if it is in the same line.
const Instruction *in_another_line(const Machine *machine, const Instruction *in, const Instruction *other);
// A fatal finding of the machine itself, in words: it cannot continue. As above, NULL if there is none.
Finding *report(Machine *machine, FindingKind kind, const Warp *warp, int lane, const Instruction *in,
                const char *format, ...) __attribute__((format(printf, 6, 7)));
// "thread (5,0,0) of block (2,0,0)" into `text`.
const char *thread_words(char text[96], const Warp *warp, int lane);
// What `offset` in `memory` belongs to, as people know it: "in", "shared tile"; *index is the byte in it and
// *bytes its size.
void name_object(const Machine *machine, const Warp *warp, const Memory *memory, uint64_t offset,
                 char name[128], uint64_t *index, uint64_t *bytes);
