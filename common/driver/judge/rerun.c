#include "driver/judge/rerun.h"

#include <string.h>

bool judge_rerun(Judge *judge, Worker *worker, const Case *one, const Rerun *how, CaseReport *report) {
    const Task *task = &judge->of->tasks[one->task];
    const TaskShape *shape = judge_case_shape(judge, one);
    static Request request;
    char why[512];
    *report = (CaseReport){.settings = *one};
    if (worker->is_lost || !shape || shape->verdict != VERDICT_PASS ||
        !case_layout(task, &shape->shape, runner_arena_bytes(worker->runner), &worker->layout, why,
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
    for (int l = 0; l < program->launch_count; l++) program->launches[l].guarded_line = how->guarded_line;
    for (int l = 0; l < program->launch_count; l++)
        if (how->steps && how->steps < program->launches[l].max_steps)
            program->launches[l].max_steps = how->steps;
    RunReply reply;
    runner_run(worker->runner, &request, case_seconds(false, one->size.n), &reply);
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

double judge_work_of(const CaseReport *report) { return 0.5 + 4e-6 * (double)report->lane_instructions; }
