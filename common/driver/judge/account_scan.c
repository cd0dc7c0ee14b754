// Which elements each output of a scan holds. Stretches of elements are found with three inputs: ones, which
// tell how many elements too many or too few an output has, and two of drawn weights, which tell which. If a
// difference is not one stretch, a few elements at a time are the digits of a number.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/judge/account.h"
#include "driver/judge/subset.h"
#include "driver/plan/elements.h"
#include "support/text.h"

enum {
    INPUTS = 3, // ones, and two of weights
    MOST_WEIGHT = 1000,
    EXACT = 1 << 24, // of floats: whole numbers below are added without rounding, in any order
    MOST_TIMES = 32, // that an element is added
    BASE = 16,       // of digits
    DIGITS = 6,
    MOST_BY_DIGITS = 300,  // elements: there is a run for every six of them
    MOST_TRIES = 10000000, // of a place where a stretch may begin
};

typedef enum { RIGHT, UNWRITTEN, LACKING, ADDING, MIXED, KINDS } Kind;

// `times` the elements from `first` to `first + count - 1`, too many or, if it is negative, too few.
typedef struct {
    long long first, count;
    int times;
} Stretch;

typedef struct {
    Account *account;
    int in, out;
    long long n;
    bool is_exclusive;
    double *sums[INPUTS]; // of the first i elements of each input
    double *got[INPUTS];
    unsigned char *kinds;
    Stretch *stretches;       // of each output; NULL: `differences` instead
    signed char *differences; // how often an output holds each element, less how often it should
    long long tries;          // that are left
} Scan;

// How many elements belong to an output.
static long long own_count(const Scan *scan, long long i) { return i + (scan->is_exclusive ? 0 : 1); }

static int difference(const Scan *scan, long long i, long long j) {
    if (scan->differences) return scan->differences[i * scan->n + j];
    if (!scan->stretches) return 0;
    const Stretch *stretch = &scan->stretches[i];
    return j >= stretch->first && j < stretch->first + stretch->count ? stretch->times : 0;
}

// Whether all zeros make zeros, and which outputs are never written.
static bool find_unwritten(const Scan *scan) {
    if (!account_run(scan->account)) return false;
    for (long long i = 0; i < scan->n; i++) {
        scan->kinds[i] = account_is_unwritten(scan->account, i) ? UNWRITTEN : RIGHT;
        if (scan->kinds[i] == RIGHT && account_result(scan->account, i) != 0) return false;
    }
    return true;
}

// ---- Stretches -------------------------------------------------------------------------------------------

static double weight(const Scan *scan, int input, long long j) {
    const long long most = EXACT / 4 / (scan->n + 1);
    const int limit = (int)(most < MOST_WEIGHT ? most : MOST_WEIGHT);
    if (input == 0) return 1;
    return 1 + account_drawn(scan->account, scan->in, input == 1 ? j : scan->n + j, limit > 2 ? limit : 2);
}

static bool run_weights(Scan *scan, int input) {
    scan->sums[input][0] = 0;
    for (long long j = 0; j < scan->n; j++) {
        account_mark(scan->account, scan->in, j, weight(scan, input, j));
        scan->sums[input][j + 1] = scan->sums[input][j] + weight(scan, input, j);
    }
    if (!account_run(scan->account)) return false;
    for (long long i = 0; i < scan->n; i++) {
        const double value = account_result(scan->account, i);
        scan->got[input][i] = value;
        if (account_is_unwritten(scan->account, i) != (scan->kinds[i] == UNWRITTEN)) return false;
        if (scan->kinds[i] != UNWRITTEN && !(fabs(value) < EXACT && value == floor(value))) return false;
    }
    return true;
}

static bool explains(const Scan *scan, long long i, Stretch stretch) {
    const long long end = stretch.first + stretch.count;
    if (stretch.first < 0 || end > scan->n) return false;
    if (stretch.times < 0 && end > own_count(scan, i)) return false;
    for (int input = 0; input < INPUTS; input++) {
        const double *sums = scan->sums[input];
        if (scan->got[input][i] !=
            sums[own_count(scan, i)] + stretch.times * (sums[end] - sums[stretch.first]))
            return false;
    }
    return true;
}

