#include "driver/judge/launch_changes.h"

#include <string.h>

enum {
    MOST_CHANGES = 4,        // of a task, of either kind
    MOST_ELEMENTS = 1 << 20, // larger sizes take long
};

// Of the same number of threads a block; of one block only, where `is_of_grid`, or not.
static bool is_alike(const TaskShape *a, const TaskShape *b, bool is_of_grid) {
    for (int l = 0; l < a->shape.launch_count; l++) {
        const ShapeOfLaunch *one = &a->shape.launches[l], *other = &b->shape.launches[l];
        if ((one->blocks > 1) != (other->blocks > 1)) return false;
        if (!is_of_grid && memcmp(one->block, other->block, sizeof one->block) != 0) return false;
    }
    return true;
}

static bool is_plain(const Case *one, int task) {
    return one->task == task && !one->figures && !one->is_large && one->size.rows == 0 &&
           one->size.n <= MOST_ELEMENTS;
}

// The next larger size of the task behind `n` that cases of the plan have, the first `count` of them; -1:
// there is none.
static long long next_size(const Judge *judge, int task, int count, long long n) {
    long long next = -1;
    for (int i = 0; i < count; i++) {
        const Case *one = &judge->plan.cases[i];
        if (is_plain(one, task) && one->size.n > n && (next < 0 || one->size.n < next)) next = one->size.n;
    }
    return next;
}

static bool ask(Judge *judge, int task, long long n, TaskShape *shape) {
    return ask_shape(judge->workers[0].runner, 0, &judge->of->tasks[task], task,
                     judge->subjects->kernel->kernels[task], (CaseSize){.n = n}, shape) &&
           shape->verdict == VERDICT_PASS;
}

static bool add_changes(Judge *judge, int task, bool is_of_grid) {
    static TaskShape before, middle, after; // a kilobyte each
    const int count = judge->plan.count;
    int changes = 0;
    for (long long low = next_size(judge, task, count, 0), high; low > 0; low = high) {
        high = next_size(judge, task, count, low);
        if (high < 0 || !ask(judge, task, low, &before) || !ask(judge, task, high, &after)) break;
        while (!is_alike(&before, &after, is_of_grid)) {
            long long same = low, other = high; // same: as at `low`
            while (other - same > 1) {
                const long long n = same + (other - same) / 2;
                if (!ask(judge, task, n, &middle)) return true; // the cases say so
                *(is_alike(&before, &middle, is_of_grid) ? &same : &other) = n;
            }
            for (long long n = same; n <= other; n++) {
                const Case one = {
                    .task = task, .size = {.n = n}, .family = FAMILY_INTEGERS, .is_unforeseen = true};
                if (!plan_add(&judge->plan, one) || !judge_ask_case_shape(judge, &one)) return false;
            }
            low = other;
            if (++changes == MOST_CHANGES || !ask(judge, task, low, &before)) return true;
        }
    }
    return true;
}

bool judge_add_changes(Judge *judge) {
    if (judge->is_gpu || judge->options->n >= 0 || judge->options->time_count > 0) return true;
    for (int t = 0; t < chapter_task_count(judge->of); t++)
        if (!add_changes(judge, t, true) || !add_changes(judge, t, false)) return false;
    plan_sort(&judge->plan);
    return true;
}
