// The catalogue of well-known mistakes: how each one shows, and what to say about it.
//
// An entry is data. The first entry whose clues all match is named, so specific entries come before general
// ones. A mistake is named only if the run showed it: the evidence is the verdict, the findings of the
// emulator's observers, the elements that a wrong sum lacks, and the counts. The learner's text only
// separates mistakes with the same symptoms.
//
// To add a mistake: one entry in a mistakes_*.def, and a kernel in tests/wrong whose third line says `//
// DIAGNOSIS: its-slug`.
#pragma once

#include "driver/judge/check.h"
#include "driver/plan/verdict.h"

#define BIT(number) (1u << (unsigned)(number))

// Facts about a run other than its verdict and its finding; bits.
// gcc and clang have this type on every machine of 64 bits.
__extension__ typedef unsigned __int128 Facts;
#define FACT(number) ((Facts)1 << (number))
// Of the finding
#define FACT_STORE FACT(0)
#define FACT_ATOMIC FACT(1)
#define FACT_WIDE FACT(2)      // an access of 8 or 16 bytes
#define FACT_SAME_LINE FACT(3) // both sides of a race
#define FACT_SHARED FACT(4)    // in shared memory
#define FACT_INPUT FACT(5)     // in a buffer of that role
#define FACT_OUTPUT FACT(6)
#define FACT_SCRATCH FACT(7)
#define FACT_BEFORE FACT(8)   // before the first byte of the buffer
#define FACT_FAR FACT(9)      // more than a megabyte after it, or more than 64 bytes before it
#define FACT_NO_ROOM FACT(10) // the buffer has no bytes at all
#define FACT_AT_START FACT(11)
#define FACT_ENDLESS FACT(61)        // proved that the thread never leaves its loop
#define FACT_WAITS FACT(62)          // because the loop reads memory that no thread is left to change
#define FACT_OTHER_FINDINGS FACT(63) // there are others, as of a race that gave it a wrong index
#define FACT_ROW_START FACT(71)      // its place is whole groups of 16 bytes from the beginning of a row
#define FACT_OWN_NUMBER                                                                                      \
    FACT(72) // its element is the number of its thread in the grid, of as many as there are warps or blocks
// A wide access of lane 0, as many groups behind the beginning of its row or buffer as there are elements
// before the first multiple of their size
#define FACT_HEAD_IN_GROUPS FACT(76)
#define FACT_IN_HEAD FACT(77)     // its place is before the first multiple of 16 in its buffer
#define FACT_FROM_INSIDE FACT(80) // its first byte is inside its buffer
#define FACT_OTHER_BLOCK FACT(30) // the two sides of a race are in different blocks
#define FACT_OTHER_WARP FACT(59)  // or in different warps of one block
// Of the two lines of a race, by the learner's text; only if both have a line
#define FACT_IN_LOOP FACT(52)         // both are in the body of one loop
#define FACT_BARRIER_IN_LOOP FACT(53) // which also has a barrier
#define FACT_BARRIER_BETWEEN FACT(54) // there is one between the upper and the lower line
#define FACT_WAY_BACK_OPEN FACT(56)   // and none in the rest of the innermost loop around both
#define FACT_WARP_BARRIER FACT(83)    // there is a __syncwarp() between them, or in that loop
#define FACT_FENCE FACT(84)           // or a __threadfence() or one of its kin
#define FACT_WAITS_BETWEEN FACT(113)  // there is a loop between them that does nothing but wait for a flag
#define FACT_MANY_MORE                                                                                       \
    FACT(116) // it was stopped after far more steps for each element than a read takes, or than other cases
              // took
// Of the case that is shown
#define FACT_N_IS_0 FACT(12)
#define FACT_ONE_THREAD FACT(121)     // it launches a single thread, as every case of its task does
#define FACT_NOTHING_TO_ADD FACT(120) // no result has an element, or a product
#define FACT_OFFSET_BASE FACT(13)     // buffers that begin 4, 8 or 12 bytes past a multiple of 16
#define FACT_BEYOND_FLOATS FACT(78)   // more elements than 2^24: a float from there on has no odd numbers
#define FACT_LARGE FACT(57)           // a few blocks of a large size; every other case is right
#define FACT_LARGER_RIGHT FACT(123)   // a case of the task with more elements shows no mistake
#define FACT_ONLY_MOVED FACT(124)     // goals are missed only with a base between two multiples of 16
#define FACT_LONGER                                                                                          \
    FACT(79) // in a missed bandwidth, blocks of the modelled size take longer than smaller ones
