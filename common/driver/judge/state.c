#include "driver/judge/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/profiles.h"

void judge_fail(Judge *judge, Verdict verdict, const char *words) {
    judge->judgement->verdict = verdict;
    snprintf(judge->judgement->message, sizeof judge->judgement->message, "%.1100s", words);
}

void judge_add_failed(Judge *judge, const CaseReport *report, CaseOrigin origin) {
    Judgement *judgement = judge->judgement;
    CaseReport *grown =
        realloc(judgement->cases, ((size_t)judgement->case_count + 1) * sizeof *judgement->cases);
    if (!grown) return;
    judgement->cases = grown;
    grown[judgement->case_count] = *report;
    grown[judgement->case_count++].origin = origin;
}

const Image *judge_image(const Judge *judge, bool is_beside) {
    return is_beside ? judge->subjects->emulated : judge->subjects->kernel;
}

// ---- Launch shapes ---------------------------------------------------------------------------------------

TaskShape *judge_case_shape(const Judge *judge, const Case *one) {
    for (int i = 0; i < judge->shape_count; i++) {
        TaskShape *shape = &judge->shapes[i];
        if (shape->task == one->task && shape->figures == one->figures &&
            memcmp(&shape->size, &one->size, sizeof one->size) == 0)
            return shape;
    }
    return NULL;
}

TaskShape *judge_shape(const Judge *judge, int task, const CaseSize *size) {
    return judge_case_shape(judge, &(Case){.task = task, .size = *size});
}

bool judge_ask_shape(Judge *judge, int task, CaseSize size) {
    return judge_ask_case_shape(judge, &(Case){.task = task, .size = size});
}

bool judge_ask_case_shape(Judge *judge, const Case *one) {
    if (judge_case_shape(judge, one)) return true;
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
    const GpuInfo *figures = one->figures ? &gpu_profiles[one->figures - 1].info : runner_info(runner);
    const bool fine = ask_shape_for(runner, 0, &judge->of->tasks[one->task], one->task,
                                    judge->subjects->kernel->kernels[one->task], one->size, figures,
                                    (OtherShape){0}, shape);
    shape->figures = one->figures;
    if (fine) return true;
    RunReply reply;
    shape->ended_runner = true;
    if (runner_restart(runner, &reply)) return true;
    judge_fail(judge, VERDICT_INFRA, reply.words);
    return false;
}
