#include "driver/judge/wrong_bins.h"

#include <math.h>
#include <stdio.h>

#include "driver/plan/elements.h"

typedef struct {
    int first, last, wrong;
    double sum;        // of all bins
    bool are_empty;    // the wrong ones
    bool are_multiple; // every bin is `times` what it should be
    double times;
} WrongBins;

static WrongBins compare(const Expected *expected, const void *bins, ElementType type) {
    WrongBins found = {.first = -1, .are_empty = true, .are_multiple = true};
    for (int v = 0; v < HISTOGRAM_BINS; v++) {
        const double right = expected->values[v], got = element_get(bins, type, v);
        found.sum += got;
        if (found.times == 0 && right > 0) found.times = got / right;
        found.are_multiple = found.are_multiple && got == found.times * right;
        if (got == right) continue;
        if (found.first < 0) found.first = v;
        found.last = v;
        found.wrong++;
        found.are_empty = found.are_empty && got == 0;
    }
    return found;
}

// Whether all bins are what is left if `count` counters of `bits` bits share a word, those of bins that are
// `stride` apart. With one of them, nothing is carried.
static bool are_overflown(const Expected *expected, const void *bins, ElementType type, int bits, int count,
                          int stride) {
    const double full = (double)(1 << bits);
    for (int word = 0; word < HISTOGRAM_BINS / count; word++) {
        const int first = word / stride * stride * count + word % stride;
        double carried = 0;
        for (int k = 0; k < count; k++) {
            const int v = first + k * stride;
            const double times = (expected->values[v] + carried - element_get(bins, type, v)) / full;
            if (times < 0 || times != floor(times)) return false;
            if (count > 1) carried = times;
        }
    }
    return true;
}

int wrong_bins_counter_bits(const Expected *expected, const void *bins, ElementType type, bool *carry) {
    enum { WORD_BITS = 32 };
    for (int bits = WORD_BITS / 2; bits >= WORD_BITS / 4; bits /= 2) {
        const int count = WORD_BITS / bits;
        *carry = !are_overflown(expected, bins, type, bits, 1, 1);
        if (!*carry || are_overflown(expected, bins, type, bits, count, 1) ||
            are_overflown(expected, bins, type, bits, count, HISTOGRAM_BINS / count))
            return bits;
    }
    *carry = false;
    return 0;
}

void explain_wrong_bins(const Expected *expected, const void *bins, ElementType type, long long n, char *why,
                        size_t bytes) {
    const WrongBins found = compare(expected, bins, type);
    char sum[32], all[32], which[96], rule[64] = "";
    count_text((long long)found.sum, sum, sizeof sum);
    count_text(n, all, sizeof all);
    if (found.wrong == 1)
        snprintf(which, sizeof which, "Bin %d alone is wrong", found.first);
    else if (found.wrong == found.last - found.first + 1)
        snprintf(which, sizeof which, "Bins %d to %d are wrong", found.first, found.last);
    else
        snprintf(which, sizeof which, "%d bins from %d to %d are wrong", found.wrong, found.first,
                 found.last);
    if (found.are_empty)
        snprintf(rule, sizeof rule, found.wrong == 1 ? " and holds 0" : " and hold 0");
    else if (found.are_multiple && found.times > 1)
        snprintf(rule, sizeof rule, ": every bin is %.9g times its count", found.times);
    bool carry;
    const int bits = wrong_bins_counter_bits(expected, bins, type, &carry);
    char counters[64] = "";
    if (bits > 0) snprintf(counters, sizeof counters, " That is what counters of %d bits leave.", bits);
    snprintf(why, bytes, "%s%s. All bins together count %s element%s of %s.%s", which, rule, sum,
             found.sum == 1 ? "" : "s", all, counters);
}
