// The outcome of a run: everything that the page and the JSON show.
#pragma once

#include "driver/judge/bandwidth.h"
#include "driver/judge/check.h"
#include "driver/judge/goals.h"
#include "driver/judge/timeline.h"
#include "driver/plan/plan.h"
#include "driver/plan/verdict.h"

typedef enum {
    CASE_OF_PLAN,
    CASE_AFTER_TIMING, // what the last of many timed runs left
    CASE_OF_MODEL,     // run for the time model; without a shape: LAUNCH refused the size that is modelled
} CaseOrigin;

typedef struct {
    Case settings;
    uint64_t seed;   // of its inputs
    CaseShape shape; // its launches; all 0 where they are not known
    bool was_run;
    bool is_inconclusive; // a large case that says nothing; why in `words`
    CaseOrigin origin;
    Verdict verdict; // PASS where right
    bool has_finding;
    Finding finding;          // the one that decided
    int finding_count;        // stored findings other than information
    bool has_partial_barrier; // that not all threads of a block execute
    bool has_cause;
    Finding cause; // an undefined value or a race in a case that a wrong access ended: often where it began
    bool has_check;
    CheckReport check;
    const char *host;  // the name of what the program did wrong on the host, such as "LEAK"; NULL: nothing
    SourcePlace place; // of that
    char words[512];   // what happened, if neither of the two above says it
    char why[512];
    char kernel[128];     // the kernel that failed, where known; its name in kernel.cu
    ShapeSet candidates;  // shapes of error that the cases before this one and this one leave possible
    uint64_t output_hash; // of .output's bytes
    double output_first;  // its first element
    uint64_t lane_instructions, steps, race_compared; // EmulatorResult
    double seconds;
} CaseReport;

typedef struct {
    int task, launch;
    long long n;     // of the case
    bool is_partial; // counted until the kernel was stopped
    LineCounters counters;
} CountedLine;

// A change, or two together, with which every case of the task that failed passes.
typedef struct {
    int change_count; // 0: none was found
    struct {
        const char *name; // change_name()
        int line;         // of kernel.cu; 0: of none in particular
        const char *side; // change_side_name()
        char words[256];  // "__syncthreads() before line 30"
    } changes[2];
    int cases;         // that pass with it: all of the task that can be run again, failed or not ...
    long long largest; // ... and have no more elements than that ...
    long long large;   // ... or this many and more, of which a few blocks run; 0: none of those
    long long shown;   // elements of the case that is shown, which passes too and is larger; 0: it is not
    bool is_of_source; // another text of kernel.cu, and no edit of its PTX
} Repair;

// Where kernels load from global memory, as far as it decides whether nvcc joins rounds of a loop.
typedef enum {
    LOADS_ANYWHERE, // or nobody looked
    LOADS_IN_NO_LOOP,
    LOADS_BESIDE_EXCHANGE, // in a loop in which lanes or warps meet
} LoopLoads;

// What the model says of a task that is too slow: the change, or two together, with which it would be as fast
// as the goal asks for, or the one that helps most.
typedef struct {
    int change_count; // 0: none helps
    struct {
        const char *name; // "no-conflicts", as in docs/diagnosis.md
        char words[120];  // "without bank conflicts"
    } changes[2];         // the one that helps more first
    int task;
    LoopLoads loads;      // where most are
    int meeting;          // LOADS_BESIDE_EXCHANGE: the line in which lanes or warps meet there; 0: unknown
    int unsigned_test;    // line of the loop with most loads, if nothing but an unsigned test keeps its
                          // rounds apart; 0: none, or unknown
    int least_blocks;     // on an SM, if __launch_bounds__ asks for as many and ptxas therefore spills; or 0
    double waves;         // of blocks in its grid; 0: unknown
    int rolled;           // line of the loop that an index of an array in local memory follows; 0: unknown
    bool reaches;         // the goal
    bool lacks_shapes;    // no other grid or block could be tried
    double factor, ratio; // how much faster the kernel would be, and its share of the reference's bandwidth
} WhatIfAnswer;

enum { MOST_NEEDLESS = 4 };

// Lines without whose barriers every case passes that was tried, and whose goal allows fewer.
typedef struct {
    int count; // 0: none was found
    int lines[MOST_NEEDLESS];
    int cases;   // that pass
    double left; // the value of the goal's measure without them
    const Goal *goal;
} NeedlessBarriers;

