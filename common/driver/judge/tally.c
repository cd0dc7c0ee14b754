#include "driver/judge/tally.h"

#include <stdio.h>
#include <string.h>

// The smallest case usually shows a mistake best. Wrong sums are an exception: one or two elements say
// little, while a few more show which are missing. For these, the first case of at least 31 elements with an
// explanation is preferred; what a program leaves needs none.
static int most_telling(const Chapter *of, const Judgement *judgement, int first) {
    if (first < 0 || judgement->cases[first].check.outcome != CHECK_VALUE) return first;
    const int task = judgement->cases[first].settings.task;
    for (int i = first; i < judgement->case_count; i++) {
        const CaseReport *report = &judgement->cases[i];
        if (report->was_run && report->verdict == VERDICT_WRONG && report->settings.task == task &&
            report->settings.is_beside == judgement->cases[first].settings.is_beside &&
            report->settings.size.n >= 31 && report->settings.size.n <= 1025 &&
            report->check.outcome == CHECK_VALUE && (report->check.why[0] || of->is_program))
            return i;
    }
    return first;
}

bool case_explains_itself(const CaseReport *report) {
    return report->settings.schedule == 0 || report->has_finding;
}

// Chooses between two cases with the same verdict, the first being smaller: an emulator beside a GPU reports
// more than the GPU, a kernel more than a table of hidden answers, learners solve the tasks in order, and
// what was found says more than a failure that says only that something is wrong.
static bool says_more(const Chapter *of, const CaseReport *report, const CaseReport *first) {
    const Case *here = &report->settings, *there = &first->settings;
    if (here->is_beside != there->is_beside) return here->is_beside;
    const bool hides = task_hides_answers(&of->tasks[here->task]);
    if (hides != task_hides_answers(&of->tasks[there->task])) return !hides;
    if (here->task != there->task) return here->task < there->task;
    return report->has_finding && !case_explains_itself(first);
}

// What goes wrong while every call succeeds comes before what goes wrong after the judge let a call fail.
static bool comes_before(const CaseReport *report, const CaseReport *first) {
    const bool fails = report->settings.failing > 0;
    if (fails != (first->settings.failing > 0)) return !fails;
    return report->verdict < first->verdict;
}

int judge_choose_failure(const Judge *judge, int task, Verdict *verdict) {
    const Judgement *judgement = judge->judgement;
    int first = -1;
    *verdict = VERDICT_PASS;
    for (int i = 0; i < judgement->case_count; i++) {
        const CaseReport *report = &judgement->cases[i];
        if (!report->was_run || report->verdict == VERDICT_PASS ||
            (task >= 0 && report->settings.task != task))
            continue;
        const CaseReport *so_far = first < 0 ? NULL : &judgement->cases[first];
        if (!so_far || comes_before(report, so_far) ||
            (!comes_before(so_far, report) && says_more(judge->of, report, so_far))) {
            *verdict = report->verdict;
            first = i;
        }
    }
    return *verdict == VERDICT_WRONG ? most_telling(judge->of, judgement, first) : first;
}

void judge_count_cases(Judge *judge) {
    Judgement *judgement = judge->judgement;
    judgement->run_count = judgement->passed_count = judgement->failed_count = 0;
    bool was_run[MAX_TASKS] = {0};
    for (int t = 0; t < MAX_TASKS; t++) judgement->task_is_right[t] = true;
    for (int t = 0; t < MAX_TASKS; t++) { // one wrong sum alone may fit by chance
        const Progress *device = &judge->tasks[0][t], *beside = &judge->tasks[1][t];
        judgement->shapes[t] = beside->wrong_sums > 1   ? beside->candidates
                               : device->wrong_sums > 1 ? device->candidates
                                                        : (ShapeSet){0};
    }
    for (int i = 0; i < judgement->case_count; i++) {
        const CaseReport *report = &judgement->cases[i];
        if (!report->was_run) {
            judgement->task_is_right[report->settings.task] = false;
            continue;
        }
        was_run[report->settings.task] = true;
        judgement->run_count++;
        if (report->verdict == VERDICT_PASS) {
            judgement->passed_count++;
            continue;
        }
        judgement->failed_count++;
        judgement->task_is_right[report->settings.task] = false;
    }
    for (int t = 0; t < MAX_TASKS; t++)
        judgement->task_is_right[t] = judgement->task_is_right[t] && was_run[t];
    Verdict verdict;
    judgement->first = judge_choose_failure(judge, -1, &verdict);
    judgement->verdict = verdict;
    // Cases are left out only behind failures; a pass means that every one of them passed.
    if (verdict == VERDICT_PASS && judgement->run_count < judgement->case_count) {
        judgement->verdict = VERDICT_INFRA;
        snprintf(judgement->message, sizeof judgement->message, "only %d of %d cases could run",
                 judgement->run_count, judgement->case_count);
    }
    // Chosen sizes need not suit every task.
    const bool is_every_size = judge->options->n < 0 && judge->options->time_count == 0;
    for (int t = 0; t < chapter_task_count(judge->of); t++) {
        if (was_run[t] || verdict != VERDICT_PASS || !is_every_size) continue;
        judgement->verdict = VERDICT_INFRA;
        snprintf(judgement->message, sizeof judgement->message, "no case of %s could run at this size",
                 judge->of->tasks[t].name);
    }
}
