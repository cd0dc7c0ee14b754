#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/judge/account.h"
#include "driver/judge/subset.h"
#include "driver/plan/elements.h"
#include "driver/plan/inputs.h"

enum {
    DIGITS = 6, // elements that one run tells apart, as digits of a number: 24 bits, which a float holds
                // exactly, whatever the order of additions
    PARTS = 4,  // into which a range is divided that is neither complete nor missing
};

typedef struct {
    Account *account;
    int in;
    long long n;
    unsigned char
        *counts; // how often each element reaches the outputs; MARK_BASE - 1: as often or more often
} Sums;

// ---- Marks -----------------------------------------------------------------------------------------------

// What all outputs of a run come to; NaN if that says nothing.
static double sum_of_outputs(const Sums *sums) {
    Account *account = sums->account;
    if (!account_run(account)) return NAN;
    const int out = task_output(account->task);
    const ElementType type = account->task->buffers[out].type;
    const void *after = account_output(account);
    double sum = 0;
    for (long long i = 0; i < account->counts[out]; i++)
        sum += element_is_poison(after, type, i) ? 0 : element_get(after, type, i);
    return sum;
}

static void mark(const Sums *sums, long long i, double value) {
    element_set(sums->account->inputs[sums->in], sums->account->task->buffers[sums->in].type, i, value);
}

// Up to DIGITS elements, each a digit of the sum.
static bool count_digits(Sums *sums, long long first, long long count) {
    double weight = 1;
    for (long long i = 0; i < count; i++) {
        mark(sums, first + i, weight);
        weight *= MARK_BASE;
    }
    double sum = sum_of_outputs(sums);
    for (long long i = 0; i < count; i++) mark(sums, first + i, 0);
    if (!(sum >= 0 && sum < 1 << 24) || sum != floor(sum)) return false;
    for (long long i = 0; i < count; i++) {
        sums->counts[first + i] = (unsigned char)fmod(sum, MARK_BASE);
        sum = floor(sum / MARK_BASE);
    }
    return sum == 0; // a digit more would be an element that was never marked
}

// A range at once, with weights: it is missing, complete or twice complete, or it is divided.
static bool count_range(Sums *sums, long long first, long long count) {
    if (count <= DIGITS) return count_digits(sums, first, count);
    long long most = (1 << 22) / count;
    if (most > 4095) most = 4095;
    double whole = 0;
    for (long long i = 0; i < count; i++) {
        const double weight = 1 + account_drawn(sums->account, sums->in, first + i, (int)most);
        mark(sums, first + i, weight);
        whole += weight;
    }
    const double sum = sum_of_outputs(sums);
    for (long long i = 0; i < count; i++) mark(sums, first + i, 0);
    if (isnan(sum)) return false;
    for (int times = 0; times < 4; times++) {
        if (sum != times * whole) continue;
        memset(sums->counts + first, times, (size_t)count);
        return true;
    }
    const long long part = (count + PARTS - 1) / PARTS;
    for (long long at = 0; at < count; at += part)
        if (!count_range(sums, first + at, count - at < part ? count - at : part)) return false;
    return true;
}

// Whether the counts explain the result of another input: where sums are rounded, digits are lost that look
// like elements.
static bool are_confirmed(Sums *sums) {
    double whole = 0;
    for (long long i = 0; i < sums->n; i++) {
        const double weight = 1 + account_drawn(sums->account, sums->in, i, 7);
        mark(sums, i, weight);
        whole += weight * sums->counts[i];
    }
    return sum_of_outputs(sums) == whole;
}

// ---- Words -----------------------------------------------------------------------------------------------

enum { MISSING = 1u << 0, REPEATED = ~3u & 0xffff }; // kinds are counts

// "elements 32 to 64 reach no result, and elements 0 to 31 reach it twice; every other element once"
static void say(const Sums *sums, Accounting *out) {
    Subset subset = {sums->counts, sums->n, MISSING, &sums->account->launch, sums->account->one.size.columns};
    char missing[240], repeated[240], n[32];
    int most = 0;
    out->n = sums->n;
    out->missing = subset_describe(&subset, missing, sizeof missing);
    subset.wanted = REPEATED;
    out->repeated = subset_describe(&subset, repeated, sizeof repeated);
    for (long long i = 0; i < sums->n; i++)
        if (sums->counts[i] > most) most = sums->counts[i];
    count_text(sums->n, n, sizeof n);
    Text words = {0};
    text_printf(&words, "at n = %s, ", n);
    if (out->missing == sums->n)
        text_add(&words, "no element reaches a result");
    else if (out->missing)
        text_printf(&words, "%s %s no result", missing, out->missing == 1 ? "reaches" : "reach");
    if (!out->missing && !out->repeated) text_add(&words, "every element reaches a result once");
    if (out->missing && out->repeated) text_add(&words, "; ");
    if (out->repeated && most == 2)
        text_printf(&words, "%s %s a result twice", repeated, out->repeated == 1 ? "reaches" : "reach");
    else if (out->repeated)
        text_printf(&words, "%s %s results up to %d times", repeated,
                    out->repeated == 1 ? "reaches" : "reach", most);
    const long long others = sums->n - out->missing - out->repeated;
    if (others > 0 && others < sums->n)
        text_printf(&words, "; %s once", others == 1 ? "the other one" : "the others");
    snprintf(out->words, sizeof out->words, "%s", text_chars(&words));
    text_free(&words);
}

void account_sums(Account *account, Accounting *out) {
    Sums sums = {.account = account, .in = task_input(account->task)};
    if (sums.in < 0) return;
    sums.n = account->counts[sums.in];
    sums.counts = malloc((size_t)sums.n + 1);
    if (sums.counts && count_range(&sums, 0, sums.n) && are_confirmed(&sums)) say(&sums, out);
    free(sums.counts);
}
