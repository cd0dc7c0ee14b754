#include "driver/judge/subset.h"

#include <stdio.h>

#include "driver/plan/elements.h"

bool subset_has(const Subset *subset, long long i) { return subset->wanted >> subset->kinds[i] & 1; }

long long subset_count(const Subset *subset) {
    long long count = 0;
    for (long long i = 0; i < subset->n; i++) count += subset_has(subset, i);
    return count;
}

// "elements 5 to 9"
static bool say_stretch(const Subset *subset, long long count, char *words, size_t bytes) {
    long long first = 0;
    while (!subset_has(subset, first)) first++;
    for (long long i = first; i < first + count; i++)
        if (i >= subset->n || !subset_has(subset, i)) return false;
    char a[32], b[32];
    count_text(first, a, sizeof a);
    count_text(first + count - 1, b, sizeof b);
    if (count == subset->n)
        snprintf(words, bytes, "all elements");
    else if (count == 1)
        snprintf(words, bytes, "element %s%s", a, first == subset->n - 1 ? ", the last one," : "");
    else
        snprintf(words, bytes, "elements %s to %s", a, b);
    return true;
}

// "elements 4k + 3", "of every 64 elements those from 32 to 63": the remainder alone decides.
static bool say_period(const Subset *subset, char *words, size_t bytes) {
    const long long periods[] = {2,
                                 3,
                                 4,
                                 8,
                                 16,
                                 32,
                                 64,
                                 128,
                                 256,
                                 512,
                                 1024,
                                 subset->launch->block_threads,
                                 subset->launch->threads,
                                 4LL * subset->launch->block_threads,
                                 subset->columns};
    for (size_t p = 0; p < sizeof periods / sizeof periods[0]; p++) {
        const long long period = periods[p];
        if (period < 2 || subset->n < 2 * period) continue;
        bool is_periodic = true;
        for (long long i = period; i < subset->n && is_periodic; i++)
            is_periodic = subset_has(subset, i) == subset_has(subset, i - period);
        if (!is_periodic) continue;
        long long first = 0, last = period - 1, inside = 0;
        while (!subset_has(subset, first)) first++;
        while (!subset_has(subset, last)) last--;
        for (long long i = first; i <= last; i++) inside += subset_has(subset, i);
        if (inside != last - first + 1) continue;
        if (first == last && first == 0)
            snprintf(words, bytes, "elements %lldk", period);
        else if (first == last)
            snprintf(words, bytes, "elements %lldk + %lld", period, first);
        else
            snprintf(words, bytes, "of every %lld elements those from %lld to %lld", period, first, last);
        return true;
    }
    return false;
}

// "17 elements: 3, 9, 12, 40 ..."
static void say_list(const Subset *subset, long long count, char *words, size_t bytes) {
    enum { SHOWN = 6 };
    char number[32];
    count_text(count, number, sizeof number);
    int used = snprintf(words, bytes, "%s elements:", number), shown = 0;
    for (long long i = 0; i < subset->n && shown < SHOWN && used > 0 && (size_t)used < bytes; i++) {
        if (!subset_has(subset, i)) continue;
        used += snprintf(words + used, bytes - (size_t)used, "%s %lld", shown++ ? "," : "", i);
    }
    if (count > SHOWN && used > 0 && (size_t)used < bytes)
        snprintf(words + used, bytes - (size_t)used, " ...");
}

long long subset_describe(const Subset *subset, char *words, size_t bytes) {
    const long long count = subset_count(subset);
    words[0] = '\0';
    if (count && !say_stretch(subset, count, words, bytes) && !say_period(subset, words, bytes))
        say_list(subset, count, words, bytes);
    return count;
}
