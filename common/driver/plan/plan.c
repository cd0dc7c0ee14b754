#include "driver/plan/plan.h"

#include <stdlib.h>
#include <string.h>

#include "gpu/profiles.h"
#include "driver/plan/elements.h"
#include "driver/plan/large.h"
#include "driver/plan/timed_size.h"

// Around the ends of warps, blocks and powers of two. Larger sizes of any other kind are drawn: add_counted,
// add_drawn.
static const long long default_sizes[] = {
    0,   1,   2,   3,    4,    5,    7,    31,    32,    33,    63,      64,      65,
    255, 256, 257, 1023, 1024, 1025, 4096, 65535, 65536, 65537, 1048576, 1048577,
};
static const long long gpu_size = (1LL << 28) + 3;

typedef struct {
    CaseSize sizes[MAX_SIZES + 2];
    int count;
} Sizes;

static bool same_size(const CaseSize *a, const CaseSize *b) {
    return a->n == b->n && a->rows == b->rows && a->columns == b->columns && a->depth == b->depth;
}

static CaseSize complete(CaseSize size) {
    if (size.n == 0 && (size.rows || size.columns)) size.n = size.rows * size.columns;
    return size;
}

// True when nothing in the task depends on a chosen n: its inputs are tables.
static bool is_table(const Task *task) {
    bool has_input = false;
    for (int b = 0; b < task_buffer_count(task); b++) {
        if (task->buffers[b].role != INPUT) continue;
        if (!task->buffers[b].data && !task->buffers[b].make) return false;
        has_input = true;
    }
    return has_input || task->expect == EXPECT_TABLE;
}

static bool has_shape(const Task *task) {
    return task->size_count > 0 && task->sizes && (task->sizes[0].rows || task->sizes[0].columns);
}

bool plan_suits(const Task *task, const CaseSize *size) {
    return !is_table(task) && has_shape(task) == (size->rows > 0 || size->columns > 0) &&
           (task->expect == EXPECT_PRODUCT || size->depth == 0) &&
           (task->max_n_gpu == 0 || size->n <= task->max_n_gpu);
}

static void add_size(Sizes *sizes, CaseSize size) {
    size = complete(size);
    for (int i = 0; i < sizes->count; i++)
        if (same_size(&sizes->sizes[i], &size)) return;
    int at = sizes->count;
    if (at == (int)(sizeof sizes->sizes / sizeof sizes->sizes[0])) return;
    for (; at > 0 && sizes->sizes[at - 1].n > size.n; at--) sizes->sizes[at] = sizes->sizes[at - 1];
    sizes->sizes[at] = size;
    sizes->count++;
}

static long long limit_of(const Task *task, bool is_gpu) { return is_gpu ? task->max_n_gpu : task->max_n; }

// A chosen n that the emulator does not run whole.
static bool is_sampled(const PlanOptions *options) { return !options->is_gpu && options->n > EMULATED_MOST; }

static void choose_sizes(const Task *task, const PlanOptions *options, Sizes *sizes) {
    sizes->count = 0;
    const long long limit = limit_of(task, options->is_gpu);
    if (options->n >= 0 && !is_table(task) && !has_shape(task)) {
        add_size(sizes, (CaseSize){.n = options->n});
        return;
    }
    if (task->sizes) {
        for (int i = 0; i < task->size_count && i < MAX_SIZES; i++) {
            CaseSize size = complete(task->sizes[i]);
            if (limit > 0 && size.n > limit) continue;
            if (options->n >= 0 && !is_table(task) && size.n != options->n) continue;
            add_size(sizes, size);
        }
        return;
    }
    if (task->expect == EXPECT_TABLE) {
        add_size(sizes, task->counted);
        return;
    }
    for (size_t i = 0; i < sizeof default_sizes / sizeof default_sizes[0]; i++)
        if (limit == 0 || default_sizes[i] <= limit) add_size(sizes, (CaseSize){.n = default_sizes[i]});
    if (options->is_gpu && (limit == 0 || gpu_size <= limit)) add_size(sizes, (CaseSize){.n = gpu_size});
}

// The largest size of at most `most` elements, or the smallest of all.
static CaseSize size_up_to(const Sizes *sizes, long long most) {
    CaseSize found = sizes->sizes[0];
    for (int i = 0; i < sizes->count; i++)
        if (sizes->sizes[i].n <= most) found = sizes->sizes[i];
    return found;
}

