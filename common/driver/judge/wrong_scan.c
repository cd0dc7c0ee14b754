#include "driver/judge/wrong_scan.h"

#include <stdio.h>

#include "driver/plan/elements.h"

typedef struct {
    const Expected *expected;
    const void *input, *scan;
    ElementType input_type, type;
    long long first, last, wrong;
} WrongScan;

static double got(const WrongScan *of, long long i) { return element_get(of->scan, of->type, i); }
static double input(const WrongScan *of, long long i) { return element_get(of->input, of->input_type, i); }

// The sum of all elements before i.
static double before(const WrongScan *of, long long i) {
    return of->expected->values[i] - (of->expected->task->is_exclusive ? 0 : input(of, i));
}

static bool is_input(const WrongScan *of) {
    for (long long i = 0; i < of->expected->count; i++)
        if (got(of, i) != input(of, i)) return false;
    return true;
}

// The inclusive scan in place of the exclusive one, or the other way round.
static bool is_other_kind(const WrongScan *of) {
    const bool is_exclusive = of->expected->task->is_exclusive;
    for (long long i = 0; i < of->expected->count; i++)
        if (got(of, i) != before(of, i) + (is_exclusive ? input(of, i) : 0)) return false;
    return true;
}

// Whether every sum begins with its own stretch of `length` elements, or with one of the stretches before it.
static bool reaches_back(const WrongScan *of, long long length, long long stretches) {
    for (long long i = 0; i < of->expected->count; i++) {
        const long long stretch = i / length, from = stretch > stretches ? stretch - stretches : 0;
        if (got(of, i) != of->expected->values[i] - before(of, from * length)) return false;
    }
    return true;
}

// Whether every sum holds the last `count` elements only.
static bool holds_the_last(const WrongScan *of, long long count) {
    for (long long i = 0; i < of->expected->count; i++) {
        const long long from = i >= count ? i - count + 1 : 0;
        if (got(of, i) != of->expected->values[i] - before(of, from)) return false;
    }
    return true;
}

// How many times the first element the first sum holds; 0 if that is not a whole number.
static int times_the_first(const WrongScan *of) {
    const double times = input(of, 0) != 0 ? got(of, 0) / input(of, 0) : 0;
    return times > 1 && times <= 64 && times == (int)times ? (int)times : 0;
}

// Whether all wrong sums are too large by the sum of just these elements.
static bool adds_own_sum(const WrongScan *of) {
    double own = 0;
    if (of->wrong < 2 || of->wrong != of->last - of->first + 1) return false;
    for (long long i = of->first; i <= of->last; i++) own += input(of, i);
    for (long long i = of->first; i <= of->last; i++)
        if (got(of, i) != of->expected->values[i] + own) return false;
    return true;
}

// Whether what comes before a stretch of `length` elements is taken to be the sums up to the ends of all
// earlier stretches together: as they are in the scan, or as they should be.
static bool adds_all_ends(const WrongScan *of, long long length, bool as_they_are) {
    const bool is_exclusive = of->expected->task->is_exclusive;
    double ends = 0;
    for (long long i = 0; i < of->expected->count; i++) {
        if (i > 0 && i % length == 0)
            ends += !as_they_are ? before(of, i) : got(of, i - 1) + (is_exclusive ? input(of, i - 1) : 0);
        if (got(of, i) != of->expected->values[i] - before(of, i / length * length) + ends) return false;
    }
    return true;
}

static void find_wrong(WrongScan *of) {
    of->first = -1;
    for (long long i = 0; i < of->expected->count; i++) {
        if (got(of, i) == of->expected->values[i]) continue;
        if (of->wrong++ == 0) of->first = i;
        of->last = i;
    }
}

static void say_which(const WrongScan *of, char *why, size_t bytes) {
    char wrong[32], first[32], last[32];
    count_text(of->wrong, wrong, sizeof wrong);
    count_text(of->first, first, sizeof first);
    count_text(of->last, last, sizeof last);
    if (of->wrong == 1)
        snprintf(why, bytes, "Element %s alone is wrong.", first);
    else if (of->wrong == of->last - of->first + 1)
        snprintf(why, bytes, "Elements %s to %s are wrong.", first, last);
    else
        snprintf(why, bytes, "%s elements from %s to %s are wrong.", wrong, first, last);
}

// The rule by which all sums are wrong, without a capital; false: there is none.
static bool say_rule(const WrongScan *of, char *rule, size_t bytes) {
    const bool is_exclusive = of->expected->task->is_exclusive;
    char first[32], half[32], last[32];
    count_text(of->first, first, sizeof first);
    count_text(of->first / 2, half, sizeof half);
    count_text(of->last, last, sizeof last);
    if (is_input(of))
        snprintf(rule, bytes, "every element of the output is the element of the input at its place.");
    else if (is_other_kind(of) && is_exclusive)
        snprintf(rule, bytes, "every sum holds the element at its own place too: the scan is inclusive.");
    else if (is_other_kind(of))
        snprintf(rule, bytes, "every sum lacks the element at its own place: the scan is exclusive.");
    else if (of->first > 1 && reaches_back(of, of->first, 0))
        snprintf(rule, bytes, "the sum begins again at 0 after every %s elements.", first);
    else if (of->first > 1 && of->first % 2 == 0 && reaches_back(of, of->first / 2, 1))
        snprintf(rule, bytes, "every sum reaches back to the %s elements before its own %s, and no further.",
                 half, half);
    else if (of->first > 1 && of->first % 2 == 0 &&
             (adds_all_ends(of, of->first / 2, true) || adds_all_ends(of, of->first / 2, false)))
        snprintf(rule, bytes,
                 "in stretches of %s elements, from the third on, the sums up to the ends of all earlier "
                 "stretches are added, not only the last of them.",
                 half);
    else if (of->first > 1 && !is_exclusive && holds_the_last(of, of->first))
        snprintf(rule, bytes, "every sum holds the last %s elements only.", first);
    else if (of->first == 0 && !is_exclusive && times_the_first(of))
        snprintf(rule, bytes, "the first sum holds the first element %d times.", times_the_first(of));
    else if (adds_own_sum(of))
        snprintf(rule, bytes, "elements %s to %s are too large by the sum of these elements themselves.",
                 first, last);
    else
        return false;
    return true;
}

void explain_wrong_scan(const Expected *expected, const void *scan, ElementType type, Family family,
                        char *why, size_t bytes) {
    const int in = task_input(expected->task);
    WrongScan of = {.expected = expected,
                    .input = expected->inputs[in],
                    .scan = scan,
                    .input_type = expected->task->buffers[in].type,
                    .type = type};
    char rule[256], n[32];
    if (family != FAMILY_INTEGERS) return; // rounding differs from element to element
    find_wrong(&of);
    if (of.wrong == 0) return;
    // A longer scan may go wrong by another rule: by one for each of its rounds, say.
    count_text(expected->count, n, sizeof n);
    if (say_rule(&of, rule, sizeof rule))
        snprintf(why, bytes, "At n = %s, %s", n, rule);
    else
        say_which(&of, why, bytes);
}