// Of all cases together
#define FACT_BY_SCHEDULE FACT(14)    // only schedules other than the plain one fail
#define FACT_ONLY_WEAK FACT(58)      // only weak ones fail
#define FACT_INTEGERS_RIGHT FACT(15) // every sum of whole numbers is right
#define FACT_FINITE_RIGHT FACT(16)   // every sum without NaN and infinities is right
#define FACT_ONES_RIGHT FACT(17)
#define FACT_SAYS_N FACT(18)       // every wrong result is n
#define FACT_CLOSE FACT(19)        // wrong only in the last digits: by less than 1 in 1,000 of the sum
#define FACT_TINY FACT(20)         // a result such as 6e-39: the bits of an integer read as a float
#define FACT_WHOLE FACT(118)       // the result shown is a whole number, and should be none
#define FACT_INTEGER_BITS FACT(73) // the result shown has the bits of the int that is expected
#define FACT_NEVER_WRITTEN FACT(21)
#define FACT_ALL_UNWRITTEN FACT(22)       // in the case shown, no element was written
#define FACT_FIRST_ROUND_WRITTEN FACT(23) // only as many elements as the grid has threads
#define FACT_FIRST_BLOCK_WRITTEN FACT(24) // only those of the first block
#define FACT_FIRST_WARP_WRITTEN FACT(25)  // only that of the first warp
#define FACT_BLOCKS_OVERLAP FACT(51)      // as if each block began less than a block after the previous one
#define FACT_ONE_ANSWER FACT(29)        // wrong sums of whole numbers have one value for several sizes, not 0
#define FACT_ENDS_ELSEWHERE FACT(45)    // a case with elements finished
#define FACT_BLOCKS_ENDED FACT(48)      // and one with several blocks, and only the plain schedule failed
#define FACT_OFF_BY_A_CONSTANT FACT(49) // every sum is off by a constant for each thread, block or sum
#define FACT_ONLY_SUBNORMALS_WRONG FACT(114) // only sums of subnormal numbers are
// Of a table's wrong elements
#define FACT_LARGER FACT(26)     // all are larger than they should be
#define FACT_WHERE_ZERO FACT(27) // all should be 0
#define FACT_SMALLER FACT(46)    // all are smaller
#define FACT_FEW_WRONG FACT(47)  // fewer than one in 20: no column as a whole
#define FACT_OFF_BY_ONE FACT(28) // at least one is off by one, and none by more
// Of the element that is shown
#define FACT_ELSEWHERE FACT(31) // its value belongs to another place
#define FACT_COPIED FACT(32)    // its value is what the input has at the same place
#define FACT_FOURTHS FACT(33)   // every fourth element is wrong, and no other
#define FACT_FORMULA FACT(50)   // all elements are another combination of the inputs
// Of the task
#define FACT_ELEMENTWISE FACT(34)
#define FACT_ROW_SUMS FACT(35)
#define FACT_TRANSPOSE FACT(36)
#define FACT_HISTOGRAM FACT(60)
#define FACT_SCAN FACT(64)
#define FACT_FILTER FACT(65)
#define FACT_ROWS FACT(66)
#define FACT_PRODUCT FACT(70)
#define FACT_DOUBLES FACT(37)      // its results are doubles
#define FACT_OWN_PLACES FACT(122)  // each thread, each warp or each block has its own results
#define FACT_MAPS FACT(44)         // it has as many results as elements
#define FACT_WORKSPACE FACT(43)    // it has a workspace that is 0 before the launch
#define FACT_HAS_SCRATCH FACT(104) // and buffers besides its inputs and outputs
#define FACT_SAME_BITS FACT(117)   // its results must be the same bits in every run
#define FACT_PROGRAM FACT(74)      // it is a whole program
#define FACT_NO_MEMORY FACT(75) // which runs where calls fail: on a device whose memory is nearly full, say
#define FACT_DEFAULT_STREAM                                                                                  \
    FACT(67) // it has copies or kernels in the default stream, and others in other streams