static CaseSize counted_size(const Task *task, const PlanOptions *options) {
    Sizes sizes;
    choose_sizes(task, options, &sizes);
    if (sizes.count == 0) return (CaseSize){0};
    CaseSize wanted = complete(task->counted);
    if (options->n >= 0 && !is_table(task)) return size_up_to(&sizes, options->n);
    if (wanted.n > 0) return wanted;
    CaseSize most = {.n = 1 << 20};
    const long long limit = task->max_n; // the emulator counts for every device
    if (!task->sizes && (limit == 0 || most.n <= limit)) return most;
    return size_up_to(&sizes, limit > 0 && limit < most.n ? limit : most.n);
}

CaseSize plan_goal_size(const Task *task) { return counted_size(task, &(PlanOptions){.n = -1}); }

static void add_case(Plan *plan, Case one) {
    for (int i = 0; i < plan->count; i++) {
        Case *there = &plan->cases[i];
        if (there->is_beside == one.is_beside && there->task == one.task &&
            same_size(&there->size, &one.size) && there->family == one.family &&
            there->misalignment == one.misalignment && there->is_staggered == one.is_staggered &&
            there->schedule == one.schedule && there->figures == one.figures &&
            there->failing == one.failing && (!there->is_counted || there->recount == one.recount)) {
            there->is_counted = there->is_counted || one.is_counted;
            return;
        }
    }
    if (plan->count == plan->capacity) {
        int capacity = plan->capacity ? 2 * plan->capacity : 128;
        Case *grown = realloc(plan->cases, (size_t)capacity * sizeof *grown);
        if (!grown) {
            plan->failed = true;
            return;
        }
        plan->cases = grown;
        plan->capacity = capacity;
    }
    plan->cases[plan->count++] = one;
}

static int count_misaligned(const Task *task, unsigned *step) {
    int count = 0;
    *step = 0;
    for (int b = 0; b < task_buffer_count(task); b++) {
        const Buffer *buffer = &task->buffers[b];
        if (!buffer->misaligned) continue;
        count++;
        if (element_bytes(buffer->type) > *step) *step = (unsigned)element_bytes(buffer->type);
    }
    return count;
}

// A size between three quarters of `size` and all of it. A large matrix, of which each tile costs the same,
// is smaller, and has whole groups of 128 elements in its rows, so that wide loads stay possible.
static CaseSize recounted_size(CaseSize size, const Seeds *seeds, int k) {
    enum { GROUP = 128 };
    if (!size.rows) return (CaseSize){.n = seeds_choose(seeds, "n", k, size.n - size.n / 4, size.n)};
    CaseSize other = {.columns = size.columns, .depth = size.depth};
    if (size.columns >= 8 * GROUP)
        other.columns =
            GROUP * seeds_choose(seeds, "columns", k, size.columns / 2 / GROUP, size.columns / GROUP);
    const bool is_large = size.rows >= 8 * GROUP;
    other.rows = is_large
                     ? GROUP * seeds_choose(seeds, "rows", k, size.rows / 4 / GROUP, size.rows / 2 / GROUP)
                     : seeds_choose(seeds, "rows", k, size.rows - size.rows / 4, size.rows);
    return complete(other);
}

static void add_counted(Plan *plan, const Task *task, int index, const PlanOptions *options) {
    const CaseSize size = counted_size(task, options);
    const Case one = {.task = index, .size = size, .family = FAMILY_INTEGERS, .is_counted = true};
    add_case(plan, one);
    if (is_table(task) || options->n >= 0) return;
    for (int k = 1; k < COUNTS; k++) {
        Case again = one;
        again.recount = k;
        again.size = recounted_size(size, options->seeds, k);
        again.shift = 256 * (unsigned)seeds_choose(options->seeds, "shift", k, 1, 200);
        unsigned step;
        if (k > 1 && count_misaligned(task, &step) > 0) {
            if (size.rows) step = 32; // rows that begin within a sector cost more, whatever the kernel does
            again.misalignment = step * (unsigned)seeds_choose(options->seeds, "base", k, 1, 255 / step);
        }
        add_case(plan, again);
    }
}

