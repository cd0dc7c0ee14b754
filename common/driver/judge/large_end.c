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
    const CaseShape *shape; // of the case; at other sizes the grid is the same
    const ImageKernel *kernels;
    uint64_t seed;
    Runner *runner;
    bool is_lost;
} Ends;

// Runs these blocks of the first launch at size `n`. NULL: it does not run to its end. The answer is valid
// until the next one.
static const SampleReply *run_blocks(Ends *ends, long long n, const uint64_t blocks[], int count) {
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
        if (!ends->is_lost && reply.header->status == REPLY_DONE && !reply.header->sample.is_unreserved &&
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

// The blocks that may have the last of n elements: the first, the last, the one whose turn it is if the
// blocks take pieces in turn, or whose piece it is in if each has one, and those beside it. In ascending
// order. 0: that cannot be said.
static int find_candidates(Ends *ends, long long n, uint64_t list[]) {
    static const uint64_t first = 0;
    const uint64_t blocks = (uint64_t)ends->shape->launches[0].blocks, last = (uint64_t)n - 1;
    const SampleReply *sample = run_blocks(ends, n, &first, 1);
    int count = 0;
    if (!sample || sample->run == 0) return 0;
    const uint64_t owner = (sample->stride ? last % sample->stride : last) / sample->run;
    add_block(list, &count, 0, blocks);
    add_block(list, &count, blocks - 1, blocks);
    add_block(list, &count, owner, blocks);
    add_block(list, &count, owner + 1, blocks);
    if (owner > 0) add_block(list, &count, owner - 1, blocks);
    return count;
}

// Whether the candidates reach the last of n elements: 1 or 0; -1: that cannot be said. `list` and `count`
// are theirs.
static int candidates_reach_last(Ends *ends, long long n, uint64_t list[], int *count) {
    *count = find_candidates(ends, n, list);
    const SampleReply *sample = *count ? run_blocks(ends, n, list, *count) : NULL;
    if (!sample || (sample->waits && sample->ended[0] + 1 < (uint64_t)*count)) return -1;
    return sample->reaches_last != 0;
}

bool large_end_judge(const Task *task, const CaseShape *shape, const ImageKernel kernels[], uint64_t seed,
                     Runner *runner, const LargeCase *large, CaseReport *report) {
    bool is_load;
    const int b = large_watched_buffer(task, shape, large, &is_load);
    if (large->reaches_last || b < 0 || report->verdict != VERDICT_PASS || report->is_inconclusive)
        return true;
    Ends ends = {task, shape, kernels, seed, runner, false};
    const long long n = shape->size.n;
    const uint64_t blocks = (uint64_t)shape->launches[0].blocks;
    const long long round = large_round(blocks, (uint64_t)shape->launches[0].block_threads, n);
    uint64_t list[CANDIDATES];
    int count;
    // The same few elements after fewer rounds.
    if (candidates_reach_last(&ends, n % round + round, list, &count) != 1) return !ends.is_lost;
    if (candidates_reach_last(&ends, n, list, &count) != 0) return !ends.is_lost;
    const char *name = task->buffers[b].name, *does = is_load ? "read" : "write";
    char numbers[2][32];
    Text which = {0};
    count_text(n - 1, numbers[0], sizeof numbers[0]);
    count_text(n % round + round, numbers[1], sizeof numbers[1]);
    for (int i = 0; i < count; i++)
        text_printf(&which, "%s%llu",
                    i == 0           ? ""
                    : i == count - 1 ? " and "
                                     : ", ",
                    (unsigned long long)list[i]);
    large_say_wrong(report, CHECK_LEFT_OUT, name, n - 1);
    report->check.elements = n;
    snprintf(report->check.what, sizeof report->check.what,
             "element %s of %s, the last, is left out: blocks %s do not %s it, although one of them %ss the "
             "last of %s "
             "elements",
             numbers[0], name, text_chars(&which), does, does, numbers[1]);
    text_free(&which);
    return true;
}