// The difference as one stretch, at the same place as that of the output before, at the beginning, as far
// from the output as before, or anywhere.
static bool find_stretch(Scan *scan, long long i, Stretch last) {
    const double much = scan->got[0][i] - scan->sums[0][own_count(scan, i)];
    Stretch *found = &scan->stretches[i];
    *found = (Stretch){0};
    if (much == 0) return explains(scan, i, *found);
    for (int times = 1; times <= MOST_TIMES; times++) {
        if (fmod(fabs(much), times) != 0) continue;
        const long long count = (long long)fabs(much) / times;
        const long long likely[] = {last.first, 0, last.first + 1, own_count(scan, i) - count,
                                    own_count(scan, i)};
        *found = (Stretch){0, count, much < 0 ? -times : times};
        for (size_t k = 0; k < sizeof likely / sizeof likely[0]; k++) {
            found->first = likely[k];
            if (explains(scan, i, *found)) return true;
        }
        for (long long first = 0; first + count <= scan->n && scan->tries > 0; first++, scan->tries--) {
            found->first = first;
            if (explains(scan, i, *found)) return true;
        }
        if (much < 0) return false; // nothing is taken away twice
    }
    return false;
}

static bool find_stretches(Scan *scan) {
    Stretch last = {0};
    for (int input = 0; input < INPUTS; input++)
        if (!run_weights(scan, input)) return false;
    for (long long i = 0; i < scan->n; i++) {
        if (scan->kinds[i] == UNWRITTEN) continue;
        if (!find_stretch(scan, i, last)) return false;
        if (scan->stretches[i].count) last = scan->stretches[i];
    }
    return true;
}

// ---- Digits ----------------------------------------------------------------------------------------------

static bool find_digits(const Scan *scan) {
    for (long long first = 0; first < scan->n; first += DIGITS) {
        const long long end = first + DIGITS < scan->n ? first + DIGITS : scan->n;
        double digit = 1;
        for (long long j = 0; j < scan->n; j++) account_mark(scan->account, scan->in, j, 0);
        for (long long j = first; j < end; j++) {
            account_mark(scan->account, scan->in, j, digit);
            digit *= BASE;
        }
        if (!account_run(scan->account)) return false;
        for (long long i = 0; i < scan->n; i++) {
            if (account_is_unwritten(scan->account, i) != (scan->kinds[i] == UNWRITTEN)) return false;
            if (scan->kinds[i] == UNWRITTEN) continue;
            double sum = account_result(scan->account, i);
            if (!(fabs(sum) < EXACT) || sum != floor(sum)) return false;
            for (long long j = first; j < end; j++) {
                const double rest = floor((sum + BASE / 2) / BASE); // NOLINT(bugprone-integer-division)
                const int times = (int)(sum - BASE * rest);
                scan->differences[i * scan->n + j] = (signed char)(times - (j < own_count(scan, i)));
                sum = rest;
            }
            if (sum != 0) return false;
        }
    }
    return true;
}

// Whether that explains the results of another input.
static bool are_confirmed(Scan *scan) {
    if (!run_weights(scan, 1)) return false;
    for (long long i = 0; i < scan->n; i++) {
        double sum = scan->sums[1][own_count(scan, i)];
        if (scan->kinds[i] == UNWRITTEN) continue;
        for (long long j = 0; j < scan->n; j++) sum += difference(scan, i, j) * weight(scan, 1, j);
        if (sum != scan->got[1][i]) return false;
    }
    return true;
}

// ---- Words -----------------------------------------------------------------------------------------------

static Kind kind_of(const Scan *scan, long long i) {
    bool lacks = false, adds = false;
    const Stretch *stretch = scan->stretches ? &scan->stretches[i] : NULL;
    const long long first = stretch ? stretch->first : 0, end = stretch ? first + stretch->count : scan->n;
    for (long long j = first; j < end; j++) {
        lacks |= difference(scan, i, j) < 0;
        adds |= difference(scan, i, j) > 0;
    }
    if (lacks && adds) return MIXED;
    return lacks ? LACKING : adds ? ADDING : RIGHT;
}

static void sort(const Scan *scan) {
    for (long long i = 0; i < scan->n; i++)
        if (scan->kinds[i] != UNWRITTEN) scan->kinds[i] = (unsigned char)kind_of(scan, i);
}

// The first element of the groups of `length` that an output is in.
static long long group_of(long long i, long long length) { return i / length * length; }

