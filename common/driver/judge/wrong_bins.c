#include "driver/judge/wrong_bins.h"

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
    snprintf(why, bytes, "%s%s. All bins together count %s element%s of %s.", which, rule, sum,
             found.sum == 1 ? "" : "s", all);
}