// What an account of a sum shows as a whole; bits.
typedef enum {
    ACCOUNT_CUT_OFF = 1,          // fractions and NaN or infinities are lost, whole numbers are right
    ACCOUNT_TRUNCATED = 2097152,  // fractions are lost, whole numbers, NaN and infinities are right
    ACCOUNT_FIXED_STEP = 4194304, // small fractions are lost, alone and as the end of a number
    ACCOUNT_16_BITS = 2,          // of a number, 11 bits remain, or fewer
    ACCOUNT_32_BITS = 4,          // of a double, 24 bits remain
    ACCOUNT_NO_NAN = 8,           // NaN does not reach the sum
    ACCOUNT_NO_INFINITY = 16,     // nor does an infinity
    ACCOUNT_NAN_OF_ZEROS = 32,    // zeros make a NaN
    ACCOUNT_OFFSET = 64,          // every element once, and a number besides
    ACCOUNT_REPEATED = 128,       // every element more than once
    ACCOUNT_TAKEN_AWAY = 256,     // every element is subtracted
    // Of the rows of EXPECT_ROWS
    ACCOUNT_LEFT_OUT_OF_ROW = 512, // some elements change no other element of their row
    ACCOUNT_SOME_OVERFLOW =
        2048, // one large element at some places of a row makes a NaN or an infinity of it
    ACCOUNT_ROWS_OVERFLOW = 1024, // one large element anywhere in a row makes a NaN or an infinity of it
    // Of the elements of EXPECT_PRODUCT
    ACCOUNT_OTHER_PRODUCTS = 4096,   // some add products of other elements
    ACCOUNT_PRODUCTS_LACKING = 8192, // some lack products, and none adds others
    // Of outputs and the results that they should hold
    ACCOUNT_KEPT = 16384,  // outputs contain other outputs
    ACCOUNT_MOVED = 32768, // they hold those of other places
    ACCOUNT_STORED_TWICE =
        65536,                 // as many elements are stored as there are, some of them at a place of others
    ACCOUNT_REVERSED = 1 << 20 // every misplaced one is exchanged with another of its pair or group
} AccountRule;

enum { MAX_TOGETHER = 3 }; // deviations of a formula

// Which elements of the inputs reach which results, found by marks; or which wrong formulas give every value
// of a table, or of a filtered image.
// Elements that follow one another; empty: there is none, or others are between them.
typedef struct {
    long long begin, end;
    int times; // each of them reaches results
} CountedStretch;

typedef struct {
    long long n;          // elements of a sum's input, or of a vector, matrix or table; 0: nothing was found
    long long missing;    // of a sum: those that reach no result; of a histogram also: values that no bin
                          // counts; else: those that lack an input
    long long repeated;   // of a sum: those that reach results more than once
    long long taken_away; // of a sum: those that are subtracted
    unsigned rules;       // of a sum: AccountRules
    CountedStretch stretch; // of a sum: all that do not reach results once, if nothing else is wrong
    long long misplaced; // of a vector or matrix: those that are made of other elements than their own; of a
                         // table: those that differ from the right ones; of a histogram: values that another
                         // bin counts
    const Deviation *deviations[MAX_TOGETHER]; // of a table: all that its formulas have
    int deviation_count;
    bool is_one_shown; // the value that is shown is what a formula gives with one of them alone:
    int shown;         // this one
    char words[600];
} Accounting;

// How another task fails than the one that the page shows in full.
typedef struct {
    int first; // the case that shows it best
    Verdict verdict;
    Repair repair;
    Accounting accounting;
} OtherFailure;

enum { MOST_OTHERS = 3 }; // that are explained

typedef struct {
    Verdict verdict;
    GpuInfo device;
    CaseReport *cases;
    int case_count;
    int run_count, passed_count, failed_count; // run = passed + failed
    int first;                                 // the case shown in full; -1: none
    char message[1200];                        // where no case tells: REJECT, BUILD, INFRA before any case
    char file[256];
    int line;
    bool is_usage;          // a file named on the command line is not of the right kind
    char beside_words[320]; // on a GPU: why no emulator looked at the kernel beside it; "": one did

    ShapeSet shapes[MAX_TASKS]; // those that explain every wrong sum of whole numbers of a task
    Finding note;               // not a mistake, but worth knowing; of case
    int note_case;              // -1: there is none
    bool has_replay;            // a race whose plain schedule gives the right values:
    uint64_t replay_schedule;   // this one gives `replay`, in words
    char replay[512];
    Repair repair;
    WhatIfAnswer what_if;
    NeedlessBarriers needless;
    Accounting accounting;
    OtherFailure others[MOST_OTHERS]; // of other tasks, in their order
    int other_count;

    Timeline timeline;                   // of a program at its counted size; n is 0 without one
    Measured counted[COUNTS][MAX_TASKS]; // [0]: at the chapter's sizes, which are shown
    bool task_is_right[MAX_TASKS];
    GoalResult goals[MAX_GOALS];
    int goal_count;
    CountedLine *lines;
    int line_count;
    Bandwidth bandwidth[MAX_TASKS]; // one a task; kind NONE without words where it has none
    Bandwidth *timings;             // --time: one a size and task, in the order asked for
    int timing_count;
    double earned; // in tenths of a point
    int possible;

    char *printed; // what kernels printed in the first case that failed, or else the first of all, of those
                   // that printed; safe on a terminal; NULL: nothing
    int printed_case; // that case
    double seconds;   // of everything after the build
} Judgement;

// Makes the failure of another task the one that the judgement is about; a second time: as it was.
void judgement_exchange(Judgement *judgement, OtherFailure *other);
