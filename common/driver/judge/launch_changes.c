#include "driver/judge/launch_changes.h"

#include <string.h>

#include "gpu/profiles.h"

enum {
    MOST_CHANGES = 4,        // of a task, of either kind
    MOST_ELEMENTS = 1 << 20, // larger sizes take long
    MOST_ROUNDS = 12 << 20,  // and this one case takes half a second
    HELD_BLOCKS = 44,        // of a case under a schedule that holds one of them back
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

// The shape at n elements on a GPU: that of the run, or the one with these figures.
static bool ask_on(Judge *judge, int task, int figures, long long n, TaskShape *shape) {
    Runner *runner = judge->workers[0].runner;
    const GpuInfo *gpu = figures ? &gpu_profiles[figures - 1].info : runner_info(runner);
    return ask_shape_for(runner, 0, &judge->of->tasks[task], task, judge->subjects->kernel->kernels[task],
                         (CaseSize){.n = n}, gpu, (OtherShape){0}, shape) &&
           shape->verdict == VERDICT_PASS;
}

static bool ask(Judge *judge, int task, long long n, TaskShape *shape) {
    return ask_on(judge, task, 0, n, shape);
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

// What is looked for in the first launch at n elements.
typedef bool Reached(Judge *judge, int task, int figures, long long n);

// The blocks of the first launch at n elements; 0: it is refused.
static long long blocks_at(Judge *judge, int task, int figures, long long n, int *block_threads) {
    static TaskShape shape;
    if (!ask_on(judge, task, figures, n, &shape) || shape.shape.launch_count == 0) return 0;
    if (block_threads) *block_threads = shape.shape.launches[0].block_threads;
    return shape.shape.launches[0].blocks;
}

// The grid hardly grows from n / 2 to n, so that blocks take several rounds.
static bool takes_rounds(Judge *judge, int task, int figures, long long n) {
    const long long at_half = blocks_at(judge, task, figures, n / 2, NULL);
    if (at_half <= 1) return false;
    const long long at_n = blocks_at(judge, task, figures, n, NULL);
    return at_n > 0 && 2 * at_n < 3 * at_half;
}

// One block that takes a value of each block takes several rounds.
static bool has_many_blocks(Judge *judge, int task, int figures, long long n) {
    int block_threads = 0;
    const long long blocks = blocks_at(judge, task, figures, n, &block_threads);
    return blocks > block_threads;
}

// So many blocks that those after the first 32 tiles wait for blocks that wait themselves.
static bool fills_a_flight(Judge *judge, int task, int figures, long long n) {
    return blocks_at(judge, task, figures, n, NULL) >= HELD_BLOCKS;
}

// About the smallest number of elements at which that is reached; 0: none.
static long long size_reached(Judge *judge, int task, int figures, Reached *reached) {
    enum { FEWEST = 4096, EXACT = 64 }; // a 64th of it
    for (long long n = FEWEST; n <= MOST_ROUNDS; n += n / 4) {
        if (!reached(judge, task, figures, n)) continue;
        long long before = n * 4 / 5, there = n;
        while (there - before > there / EXACT) {
            const long long middle = before + (there - before) / 2;
            *(reached(judge, task, figures, middle) ? &there : &before) = middle;
        }
        return there;
    }
    return 0;
}

// A case there, unless the plan has a larger one.
static bool add_reached(Judge *judge, int task, int figures, Reached *reached) {
    const Task *of = &judge->of->tasks[task];
    const long long n = size_reached(judge, task, figures, reached);
    const Case one = {.task = task,
                      .figures = figures,
                      .size = {.n = n + n / 16 + 4097},
                      .family = FAMILY_INTEGERS,
                      .is_unforeseen = true};
    if (n == 0 || one.size.n > MOST_ROUNDS || (of->max_n > 0 && one.size.n > of->max_n)) return true;
    for (int i = 0; i < judge->plan.count; i++) {
        const Case *other = &judge->plan.cases[i];
        if (other->task == task && other->figures == figures && !other->is_large && other->size.n >= n)
            return true;
    }
    return plan_add(&judge->plan, one) && judge_ask_case_shape(judge, &one);
}

// Few SMs need few elements for a second round of the blocks; the GPU of the run has many blocks.
static bool add_rounds(Judge *judge, int task) {
    enum { FEW_SMS = 8 };
    const Task *of = &judge->of->tasks[task];
    if (of->counted.rows > 0 || (of->sizes && of->sizes[0].rows > 0) || of->expect == EXPECT_TABLE)
        return true;
    if (!add_reached(judge, task, 0, has_many_blocks)) return false;
    for (int p = 0; p < gpu_profile_count; p++)
        if (gpu_profiles[p].is_judged && gpu_profiles[p].info.sm_count <= FEW_SMS &&
            !add_reached(judge, task, p + 1, takes_rounds))
            return false;
    return true;
}

// A writer, a reader, and a third block whose turn can come between theirs.
static bool has_company(Judge *judge, int task, int figures, long long n) {
    enum { COMPANY = 3 };
    return blocks_at(judge, task, figures, n, NULL) >= COMPANY;
}

// The k-th schedule behind `first` of a kind; k from 1.
typedef uint64_t Scheduled(uint64_t first, int k);

static uint64_t holding_schedule(uint64_t first, int k) {
    enum { KINDS_REPEAT = 1000, HOLDS = 999 }; // schedule_holds()
    return (first / KINDS_REPEAT + (uint64_t)(k - 1)) * KINDS_REPEAT + HOLDS;
}

// Cases under so many schedules of a kind, with the fewest elements at which that is reached.
static bool add_scheduled(Judge *judge, int task, Reached *reached, Scheduled *schedule, int count) {
    const long long n = size_reached(judge, task, 0, reached);
    if (n == 0 || n > MOST_ELEMENTS) return true;
    for (int k = 1; k <= count; k++) {
        const Case one = {.task = task,
                          .size = {.n = n + 1},
                          .family = FAMILY_INTEGERS,
                          .schedule = schedule(first_schedule(&judge->seeds), k),
                          .is_unforeseen = true};
        if (!plan_add(&judge->plan, one) || !judge_ask_case_shape(judge, &one)) return false;
    }
    return true;
}

// Blocks that exchange values while they run. A missing fence shows in about one weak schedule of seven, if
// there are several blocks. And one of those that are in flight together may be late: with more blocks than
// that they would wait for long, one for the other.
static bool add_exchanges(Judge *judge, int task) {
    enum { TIMES_WEAK = 3, HOLDING = 3 };
    const int weak = judge->of->tasks[task].weak_schedules;
    if (judge->options->schedules == 0 || judge->options->has_schedule || weak == 0) return true;
    return add_scheduled(judge, task, has_company, weak_schedule, TIMES_WEAK * weak) &&
           add_scheduled(judge, task, fills_a_flight, holding_schedule, HOLDING);
}

bool judge_add_changes(Judge *judge) {
    if (judge->is_gpu || judge->options->n >= 0 || judge->options->time_count > 0) return true;
    for (int t = 0; t < chapter_task_count(judge->of); t++)
        if (!add_changes(judge, t, true) || !add_changes(judge, t, false) || !add_rounds(judge, t) ||
            !add_exchanges(judge, t))
            return false;
    plan_sort(&judge->plan);
    return true;
}
