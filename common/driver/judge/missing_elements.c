#include "driver/judge/missing_elements.h"

#include <math.h>
#include <stdio.h>

#include "driver/plan/elements.h"
#include "driver/plan/expected.h"

typedef struct {
    const void *array;
    ElementType type;
    long long count;
    double missing;   // expected minus got: the sum of what was left out
    long long budget; // candidates that may still be tried
    char *words;
    size_t bytes;
} Search;

static bool may_try(Search *search) { return search->budget-- > 0; }

// The sign tells which: a sum that is short of the elements has lost them, one that has them in excess has
// them twice.
static const char *fits(const Search *search, double part) {
    if (part == 0) return NULL;
    if (search->missing == part) return "as if left out";
    if (search->missing == -part) return "as if counted twice";
    return NULL;
}

// The last `length` elements, for lengths that a mistake makes: one, a tail of 4 or of a warp, of a block.
static bool try_tails(Search *search, const CaseShape *shape) {
    const ShapeOfLaunch *launch = &shape->launches[0];
    const long long units[] = {4, 32, launch->block_threads, launch->block_threads * 4LL, launch->threads};
    for (int u = -1; u < 5; u++) {
        long long length = u < 0 ? 1 : units[u] > 1 ? search->count % units[u] : 0;
        if (length < 1 || length >= search->count || !may_try(search)) continue;
        double tail = exact_sum(search->array, search->type, search->count - length, length).sum;
        const char *fate = fits(search, tail);
        if (!fate) continue;
        char total[32];
        count_text(search->count, total, sizeof total);
        if (length == 1)
            snprintf(search->words, search->bytes, "The difference is exactly the last element, %s.", fate);
        else if (u >= 0)
            snprintf(search->words, search->bytes,
                     "The difference is exactly the sum of the last %lld elements: the tail of %s modulo "
                     "%lld, %s.",
                     length, total, units[u], fate);
        return true;
    }
    return false;
}

static bool try_whole_parts(Search *search, const CaseShape *shape) {
    const long long block = shape->launches[0].block_threads;
    const long long lengths[] = {1, 32, block};
    for (int i = 0; i < 3; i++) {
        if (lengths[i] >= search->count || lengths[i] < 1 || !may_try(search)) continue;
        const char *fate = fits(search, exact_sum(search->array, search->type, 0, lengths[i]).sum);
        if (!fate) continue;
        if (lengths[i] == 1)
            snprintf(search->words, search->bytes, "The difference is exactly element 0, %s.", fate);
        else
            snprintf(search->words, search->bytes,
                     "The difference is exactly the sum of the first %lld elements, %s.", lengths[i], fate);
        return true;
    }
    return false;
}

// Any stretch at the end, then any single element: many candidates, so only for small counts.
static bool try_all(Search *search) {
    if (search->budget < 2 * search->count) return false;
    double tail = 0;
    for (long long i = search->count - 1; i > 0; i--) {
        tail += element_get(search->array, search->type, i);
        const char *fate = fits(search, tail);
        if (!fate) continue;
        snprintf(search->words, search->bytes,
                 "The difference is exactly the sum of elements %lld to %lld, %s.", i, search->count - 1,
                 fate);
        return true;
    }
    for (long long i = 0; i < search->count; i++) {
        const char *fate = fits(search, element_get(search->array, search->type, i));
        if (!fate) continue;
        snprintf(search->words, search->bytes, "The difference is exactly element %lld, %s.", i, fate);
        return true;
    }
    return false;
}

void explain_difference(const void *array, ElementType type, long long count, long long range,
                        double expected, double got, const CaseShape *shape, char *words, size_t bytes) {
    words[0] = '\0';
    if (!isfinite(expected) || !isfinite(got) || expected == got || count < 1) return;
    if (got == 0) {
        snprintf(words, bytes, "The result is 0: nothing was added, or the sum was not stored.");
        return;
    }
    if (count > 1 && got == 2 * expected) {
        snprintf(words, bytes,
                 "The result is exactly twice the sum, as if every element were counted twice.");
        return;
    }
    Search search = {array, type, count, expected - got, range / 25, words, bytes};
    // A difference that is rounded, as of an int's bits read as a float, fits the elements only by that.
    const bool is_exact = expected - search.missing == got;
    if (is_exact && (try_tails(&search, shape) || try_whole_parts(&search, shape) || try_all(&search)))
        return;
    // One element alone: the result is that element.
    if (range > 1000 && count > 1 && got == element_get(array, type, 0))
        snprintf(words, bytes, "The result is only element 0: the others were not added.");
}
