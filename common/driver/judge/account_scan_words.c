#include "driver/judge/account_scan_words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/judge/subset.h"
#include "driver/plan/elements.h"
#include "support/text.h"

static ScanKind kind_of(const ScanDifferences *scan, long long i) {
    bool lacks = false, adds = false;
    // A stretch differs as its first element does.
    const Stretch *stretch = scan->stretches ? &scan->stretches[i] : NULL;
    const long long first = stretch ? stretch->first : 0,
                    end = stretch ? first + (stretch->count > 0) : scan->n;
    for (long long j = first; j < end; j++) {
        lacks |= scan_difference(scan, i, j) < 0;
        adds |= scan_difference(scan, i, j) > 0;
    }
    if (lacks && adds) return SCAN_MIXED;
    return lacks ? SCAN_LACKING : adds ? SCAN_ADDING : SCAN_RIGHT;
}

static void sort(ScanDifferences *scan) {
    for (long long i = 0; i < scan->n; i++)
        if (scan->kinds[i] != SCAN_UNWRITTEN) scan->kinds[i] = (unsigned char)kind_of(scan, i);
}

// The first element of the groups of `length` that an output is in.
static long long group_of(long long i, long long length) { return i / length * length; }

// How often the outputs of a kind differ by each element; *total: the elements by which any does.
static long long *count_differing(const ScanDifferences *scan, ScanKind kind, long long *total) {
    long long *counts = calloc((size_t)scan->n + 1, sizeof *counts);
    *total = 0;
    for (long long i = 0; counts && i < scan->n; i++) {
        if (scan->kinds[i] != kind) continue;
        if (scan->stretches) { // the first, and the one after the last: added up below
            counts[scan->stretches[i].first]++;
            counts[scan->stretches[i].first + scan->stretches[i].count]--;
        }
        for (long long j = 0; scan->differences && j < scan->n; j++)
            counts[j] += scan_difference(scan, i, j) != 0;
    }
    for (long long j = 0; counts && j < scan->n; j++) {
        if (scan->stretches && j > 0) counts[j] += counts[j - 1];
        *total += counts[j] > 0;
    }
    return counts;
}

// How many elements an output differs by; *inside: of those, the ones before `limit`.
static long long differing(const ScanDifferences *scan, long long i, long long limit, long long *inside) {
    long long count = 0;
    *inside = 0;
    if (scan->stretches) {
        const Stretch *stretch = &scan->stretches[i];
        const long long before = limit - stretch->first;
        *inside = before < 0 ? 0 : before < stretch->count ? before : stretch->count;
        return stretch->count;
    }
    for (long long j = 0; j < scan->n; j++) {
        count += scan_difference(scan, i, j) != 0;
        *inside += j < limit && scan_difference(scan, i, j) != 0;
    }
    return count;
}

// Whether each output of a kind differs by all elements of the counts that come before `limit`, and no
// others: those that it has at all, or, with groups of `length`, those before its group.
static bool is_one_set(const ScanDifferences *scan, ScanKind kind, const long long *before,
                       long long length) {
    for (long long i = 0; i < scan->n; i++) {
        if (scan->kinds[i] != kind) continue;
        const long long limit = length                ? group_of(i, length)
                                : kind == SCAN_ADDING ? scan->n
                                                      : scan_own_count(scan, i);
        long long inside;
        if (differing(scan, i, limit, &inside) != inside || inside != before[limit]) return false;
    }
    return true;
}

// How often outputs of a kind have what they should not: the most; *least: the fewest times.
static int most_times(const ScanDifferences *scan, ScanKind kind, int *least) {
    int most = 0;
    *least = 0;
    for (long long i = 0; i < scan->n; i++) {
        const Stretch *stretch = scan->stretches ? &scan->stretches[i] : NULL;
        const long long first = stretch ? stretch->first : 0, end = stretch ? first + 1 : scan->n;
        for (long long j = first; scan->kinds[i] == kind && j < end; j++) {
            const int times = scan_difference(scan, i, j);
            if (times > most) most = times;
            if (times > 0 && (*least == 0 || times < *least)) *least = times;
        }
    }
    return most;
}

static void say_set(const ScanDifferences *scan, const unsigned char *members, char *which, size_t bytes) {
    const Subset subset = {members, scan->n, 1u << 1, scan->launch, 0};
    subset_describe(&subset, which, bytes);
}