// How often the outputs of a kind differ by each element; *total: the elements by which any does.
static long long *count_differing(const Scan *scan, Kind kind, long long *total) {
    long long *counts = calloc((size_t)scan->n + 1, sizeof *counts);
    *total = 0;
    for (long long i = 0; counts && i < scan->n; i++) {
        if (scan->kinds[i] != kind) continue;
        if (scan->stretches) { // the first, and the one after the last: added up below
            counts[scan->stretches[i].first]++;
            counts[scan->stretches[i].first + scan->stretches[i].count]--;
        }
        for (long long j = 0; scan->differences && j < scan->n; j++) counts[j] += difference(scan, i, j) != 0;
    }
    for (long long j = 0; counts && j < scan->n; j++) {
        if (scan->stretches && j > 0) counts[j] += counts[j - 1];
        *total += counts[j] > 0;
    }
    return counts;
}

// How many elements an output differs by; *inside: of those, the ones before `limit`.
static long long differing(const Scan *scan, long long i, long long limit, long long *inside) {
    long long count = 0;
    *inside = 0;
    if (scan->stretches) {
        const Stretch *stretch = &scan->stretches[i];
        const long long before = limit - stretch->first;
        *inside = before < 0 ? 0 : before < stretch->count ? before : stretch->count;
        return stretch->count;
    }
    for (long long j = 0; j < scan->n; j++) {
        count += difference(scan, i, j) != 0;
        *inside += j < limit && difference(scan, i, j) != 0;
    }
    return count;
}

// Whether each output of a kind differs by all elements of the counts that come before `limit`, and no
// others: those that it has at all, or, with groups of `length`, those before its group.
static bool is_one_set(const Scan *scan, Kind kind, const long long *before, long long length) {
    for (long long i = 0; i < scan->n; i++) {
        if (scan->kinds[i] != kind) continue;
        const long long limit = length ? group_of(i, length) : kind == ADDING ? scan->n : own_count(scan, i);
        long long inside;
        if (differing(scan, i, limit, &inside) != inside || inside != before[limit]) return false;
    }
    return true;
}

// How often outputs of a kind have what they should not: the most; *least: the fewest times.
static int most_times(const Scan *scan, Kind kind, int *least) {
    int most = 0;
    *least = 0;
    for (long long i = 0; i < scan->n; i++) {
        const Stretch *stretch = scan->stretches ? &scan->stretches[i] : NULL;
        const long long first = stretch ? stretch->first : 0, end = stretch ? first + 1 : scan->n;
        for (long long j = first; scan->kinds[i] == kind && j < end; j++) {
            const int times = difference(scan, i, j);
            if (times > most) most = times;
            if (times > 0 && (*least == 0 || times < *least)) *least = times;
        }
    }
    return most;
}

static void say_set(const Scan *scan, const unsigned char *members, char *which, size_t bytes) {
    const Subset subset = {members, scan->n, 1u << 1, &scan->account->launch, 0};
    subset_describe(&subset, which, bytes);
}

static bool say_one_set(const Scan *scan, Kind kind, bool of_groups, Text *words) {
    static const long long lengths[] = {4, 32, 64, 128, 256, 512, 1024};
    long long total;
    long long *counts = count_differing(scan, kind, &total);
    unsigned char *all = calloc((size_t)scan->n + 1, 1);
    long long *before = calloc((size_t)scan->n + 1, sizeof *before); // of the elements in `all`
    char which[240], limit[32];
    bool is_said = false;
    for (long long j = 0; counts && all && before && j < scan->n; j++) {
        all[j] = counts[j] > 0;
        before[j + 1] = before[j] + all[j];
    }
    const size_t tried = of_groups ? sizeof lengths / sizeof lengths[0] : 1;
    for (size_t k = 0; counts && all && before && k < tried && !is_said; k++) {
        const long long length = of_groups ? lengths[k] : 0;
        if (!is_one_set(scan, kind, before, length)) continue;
        bool is_whole = true;
        for (long long i = 0, inside; i < scan->n; i++)
            is_whole &= scan->kinds[i] != kind || differing(scan, i, scan->n, &inside) == total;
        say_set(scan, all, which, sizeof which);
        count_text(length, limit, sizeof limit);
        if (is_whole)
            text_add(words, which);
        else if (length)
            text_printf(words, "%s, as far as they come before their own %s,", which, limit);
        else
            text_printf(words, "%s, as far as they should have them", which);
        is_said = true;
    }
    free(counts);
    free(all);
    free(before);
    return is_said;
}

