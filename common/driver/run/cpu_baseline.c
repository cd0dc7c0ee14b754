#include "driver/run/cpu_baseline.h"

#include <stdlib.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "support/process.h"

enum { COUNT = 1 << 24, ROUNDS = 3, LANES = 16 };

// Sixteen independent sums, so that the compiler may use vectors: one running sum would measure the latency
// of an addition instead of memory.
static double sum_of(const float *values, size_t count) {
    float sums[LANES] = {0};
    for (size_t i = 0; i < count / LANES; i++)
        for (size_t lane = 0; lane < LANES; lane++) sums[lane] += values[i * LANES + lane];
    double sum = 0;
    for (size_t i = count / LANES * LANES; i < count; i++) sum += (double)values[i];
    for (int lane = 0; lane < LANES; lane++) sum += (double)sums[lane];
    return sum;
}

static void add_range(const float *a, const float *b, float *c, long long from, long long to) {
    for (long long i = from; i < to; i++) c[i] = a[i] + b[i];
}

typedef struct {
    float *a, *b, *c; // b and c only for the addition
    double sink;      // keeps the sums from being optimised away
} Work;

static void one_thread(Work *work) {
    if (work->b)
        add_range(work->a, work->b, work->c, 0, COUNT);
    else
        work->sink += sum_of(work->a, COUNT);
}

#ifdef _OPENMP
static void all_threads(Work *work) {
    double sum = 0;
#pragma omp parallel reduction(+ : sum)
    {
        long long share = COUNT / omp_get_num_threads() + 1;
        long long from = share * omp_get_thread_num();
        long long to = from + share < COUNT ? from + share : COUNT;
        if (from > COUNT) from = COUNT;
        if (work->b)
            add_range(work->a, work->b, work->c, from, to);
        else
            sum += sum_of(work->a + from, (size_t)(to - from));
    }
    work->sink += sum;
}
#endif

static double best_gb_per_s(Work *work, void (*run)(Work *)) {
    double best = 0;
    const double bytes = (double)COUNT * sizeof(float) * (work->b ? 3 : 1);
    for (int i = 0; i < ROUNDS; i++) {
        double began = monotonic_seconds();
        run(work);
        double seconds = monotonic_seconds() - began;
        if (seconds > 0 && bytes / seconds > best) best = bytes / seconds;
    }
    return best * 1e-9;
}

void baselines_measure(const Chapter *of, Baselines *baselines) {
    *baselines = (Baselines){.threads = 1};
    const Task *task = NULL;
    for (int t = 0; t < MAX_TASKS && of->tasks[t].name && !task; t++)
        if (of->tasks[t].expect != EXPECT_TABLE && of->tasks[t].expect != EXPECT_REFERENCE)
            task = &of->tasks[t];
    if (!task || task->expect == EXPECT_TRANSPOSE || task->expect == EXPECT_HISTOGRAM ||
        task->expect == EXPECT_ROWS || task->expect == EXPECT_PRODUCT)
        return;
    const bool is_addition = task->expect == EXPECT_ELEMENTWISE;
    Work work = {.a = malloc(COUNT * sizeof(float))};
    if (is_addition) {
        work.b = malloc(COUNT * sizeof(float));
        work.c = malloc(COUNT * sizeof(float));
    }
    if (work.a && (!is_addition || (work.b && work.c))) {
        for (long long i = 0; i < COUNT; i++) work.a[i] = (float)(i % 1000) * 0.25f;
        if (work.b)
            for (long long i = 0; i < COUNT; i++) work.b[i] = work.c[i] = 1.0f;
        baselines->work =
            is_addition ? "16,777,216 float additions, arrays to array" : "the sum of 16,777,216 floats";
        baselines->one_thread_gb_per_s = best_gb_per_s(&work, one_thread);
#ifdef _OPENMP
        baselines->threads = omp_get_max_threads();
        baselines->all_threads_gb_per_s = best_gb_per_s(&work, all_threads);
#endif
        volatile double sink = work.sink + (work.c ? (double)work.c[COUNT / 2] : 0);
        (void)sink;
        baselines->is_measured = true;
    }
    free(work.a);
    free(work.b);
    free(work.c);
}
