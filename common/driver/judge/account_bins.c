#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "driver/judge/account.h"
#include "driver/plan/inputs.h"

enum {
    MARKS = HISTOGRAM_BINS - 1, // that one run tells apart: 0 is the value of the elements without a mark
    EACH = 16 * MARKS,          // elements that are all looked at one by one
    MOST_TIMES = 1 << 20,       // an element is counted, or the bins do not hold counts
};

typedef struct {
    Account *account;
    int in;
    long long n;
    int *counts; // how often each element is counted
} Bins;

static unsigned char *input_of(const Bins *bins) { return bins->account->inputs[bins->in]; }

// Runs with the `count` elements from `first` on marked, each `part` of them by another value, all others 0.
static bool run_marked(Bins *bins, long long first, long long count, long long part) {
    memset(input_of(bins), 0, (size_t)bins->n);
    for (long long i = 0; i < count; i++) input_of(bins)[first + i] = (unsigned char)(1 + i / part);
    return account_run(bins->account);
}

static bool count_each(Bins *bins, long long first, long long count) {
    if (!run_marked(bins, first, count, 1)) return false;
    for (long long i = 0; i < count; i++) {
        const double times = account_result(bins->account, (int)(1 + i));
        if (times > MOST_TIMES) return false;
        bins->counts[first + i] = (int)times;
    }
    return true;
}

static bool count_all_one_by_one(Bins *bins, long long first, long long count) {
    for (long long at = 0; at < count; at += MARKS)
        if (!count_each(bins, first + at, count - at < MARKS ? count - at : MARKS)) return false;
    return true;
}

// A long range in parts, each of which is missing, complete, or looked at more closely.
static bool count_parts(Bins *bins) {
    const long long part = (bins->n + MARKS - 1) / MARKS;
    double sums[MARKS];
    if (!run_marked(bins, 0, bins->n, part)) return false;
    for (int p = 0; p < MARKS; p++) sums[p] = account_result(bins->account, 1 + p);
    for (long long p = 0; p * part < bins->n; p++) {
        const long long left = bins->n - p * part, count = left < part ? left : part;
        const double times = sums[p] / (double)count;
        const bool is_alike = times == floor(times) && times <= MOST_TIMES;
        for (long long i = 0; i < count && is_alike; i++) bins->counts[p * part + i] = (int)times;
        if (!is_alike && !count_all_one_by_one(bins, p * part, count)) return false;
    }
    return true;
}

// Whether the counts explain the histogram of an input of that family.
static bool explain(Bins *bins, Family family) {
    double right[HISTOGRAM_BINS] = {0};
    fill_inputs(input_of(bins), U8, bins->n, bins->n, family, (uint64_t)bins->n, (unsigned)bins->in);
    for (long long i = 0; i < bins->n; i++) right[input_of(bins)[i]] += bins->counts[i];
    return account_run(bins->account) && account_bins_hold(bins->account, right);
}

// Whether they explain those of all families. Where elements are counted in other bins than their own they do
// not, nor where it matters which elements are equal: the marks all differ.
static bool are_confirmed(Bins *bins) {
    static const Family families[] = {FAMILY_INTEGERS, FAMILY_SKEWED, FAMILY_RUNS, FAMILY_CONSTANTS};
    for (size_t f = 0; f < sizeof families / sizeof families[0]; f++)
        if (!explain(bins, families[f])) return false;
    return true;
}

bool account_bins(Account *account, Accounting *out) {
    Bins bins = {.account = account, .in = task_input(account->task)};
    bins.n = account->counts[bins.in];
    bins.counts = malloc(((size_t)bins.n + 1) * sizeof *bins.counts);
    const bool is_known = bins.counts &&
                          (bins.n <= EACH ? count_all_one_by_one(&bins, 0, bins.n) : count_parts(&bins)) &&
                          are_confirmed(&bins) && account_say_counts(account, bins.counts, bins.n, 0, out);
    free(bins.counts);
    return is_known;
}