// Sizes that no submission can know, of about as many digits each; matrices with rows or columns of whole
// 16-byte groups among them, which a kernel may load faster.
static void add_unknown_sizes(Plan *plan, const Task *task, int index, const PlanOptions *options) {
    enum { UNKNOWN_SIZES = 4 };
    if (is_table(task)) return;
    const Seeds *seeds = options->seeds;
    for (int k = 0; k < UNKNOWN_SIZES; k++) {
        CaseSize size = {.n = seeds_choose(seeds, "size", k, 2, 8 << 4 * k)};
        if (has_shape(task)) {
            size = (CaseSize){.rows = seeds_choose(seeds, "rows of a size", k, 2, k < 3 ? 300 : 40),
                              .columns = seeds_choose(seeds, "columns of a size", k, 2, k < 3 ? 300 : 2000)};
            // Whole tiles and wide accesses on one side, and not on the other.
            if (k == 1)
                size = (CaseSize){.rows = 65 + size.rows / 4 * 2, .columns = 128 + size.columns % 2 * 64};
            if (k == 2)
                size = (CaseSize){.rows = 128 + size.rows % 2 * 64, .columns = 65 + size.columns / 4 * 2};
            if (k == 3) size.columns = size.columns / 8 * 8 + 4;
            // Of products each element costs `depth` operations; two have wide accesses on both sides.
            if (task->expect == EXPECT_PRODUCT) {
                size.rows = size.rows / 2 + 1;
                size.columns = k < 2 ? size.columns / 2 + 1 : size.columns / 8 * 4 % 256 + 4;
                size.depth = seeds_choose(seeds, "depth of a size", k, 2, 40);
                if (k >= 2) size.depth = size.depth / 4 * 4 + 4;
            }
        }
        // One block does everything, so that a part of it says nothing: once beyond what a float can count.
        const bool is_beyond = k == 3 && task->launches[0].max_blocks == 1;
        if (is_beyond) size.n += 1 << 24;
        size = complete(size);
        if (is_beyond || task->max_n == 0 || size.n <= task->max_n)
            add_case(plan,
                     (Case){.task = index, .size = size, .family = FAMILY_INTEGERS, .is_unforeseen = true});
    }
}

// A LAUNCH may ask for other shapes on other GPUs, and the kernel must be right with them too.
static void add_other_gpus(Plan *plan, const Task *task, int index, const Sizes *sizes) {
    enum { FEW = 16385, MANY = 65537, FEW_SMS = 8 };
    if (is_table(task)) return;
    for (int p = 0; p < gpu_profile_count; p++) {
        if (!gpu_profiles[p].is_judged) continue;
        Case one = {.task = index, .family = FAMILY_INTEGERS, .figures = p + 1};
        const CaseSize size = size_up_to(sizes, MANY);
        // On a few SMs, few elements take several rounds, and are soon accounted for.
        if (gpu_profiles[p].info.sm_count <= FEW_SMS && size.rows == 0 && size.n > FEW) {
            one.size = complete((CaseSize){.n = FEW});
            add_case(plan, one);
        }
        one.size = size;
        add_case(plan, one);
    }
}

// Whether an input of the task has values of that family.
static bool takes_family(const Task *task, Family family) {
    for (int b = 0; b < task_buffer_count(task); b++)
        if (task->buffers[b].role == INPUT && !task->buffers[b].data && !task->buffers[b].make &&
            family_suits(family, task->buffers[b].type))
            return true;
    return false;
}

static void add_family(Plan *plan, const Task *task, int index, CaseSize size, Family family) {
    if (takes_family(task, family)) add_case(plan, (Case){.task = index, .size = size, .family = family});
}

static void add_also(Plan *plan, const Task *task, int index, const PlanOptions *options) {
    for (int i = 0; i < options->also_count; i++) {
        const long long limit = limit_of(task, options->is_gpu);
        if (!plan_suits(task, &options->also[i]) || (limit > 0 && options->also[i].n > limit)) continue;
        add_case(plan, (Case){.task = index, .size = options->also[i], .family = FAMILY_INTEGERS});
        add_family(plan, task, index, options->also[i], FAMILY_UNIFORM);
    }
}

// Above this size a case takes seconds on the emulator: only the most informative ones run.
static const long long sparing_above = 1 << 21;

