#include "driver/diagnose/unwritten_facts.h"

// One case: how many elements the output has, and which of them are unwritten.
typedef struct {
    long long elements, first, count; // the first one is at most `elements`
    const ShapeOfLaunch *launch;
} Unwritten;

// False: the case says nothing, or it fails in another way, which `fails_otherwise` tells.
static bool unwritten_of(const CaseReport *report, long long elements_if_right, Unwritten *unwritten,
                         bool *fails_otherwise) {
    const CheckReport *check = &report->check;
    const bool is_right = report->verdict == VERDICT_PASS;
    *unwritten = (Unwritten){.elements = is_right ? elements_if_right : check->elements,
                             .first = is_right ? elements_if_right : check->index,
                             .count = is_right ? 0 : check->wrong,
                             .launch = &report->shape.launches[0]};
    if (!is_right && check->outcome != CHECK_NOT_WRITTEN) *fails_otherwise = true;
    return !*fails_otherwise && report->shape.launch_count == 1 && unwritten->launch->blocks > 0 &&
           unwritten->launch->block_threads > 0;
}

// ---- A grid with too few blocks ---------------------------------------------------------------------------

// Whether the elements are divided by `each`, rounded down, for the blocks, and what remains is unwritten. A
// grid has one block at least.
static bool lacks_a_block(const Unwritten *one, long long each) {
    const long long whole = one->elements / each;
    if (one->elements <= each) return one->count == 0;
    return one->launch->blocks == whole && one->count == one->elements % each &&
           (one->count == 0 || one->first == whole * each);
}

// The elements of a block, by one case in which some are missing; 0: they are not the last.
static long long elements_of_block(const Unwritten *one) {
    const long long each = one->first / one->launch->blocks;
    return one->count > 0 && each > 1 && lacks_a_block(one, each) ? each : 0;
}

// ---- Threads with several elements ------------------------------------------------------------------------

// A thread has `times` groups of `width` elements, which are `apart` groups from each other.
typedef struct {
    int width, times;
    bool is_of_grid; // as many as the grid has threads; otherwise as the block has
} Taken;

// Whether exactly the groups are unwritten whose thread has no last one. Sets `is_inside` where written ones
// follow them.
static bool needs_the_last(const Unwritten *one, const Taken *taken, bool *is_inside) {
    const long long apart = taken->is_of_grid ? one->launch->threads : one->launch->block_threads;
    const long long groups = one->elements / taken->width, all = taken->times * apart;
    const long long begin = groups / all * all, left = groups - begin;
    const long long before = left - (taken->times - 1) * apart; // that many threads have all of theirs
    const long long whole = before > 0 ? before : 0;
    const long long missing = left - taken->times * whole;
    if (one->count != missing * taken->width) return false;
    if (missing == 0) return true;
    *is_inside |= whole > 0;
    return one->first == (begin + whole) * taken->width;
}

// ---- All cases --------------------------------------------------------------------------------------------

static bool is_of(const CaseReport *report, int task) {
    return report->was_run && report->settings.task == task && !report->settings.is_large;
}

static long long outputs_of(const CaseReport *report) {
    return report->settings.size.rows > 0 ? report->settings.size.rows : report->settings.size.n;
}

Facts facts_of_unwritten(const Judgement *judgement, int task) {
    static const int widths[] = {1, 2, 4, 8}, times[] = {2, 4, 8};
    enum { WIDTHS = 4, TIMES = 3, TAKEN = 2 * WIDTHS * TIMES };
    bool fits[TAKEN], is_inside[TAKEN] = {false}, fails_otherwise = false, has_end = false;
    long long each = -1; // of a block; 0: they differ
    int wrong = 0;
    for (int t = 0; t < TAKEN; t++) fits[t] = true;
    for (int i = 0; i < judgement->case_count; i++) {
        const CaseReport *report = &judgement->cases[i];
        Unwritten one;
        if (!is_of(report, task) || !unwritten_of(report, outputs_of(report), &one, &fails_otherwise))
            continue;
        has_end |= one.count > 0 && !report->check.is_rest;
        wrong += one.count > 0;
        if (one.count > 0 && each < 0) each = elements_of_block(&one);
        for (int t = 0; t < TAKEN; t++) {
            const Taken taken = {widths[t / 2 % WIDTHS], times[t / 2 / WIDTHS], t % 2};
            fits[t] =
                fits[t] && one.elements == outputs_of(report) && needs_the_last(&one, &taken, &is_inside[t]);
        }
    }
    if (fails_otherwise || wrong < 2) return 0;
    for (int i = 0; i < judgement->case_count && each > 0; i++) {
        Unwritten one;
        if (is_of(&judgement->cases[i], task) &&
            unwritten_of(&judgement->cases[i], outputs_of(&judgement->cases[i]), &one, &fails_otherwise) &&
            !lacks_a_block(&one, each))
            each = 0;
    }
    Facts facts =
        (has_end ? FACT_END_IS_WRITTEN : (Facts)0) | (each > 0 ? FACT_BLOCKS_ROUNDED_DOWN : (Facts)0);
    for (int t = 0; t < TAKEN; t++)
        if (fits[t] && is_inside[t]) facts |= FACT_NEEDS_THE_LAST;
    return facts;
}
