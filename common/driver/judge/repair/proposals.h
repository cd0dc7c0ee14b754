// Which changes may repair a kernel, the likeliest and smallest first.
#pragma once

#include "driver/judge/repair/change.h"
#include "driver/plan/verdict.h"

typedef struct {
    Verdict verdict;
    const Finding *finding; // NULL: none
    const Finding *cause;   // CaseReport; NULL: none
    bool is_weak;           // only weak schedules fail
    bool is_of_order;       // the plain schedule does not fail
    long long n;            // elements of the smallest case that fails
    bool is_large;          // of which a few blocks run
    bool has_rows;
    bool has_bounds;   // of EXPECT_ROWS: what a sum or a maximum starts from shows in all of a row
    bool is_special;   // a NaN or an infinity is wrong
    bool is_unwritten; // elements of an output were never written
    bool is_left_out;  // the blocks do not reach every element
    int block_threads; // of the first launch; 0: not known
    int blocks;        // of the only launch; 0: there are several, or it is not known
    int launch_lacks;  // times as large it would have to be, whatever n is; 0: it lacks no share of that kind
    const char *source; // the text of kernel.cu; NULL: not known
    const Change *only; // no others than of its kind need be proposed; NULL: all
} Symptoms;

// Adds proposals for the function with that number in `lines`.
void propose(const PtxLines *lines, int function, const Symptoms *symptoms, Changes *changes);
// Adds a change that does less than one which has been found to suffice: without `parts` of its lines, from
// the one at `from` on. False: it has none there, or no others.
bool propose_less(const PtxLines *lines, const Change *whole, int from, int parts, const Symptoms *symptoms,
                  Changes *changes);
// Adds the change that has been found to suffice for its own line alone, and for each line that the compiler
// made have a value in common with it. False: there is none. `also`: what its words lack if none of these
// suffices.
bool propose_parts(const PtxLines *lines, const Change *whole, const Symptoms *symptoms, Changes *changes,
                   char *also, size_t bytes);

// Which threads are idle, to find out whether they are needed, as numbers below IDLE_KINDS: of the warps of
// each block, the lanes of each warp, and the blocks, all but the first, the upper half, and the last.
enum { IDLE_UNITS = 3, IDLE_SHARES = 3, IDLE_KINDS = IDLE_UNITS * IDLE_SHARES };

// Adds a change of the function after which what such threads load from global memory is 0, or, if `ends`,
// the kernel ends when they load. False: it has no such load, or an unusual one.
bool propose_idle(const PtxLines *lines, int function, int who, bool ends, Changes *changes);