static void add_families(Plan *plan, const Task *task, int index, const Sizes *sizes,
                         const PlanOptions *options) {
    const CaseSize medium = size_up_to(sizes, 1025), large = size_up_to(sizes, 65537);
    if (medium.n > sparing_above) {
        add_family(plan, task, index, medium, FAMILY_UNIFORM);
        return;
    }
    for (int f = 0; f < FAMILIES; f++) {
        if (f == FAMILY_SUBNORMALS && task->flushes_subnormals) continue;
        if (family_is_of_rows((Family)f) && task->expect != EXPECT_ROWS) continue;
        const bool multiplies = task->expect == EXPECT_REFERENCE || task->expect == EXPECT_PRODUCT;
        if (f == FAMILY_HUGE && multiplies) continue; // its square may be infinite
        add_family(plan, task, index, medium, (Family)f);
    }
    // Long sums reveal rounding and a bad order; single elements reveal special values. The others look
    // constant to a few samples.
    static const Family of_many[] = {FAMILY_UNIFORM,        FAMILY_NORMAL, FAMILY_ONES, FAMILY_CONSTANTS,
                                     FAMILY_NEGATIVE_ZEROS, FAMILY_SKEWED, FAMILY_RUNS, FAMILY_RAMP};
    // A product of many elements that are all alike tells nothing that few do not.
    const size_t enough = task->expect == EXPECT_PRODUCT ? 2 : sizeof of_many / sizeof of_many[0];
    for (size_t f = 0; f < enough; f++) add_family(plan, task, index, large, of_many[f]);
    // The last elements are often computed in another way, whatever the width of a group.
    if (!has_shape(task) && options->n < 0 && !is_table(task)) {
        const CaseSize ends = size_up_to(sizes, 1023);
        add_family(plan, task, index, ends, FAMILY_UNIFORM);
        add_family(plan, task, index, ends, FAMILY_NORMAL);
    }
    // A sum of 0 must be told from one that is not there yet, wherever a block ends.
    if (task->expect == EXPECT_SCAN) {
        add_family(plan, task, index, size_up_to(sizes, 16385), FAMILY_NEGATIVE_ZEROS);
        add_family(plan, task, index, size_up_to(sizes, 1 << 20), FAMILY_NEGATIVE_ZEROS);
    }
    add_family(plan, task, index, size_up_to(sizes, 1), FAMILY_NAN);
    if (task->expect == EXPECT_ROWS) {
        add_family(plan, task, index, size_up_to(sizes, 16385), FAMILY_MASKED);
        add_family(plan, task, index, large, FAMILY_MASKED);
    }
    if (!has_shape(task) || options->n >= 0) return;
    // A square matrix that looks symmetric is not.
    const long long side = seeds_choose(options->seeds, "side", 0, 33, 96);
    const long long depth = task->expect == EXPECT_PRODUCT ? side : 0;
    const CaseSize square = complete((CaseSize){.rows = side, .columns = side, .depth = depth});
    if (depth) {
        add_family(plan, task, index, square, FAMILY_UNIFORM);
        return;
    }
    add_family(plan, task, index, square, FAMILY_ONES);
    add_family(plan, task, index, square, FAMILY_CONSTANTS);
    add_family(plan, task, index, square, FAMILY_NEGATIVE_ZEROS);
}

// The k-th schedule behind `first` that is not weak, or that is; k from 1.
static uint64_t plain_schedule(uint64_t first, int k) {
    while (k > 0) k -= !schedule_is_weak(++first);
    return first;
}

bool case_is_of_other_schedule(const Case *a, const Case *b) {
    return a->is_beside == b->is_beside && a->task == b->task && a->size.n == b->size.n &&
           a->size.rows == b->size.rows && a->family == b->family && a->misalignment == b->misalignment &&
           a->is_staggered == b->is_staggered;
}

uint64_t weak_schedule(uint64_t first, int k) {
    while (k > 0) k -= schedule_is_weak(++first);
    return first;
}

