// One case that is run again and again with inputs of marks.
#pragma once

#include "driver/judge/rerun.h"
#include "driver/judge/state.h"

enum { MARK_BASE = 16 }; // marks are digits to this base: two of them fit into bfloat16's 8 bits

typedef struct {
    Judge *judge;
    Worker *worker;
    Rerun how;
    Case one;
    ShapeOfLaunch launch; // the first of the case
    const Task *task;
    void *inputs[MAX_BUFFERS]; // by buffer, NULL if it is not an INPUT or the case's own will do; all 0
    long long counts[MAX_BUFFERS];
    double work; // that is left, in the milliseconds of a usual machine
} Account;

// Runs the case with the marks. False if that says nothing: a finding, or no work is left.
bool account_run(Account *account);
// The task's .output after that run.
const void *account_output(const Account *account);

// A number that a second input has at this place, below `limit`.
int account_drawn(const Account *account, int buffer, long long i, int limit);

// How often each element of a sum, or of sums of rows, reaches them.
void account_sums(Account *account, Accounting *out);
// Which elements of the inputs each element of a vector or matrix was made of.
void account_places(Account *account, Accounting *out);
