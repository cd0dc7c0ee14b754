#include "driver/judge/judge.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/process.h"
#include "driver/plan/elements.h"
#include "driver/judge/accounting.h"
#include "driver/judge/bandwidth_measured.h"
#include "driver/judge/bandwidth_modelled.h"
#include "driver/judge/cases.h"
#include "driver/judge/points.h"
#include "driver/judge/race_replay.h"
#include "driver/judge/repair_search.h"
#include "driver/judge/rerun.h"
#include "driver/judge/state.h"
#include "driver/judge/what_if_search.h"
#include "driver/judge/workers.h"

void judgement_free(Judgement *judgement) {
    for (int i = 0; i < judgement->timing_count; i++) {
        free(judgement->timings[i].raw);
        free(judgement->timings[i].reference_raw);
    }
    free(judgement->cases);
    free(judgement->lines);
    free(judgement->printed);
    free(judgement->timings);
    *judgement = (Judgement){0};
}

// ---- The verdict -----------------------------------------------------------------------------------------

static bool differs_by_schedule_alone(const Case *a, const Case *b) {
    return a->is_beside == b->is_beside && a->task == b->task && a->size.n == b->size.n &&
           a->size.rows == b->size.rows && a->family == b->family && a->misalignment == b->misalignment &&
           a->is_staggered == b->is_staggered;
}

// Tasks whose result must not depend on the order in which blocks and warps happen to run.
static void compare_schedules(Judge *judge) {
    Judgement *judgement = judge->judgement;
    for (int i = 0; i < judgement->case_count; i++) {
        CaseReport *later = &judgement->cases[i];
        if (!judge->of->tasks[later->settings.task].is_bit_identical || !later->was_run ||
            later->verdict != VERDICT_PASS)
            continue;
        for (int k = 0; k < i; k++) {
            const CaseReport *first = &judgement->cases[k];
            if (!first->was_run || first->verdict != VERDICT_PASS ||
                !differs_by_schedule_alone(&first->settings, &later->settings) ||
                first->output_hash == later->output_hash)
                continue;
            CheckReport *check = &later->check;
            later->verdict = VERDICT_WRONG;
            check->outcome = CHECK_NOT_IDENTICAL;
            value_text(first->output_first, check->expected_words, sizeof check->expected_words);
            value_text(later->output_first, check->got_words, sizeof check->got_words);
            snprintf(check->what, sizeof check->what,
                     "the same inputs give %s under schedule %llu and %s under schedule %llu: right within "
                     "rounding, but not the same bits",
                     check->expected_words, (unsigned long long)first->settings.schedule, check->got_words,
                     (unsigned long long)later->settings.schedule);
            snprintf(check->why, sizeof check->why,
                     "The order of the additions depends on which block or warp arrives first.");
            judge_note_failure(judge, later);
            break;
        }
    }
}

// The smallest case usually shows a mistake best. Wrong sums are an exception: one or two elements say
// little, while a few more show which are missing. For these, the first case of at least 31 elements with an
// explanation is preferred.
static int most_telling(const Judgement *judgement, int first) {
    if (first < 0 || judgement->cases[first].check.outcome != CHECK_VALUE) return first;
    const int task = judgement->cases[first].settings.task;
    for (int i = first; i < judgement->case_count; i++) {
        const CaseReport *report = &judgement->cases[i];
        if (report->was_run && report->verdict == VERDICT_WRONG && report->settings.task == task &&
            report->settings.is_beside == judgement->cases[first].settings.is_beside &&
            report->settings.size.n >= 31 && report->settings.size.n <= 1025 &&
            report->check.outcome == CHECK_VALUE && report->check.why[0])
            return i;
    }
    return first;
}

