// Checks the results of a case: exact if the inputs allow it, otherwise within the error budget; every
// element written, inputs unchanged.
#pragma once

#include "driver/plan/chapter.h"
#include "driver/judge/error_shape/error_shape.h"
#include "driver/plan/inputs.h"
#include "driver/plan/expected.h"

typedef enum {
    CHECK_RIGHT,
    CHECK_NOT_WRITTEN,
    CHECK_VALUE,   // differs where it must be exact
    CHECK_BUDGET,  // further off than rounding can explain
    CHECK_SPECIAL, // NaN or infinity where there should be none, or none where there should
    CHECK_INPUT_CHANGED,
    CHECK_NOT_ZERO,      // a workspace that has to be left as it was found
    CHECK_NOT_IDENTICAL, // other bits than under another schedule
    CHECK_LEFT_OUT,      // too few elements for all blocks together: in a sample of blocks of a large case
    CHECK_TWICE,         // elements that are in a sum twice, in such a sample
    CHECK_BROKEN,        // the chapter's description does not fit; why in `what`
} CheckOutcome;

// "value", "not_written": for JSON.
const char *check_outcome_name(CheckOutcome outcome);

// One finished case. Arrays are indexed as the task's buffers; entries of other roles are not looked at.
typedef struct {
    const Task *task;
    const CaseShape *shape;
    Family family;
    const long long *counts;     // elements
    const void *const *pristine; // INPUTs as they were made
    const void *const *after;    // every buffer as the run left it
    const Expected *expected;
    unsigned misalignment; // of the input, in bytes
    ShapeSet candidates;   // shapes of error that the cases before this one leave possible
} CheckedCase;

typedef struct {
    CheckOutcome outcome;
    char buffer[64];    // the buffer that is wrong
    long long index;    // of its first wrong element; -1 where it is about a sum of all
    long long wrong;    // how many elements are
    long long elements; // of how many
    bool has_numbers;   // the four below
    double expected, got, difference, budget;
    ShapeSet shapes;         // of the candidates, those that this case leaves possible too
    bool row_for_each_block; // not_written: all rows but the first, which are as many as blocks
    bool is_rest;            // not_written: all from `index` on, none before
    // Of a table's wrong elements: how many are larger than they should be, where 0 is right, one beside it.
    // Of other exact elements: how many are a neighbour, among the numbers of their type, of the right one.
    long long larger, where_zero, off_by_one;
    bool is_elsewhere; // the first wrong value belongs to one other place
    bool is_copied;    // and is what the input has at the same place
    bool own_cancels;  // of an exclusive scan: its own element is NaN, infinite or large wherever a sum is
                       // wrong
    int counter_bits;  // of a histogram: counters of so many bits overflow, and nothing else is wrong; 0: it
                       // is
    bool counters_carry; // and each that does adds 1 to the next one in its word
    bool is_formula;     // every element is another combination of the inputs, as `why` says
    double budget_share; // largest |error| / budget seen, of right results too; 0 where exact
    char expected_words[96], got_words[96];
    char what[512]; // one sentence: what is wrong, with numbers
    char why[512];  // what the numbers say about the cause, or ""
} CheckReport;

// True when everything is right. Fills the report in either case.
bool check_case(const CheckedCase *finished, CheckReport *report);