// Of all cases together: only these are wrong
#define FACT_SQUARES_RIGHT FACT(38)     // matrices with other than as many rows as columns, and all of those
#define FACT_ONE_TILE_RIGHT FACT(39)    // those with more than 32 rows or columns
#define FACT_WHOLE_TILES_RIGHT FACT(40) // those whose sides are not both multiples of 32
#define FACT_ONLY_EMPTY_WRONG FACT(55)  // those without an element
#define FACT_ONLY_IN_HEAD_WRONG                                                                              \
    FACT(81) // those with fewer elements than come before the first multiple of 16, and all of those
#define FACT_HEAD_IS_PAST                                                                                    \
    FACT(82) // every misaligned access is as far from a multiple as if the head were what lies past one
#define FACT_NARROW_COUNTERS FACT(90)    // counters of 8 or of 16 bits overflow, and nothing else is wrong
#define FACT_COUNTERS_CARRY FACT(93)     // and each that overflows adds 1 to the next one in its word
#define FACT_ROW_FOR_EACH_BLOCK FACT(91) // the first rows are written, as many as the grid has blocks
// Exclusive sums are wrong only where their own element is NaN, infinite or so large that it takes digits of
// them
#define FACT_OWN_CANCELS FACT(92)
// Of what is counted for bytes that differ: the counters of a warp's lanes are in one bank
#define FACT_ONE_BANK FACT(110)
#define FACT_IDLE_THREADS FACT(111)    // in a missed bandwidth: at least two threads for each element
#define FACT_WAVES_ELSEWHERE FACT(115) // one wave of blocks on this device, and not on another one
// Of what the model was asked: local memory costs the most of all that was changed, though not all that is
// missed
#define FACT_LOCAL_MEMORY_COSTS FACT(112)
// Of the loop with most loads, where the model was asked
#define FACT_LOADS_BESIDE_EXCHANGE FACT(125) // lanes or warps meet in it
#define FACT_LOADS_IN_NO_LOOP FACT(126)      // there is none
#define FACT_LOADED_AGAIN                                                                                    \
    FACT(127) // a task of rows loads half of its rows, or as many bytes of other inputs, again
// Of a missed bandwidth: units for doubles are the busiest part of the SMs, and no array has any
#define FACT_DOUBLE_UNITS FACT(119)
// Of the grid at the modelled size
#define FACT_MORE_THAN_A_WAVE FACT(94)
#define FACT_LESS_THAN_A_WAVE FACT(95)
// Where a goal of occupancy is missed: what an SM lacks for one more block
#define FACT_SHARED_RUNS_OUT FACT(96)
#define FACT_REGISTERS_RUN_OUT FACT(97)
#define FACT_BLOCKS_RUN_OUT FACT(98)
#define FACT_WARPS_RUN_OUT FACT(99)
// Where a goal of bank conflicts is missed: shared memory has as many words as a tile with a row too many,
// and lanes go down its columns
#define FACT_PADDED_BY_A_ROW FACT(69)
// Where a goal of requests is missed: those of loads, or of stores, have less than 16 bytes for each lane
#define FACT_NARROW_LOADS FACT(85)
#define FACT_NARROW_STORES FACT(86)
// Where a goal of the sectors of loads is missed: in a line of that task most requests have 16 bytes for each
// lane, side by side, and begin between two sectors
#define FACT_WIDE_BETWEEN FACT(88)
// Where a goal of sectors is missed: those touched beyond what the bytes fill are more than the bytes are
// above the limit
#define FACT_SECTORS_EXCEED FACT(106)
// and no such goal would be missed if no access touched more sectors than its bytes fill
#define FACT_SECTORS_ALONE FACT(68)
// Of most bank conflicts in the task of a missed goal of them: of single words, as far apart from each lane
// to the next
#define FACT_LANES_APART FACT(107)
// Where a bandwidth is missed: while one lane of a block works alone, a warp could execute half of its
// instructions
#define FACT_ONE_LANE_WORKS FACT(108)
#define FACT_FEW_BLOCKS_RIGHT FACT(41) // those with more blocks than a block has threads
#define FACT_REST_UNWRITTEN FACT(42)   // and the missing ones are the remainder of a division by 2, 4 or 8
// Of all cases in which elements are never written
#define FACT_END_IS_WRITTEN FACT(100)      // in one of them the last element is
#define FACT_BLOCKS_ROUNDED_DOWN FACT(101) // what a division by the elements of a block leaves is not
// What is missing are the elements of threads that have several and lack the last of them
#define FACT_NEEDS_THE_LAST FACT(102)
// Of all accesses before the first byte: each begins at the multiple of its size before that
#define FACT_ROUNDED_DOWN FACT(103)
// Of all accesses out of bounds: each begins where its buffer ends
#define FACT_ALL_JUST_PAST FACT(105)

