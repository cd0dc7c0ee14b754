#include "driver/judge/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void judge_fail(Judge *judge, Verdict verdict, const char *words) {
    judge->judgement->verdict = verdict;
    snprintf(judge->judgement->message, sizeof judge->judgement->message, "%.1100s", words);
}

const Image *judge_image(const Judge *judge, bool is_beside) {
    return is_beside ? judge->subjects->emulated : judge->subjects->kernel;
}

// ---- Launch shapes ---------------------------------------------------------------------------------------

TaskShape *judge_shape(const Judge *judge, int task, const CaseSize *size) {
    for (int i = 0; i < judge->shape_count; i++)
        if (judge->shapes[i].task == task && memcmp(&judge->shapes[i].size, size, sizeof *size) == 0)
            return &judge->shapes[i];
    return NULL;
}

bool judge_ask_shape(Judge *judge, int task, CaseSize size) {
    if (judge_shape(judge, task, &size)) return true;
    if (judge->shape_count == judge->shape_capacity) {
        int capacity = judge->shape_capacity ? 2 * judge->shape_capacity : 64;
        TaskShape *grown = realloc(judge->shapes, (size_t)capacity * sizeof *grown);
        if (!grown) {
            judge_fail(judge, VERDICT_INFRA, "out of memory for the launch shapes");
            return false;
        }
        judge->shapes = grown;
        judge->shape_capacity = capacity;
    }
    TaskShape *shape = &judge->shapes[judge->shape_count++];
    Runner *runner = judge->workers[0].runner;
    if (ask_shape(runner, 0, &judge->of->tasks[task], task, judge->subjects->kernel->kernels[task], size,
                  shape))
        return true;
    RunReply reply;
    shape->ended_runner = true;
    if (runner_restart(runner, &reply)) return true;
    judge_fail(judge, VERDICT_INFRA, reply.words);
    return false;
}