static bool say_one_set(const ScanDifferences *scan, ScanKind kind, bool of_groups, Text *words) {
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
static bool say_by_place(const ScanDifferences *scan, ScanKind kind, Text *words) {
    long long lengths[] = {
        32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 4, 8, 16, scan->launch->block_threads};
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
    if (all_before && kind == SCAN_LACKING) {
        bool is_window = true;
        for (long long i = 0; i < scan->n; i++)
            is_window &=
                scan->kinds[i] != kind || scan_own_count(scan, i) - scan->stretches[i].count ==
                                              scan_own_count(scan, first) - scan->stretches[first].count;
        count_text(scan_own_count(scan, first) - count, text, sizeof text);
        if (is_window && scan_own_count(scan, first) - count == 1)
            text_add(words, "all but the last element");
        else if (is_window)
            text_printf(words, "all but the last %s elements", text);
        return is_window;
    }
    return false;
}

// "output 33 lacks elements 0 to 31": what differs in one output, as it is.
static void say_example(const ScanDifferences *scan, long long i, Text *words) {
    unsigned char *members = malloc((size_t)scan->n + 1);
    char which[240], place[32];
    bool is_first = true;
    count_text(i, place, sizeof place);
    text_printf(words, "output %s ", place);
    for (int sign = -1; members && sign <= 1; sign += 2) {
        bool any = false;
        for (long long j = 0; j < scan->n; j++) {
            members[j] = sign * scan_difference(scan, i, j) > 0;
            any |= members[j];
        }
        if (!any) continue;
        say_set(scan, members, which, sizeof which);
        text_printf(words, "%s%s %s", is_first ? "" : " and ", sign < 0 ? "lacks" : "has too often", which);
        is_first = false;
    }
    free(members);
}

static void say_examples(const ScanDifferences *scan, ScanKind kind, const char *which, Text *words) {
    static const char *const what[SCAN_KINDS] = {[SCAN_LACKING] = "lack elements",
                                                 [SCAN_ADDING] = "add elements",
                                                 [SCAN_MIXED] = "hold other elements than their own"};
    long long first = -1, last = -1;
    for (long long i = 0; i < scan->n; i++) {
        if (scan->kinds[i] != kind) continue;
        if (first < 0) first = i;
        last = i;
    }
    if (first == last) {
        say_example(scan, first, words);
        return;
    }
    text_printf(words, "%s %s: ", which, what[kind]);
    say_example(scan, first, words);
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
static bool is_again(const ScanDifferences *scan) {
    for (long long i = 0; i < scan->n; i++) {
        long long inside;
        if (scan->kinds[i] == SCAN_ADDING && differing(scan, i, scan_own_count(scan, i), &inside) != inside)
            return false;
    }
    return true;
}

static long long say_kind(const ScanDifferences *scan, ScanKind kind, Text *words) {
    const Subset subset = {scan->kinds, scan->n, 1u << kind, scan->launch, 0};
    char which[240];
    const long long count = subset_describe(&subset, which, sizeof which);
    if (count == 0) return 0;
    of_outputs(which, sizeof which);
    if (words->bytes) text_add(words, "; ");
    if (kind == SCAN_UNWRITTEN) {
        text_printf(words, "%s %s never written", which, count == 1 ? "is" : "are");
        return count;
    }
    Text rule = {0};
    int least = 0;
    const int most = most_times(scan, kind, &least);
    if (kind != SCAN_MIXED && (say_one_set(scan, kind, false, &rule) || say_by_place(scan, kind, &rule) ||
                               say_one_set(scan, kind, true, &rule))) {
        const char *verb = kind == SCAN_LACKING ? "lack" : "add";
        text_printf(words, "%s %s%s %s%s", which, verb, count == 1 ? "s" : "", text_chars(&rule),
                    kind == SCAN_LACKING ? ""
                    : is_again(scan)     ? " once more"
                                         : " besides");
        if (most > 1) text_printf(words, ", %s%d times", least < most ? "up to " : "", most);
    } else {
        say_examples(scan, kind, which, words);
    }
    text_free(&rule);
    return count;
}

bool scan_differences_say(ScanDifferences *scan, Accounting *out) {
    sort(scan);
    Text words = {0};
    char n[32];
    for (ScanKind kind = SCAN_UNWRITTEN; kind < SCAN_KINDS; kind++) {
        const long long count = say_kind(scan, kind, &words);
        *(kind == SCAN_MIXED    ? &out->misplaced
          : kind == SCAN_ADDING ? &out->repeated
                                : &out->missing) += count;
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
