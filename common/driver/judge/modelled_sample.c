#include "driver/judge/modelled_sample.h"

#include <math.h>
#include <string.h>

#include "driver/judge/large_case.h"

static const double elements_of_sample = 1 << 17; // where a block has fewer
static const uint64_t most_steps = 1 << 25;
enum { MOST_BLOCKS = 4 };

// Blocks that follow one another, since these share what lies in one line.
static void choose_blocks(const ShapeOfLaunch *shape, double elements, uint64_t first, RunLaunch *launch) {
    const uint64_t blocks = (uint64_t)shape->blocks;
    uint64_t count = (uint64_t)fmax(1, fmin(MOST_BLOCKS, elements_of_sample * (double)blocks / elements));
    if (count > blocks) count = blocks;
    if (first > blocks - count) first = blocks - count;
    for (uint64_t k = 0; k < count; k++) launch->sample[k] = first + k;
    launch->sample_count = count;
    launch->most_read = UINT64_MAX;
    launch->max_steps = most_steps;
}

// The blocks from there on, of each launch.
static bool run_from(ModelledTask *modelled, const CaseShape *whole, bool is_first, ModelledSample *sample) {
    static Request request;
    static LargeCase large;
    static CaseReport ignored;
    const Task *task = modelled->task;
    const uint64_t seed = seed_of_inputs(&modelled->judge->seeds, &whole->size, FAMILY_INTEGERS);
    *sample = (ModelledSample){0};
    bool is_known = false;
    if (large_case_begin(task, whole, modelled->image->kernels[modelled->index], seed, modelled->runner,
                         &large, &request, &ignored)) {
        for (int l = 0; l < request.program.launch_count; l++) {
            const ShapeOfLaunch *shape = &whole->launches[large.layout.launch_index[l]];
            const double elements = (double)whole->size.n * fmax(1, (double)whole->size.depth);
            choose_blocks(shape, elements, is_first ? 0 : (uint64_t)shape->blocks / 2,
                          &request.program.launches[l]);
        }
        request.timing = 1;
        request.what_if = modelled->what_if.timing;
        RunReply reply, restarted;
        runner_run(modelled->runner, &request, case_seconds(false, whole->size.n), &reply);
        const bool has_replied = reply.end == RUN_REPLIED;
        for (int l = 0; has_replied && l < large.layout.launch_count; l++) {
            const int index = large.layout.launch_index[l];
            sample->works[index] = reply.header->works[l];
            sample->has_ended[index] =
                reply.header->sample.ended[l] == request.program.launches[l].sample_count;
        }
        is_known = has_replied && !reply.header->sample.waits && !reply.header->sample.is_unreserved;
        if (!has_replied || reply.header->context_lost) (void)runner_restart(modelled->runner, &restarted);
    }
    large_case_free(&large);
    return is_known;
}

bool modelled_sample(ModelledTask *modelled, const CaseShape *whole, ModelledSample *sample) {
    // Where blocks wait for those before them, the first ones do not.
    return run_from(modelled, whole, false, sample) || run_from(modelled, whole, true, sample);
}

static double total(const ModelWork *work) {
    double sum = 0;
    for (int i = 0; i < MODEL_PLACES; i++) sum += work->by_place[i];
    return sum;
}

double modelled_other_instructions(const ModelWork *sampled, const ModelWork *extrapolated) {
    const double here = total(sampled), there = total(extrapolated);
    double other = 0;
    if (!(here > 0) || !(there > 0)) return 0;
    for (int i = 0; i < MODEL_PLACES; i++)
        other += fmax(0, sampled->by_place[i] / here - extrapolated->by_place[i] / there);
    return other;
}