static void add_schedules(Plan *plan, const Task *task, int index, const Sizes *sizes,
                          const PlanOptions *options) {
    int schedules = options->schedules >= 0 ? options->schedules : task->schedules > 0 ? task->schedules : 3;
    const CaseSize at[] = {size_up_to(sizes, 33), size_up_to(sizes, 257), size_up_to(sizes, 1025),
                           size_up_to(sizes, 65537)};
    if (at[0].n > sparing_above && schedules > 1) schedules = 1;
    for (size_t i = 0; i < sizeof at / sizeof at[0]; i++) {
        for (int s = 1; s <= schedules; s++) {
            uint64_t schedule = plain_schedule(first_schedule(options->seeds), s);
            add_case(plan,
                     (Case){.task = index, .size = at[i], .family = FAMILY_INTEGERS, .schedule = schedule});
            if (!task->is_bit_identical || i < 2) continue;
            // Only sums that round depend on the order of additions.
            add_case(plan, (Case){.task = index, .size = at[i], .family = FAMILY_TEN_ORDERS});
            add_case(plan,
                     (Case){.task = index, .size = at[i], .family = FAMILY_TEN_ORDERS, .schedule = schedule});
        }
    }
    if (!task->is_bit_identical) return;
    // Which block comes last is a matter of chance, and so is whether its place in the sum shows.
    for (int s = schedules + 1; s <= 4 * schedules; s++)
        add_case(plan, (Case){.task = index,
                              .size = at[3],
                              .family = FAMILY_TEN_ORDERS,
                              .schedule = first_schedule(options->seeds) + (uint64_t)s});
    // The sums of many blocks may be added in another way than those of a few warps' worth.
    const CaseSize many = {.n = 1 << 19};
    const long long limit = limit_of(task, options->is_gpu);
    if (options->n >= 0 || has_shape(task) || (limit > 0 && limit < many.n)) return;
    for (int s = 0; s <= schedules; s++)
        add_case(plan, (Case){.task = index,
                              .size = many,
                              .family = FAMILY_TEN_ORDERS,
                              .schedule = s > 0 ? plain_schedule(first_schedule(options->seeds), s) : 0});
}

// Weak schedules show what a missing fence does. They cost more than others, so only one size of many blocks
// has them, and one of few (judge/launch_changes.c).
static void add_weak_schedules(Plan *plan, const Task *task, int index, const Sizes *sizes,
                               const PlanOptions *options) {
    const CaseSize at = size_up_to(sizes, 65537);
    if (options->schedules == 0) return;
    for (int s = 1; s <= task->weak_schedules && at.n <= sparing_above; s++)
        add_case(plan, (Case){.task = index,
                              .size = at,
                              .family = FAMILY_INTEGERS,
                              .schedule = weak_schedule(first_schedule(options->seeds), s)});
}

static void add_misaligned(Plan *plan, const Task *task, int index, const Sizes *sizes) {
    unsigned step; // the size of an element: offsets that it does not divide are nobody's array
    const int buffers = count_misaligned(task, &step);
    if (buffers == 0) return;
    for (int i = 0; i < sizes->count; i++) {
        const long long n = sizes->sizes[i].n;
        if (n > 65537 || n == 255 || n == 1023 || n == 65535) continue;
        for (unsigned offset = step; offset < 16; offset += step) {
            Case one = {
                .task = index, .size = sizes->sizes[i], .family = FAMILY_INTEGERS, .misalignment = offset};
            if (n <= 4096 || offset == step) add_case(plan, one);
            one.is_staggered = true;
            if (buffers > 1 && n <= 1025) add_case(plan, one);
        }
    }
}

// A number of one of three kinds, by turns: odd, 4 times an odd one, and a multiple of 16.
static long long draw_extent(const Seeds *seeds, const char *purpose, int k, int kind, long long most) {
    static const long long multiples[] = {1, 4, 16};
    const long long multiple = multiples[kind], count = most / multiple;
    const long long drawn = seeds_choose(seeds, purpose, k, 1, count > 1 ? count : 1);
    return multiple * (kind < 2 ? drawn | 1 : drawn);
}

bool plan_draw_apart(const Task *task, int index, const Seeds *seeds, int k, Case *one) {
    enum { KINDS = 3, SIDE = 100, SIDE_OF_PRODUCT = 40, MAGNITUDES = 4, FEW = 32 };
    *one = (Case){.task = index, .family = FAMILY_INTEGERS, .is_unforeseen = true};
    if (is_table(task)) return false;
    if (has_shape(task)) {
        const bool is_product = task->expect == EXPECT_PRODUCT;
        const long long most = is_product ? SIDE_OF_PRODUCT : SIDE;
        if (k >= KINDS * KINDS * (is_product ? KINDS : 1)) return false;
        one->size.rows = draw_extent(seeds, "rows apart", k, k % KINDS, most);
        one->size.columns = draw_extent(seeds, "columns apart", k, k / KINDS % KINDS, most);
        if (is_product) one->size.depth = draw_extent(seeds, "depth apart", k, k / (KINDS * KINDS), most);
    } else {
        if (k >= KINDS * MAGNITUDES) return false;
        one->size.n = draw_extent(seeds, "n apart", k, k % KINDS, FEW << (k / KINDS) * KINDS);
    }
    one->size = complete(one->size);
    unsigned step;
    if (count_misaligned(task, &step) > 0 && step > 0)
        one->misalignment = step * ((unsigned)k / 2 % (16 / step));
    return true;
}

