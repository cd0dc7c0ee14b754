#include "driver/judge/other_failures.h"

#include "driver/judge/accounting.h"
#include "driver/judge/page_work.h"
#include "driver/judge/repair_search.h"
#include "driver/judge/tally.h"

// Of the work that the first failure may take: all of them together.
static const double share_of_account = 0.5, share_of_repair = 0.5;
// Of the page's work: what is added for them, since the first failure may have taken all of it.
static const double share_of_page = 0.15;

void judgement_exchange(Judgement *judgement, OtherFailure *other) {
    const OtherFailure was = {.first = judgement->first,
                              .verdict = judgement->verdict,
                              .repair = judgement->repair,
                              .accounting = judgement->accounting};
    judgement->first = other->first;
    judgement->verdict = other->verdict;
    judgement->repair = other->repair;
    judgement->accounting = other->accounting;
    *other = was;
}

static void account_for(Judge *judge, OtherFailure *other) {
    judgement_exchange(judge->judgement, other);
    judge_account(judge, share_of_account / judge->judgement->other_count);
    judgement_exchange(judge->judgement, other);
}

// `known`: the repairs of the first failure and of those before this one.
static void find_repair(Judge *judge, OtherFailure *other, const Repair known[], int known_count) {
    judgement_exchange(judge->judgement, other);
    judge_find_repair(judge, share_of_repair / judge->judgement->other_count, known, known_count);
    judgement_exchange(judge->judgement, other);
}

// Whether a task may not have been begun: no case is right, and the one that shows it best lacks a result.
static bool is_not_begun(const Judgement *judgement, int task, int first) {
    for (int i = 0; i < judgement->case_count; i++) {
        const CaseReport *report = &judgement->cases[i];
        if (report->settings.task == task && report->was_run && report->verdict == VERDICT_PASS) return false;
    }
    const CaseReport *report = &judgement->cases[first];
    return !report->has_finding && report->has_check && report->check.outcome == CHECK_NOT_WRITTEN;
}

void judge_explain_others(Judge *judge) {
    Judgement *judgement = judge->judgement;
    // One of them tells the answers of another.
    for (int t = 0; t < chapter_task_count(judge->of); t++)
        if (task_hides_answers(&judge->of->tasks[t])) return;
    if (judgement->first < 0 || judge->options->repair_work == 0 || judge->options->time_count > 0) return;
    const int shown = judgement->cases[judgement->first].settings.task;
    for (int t = 0; t < chapter_task_count(judge->of) && judgement->other_count < MOST_OTHERS; t++) {
        OtherFailure other = {0};
        other.first = judge_choose_failure(judge, t, &other.verdict);
        if (t == shown || other.first < 0 || is_not_begun(judgement, t, other.first)) continue;
        judgement->others[judgement->other_count++] = other;
    }
    Repair known[MOST_OTHERS + 1];
    int known_count = 0;
    if (judgement->other_count > 0) page_work_take(judge, -share_of_page * judge->options->repair_work);
    if (judgement->repair.change_count > 0) known[known_count++] = judgement->repair;
    for (int o = 0; o < judgement->other_count; o++) account_for(judge, &judgement->others[o]);
    for (int o = 0; o < judgement->other_count; o++) {
        find_repair(judge, &judgement->others[o], known, known_count);
        if (judgement->others[o].repair.change_count > 0) known[known_count++] = judgement->others[o].repair;
    }
}