// What the stretches of all outputs of a kind have in common.
static bool say_by_place(const Scan *scan, Kind kind, Text *words) {
    long long lengths[] = {
        32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 4, 8, 16, scan->account->launch.block_threads};
    long long first = -1, from = 0, count = 0;
    bool same_distance = true, same_count = true, all_before = true;
    char text[32];
    if (!scan->stretches) return false;
    for (long long i = 0; i < scan->n; i++) {
        const Stretch *stretch = &scan->stretches[i];
        if (scan->kinds[i] != kind) continue;
        if (first < 0) {
            first = i;
            from = stretch->first - i;
            count = stretch->count;
        }
        same_distance &= stretch->first - i == from;
        same_count &= stretch->count == count;
        all_before &= stretch->first == 0;
    }
    count_text(count, text, sizeof text);
    if (same_distance && same_count && count == 1 && from == 0) {
        text_add(words, "the element at their own place");
        return true;
    }
    if (same_distance && same_count && count == 1) {
        count_text(llabs(from), text, sizeof text);
        text_printf(words, "the element %s %s their own place", text, from < 0 ? "before" : "behind");
        return true;
    }
    for (size_t k = 0; k < sizeof lengths / sizeof lengths[0]; k++) {
        const long long length = lengths[k];
        bool to_group = all_before, to_last_group = all_before, of_group_before = true, of_group = true;
        if (length < 2 || length >= scan->n) continue;
        for (long long i = 0; i < scan->n; i++) {
            const Stretch *stretch = &scan->stretches[i];
            const long long group = group_of(i, length), end = stretch->first + stretch->count;
            if (scan->kinds[i] != kind) continue;
            to_group &= end == group;
            to_last_group &= end == group - length;
            of_group_before &= stretch->first == group - length && end == group;
            of_group &= stretch->first == group && (end == group + length || end == scan->n);
        }
        count_text(length, text, sizeof text);
        if (to_group)
            text_printf(words, "all elements before their own %s", text);
        else if (of_group_before)
            text_printf(words, "the %s elements before their own %s", text, text);
        else if (to_last_group)
            text_printf(words, "all elements before their own %s and the %s before", text, text);
        else if (of_group)
            text_printf(words, "all %s elements of their own %s", text, text);
        else
            continue;
        return true;
    }
    if (all_before && kind == LACKING) {
        bool is_window = true;
        for (long long i = 0; i < scan->n; i++)
            is_window &= scan->kinds[i] != kind || own_count(scan, i) - scan->stretches[i].count ==
                                                       own_count(scan, first) - scan->stretches[first].count;
        count_text(own_count(scan, first) - count, text, sizeof text);
        if (is_window && own_count(scan, first) - count == 1)
            text_add(words, "all but the last element");
        else if (is_window)
            text_printf(words, "all but the last %s elements", text);
        return is_window;
    }
    return false;
}

// "output 33 lacks elements 0 to 31": what differs in one output, as it is.
static void say_example(const Scan *scan, long long i, Text *words) {
    unsigned char *members = malloc((size_t)scan->n + 1);
    char which[240], place[32];
    bool is_first = true;
    count_text(i, place, sizeof place);
    text_printf(words, "output %s ", place);
    for (int sign = -1; members && sign <= 1; sign += 2) {
        bool any = false;
        for (long long j = 0; j < scan->n; j++) {
            members[j] = sign * difference(scan, i, j) > 0;
            any |= members[j];
        }
        if (!any) continue;
        say_set(scan, members, which, sizeof which);
        text_printf(words, "%s%s %s", is_first ? "" : " and ", sign < 0 ? "lacks" : "has too often", which);
        is_first = false;
    }
    free(members);
}

static void say_examples(const Scan *scan, Kind kind, const char *which, Text *words) {
    long long first = -1, last = -1;
    for (long long i = 0; i < scan->n; i++) {
        if (scan->kinds[i] != kind) continue;
        if (first < 0) first = i;
        last = i;
    }
    text_printf(words, "%s %s other elements than their own: ", which, first == last ? "holds" : "hold");
    say_example(scan, first, words);
    if (first == last) return;
    text_add(words, ", ");
    say_example(scan, last, words);
}

// "outputs 5 to 9" for "elements 5 to 9"
static void of_outputs(char *which, size_t bytes) {
    static const char word[] = "element";
    char *at = strstr(which, word), rest[240];
    if (!at) return;
    snprintf(rest, sizeof rest, "%s", at + sizeof word - 1);
    snprintf(at, bytes - (size_t)(at - which), "output%s", rest);
}

