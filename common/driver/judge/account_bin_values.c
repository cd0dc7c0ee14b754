// In which bin the elements of each value are counted.
#include <stdio.h>
#include <string.h>

#include "driver/judge/account.h"
#include "driver/plan/elements.h"

enum { NOWHERE = -1 };

typedef struct {
    Account *account;
    int in;
    long long n;
    int bins[HISTOGRAM_BINS]; // of each value; NOWHERE: its elements are not counted
} Values;

// All elements have that value. False if they are not all in one bin, or in none.
static bool place_value(Values *values, int value) {
    memset(values->account->inputs[values->in], value, (size_t)values->n);
    if (!account_run(values->account)) return false;
    int found = NOWHERE;
    for (int b = 0; b < HISTOGRAM_BINS; b++) {
        const double held = account_result(values->account, b);
        if (held == 0) continue;
        if (found != NOWHERE || held != (double)values->n) return false;
        found = b;
    }
    values->bins[value] = found;
    return true;
}

// Whether the places of the values explain the histogram of a mixed input.
static bool are_confirmed(const Values *values) {
    unsigned char *input = values->account->inputs[values->in];
    double right[HISTOGRAM_BINS] = {0};
    for (long long i = 0; i < values->n; i++) {
        input[i] = (unsigned char)account_drawn(values->account, values->in, i, HISTOGRAM_BINS);
        if (values->bins[input[i]] != NOWHERE) right[values->bins[input[i]]]++;
    }
    return account_run(values->account) && account_bins_hold(values->account, right);
}

// Whether two neighbouring values go wrong in the same way: lost, or in a bin as far away.
static bool are_alike(const Values *values, int a, int b) {
    const int to_a = values->bins[a], to_b = values->bins[b];
    return to_a == NOWHERE || to_b == NOWHERE ? to_a == to_b : to_a - a == to_b - b;
}

static void say_range(const Values *values, int first, int last, Text *words) {
    const int to = values->bins[first], distance = to - first;
    if (first == last)
        text_printf(words, "value %d ", first);
    else
        text_printf(words, "values %d to %d ", first, last);
    if (to == NOWHERE)
        text_add(words, first == last ? "is counted in no bin" : "are counted in no bin");
    else if (first == last)
        text_printf(words, "is counted in bin %d", to);
    else
        text_printf(words, "are counted %d bins too %s", distance < 0 ? -distance : distance,
                    distance < 0 ? "low" : "high");
}

bool account_bin_values(Account *account, Accounting *out) {
    enum { MOST_RANGES = 4 };
    Values values = {.account = account, .in = task_input(account->task)};
    values.n = account->counts[values.in];
    for (int v = 0; v < HISTOGRAM_BINS; v++)
        if (!place_value(&values, v)) return false;
    if (!are_confirmed(&values)) return false;
    Text words = {0};
    char n[32];
    count_text(values.n, n, sizeof n);
    text_printf(&words, "at n = %s, ", n);
    int ranges = 0, right = 0;
    for (int v = 0, last; v < HISTOGRAM_BINS; v = last + 1) {
        for (last = v; last + 1 < HISTOGRAM_BINS && are_alike(&values, v, last + 1);) last++;
        if (values.bins[v] == v) {
            right += last + 1 - v;
            continue;
        }
        if (ranges++ == MOST_RANGES) text_add(&words, "; and so on");
        if (ranges > MOST_RANGES) continue;
        if (ranges > 1) text_add(&words, "; ");
        say_range(&values, v, last, &words);
        if (values.bins[v] == NOWHERE)
            out->missing += last + 1 - v;
        else
            out->misplaced += last + 1 - v;
    }
    if (right > 0) text_add(&words, "; the others in their own");
    snprintf(out->words, sizeof out->words, "%s", text_chars(&words));
    text_free(&words);
    if (ranges > 0)
        out->n = values.n;
    else
        out->words[0] = '\0';
    return ranges > 0;
}