static void add_drawn_size(Plan *plan, int task, long long n) {
    add_case(plan, (Case){.task = task, .size = {.n = n}, .family = FAMILY_INTEGERS, .is_drawn = true});
}

// No list of sizes that is known in advance is enough: one task more, at a size that the run draws, and the
// tasks of small sizes at one beyond these.
static void add_drawn(Plan *plan, const Chapter *of, const PlanOptions *options) {
    int tasks[MAX_TASKS], count = 0;
    long long sizes_of[MAX_TASKS];
    if (options->n >= 0) return;
    const long long n = drawn_size(seeds_choose(options->seeds, "size", 0, 1, LARGE_CHOICE));
    for (int t = 0; t < chapter_task_count(of); t++) {
        const Task *task = &of->tasks[t];
        const long long limit = limit_of(task, options->is_gpu);
        Sizes sizes;
        choose_sizes(task, options, &sizes);
        if (is_table(task) || has_shape(task) || (limit > 0 && limit < drawn_size(0)) || sizes.count == 0)
            continue;
        const long long most = sizes.sizes[sizes.count - 1].n;
        if (most < 1 << 20) add_drawn_size(plan, t, 2 * most + n / 64);
        sizes_of[count] = limit > 0 && n > limit ? limit - n % (limit / 8) : n;
        tasks[count++] = t;
    }
    if (count == 0) return;
    const long long chosen = seeds_choose(options->seeds, "task", 0, 0, count - 1);
    add_drawn_size(plan, tasks[chosen], sizes_of[chosen]);
}

static void add_large(Plan *plan, const Task *task, int index, const PlanOptions *options) {
    CaseSize size;
    if (options->is_gpu) return;
    if (!large_size(task, seeds_choose(options->seeds, "large", index, 1, LARGE_CHOICE), &size)) return;
    // The time model takes a part for the whole: it holds only if the whole is done at the very size it
    // names.
    const CaseSize timed = timed_size(task, 0);
    if (options->n < 0 && task_has_bandwidth(task) && timed.n > EMULATED_MOST && task->weak_schedules == 0)
        add_case(plan, (Case){.task = index, .size = timed, .family = FAMILY_INTEGERS, .is_large = true});
    if (is_sampled(options) && !has_shape(task)) size.n = options->n;
    if (options->n >= 0 && options->n != size.n) return;
    add_case(plan, (Case){.task = index, .size = size, .family = FAMILY_INTEGERS, .is_large = true});
}

static int compare_cases(const void *left, const void *right) {
    const Case *a = left, *b = right;
    if (a->size.n != b->size.n) return a->size.n < b->size.n ? -1 : 1;
    if (a->size.rows != b->size.rows) return a->size.rows < b->size.rows ? -1 : 1;
    if (a->size.depth != b->size.depth) return a->size.depth < b->size.depth ? -1 : 1;
    if (a->task != b->task) return a->task < b->task ? -1 : 1;
    if (a->family != b->family) return a->family < b->family ? -1 : 1;
    if (a->misalignment != b->misalignment) return a->misalignment < b->misalignment ? -1 : 1;
    if (a->figures != b->figures) return a->figures < b->figures ? -1 : 1;
    if (a->is_staggered != b->is_staggered) return a->is_staggered ? 1 : -1;
    return a->schedule < b->schedule ? -1 : a->schedule > b->schedule;
}

