#include "driver/judge/points.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "driver/plan/elements.h"
#include "gpu/profiles.h"

static long long bytes_of_outputs(const Task *task, const CaseShape *shape) {
    long long bytes = 0;
    for (int b = 0; b < task_buffer_count(task); b++) {
        const Buffer *buffer = &task->buffers[b];
        if (buffer->role == OUTPUT || buffer->role == OUTPUT_ZEROED)
            bytes += quantity_value(task, &buffer->count, shape) * (long long)element_bytes(buffer->type);
    }
    return bytes;
}

void judge_measure_shapes(Judge *judge) {
    for (int i = 0; i < judge->plan.count; i++) {
        const Case *one = &judge->plan.cases[i];
        if (!one->is_counted) continue;
        const TaskShape *shape = judge_case_shape(judge, one);
        Measured *measured = &judge->judgement->counted[one->recount][one->task];
        const Task *task = &judge->of->tasks[one->task];
        if (!shape || shape->verdict != VERDICT_PASS) {
            measured->is_counted = false;
            continue;
        }
        measured->shape = shape->shape;
        measured->is_moved = one->recount > 0;
        measured->misalignment = one->misalignment % 16;
        measured->is_small = one->recount == 0 && one->size.n < plan_goal_size(task).n;
        int out = task_output(task);
        measured->partials = out < 0 ? 0 : quantity_value(task, &task->buffers[out].count, &shape->shape);
        measured->output_bytes = bytes_of_outputs(task, &shape->shape);
        for (int l = 0; l < shape->shape.launch_count; l++) {
            measured->registers[l] = judge->subjects->kernel->kernels[one->task][l].registers;
            measured->static_shared[l] = judge->subjects->kernel->kernels[one->task][l].static_shared;
            measured->spilled[l] = judge->subjects->kernel->kernels[one->task][l].spilled;
        }
    }
}

// A goal of the launch shape, on the other GPUs that there are figures of.
static void judge_on_others(Judge *judge, GoalResult *result) {
    static Measured measured[MAX_TASKS];
    static TaskShape shape;
    const Task *task = &judge->of->tasks[result->task];
    const Worker *worker = &judge->workers[0];
    for (int p = 0; p < gpu_profile_count && result->state == GOAL_MET && !worker->is_lost; p++) {
        const GpuInfo *info = &gpu_profiles[p].info;
        if (!gpu_profiles[p].is_judged || strcmp(info->name, judge->judgement->device.name) == 0) continue;
        memcpy(measured, judge->judgement->counted[0], sizeof measured);
        measured[result->task].is_counted = false; // counters belong to the run's own shapes
        if (!ask_shape_for(worker->runner, 0, task, result->task,
                           judge->subjects->kernel->kernels[result->task], result->size, info,
                           (OtherShape){0}, &shape) ||
            shape.verdict != VERDICT_PASS)
            memset(&shape.shape.launches, 0, sizeof shape.shape.launches); // no blocks: no occupancy
        measured[result->task].shape = shape.shape;
        GoalResult there;
        goal_evaluate(judge->of, result->goal, measured, info, &there);
        if (there.state == GOAL_MET) continue;
        there.state = GOAL_MISSED;
        snprintf(there.device, sizeof there.device, "%.63s", info->name);
        *result = there;
    }
}

// The PTX may have an array in local memory that ptxas keeps in registers.
static void leave_out_local_memory(Judge *judge) {
    for (int k = 0; k < COUNTS; k++)
        for (int t = 0; t < chapter_task_count(judge->of); t++)
            for (int l = 0; l < task_launch_count(&judge->of->tasks[t]); l++) {
                Counters *counters = &judge->judgement->counted[k][t].counters[l];
                if (!judge->subjects->kernel->kernels[t][l].has_no_stack) continue;
                counters->local_ld_requests = counters->local_ld_sectors = 0;
                counters->local_st_requests = counters->local_st_sectors = 0;
            }
}

void judge_goals(Judge *judge) {
    Judgement *judgement = judge->judgement;
    const Chapter *of = judge->of;
    leave_out_local_memory(judge);
    judgement->goal_count = chapter_goal_count(of);
    judgement->possible = of->points;
    const int tasks = chapter_task_count(of);
    int for_goals = 0, right = 0;
    for (int t = 0; t < tasks; t++) right += judgement->task_is_right[t];
    bool is_slow = false;
    double earned = 0;
    for (int g = 0; g < judgement->goal_count; g++) {
        GoalResult *result = &judgement->goals[g];
        goal_evaluate(of, &of->goals[g], judgement->counted[0], &judgement->device, result);
        for (int k = 1; k < COUNTS && result->state == GOAL_MET; k++) {
            GoalResult again;
            goal_evaluate(of, &of->goals[g], judgement->counted[k], &judgement->device, &again);
            if (again.state == GOAL_MISSED) *result = again;
        }
        if (result->state == GOAL_MET && goal_is_of_shape(&of->goals[g])) judge_on_others(judge, result);
        for_goals += of->goals[g].points;
        if (result->state == GOAL_MISSED) is_slow = true;
        if (!judgement->task_is_right[result->task]) result->share = 0;
        earned += result->share * of->goals[g].points;
    }
    // Correctness earns the points that are not for goals, divided evenly among the tasks.
    if (tasks > 0) earned += (double)(of->points - for_goals) * right / tasks;
    judgement->earned = floor(10 * earned + 1e-6) / 10;
    if (judgement->verdict == VERDICT_PASS && is_slow) judgement->verdict = VERDICT_SLOW;
}
