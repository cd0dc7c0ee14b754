#include "driver/judge/rerun.h"

#include <stdio.h>
#include <string.h>

#include "gpu/profiles.h"
#include "driver/judge/cases.h"
#include "driver/judge/large_end.h"
#include "driver/judge/variants/variants.h"

// For a large case, says only whether the first or the last block reaches the last element.
static bool rerun_ends(Judge *judge, Worker *worker, const Case *one, const Rerun *how, CaseReport *report) {
    const TaskShape *shape = judge_case_shape(judge, one);
    const uint64_t seed = seed_of_inputs(&judge->seeds, &one->size, one->family);
    const bool reaches = large_ends_reach(&judge->of->tasks[one->task], &shape->shape, how->kernels, seed,
                                          worker->runner, &worker->is_lost, report);
    report->was_run = true;
    report->verdict = reaches ? VERDICT_PASS : VERDICT_WRONG;
    return !worker->is_lost;
}

// The same for a case of which only a few blocks run.
static bool rerun_large(Judge *judge, Worker *worker, const Case *one, const Rerun *how,
                        const CaseShape *shape, CaseReport *report) {
    const Task *task = &judge->of->tasks[one->task];
    static Request request;
    static LargeCase large;
    const bool is_ready =
        large_case_begin(task, shape, how->kernels, seed_of_inputs(&judge->seeds, &one->size, one->family),
                         worker->runner, &large, &request, report);
    if (is_ready) {
        RunReply reply;
        runner_run(worker->runner, &request, case_seconds(false, one->size.n), &reply);
        worker->is_lost = reply.end != RUN_REPLIED;
        large_case_judge(task, shape, &large, &reply, runner_arena(worker->runner), report);
    }
    large_case_free(&large);
    if (is_ready && !worker->is_lost && one->end_n > 0)
        worker->is_lost = !large_end_judge(judge, one->end_n, how->kernels, worker->runner, report);
    return is_ready && !worker->is_lost && !report->is_inconclusive;
}

// The launches of a case, or those with a larger grid. NULL if they are refused.
static const TaskShape *shape_of(Judge *judge, Worker *worker, const Case *one, const Rerun *how) {
    const TaskShape *own = judge_case_shape(judge, one);
    if (!own || own->verdict != VERDICT_PASS) return NULL;
    if (!is_other_shape(how->shape)) return own;
    static TaskShape other;
    const GpuInfo *device = one->figures ? &gpu_profiles[one->figures - 1].info : runner_info(worker->runner);
    worker->is_lost = !ask_shape_for(worker->runner, 0, &judge->of->tasks[one->task], one->task, how->kernels,
                                     one->size, device, how->shape, &other);
    return worker->is_lost || other.verdict != VERDICT_PASS ? NULL : &other;
}

// Sets the image's variable that chooses one of its variants. False: there is no room for its value.
static bool choose_variant(Worker *worker, int variant, RunProgram *program) {
    const uint32_t choice = (uint32_t)variant;
    if (variant == 0) return true;
    if (program->buffer_count == MAX_BUFFERS ||
        worker->layout.bytes + sizeof choice > runner_arena_bytes(worker->runner))
        return false;
    RunBuffer *buffer = &program->buffers[program->buffer_count++];
    *buffer = (RunBuffer){
        .bytes = sizeof choice, .arena_offset = worker->layout.bytes, .fill = FILL_DATA, .is_constant = true};
    snprintf(buffer->name, sizeof buffer->name, "%s", VARIANT_CHOICE);
    memcpy(runner_arena(worker->runner) + worker->layout.bytes, &choice, sizeof choice);
    return true;
}

// The most that a launch takes while a change is tried, which may make a loop endless.
static uint64_t few_steps(const CaseShape *shape) {
    enum { STEPS = 1 << 24, EACH_STEPS = 128 }; // and those for each element and thread
    return STEPS + EACH_STEPS * (uint64_t)(shape->size.n + case_threads(shape));
}