// In a histogram, a place before the first counter, as a byte from 128 on has that is read with a sign
#define FACT_SIGNED_BYTE FACT(87)

typedef struct {
    const char *slug;  // "missing-barrier"
    const char *title; // "A barrier is missing"
    const char *why;   // one or two sentences; {line} and {other} are the finding's two lines,
                       // {upper} and {lower} the same in the order of the file, {loop} the line in
                       // which the innermost loop around {line} begins, {local} that of local_line(), {alone}
                       // of line_of_one_thread(), {meeting} and {test} those of WhatIfAnswer, {blocks} its
                       // blocks, {unroll} the line of a #pragma before {test}; {columns} elements, {row}
                       // bytes in a row of the finding's buffer
    const char *lessons; // "ch03#barriers:2 ch05#what-it-is:2": sections, and the step of that chapter's
                         // hints that helps, or no step. The first serves chapters that are not listed.

    // Clues. A field that is 0 or NULL is not checked. Expressions are POSIX extended regular expressions.
    unsigned verdicts;  // bits of Verdict: one of them
    unsigned findings;  // bits of FindingKind: one of them
    unsigned checks;    // bits of CheckOutcome: one of them
    Facts facts;        // of FACT_*: all of them
    Facts no_facts;     // none of them
    const char *shape;  // names of error shapes: "odd-tree|every-second-lost"
    const char *host;   // names of HostKinds, "LEAK|BAD_FREE": what the program did wrong on the host is one
    const char *says;   // in the message of the finding, the check, the audit or the compiler, or in what
                        // explains a wrong output, by itself or as one of many
    const char *line;   // in the source line of the finding, spaces and comments removed
    const char *other;  // in that of its other side
    const char *loop;   // in the head of the innermost loop around the finding's line
    const char *source; // anywhere in the source
    bool is_in_change;  // and if a repair is another text, not only in what that leaves as it is
    const char *absent; // nowhere in the source
    const char *missed; // the measure of a goal that is missed
    bool is_more;       // and whose value is more than its limit: a goal of an exact number
    const char *lacks; // words of what a goal needs besides, as "active lanes per instruction": it lacks that
    const char *measured; // an expression over counters, as in a goal ...
    double at_least;      // ... and its least value

    const char
        *repairs;   // change_name()s that prove it: "barrier|moved-barrier"; without one it is possible only
    bool is_repair; // and without one it is not named at all
    const char *no_repairs; // that show another cause
    const char *what_if;    // changes in the model that undo it, "block|registers": it is proved if the model
                            // reaches the goal with them. A clue where `missed` is bandwidth_ratio, which can
                            // be missed for any reason
    unsigned accounts;      // AccountRules: one of them proves it
    bool is_account; // nothing but the account shows it: one of these rules, or a Deviation with its slug
    const char *shown_by; // in the same message as `says`: proves it if the entry matches
    bool is_shown; // every sentence follows from the finding, the check or the counts that are asked for: it
                   // is proved if it matches, and the text only keeps it away from other kernels
} Mistake;

// In diagnose.c, from mistakes_program.def, mistakes_large.def, mistakes_stale.def, mistakes_by_task.def,
// mistakes_stopped.def and mistakes_result.def in this order.
extern const Mistake mistakes[];
extern const int mistake_count;
