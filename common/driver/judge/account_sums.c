#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/judge/account.h"
#include "driver/plan/elements.h"
#include "driver/plan/inputs.h"

enum {
    PARTS = 4,       // into which a range is divided that is neither complete nor missing
    EXACT = 1 << 24, // of floats: whole numbers below are added without rounding, in any order
};

// How elements are told apart in one run: as digits of the sum, from -base / 2 to base / 2 - 1.
typedef struct {
    int base, digits;
    int most;     // weight of an element of a range, at most
    bool guesses; // that the elements at an end of a range are missing
} Marks;
// The second one is for elements that reach results more often than 7 times, and the third for more than 127.
static const Marks all_marks[] = {{16, 6, 4095, true}, {256, 3, 127, false}, {EXACT, 1, 15, false}};
enum { MARKS = sizeof all_marks / sizeof all_marks[0] };

typedef struct {
    Account *account;
    int in;
    long long n;
    const Marks *marks;
    double of_zeros; // what the results come to without marks
    int *counts;     // how often each element reaches the outputs
} Sums;

// ---- Marks -----------------------------------------------------------------------------------------------

static void mark(const Sums *sums, long long i, double value) {
    account_mark(sums->account, sums->in, i, value);
}

static double absolute_limit(const Sums *sums) { return EXACT - fabs(sums->of_zeros); }

// Up to `digits` elements, each a digit of the sum.
static bool count_digits(Sums *sums, long long first, long long count) {
    const int base = sums->marks->base;
    double weight = 1, sum;
    for (long long i = 0; i < count; i++) {
        mark(sums, first + i, weight);
        weight *= base;
    }
    const bool was_run = account_sum(sums->account, &sum);
    for (long long i = 0; i < count; i++) mark(sums, first + i, 0);
    sum -= sums->of_zeros;
    if (!was_run || !(fabs(sum) < absolute_limit(sums)) || sum != floor(sum)) return false;
    for (long long i = 0; i < count; i++) {
        const double rest = floor((sum + (base >> 1)) / base);
        sums->counts[first + i] = (int)(sum - base * rest);
        sum = rest;
    }
    return sum == 0; // a digit more would be an element that was never marked
}

static double weight_of(const Sums *sums, long long i, long long most) {
    return 1 + account_drawn(sums->account, sums->in, i, (int)most);
}

// Whether the sum of a range is that of its first elements alone, or of its last: the others are then taken
// to be missing, which are_confirmed() tells if it was by chance.
static bool guess_end(Sums *sums, long long first, long long count, double sum, double whole,
                      long long most) {
    if (!sums->marks->guesses) return false;
    double before = 0;
    for (long long i = 0; i < count; i++) {
        if (before == sum || whole - before == sum) {
            for (long long k = 0; k < count; k++) sums->counts[first + k] = (k < i) == (before == sum);
            return true;
        }
        before += weight_of(sums, first + i, most);
    }
    return false;
}

// A range at once, with weights: it is missing, complete or several times complete, or it is divided.
static bool count_range(Sums *sums, long long first, long long count) {
    if (count <= sums->marks->digits) return count_digits(sums, first, count);
    long long most = (EXACT / 4) / count;
    if (most > sums->marks->most) most = sums->marks->most;
    if (most < 1) most = 1;
    double whole = 0, sum;
    for (long long i = 0; i < count; i++) {
        const double weight = weight_of(sums, first + i, most);
        mark(sums, first + i, weight);
        whole += weight;
    }
    const bool was_run = account_sum(sums->account, &sum);
    for (long long i = 0; i < count; i++) mark(sums, first + i, 0);
    if (!was_run || isnan(sum)) return false;
    const double times = (sum - sums->of_zeros) / whole;
    if (times == floor(times) && fabs(sum) < absolute_limit(sums)) {
        for (long long i = 0; i < count; i++) sums->counts[first + i] = (int)times;
        return true;
    }
    if (guess_end(sums, first, count, sum - sums->of_zeros, whole, most)) return true;
    const long long part = (count + PARTS - 1) / PARTS;
    for (long long at = 0; at < count; at += part)
        if (!count_range(sums, first + at, count - at < part ? count - at : part)) return false;
    return true;
}

// Whether the counts explain the result of another input: where sums are rounded, digits are lost that look
// like elements. `signs`: 0: of one without elements below 0; 1: of one in which some are; -1: of the same
// with the opposite signs, whose sum has the other sign, too.
static bool explain(Sums *sums, int signs) {
    double whole = sums->of_zeros, sum;
    for (long long i = 0; i < sums->n; i++) {
        const bool is_turned = account_drawn(sums->account, sums->in, i, 14) >= 7;
        const double sign = signs == 0 ? 1 : is_turned ? -signs : signs;
        const double weight = sign * weight_of(sums, i, 7);
        mark(sums, i, weight);
        whole += weight * sums->counts[i];
    }
    const bool was_run = account_sum(sums->account, &sum);
    for (long long i = 0; i < sums->n; i++) mark(sums, i, 0);
    return was_run && sum == whole;
}

// Whether the counts explain a wrong result: if every element counts once, something else is wrong.
static bool is_telling(const Sums *sums) {
    bool is_right = sums->of_zeros == 0;
    for (long long i = 0; i < sums->n && is_right; i++) is_right = sums->counts[i] == 1;
    return !is_right;
}

// Counts do not describe a sum that loses its sign: with elements below 0 no rule of them holds.
static void say_of_positive_ones(Accounting *out) {
    const size_t used = strlen(out->words);
    snprintf(out->words + used, sizeof out->words - used,
             "; this holds while no element is below 0, and not otherwise");
    out->rules = 0;
    out->stretch = (CountedStretch){0};
}

// ---- All of it -------------------------------------------------------------------------------------------

bool account_sums(Account *account, Accounting *out) {
    Sums sums = {.account = account, .in = task_input(account->task)};
    if (sums.in < 0 || !account_sum(account, &sums.of_zeros) || sums.of_zeros != floor(sums.of_zeros))
        return false;
    sums.n = account->counts[sums.in];
    sums.counts = malloc(((size_t)sums.n + 1) * sizeof *sums.counts);
    if (!sums.counts) return false;
    bool is_known = false;
    for (int m = 0; m < MARKS && !is_known; m++) {
        sums.marks = &all_marks[m];
        is_known = count_range(&sums, 0, sums.n) && explain(&sums, 0);
    }
    const bool has_signs = is_known && explain(&sums, 1) && explain(&sums, -1);
    is_known =
        is_known && is_telling(&sums) && account_say_counts(account, sums.counts, sums.n, sums.of_zeros, out);
    free(sums.counts);
    if (is_known && !has_signs) say_of_positive_ones(out);
    return is_known;
}