// The size that is run for a timed size: itself, or as much as an emulator runs within a second.
static CaseSize size_to_check(CaseSize size, bool is_gpu) {
    static const long long emulated_most = 1 << 20;
    static const long long emulated_side = 128, emulated_depth = 64; // of a product
    if (is_gpu || (size.depth == 0 && size.n <= emulated_most)) return size;
    if (size.depth > 0) {
        size.rows = size.rows < emulated_side ? size.rows : emulated_side;
        size.columns = size.columns < emulated_side ? size.columns : emulated_side;
        size.depth = size.depth < emulated_depth ? size.depth : emulated_depth;
        size.n = size.rows * size.columns;
        return size;
    }
    if (!size.rows) return (CaseSize){.n = emulated_most};
    size.rows = size.columns < emulated_most ? emulated_most / size.columns : 1;
    size.n = size.rows * size.columns;
    return size;
}

static bool has_case(const Plan *plan, int task, CaseSize size) {
    for (int i = 0; i < plan->count; i++) {
        const Case *one = &plan->cases[i];
        if (one->task == task && same_size(&one->size, &size)) return true;
    }
    return false;
}

// --time: a kernel is timed only after it was correct once.
static bool plan_checks(const Chapter *of, const PlanOptions *options, Plan *plan) {
    for (int t = 0; t < chapter_task_count(of); t++)
        for (int i = 0; i < options->only_count; i++) {
            const CaseSize size = size_to_check(options->only[i], options->is_gpu);
            if (plan_suits(&of->tasks[t], &options->only[i]) && !has_case(plan, t, size))
                add_case(plan, (Case){.task = t, .size = size, .family = FAMILY_INTEGERS});
        }
    return !plan->failed;
}

bool plan_make(const Chapter *of, const PlanOptions *options, Plan *plan) {
    Sizes sizes;
    *plan = (Plan){0};
    if (options->only_count > 0) return plan_checks(of, options, plan);
    for (int t = 0; t < chapter_task_count(of); t++) {
        const Task *task = &of->tasks[t];
        choose_sizes(task, options, &sizes);
        if (is_sampled(options) || sizes.count == 0) {
            add_large(plan, task, t, options);
            continue;
        }
        for (int i = 0; i < sizes.count; i++)
            add_case(plan, (Case){.task = t, .size = sizes.sizes[i], .family = FAMILY_INTEGERS});
        add_also(plan, task, t, options);
        add_families(plan, task, t, &sizes, options);
        add_schedules(plan, task, t, &sizes, options);
        add_weak_schedules(plan, task, t, &sizes, options);
        add_misaligned(plan, task, t, &sizes);
        add_counted(plan, task, t, options);
        if (options->n < 0) add_other_gpus(plan, task, t, &sizes);
        if (options->n < 0) add_unknown_sizes(plan, task, t, options);
        add_large(plan, task, t, options);
    }
    add_drawn(plan, of, options);
    if (options->has_schedule) { // every case under that schedule, once; counting belongs to schedule 0
        Plan all = *plan;
        *plan = (Plan){0};
        for (int i = 0; i < all.count; i++) {
            Case one = all.cases[i];
            if (one.is_large && options->schedule != 0) continue; // its blocks run one after the other
            one.schedule = options->schedule;
            one.is_counted = one.is_counted && options->schedule == 0;
            add_case(plan, one);
        }
        plan->failed = plan->failed || all.failed;
        free(all.cases);
    }
    plan_sort(plan);
    return !plan->failed;
}

bool plan_add(Plan *plan, Case one) {
    add_case(plan, one);
    return !plan->failed;
}

void plan_sort(Plan *plan) {
    if (plan->count > 0) qsort(plan->cases, (size_t)plan->count, sizeof *plan->cases, compare_cases);
}

bool plan_add_beside(const Chapter *of, const PlanOptions *options, Plan *plan) {
    static const long long small = 1025; // every kind of tail, and more than one block
    PlanOptions beside = *options;
    beside.is_gpu = false;
    if (beside.n > sparing_above) beside.n = -1;
    Plan all;
    if (!plan_make(of, &beside, &all)) {
        plan_free(&all);
        return false;
    }
    for (int i = 0; i < plan->count; i++) plan->cases[i].is_counted = false;
    for (int i = 0; i < all.count; i++) {
        Case one = all.cases[i];
        one.is_beside = true;
        if (one.size.n <= small || one.is_counted || one.is_large || beside.n >= 0) add_case(plan, one);
    }
    plan_free(&all);
    return !plan->failed;
}

void plan_free(Plan *plan) {
    free(plan->cases);
    *plan = (Plan){0};
}