static bool rerun(Judge *judge, Worker *worker, const Case *one, const Rerun *how, CaseReport *report) {
    const Task *task = &judge->of->tasks[one->task];
    static Request request;
    char why[512];
    *report = (CaseReport){.settings = *one};
    const TaskShape *shape = worker->is_lost ? NULL : shape_of(judge, worker, one, how);
    if (!shape) return false;
    if (one->is_large && how->is_of_the_end) return rerun_ends(judge, worker, one, how, report);
    if (one->is_large) return rerun_large(judge, worker, one, how, &shape->shape, report);
    if (!case_layout(task, &shape->shape, runner_arena_bytes(worker->runner), &worker->layout, why,
                     sizeof why))
        return false;
    Prepared *prepared = prepared_take(&judge->cache, task, one, &shape->shape, worker->layout.counts,
                                       seed_of_inputs(&judge->seeds, &one->size, one->family));
    if (!prepared) return false;
    case_request(task, one, &shape->shape, &worker->layout, prepared, how->kernels,
                 runner_arena(worker->runner), &request);
    request.checks = how->checks;
    for (int b = 0; how->inputs && b < task_buffer_count(task); b++)
        if (how->inputs[b])
            memcpy(runner_arena(worker->runner) + worker->layout.offsets[b], how->inputs[b],
                   (size_t)worker->layout.counts[b] * element_bytes(task->buffers[b].type));
    RunProgram *program = &request.program;
    for (int b = 0; b < program->buffer_count; b++)
        if (how->zeroes_output && program->buffers[b].fill == FILL_POISON)
            program->buffers[b].fill = FILL_ZERO;
    if (!choose_variant(worker, how->variant, program)) {
        prepared_release(prepared);
        return false;
    }
    for (int l = 0; l < program->launch_count; l++) program->launches[l].guarded_line = how->guarded_line;
    uint64_t few = (uint64_t)how->patience * few_steps(&shape->shape);
    if (how->most_steps && how->most_steps < few) few = how->most_steps;
    if (how->is_of_search && (few == 0 || page_work_steps(judge) < few)) few = page_work_steps(judge);
    for (int l = 0; l < program->launch_count; l++)
        if (few && few < program->launches[l].max_steps) program->launches[l].max_steps = few;
    for (int l = 0; how->is_of_search && l < program->launch_count; l++)
        program->launches[l].max_seconds = page_work_seconds(judge);
    RunReply reply;
    request.count = request.count || how->keeps_lines;
    request.timing = how->works != NULL;
    runner_run(worker->runner, &request, case_seconds(false, one->size.n), &reply);
    for (int l = 0; reply.end == RUN_REPLIED && how->works && l < worker->layout.launch_count; l++)
        how->works[worker->layout.launch_index[l]] = reply.header->works[l];
    if (reply.end == RUN_REPLIED && how->keeps_lines) judge_keep_lines(judge, one, &worker->layout, &reply);
    if (reply.end == RUN_REPLIED && how->inputs)
        report->verdict =
            case_has_failed(task, &worker->layout, &reply, report) ? report->verdict : VERDICT_PASS;
    else if (reply.end == RUN_REPLIED)
        case_judge(task, &shape->shape, &worker->layout, prepared, &reply, runner_arena(worker->runner),
                   false, report);
    else
        worker->is_lost = true;
    prepared_release(prepared);
    return !worker->is_lost;
}

bool judge_rerun(Judge *judge, Worker *worker, const Case *one, const Rerun *how, CaseReport *report) {
    if (how->is_of_search && page_work_is_over(judge)) {
        *report = (CaseReport){.settings = *one};
        return false;
    }
    const bool is_known = rerun(judge, worker, one, how, report);
    if (!how->is_of_search) return is_known;
    const bool is_of_ends = one->is_large && how->is_of_the_end;
    page_work_take(judge, is_of_ends ? page_work_of_ends(report) : judge_work_of(report));
    // What stopped it may be that the work was over.
    return is_known && !(report->verdict == VERDICT_TIMEOUT && page_work_is_over(judge));
}
