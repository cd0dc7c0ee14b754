#include "driver/judge/large_end.h"

#include <stdio.h>
#include <string.h>

#include "support/text.h"
#include "driver/judge/large_reach.h"
#include "driver/plan/elements.h"
#include "driver/plan/large.h"

enum { CANDIDATES = 8 };

typedef struct {
    const Task *task;
    const CaseShape
        *shape; // of the size whose last elements are looked for; fewer elements get the same grid
    const ImageKernel *kernels;
    uint64_t seed;
    Runner *runner;
    bool is_lost;
} Ends;

// The same few elements after one round of the grid.
static long long small_size(const CaseShape *shape) {
    const ShapeOfLaunch *launch = &shape->launches[0];
    const long long n = shape->size.n;
    const long long round = large_round((uint64_t)launch->blocks, (uint64_t)launch->block_threads, n);
    return n % round + round;
}

// Runs these blocks of the first launch at size `n`. NULL: it does not run to its end, and what is wrong is
// in `failed`, unless that is NULL. The answer is valid until the next one.
static const SampleReply *run_blocks(Ends *ends, long long n, const uint64_t blocks[], int count,
                                     CaseReport *failed) {
    static Request request;
    static LargeCase large;
    static CaseReport ignored;
    CaseShape shape = *ends->shape;
    shape.size.n = n;
    memset(&ignored, 0, sizeof ignored);
    const SampleReply *sample = NULL;
    if (large_case_begin(ends->task, &shape, ends->kernels, ends->seed, ends->runner, &large, &request,
                         &ignored)) {
        RunLaunch *launch = &request.program.launches[0];
        memcpy(launch->sample, blocks, (size_t)count * sizeof *blocks);
        launch->sample_count = (uint64_t)count;
        RunReply reply;
        runner_run(ends->runner, &request, case_seconds(false, n), &reply);
        ends->is_lost = reply.end != RUN_REPLIED || reply.header->context_lost;
        const bool is_fine = reply.end == RUN_REPLIED &&
                             !case_has_failed(ends->task, &large.layout, &reply, failed ? failed : &ignored);
        if (is_fine && reply.header->status == REPLY_DONE && !reply.header->sample.is_unreserved &&
            !reply.header->sample.takes_over)
            sample = &reply.header->sample;
    }
    large_case_free(&large);
    return sample;
}

static void add_block(uint64_t list[], int *count, uint64_t block, uint64_t blocks) {
    if (*count == CANDIDATES || block >= blocks) return;
    for (int i = 0; i < *count; i++)
        if (list[i] == block) return;
    int at = (*count)++;
    for (; at > 0 && list[at - 1] > block; at--) list[at] = list[at - 1];
    list[at] = block;
}

static int find_ends(const Ends *ends, uint64_t list[]) {
    const uint64_t blocks = (uint64_t)ends->shape->launches[0].blocks;
    int count = 0;
    add_block(list, &count, 0, blocks);
    add_block(list, &count, blocks - 1, blocks);
    return count;
}

// The blocks besides the first that may have the last of n elements: the last, the one whose turn it is if
// the blocks take pieces in turn, or whose piece it is in if each has one, and those beside it. In ascending
// order. `run` and `stride` are those of the first block's answer. -1: the blocks take their pieces in
// another order.
static int find_candidates(const Ends *ends, long long n, uint64_t run, uint64_t stride, uint64_t list[]) {
    const uint64_t blocks = (uint64_t)ends->shape->launches[0].blocks, last = (uint64_t)n - 1;
    const uint64_t owner = (stride ? last % stride : last) / run;
    int count = 0;
    if (blocks == 1) return 0;
    if (stride && owner >= blocks) return -1;
    add_block(list, &count, blocks - 1, blocks);
    if (owner > 0) add_block(list, &count, owner, blocks);
    add_block(list, &count, owner + 1, blocks);
    if (owner > 1) add_block(list, &count, owner - 1, blocks);
    return count;
}