// Chooses between two cases with the same verdict, the first being smaller: an emulator beside a GPU reports
// more than the GPU, a kernel more than a table of hidden answers, and learners solve the tasks in order.
static bool says_more(const Chapter *of, const CaseReport *report, const CaseReport *first) {
    const Case *here = &report->settings, *there = &first->settings;
    if (here->is_beside != there->is_beside) return here->is_beside;
    const bool hides = task_hides_answers(&of->tasks[here->task]);
    if (hides != task_hides_answers(&of->tasks[there->task])) return !hides;
    return here->task < there->task;
}

static void count_cases(Judge *judge) {
    Judgement *judgement = judge->judgement;
    judgement->first = -1;
    judgement->run_count = judgement->passed_count = judgement->failed_count = 0;
    Verdict verdict = VERDICT_PASS;
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
        const bool is_as_bad = judgement->first >= 0 && report->verdict == verdict;
        if (report->verdict < verdict ||
            (is_as_bad && says_more(judge->of, report, &judgement->cases[judgement->first]))) {
            verdict = report->verdict;
            judgement->first = i;
        }
    }
    for (int t = 0; t < MAX_TASKS; t++)
        judgement->task_is_right[t] = judgement->task_is_right[t] && was_run[t];
    judgement->verdict = verdict;
    if (verdict == VERDICT_WRONG) judgement->first = most_telling(judgement, judgement->first);
    // Cases are left out only behind failures; a pass means that every one of them passed.
    if (verdict == VERDICT_PASS && judgement->run_count < judgement->case_count) {
        judgement->verdict = VERDICT_INFRA;
        snprintf(judgement->message, sizeof judgement->message, "only %d of %d cases could run",
                 judgement->run_count, judgement->case_count);
    }
    const bool is_every_size = judge->options->n < 0; // a chosen one need not suit every task
    for (int t = 0; t < chapter_task_count(judge->of); t++) {
        if (was_run[t] || verdict != VERDICT_PASS || !is_every_size) continue;
        judgement->verdict = VERDICT_INFRA;
        snprintf(judgement->message, sizeof judgement->message, "no case of %s could run at this size",
                 judge->of->tasks[t].name);
    }
}

// An impossible time ends the run, even if everything else was right.
static void refuse_untrusted_times(Judgement *judgement, const Bandwidth *bandwidths, int count) {
    for (int i = 0; i < count; i++) {
        if (judgement->verdict != VERDICT_PASS || bandwidths[i].state != BANDWIDTH_UNTRUSTED_TIME) continue;
        judgement->verdict = VERDICT_UNTRUSTED_TIME;
        judgement->task_is_right[bandwidths[i].task] = false;
        memcpy(judgement->message, bandwidths[i].words, sizeof bandwidths[i].words);
    }
}

// ---- All of it -------------------------------------------------------------------------------------------

static int compare_lines(const void *left, const void *right) {
    const CountedLine *a = left, *b = right;
    if (a->task != b->task) return a->task - b->task;
    int files = strcmp(a->counters.place.file, b->counters.place.file);
    if (files != 0) return files;
    if (a->counters.place.line != b->counters.place.line)
        return a->counters.place.line - b->counters.place.line;
    return a->launch - b->launch;
}

static void clean_up(Judge *judge) {
    for (int w = 0; w < judge->worker_count; w++) runner_stop(judge->workers[w].runner);
    prepared_free_all(&judge->cache);
    plan_free(&judge->plan);
    free(judge->shapes);
}

static bool copy_cases(Judge *judge) {
    Judgement *judgement = judge->judgement;
    judgement->cases = calloc((size_t)judge->plan.count + 1, sizeof *judgement->cases);
    if (!judgement->cases) {
        judge_fail(judge, VERDICT_INFRA, "out of memory for the cases");
        return false;
    }
    judgement->case_count = judge->plan.count;
    for (int i = 0; i < judge->plan.count; i++) {
        const Case *one = &judge->plan.cases[i];
        judgement->cases[i].settings = *one;
        judgement->cases[i].seed = seed_of_inputs(&judge->seeds, &one->size, one->family);
    }
    return true;
}

