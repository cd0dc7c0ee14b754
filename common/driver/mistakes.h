// The catalogue of mistakes that are known by name: how each shows, and what to say when it does.
//
// An entry is data. All clues that it gives must hold, and the first entry of which they all hold is the one
// that is named: so the more specific stand before the more general. Nothing is named that the run did not
// show: what decides is the verdict, what the observers of the emulator found, which elements a wrong sum
// lacks, what was counted; the learner's text only tells apart what shows in the same way.
//
// To add a mistake: one entry here, and a kernel in tests/wrong whose third line says `// DIAGNOSIS:
// its-slug`.
#ifndef WARPBOOK_MISTAKES_H
#define WARPBOOK_MISTAKES_H

#include "check.h"
#include "verdict.h"

#define BIT(number) (1u << (unsigned)(number))

// What can be said of a run beside its verdict and its finding; bits.
enum {
    // Of the finding
    FACT_STORE = 1 << 0,
    FACT_ATOMIC = 1 << 1,
    FACT_WIDE = 1 << 2,      // an access of 8 or 16 bytes
    FACT_SAME_LINE = 1 << 3, // both sides of a race
    FACT_SHARED = 1 << 4,    // in shared memory
    FACT_INPUT = 1 << 5,     // in a buffer of that role
    FACT_OUTPUT = 1 << 6,
    FACT_SCRATCH = 1 << 7,
    FACT_BEFORE = 1 << 8,   // before the first byte of the buffer
    FACT_FAR = 1 << 9,      // more than a megabyte behind it, or more than 64 bytes before
    FACT_NO_ROOM = 1 << 10, // the buffer has no bytes at all
    FACT_AT_START = 1 << 11,
    FACT_OTHER_BLOCK = 1 << 30, // the two sides of a race are in different blocks
    // Of the case that is shown
    FACT_N_IS_0 = 1 << 12,
    FACT_OFFSET_BASE = 1 << 13, // buffers that begin 4, 8 or 12 bytes past a multiple of 16
    // Of all cases together
    FACT_BY_SCHEDULE = 1 << 14,    // only schedules other than the plain one fail
    FACT_INTEGERS_RIGHT = 1 << 15, // every sum of whole numbers is right
    FACT_FINITE_RIGHT = 1 << 16,   // every sum without NaN and infinities is right
    FACT_ONES_RIGHT = 1 << 17,
    FACT_SAYS_N = 1 << 18, // every wrong result is n
    FACT_CLOSE = 1 << 19,  // wrong in the last digits only: by less than 1 in 1,000 of the sum
    FACT_TINY = 1 << 20,   // a result like 6e-39: the bits of an integer taken for a float
    FACT_NEVER_WRITTEN = 1 << 21,
    FACT_ALL_UNWRITTEN = 1 << 22,       // in the case shown, no element was written
    FACT_FIRST_ROUND_WRITTEN = 1 << 23, // only as many as there are threads in the grid
    FACT_FIRST_BLOCK_WRITTEN = 1 << 24, // only those of the first block
    FACT_FIRST_WARP_WRITTEN = 1 << 25,  // only that of the first warp
    FACT_ONE_ANSWER = 1 << 29,          // every wrong result of whole numbers is the same, and not 0
    // Of a table's wrong elements
    FACT_LARGER = 1 << 26,     // all are larger than they should be
    FACT_WHERE_ZERO = 1 << 27, // all should be 0
    FACT_OFF_BY_ONE = 1 << 28, // at least one is one beside what it should be, and none is further off
};

typedef struct {
    const char *slug;    // "missing-barrier"
    const char *title;   // "A barrier is missing"
    const char *why;     // one or two sentences; {line} and {other} are the finding's two lines,
                         // {upper} and {lower} the same in the order of the file
    const char *lessons; // "ch03#barriers:2 ch05#what-it-is:2": sections, and the step of that chapter's
                         // hints that helps, or no step. The first serves chapters that are not listed.

    // Clues. What is 0 or NULL is not asked. Expressions are POSIX extended regular expressions.
    unsigned verdicts;    // bits of Verdict: one of them
    unsigned findings;    // bits of FindingKind: one of them
    unsigned checks;      // bits of CheckOutcome: one of them
    unsigned facts;       // of FACT_*: all of them
    unsigned no_facts;    // none of them
    const char *shape;    // names of error shapes: "odd-tree|every-second-lost"
    const char *says;     // in the message of the finding, the check, the audit or the compiler
    const char *line;     // in the source line of the finding, spaces and comments removed
    const char *other;    // in that of its other side
    const char *source;   // anywhere in the source
    const char *absent;   // nowhere in the source
    const char *missed;   // the measure of a goal that is missed
    const char *measured; // an expression over counters, as a goal's ...
    double at_least;      // ... and how much it has to come to
} Mistake;

extern const Mistake mistakes[];
extern const int mistake_count;

// NULL: no such mistake.
const Mistake *mistake_named(const char *slug);

#endif