// Whether everything that outputs add is also theirs.
static bool is_again(const Scan *scan) {
    for (long long i = 0; i < scan->n; i++) {
        long long inside;
        if (scan->kinds[i] == ADDING && differing(scan, i, own_count(scan, i), &inside) != inside)
            return false;
    }
    return true;
}

static long long say_kind(const Scan *scan, Kind kind, Text *words) {
    const Subset subset = {scan->kinds, scan->n, 1u << kind, &scan->account->launch, 0};
    char which[240];
    const long long count = subset_describe(&subset, which, sizeof which);
    if (count == 0) return 0;
    of_outputs(which, sizeof which);
    if (words->bytes) text_add(words, "; ");
    if (kind == UNWRITTEN) {
        text_printf(words, "%s %s never written", which, count == 1 ? "is" : "are");
        return count;
    }
    Text rule = {0};
    int least = 0;
    const int most = most_times(scan, kind, &least);
    if (kind != MIXED && (say_one_set(scan, kind, false, &rule) || say_by_place(scan, kind, &rule) ||
                          say_one_set(scan, kind, true, &rule))) {
        const char *verb = kind == LACKING ? "lack" : "add";
        text_printf(words, "%s %s%s %s%s", which, verb, count == 1 ? "s" : "", text_chars(&rule),
                    kind == LACKING  ? ""
                    : is_again(scan) ? " once more"
                                     : " besides");
        if (most > 1) text_printf(words, ", %s%d times", least < most ? "up to " : "", most);
    } else {
        say_examples(scan, kind, which, words);
    }
    text_free(&rule);
    return count;
}

static bool say(const Scan *scan, Accounting *out) {
    Text words = {0};
    char n[32];
    for (Kind kind = UNWRITTEN; kind < KINDS; kind++) {
        const long long count = say_kind(scan, kind, &words);
        *(kind == MIXED ? &out->misplaced : kind == ADDING ? &out->repeated : &out->missing) += count;
    }
    const long long wrong = out->missing + out->repeated + out->misplaced;
    if (wrong > 0) {
        out->n = scan->n;
        count_text(scan->n, n, sizeof n);
        snprintf(out->words, sizeof out->words, "at n = %s, %s%s", n, text_chars(&words),
                 wrong == scan->n       ? ""
                 : wrong == scan->n - 1 ? "; the other one is right"
                                        : "; the others are right");
    }
    text_free(&words);
    return wrong > 0;
}

// ---- All of it -------------------------------------------------------------------------------------------

static bool allocate(Scan *scan, bool by_digits) {
    const size_t n = (size_t)scan->n;
    bool is_there = true;
    for (int input = 0; input < INPUTS; input++) {
        scan->sums[input] = calloc(n + 1, sizeof *scan->sums[input]);
        scan->got[input] = calloc(n + 1, sizeof *scan->got[input]);
        is_there = is_there && scan->sums[input] && scan->got[input];
    }
    scan->kinds = calloc(n + 1, 1);
    if (by_digits)
        scan->differences = calloc(n * n + 1, sizeof *scan->differences);
    else
        scan->stretches = calloc(n + 1, sizeof *scan->stretches);
    return is_there && scan->kinds && (scan->differences || scan->stretches);
}

static bool account(Account *account, bool by_digits, Accounting *out) {
    Scan scan = {.account = account,
                 .in = task_input(account->task),
                 .out = task_output(account->task),
                 .is_exclusive = account->task->is_exclusive,
                 .tries = MOST_TRIES};
    if (scan.in < 0 || scan.out < 0) return false;
    scan.n = account->counts[scan.out];
    if (scan.n != account->counts[scan.in] || (by_digits && scan.n > MOST_BY_DIGITS)) return false;
    const bool is_known = allocate(&scan, by_digits) && find_unwritten(&scan) &&
                          (by_digits ? find_digits(&scan) && are_confirmed(&scan) : find_stretches(&scan));
    bool is_said = false;
    if (is_known) {
        sort(&scan);
        is_said = say(&scan, out);
    }
    for (int input = 0; input < INPUTS; input++) {
        free(scan.sums[input]);
        free(scan.got[input]);
    }
    free(scan.kinds);
    free(scan.stretches);
    free(scan.differences);
    return is_said;
}

bool account_scan(Account *one, Accounting *out) { return account(one, false, out); }

bool account_scan_digits(Account *one, Accounting *out) { return account(one, true, out); }
