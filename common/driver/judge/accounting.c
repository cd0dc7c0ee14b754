#include "driver/judge/accounting.h"

#include <stdlib.h>

#include "driver/judge/account.h"
#include "driver/plan/elements.h"
#include "driver/plan/inputs.h"

enum {
    LARGEST = 1 << 17, // elements of a case that is accounted for
    TELLING = 1100,    // elements: several blocks of every usual size
};
// What a usual machine takes, in milliseconds: counted, so that every machine finds the same.
static const double work_for_marks = 400;

typedef void Method(Account *account, Accounting *out);

static Method *choose_method(const Task *task) {
    switch (task->expect) {
    case EXPECT_SUM:
    case EXPECT_ROW_SUMS: return account_sums;
    case EXPECT_ELEMENTWISE: return task->element ? NULL : account_places;
    case EXPECT_TRANSPOSE: return account_places;
    default: return NULL;
    }
}

// A wrong case of the task: the largest one up to TELLING elements, otherwise the smallest. Of sums, one of
// whole numbers, which is wrong by whole elements.
static const CaseReport *choose_case(const Judgement *judgement, int task, bool is_sum) {
    const CaseReport *chosen = NULL;
    for (int i = 0; i < judgement->case_count; i++) {
        const CaseReport *report = &judgement->cases[i];
        const long long n = report->settings.size.n, best = chosen ? chosen->settings.size.n : 0;
        if (!report->was_run || report->settings.task != task || report->verdict != VERDICT_WRONG ||
            report->settings.is_large || report->origin != CASE_OF_PLAN || n < 1 || n > LARGEST)
            continue;
        if (is_sum && (report->settings.family != FAMILY_INTEGERS || report->check.outcome != CHECK_VALUE))
            continue;
        if (!chosen || (n <= TELLING && (n > best || best > TELLING)) || (best > TELLING && n < best))
            chosen = report;
    }
    return chosen;
}

// Inputs of zeros. False when memory ran out.
static bool clear_inputs(Account *account) {
    for (int b = 0; b < task_buffer_count(account->task); b++) {
        if (account->task->buffers[b].role != INPUT) continue;
        account->inputs[b] =
            calloc((size_t)account->counts[b] + 1, element_bytes(account->task->buffers[b].type));
        if (!account->inputs[b]) return false;
    }
    return true;
}

void judge_account(Judge *judge) {
    Judgement *judgement = judge->judgement;
    if (judge->options->repair_ms == 0 || judgement->verdict != VERDICT_WRONG || judgement->first < 0 ||
        judge->options->time_count > 0 || chapter_hides_answers(judge->of))
        return;
    const int task = judgement->cases[judgement->first].settings.task;
    Account account = {.judge = judge, .task = &judge->of->tasks[task], .work = work_for_marks};
    Method *method = choose_method(account.task);
    const CaseReport *chosen = choose_case(judgement, task, method == account_sums);
    for (int w = 0; w < judge->worker_count && !account.worker; w++)
        if (judge->workers[w].is_beside == judge->is_gpu) account.worker = &judge->workers[w];
    const TaskShape *shape = chosen ? judge_case_shape(judge, &chosen->settings) : NULL;
    char why[512];
    CaseLayout layout;
    if (!method || !shape || !account.worker ||
        !case_layout(account.task, &shape->shape, runner_arena_bytes(account.worker->runner), &layout, why,
                     sizeof why))
        return;
    account.one = chosen->settings;
    account.one.is_counted = false;
    account.launch = chosen->shape.launches[0];
    for (int b = 0; b < MAX_BUFFERS; b++) account.counts[b] = layout.counts[b];
    account.how = (Rerun){.kernels = judge_image(judge, judge->is_gpu)->kernels[task],
                          .checks = CHECK_MEMORY,
                          .inputs = account.inputs};
    if (clear_inputs(&account)) method(&account, &judgement->accounting);
    for (int b = 0; b < MAX_BUFFERS; b++) free(account.inputs[b]);
}