// Whether the first block or the candidates reach the last of n elements: 1 or 0; -1: that cannot be said.
// `list` and `count` are the candidates, if they have run. What is wrong with these blocks is in `failed`,
// unless that is NULL.
static int reach_last(Ends *ends, long long n, uint64_t list[], int *count, CaseReport *failed) {
    static const uint64_t first = 0;
    const SampleReply *sample = run_blocks(ends, n, &first, 1, failed);
    *count = 0;
    if (!sample) return -1;
    if (sample->reaches_last) return 1;
    if (sample->run == 0) return -1;
    const int candidates = find_candidates(ends, n, sample->run, sample->stride, list);
    if (candidates <= 0) return candidates;
    *count = candidates;
    sample = run_blocks(ends, n, list, *count, failed);
    if (!sample || (sample->waits && sample->ended[0] + 1 < (uint64_t)*count)) return -1;
    return sample->reaches_last != 0;
}

static void be_of_size(const Ends *ends, CaseReport *report) {
    report->settings.size = ends->shape->size;
    report->shape = *ends->shape;
    report->seed = ends->seed;
}

static void say_left_out(const Ends *ends, const Task *task, const CaseShape *shape, int b, bool is_load,
                         const uint64_t list[], int count, CaseReport *report) {
    const long long n = shape->size.n, small = small_size(shape);
    const char *name = task->buffers[b].name, *does = is_load ? "read" : "write";
    char numbers[2][32];
    Text which = {0};
    count_text(n - 1, numbers[0], sizeof numbers[0]);
    count_text(small, numbers[1], sizeof numbers[1]);
    text_add(&which, "0");
    for (int i = 0; i < count; i++)
        text_printf(&which, "%s%llu", i == count - 1 ? " and " : ", ", (unsigned long long)list[i]);
    be_of_size(ends, report);
    large_say_wrong(report, CHECK_LEFT_OUT, name, n - 1);
    report->check.elements = n;
    snprintf(
        report->check.what, sizeof report->check.what,
        "element %s of %s, the last, is left out: block%s %s do%s not %s it, although such a block %ss the "
        "last of %s elements",
        numbers[0], name, count == 0 ? "" : "s", text_chars(&which), count == 0 ? "es" : "", does, does,
        numbers[1]);
    text_free(&which);
}

bool large_end_judge(const Judge *judge, long long n, const ImageKernel kernels[], Runner *runner,
                     CaseReport *report) {
    const Case *one = &report->settings;
    const Task *task = &judge->of->tasks[one->task];
    CaseSize size = one->size;
    size.n = n;
    const TaskShape *shape = judge_shape(judge, one->task, &size);
    if (report->verdict != VERDICT_PASS || report->is_inconclusive || !shape ||
        shape->verdict != VERDICT_PASS || shape->shape.launches[0].blocks == 0)
        return true;
    Ends ends = {task,   &shape->shape, kernels, seed_of_inputs(&judge->seeds, &size, one->family),
                 runner, false};
    bool is_load;
    const int b = large_watched_buffer(task, &size, &is_load);
    if (b < 0) return true;
    uint64_t list[CANDIDATES], ignored[CANDIDATES];
    int count, ignored_count;
    CaseReport failed = *report;
    const int reaches = reach_last(&ends, n, list, &count, &failed);
    if (failed.verdict != VERDICT_PASS) {
        *report = failed;
        be_of_size(&ends, report);
    }
    if (reaches != 0) return !ends.is_lost;
    if (reach_last(&ends, small_size(&shape->shape), ignored, &ignored_count, NULL) != 1)
        return !ends.is_lost;
    say_left_out(&ends, task, &shape->shape, b, is_load, list, count, report);
    return true;
}

bool large_ends_reach(const Task *task, const CaseShape *shape, const ImageKernel kernels[], uint64_t seed,
                      Runner *runner, bool *is_lost, CaseReport *report) {
    Ends ends = {task, shape, kernels, seed, runner, false};
    uint64_t list[CANDIDATES];
    const int count = find_ends(&ends, list);
    const SampleReply *sample = run_blocks(&ends, shape->size.n, list, count, report);
    *is_lost = ends.is_lost;
    return sample && sample->reaches_last;
}