// judgement->timings: one for every size of --time and task that it suits, still without a time.
static void list_timings(Judge *judge) {
    Judgement *judgement = judge->judgement;
    const Options *options = judge->options;
    const int tasks = chapter_task_count(judge->of);
    if (options->time_count == 0) return;
    judgement->timings = calloc((size_t)tasks * (size_t)options->time_count, sizeof *judgement->timings);
    for (int i = 0; judgement->timings && i < options->time_count; i++)
        for (int t = 0; t < tasks; t++)
            if (task_has_bandwidth(&judge->of->tasks[t]) &&
                plan_suits(&judge->of->tasks[t], &options->times[i]))
                bandwidth_unavailable(&judgement->timings[judgement->timing_count++], t, options->times[i],
                                      "not timed");
}

// Bandwidth is determined only for correct kernels.
static void find_bandwidth(Judge *judge) {
    Judgement *judgement = judge->judgement;
    for (int t = 0; t < chapter_task_count(judge->of); t++) {
        judgement->bandwidth[t].task = t;
        judgement->counted[0][t].bandwidth = &judgement->bandwidth[t];
    }
    if (judgement->verdict != VERDICT_PASS) return;
    list_timings(judge);
    if (judge->is_gpu) {
        judge_measure(judge);
    } else {
        judge_model(judge);
    }
    count_cases(judge); // the timed and the modelled runs may have shown what one run did not
    refuse_untrusted_times(judgement, judgement->bandwidth, MAX_TASKS);
    refuse_untrusted_times(judgement, judgement->timings, judgement->timing_count);
}

// --profile of a kernel that no counted case got through, such as one that does not end: counts the first
// case that failed until the kernel is stopped.
static void count_failure(Judge *state) {
    const Judgement *judgement = state->judgement;
    if (!state->options->is_profile || judgement->line_count > 0 || judgement->first < 0) return;
    Worker *emulator = NULL;
    for (int w = 0; w < state->worker_count && !emulator; w++)
        if (state->workers[w].is_beside == state->is_gpu) emulator = &state->workers[w];
    Case one = judgement->cases[judgement->first].settings;
    if (!emulator || one.is_large) return;
    one.is_beside = emulator->is_beside;
    const Rerun how = {.kernels = judge_image(state, emulator->is_beside)->kernels[one.task],
                       .checks = CHECK_ALL,
                       .keeps_lines = true};
    CaseReport ignored;
    judge_rerun(state, emulator, &one, &how, &ignored);
}

void judge(const Chapter *of, const Subjects *subjects, const Options *options, JudgeProgress progress,
           Judgement *judgement) {
    static Judge state;
    memset(&state, 0, sizeof state);
    state.of = of;
    state.subjects = subjects;
    state.options = options;
    state.judgement = judgement;
    state.progress = progress;
    seeds_make(options, subjects->source_sha256, &state.seeds);
    for (int t = 0; t < MAX_TASKS; t++)
        state.tasks[0][t].candidates = state.tasks[1][t].candidates = all_shapes();
    double began = monotonic_seconds();
    *judgement = (Judgement){.first = -1, .note_case = -1, .possible = of->points, .verdict = VERDICT_INFRA};
    if (judge_start_workers(&state) && judge_ask_shapes(&state) && copy_cases(&state)) {
        judge_run_cases(&state);
        compare_schedules(&state);
        count_cases(&state);
        judge_show_race(&state);
        judge_account(&state);
        judge_find_repair(&state);
        judge_measure_shapes(&state);
        find_bandwidth(&state);
        if (options->time_count == 0) judge_goals(&state);
        judge_find_what_if(&state);
        count_failure(&state);
        if (judgement->line_count > 0)
            qsort(judgement->lines, (size_t)judgement->line_count, sizeof *judgement->lines, compare_lines);
        judgement->seconds = monotonic_seconds() - began;
    }
    clean_up(&state);
}
