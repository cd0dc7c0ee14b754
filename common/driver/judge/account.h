// One case that is run again and again with inputs of marks.
#pragma once

#include "driver/judge/rerun.h"
#include "driver/judge/state.h"

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
// The task's .output after that run; an element of it, and whether nothing was written there.
const void *account_output(const Account *account);
double account_result(const Account *account, long long i);
bool account_is_unwritten(const Account *account, long long i);
// Sets an element of an input, one that `inputs` has.
void account_mark(const Account *account, int buffer, long long i, double value);
// The same run, and what all its results add up to; those that were not written count as 0.
bool account_sum(Account *account, double *sum);

// How many elements the stores of a run write, which has one output; of each line of kernel.cu that has some.
enum { MOST_STORING_LINES = 16 };
typedef struct {
    int line;
    long long elements;
} StoringLine;
typedef struct {
    long long in_all;
    StoringLine lines[MOST_STORING_LINES];
    int line_count;
} StoredElements;
bool account_stores(Account *account, StoredElements *stored);

// A number that a second input has at this place, below `limit`.
int account_drawn(const Account *account, int buffer, long long i, int limit);

// Whether all bins of a histogram hold `right` after a run.
bool account_bins_hold(const Account *account, const double right[HISTOGRAM_BINS]);

// Says how often each of n elements reaches results, as in "elements 32 to 64 reach no result; elements 0 to
// 31 reach a result twice; the others once". `of_zeros`: what the results come to if every element is 0.
// False when memory ran out.
bool account_say_counts(const Account *account, const int *counts, long long n, double of_zeros,
                        Accounting *out);

// Each fills `out` if it can; false if it found nothing.
// How often each element of a sum, or of sums of rows, reaches them.
bool account_sums(Account *account, Accounting *out);
// What such a sum makes of fractions, long numbers, NaN and infinities.
bool account_values(Account *account, Accounting *out);
// How often each element of a histogram is counted in its bin.
bool account_bins(Account *account, Accounting *out);
// In which bin of a histogram the elements of each value are counted.
bool account_bin_values(Account *account, Accounting *out);
// By which rule outputs hold right results at other places, or several of them in one.
bool account_results(Account *account, Accounting *out);
// Which elements of the inputs each element of a vector or matrix was made of.
bool account_places(Account *account, Accounting *out);
// Which element of what all rows share reaches which column of the results.
bool account_row_shared(Account *account, Accounting *out);
// By which wrong formula rows were computed.
bool account_row_formulas(Account *account, Accounting *out);
// By which wrong rule an image was filtered.
bool account_filter_rules(Account *account, Accounting *out);
// Which elements of an image reach each output of a filter, and with which coefficient.
bool account_filter(Account *account, Accounting *out);
// With which other coefficients than the fixed ones every output of a filter is made.
bool account_filter_weights(Account *account, Accounting *out);
// Which products each element of a matrix product adds.
bool account_product(Account *account, Accounting *out);
// Which elements of a row its other elements depend on, and from which a large number is too much.
bool account_rows(Account *account, Accounting *out);
// Which wrong formulas give every value of a table.
bool account_formulas(Account *account, Accounting *out);
// Which elements each output of a scan holds: stretches of them, or any of at most 300.
bool account_scan(Account *account, Accounting *out);
bool account_scan_digits(Account *account, Accounting *out);
// Which element of the longer of two inputs, and which elements of the shorter one, which all outputs share,
// each output is made of.
bool account_terms(Account *account, Accounting *out);
