#include "driver/program/cases.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/plan/inputs.h"
#include "support/file.h"

enum { SEEDED_LEAST = 512, SEEDED_MOST = 1 << 17 }; // elements of cases that are run with several seeds

static const long long drawn_least = 3000, drawn_most = 60000; // of the size that the run draws

static bool is_first_of(const Plan *plan, int task, long long n) {
    for (int i = 0; i < plan->count; i++)
        if (plan->cases[i].task == task && plan->cases[i].size.n == n) return false;
    return true;
}

static void add_size(const Chapter *of, int t, CaseSize size, bool is_drawn, const Options *options,
                     Plan *plan) {
    const Task *task = &of->tasks[t];
    const int seeds = options->schedules >= 0 ? options->schedules : task->schedules ? task->schedules : 3;
    const bool is_counted = size.n == task->counted.n;
    if (!is_first_of(plan, t, size.n)) return;
    for (int s = 0; s <= seeds; s++) {
        if (s > 0 && (is_counted || size.n < SEEDED_LEAST || size.n > SEEDED_MOST || task->memory_left ||
                      options->has_schedule))
            break;
        plan_add(plan, (Case){.task = t,
                              .size = size,
                              .family = s % 2 ? FAMILY_UNIFORM : FAMILY_INTEGERS,
                              .schedule = options->has_schedule ? options->schedule : (uint64_t)s,
                              .is_counted = is_counted,
                              .is_unforeseen = is_drawn});
    }
}

// Cases in which one call after another fails.
static void add_failing(const Chapter *of, int t, CaseSize size, const Options *options, Plan *plan) {
    if (options->has_schedule) return;
    for (int call = 1; call <= of->tasks[t].failing_calls; call++)
        plan_add(plan, (Case){.task = t, .size = size, .family = FAMILY_INTEGERS, .failing = call});
}

static int by_size(const void *left, const void *right) {
    const Case *a = left, *b = right;
    if (a->failing != b->failing) return a->failing - b->failing;
    if (a->size.n != b->size.n) return a->size.n < b->size.n ? -1 : 1;
    if (a->task != b->task) return a->task - b->task;
    return (a->schedule > b->schedule) - (a->schedule < b->schedule);
}

bool program_plan(const Chapter *of, const Options *options, const Seeds *seeds, Plan *plan) {
    *plan = (Plan){0};
    for (int t = 0; t < chapter_task_count(of); t++) {
        const Task *task = &of->tasks[t];
        if (options->n >= 0) {
            add_size(of, t, (CaseSize){.n = options->n}, false, options, plan);
            add_failing(of, t, (CaseSize){.n = options->n}, options, plan);
            continue;
        }
        for (int i = 0; i < task->size_count; i++) add_size(of, t, task->sizes[i], false, options, plan);
        if (task->failing_calls) add_failing(of, t, task->sizes[0], options, plan);
        if (task->memory_left) continue;
        for (int i = 0; i < options->also_count; i++) add_size(of, t, options->also[i], false, options, plan);
        if (task->counted.n) add_size(of, t, task->counted, false, options, plan);
        if (task->counted.n) continue; // the sizes of the other task show what is left over
        const long long drawn = seeds_choose(seeds, task->name, 0, drawn_least, drawn_most);
        add_size(of, t, (CaseSize){.n = drawn}, true, options, plan);
    }
    if (plan->count > MOST_PROGRAM_CASES) plan->count = MOST_PROGRAM_CASES;
    if (plan->count) qsort(plan->cases, (size_t)plan->count, sizeof *plan->cases, by_size);
    return !plan->failed;
}

float *program_inputs(const Task *task, const Case *one, const Seeds *seeds) {
    const size_t n = (size_t)one->size.n;
    float *vectors = malloc(2 * n * sizeof(float) + 1);
    size_t next = 0;
    for (int b = 0; vectors && b < task_buffer_count(task) && next < 2; b++)
        if (task->buffers[b].role == INPUT)
            fill_inputs(vectors + next++ * n, F32, (long long)n, 2 * (long long)n, one->family,
                        seed_of_inputs(seeds, &one->size, one->family), (unsigned)b);
    return vectors;
}

static bool write_input(const Task *task, const Case *one, const Seeds *seeds, const char *path,
                        FileError *error) {
    const int n = (int)one->size.n;
    const size_t bytes = 2 * (size_t)n * sizeof(float);
    float *vectors = program_inputs(task, one, seeds);
    Text file = {0};
    text_add_bytes(&file, &n, sizeof n);
    if (vectors) text_add_bytes(&file, vectors, bytes);
    const bool good =
        vectors && !file.failed && write_file_atomically(path, text_chars(&file), file.bytes, error);
    free(vectors);
    text_free(&file);
    return good;
}

bool program_write_cases(const Chapter *of, const Plan *plan, const Seeds *seeds, const char *gpu,
                         const char *folder, FileError *error) {
    for (int i = 0; i < plan->count; i++) {
        const Case *one = &plan->cases[i];
        char path[PATH_MAX];
        Text settings = {0};
        snprintf(path, sizeof path, "%s/%02d", folder, i);
        if (!make_directories(path, error)) return false;
        snprintf(path, sizeof path, "%s/%02d/input", folder, i);
        if (!write_input(&of->tasks[one->task], one, seeds, path, error)) return false;
        text_printf(&settings, "WARPBOOK_SEED=%llu\n", (unsigned long long)one->schedule);
        if (gpu[0]) text_printf(&settings, "WARPBOOK_GPU=%s\n", gpu);
        if (one->failing)
            text_printf(&settings, "WARPBOOK_FAIL=%d\n", one->failing);
        else if (of->tasks[one->task].memory_left)
            text_printf(&settings, "WARPBOOK_MEMORY=%lld\n", of->tasks[one->task].memory_left);
        snprintf(path, sizeof path, "%s/%02d/settings", folder, i);
        const bool good = write_file_atomically(path, text_chars(&settings), settings.bytes, error);
        text_free(&settings);
        if (!good) return false;
    }
    return true;
}
