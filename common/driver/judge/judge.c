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
#include "driver/judge/counted_lines.h"
#include "driver/judge/float_atomics.h"
#include "driver/judge/needless_barriers.h"
#include "driver/judge/other_failures.h"
#include "driver/judge/page_work.h"
#include "driver/judge/points.h"
#include "driver/judge/race_replay.h"
#include "driver/judge/repair_search.h"
#include "driver/judge/rerun.h"
#include "driver/judge/state.h"
#include "driver/judge/tally.h"
#include "driver/judge/variant_search.h"
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
                !case_is_of_other_schedule(&first->settings, &later->settings) ||
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
            const int line = line_of_float_atomics(judge, later->settings.task);
            char atomic[96] = "";
            if (line > 0)
                snprintf(atomic, sizeof atomic,
                         " Line %d adds floats atomically, in the order in which they arrive.", line);
            snprintf(
                check->why, sizeof check->why,
                "Between the two, only the order in which threads run differs, and the bits may depend only "
                "on the launch shape.%s",
                atomic);
            judge_note_failure(judge, later);
            break;
        }
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

static void clean_up(Judge *judge) {
    for (int w = 0; w < judge->worker_count; w++) runner_stop(judge->workers[w].runner);
    runner_stop(judge->changed);
    variant_search_free(judge->proved);
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
    judge_count_cases(judge); // the timed and the modelled runs may have shown what one run did not
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

static void judge_cases(const Chapter *of, const Subjects *subjects, const Options *options,
                        JudgeProgress progress, Judgement *judgement) {
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
    if (judge_start_workers(&state) && judge_ask_shapes(&state) && copy_cases(&state) &&
        judge_run_cases(&state)) {
        compare_schedules(&state);
        judge_count_cases(&state);
        judge_show_race(&state);
        page_work_begin(&state, options->repair_work);
        judge_account(&state, 1);
        judge_find_repair(&state, 1, NULL, 0);
        judge_explain_others(&state);
        judge_measure_shapes(&state);
        find_bandwidth(&state);
        if (options->time_count == 0) judge_goals(&state);
        judge_find_what_if(&state);
        judge_find_needless_barriers(&state);
        count_failure(&state);
        counted_lines_sort(judgement);
        judgement->seconds = monotonic_seconds() - began;
    }
    clean_up(&state);
}

// ---- A part of the cases ---------------------------------------------------------------------------------

// Takes over what proves how the task fails that is shown. False: it is none of those that are explained.
static bool take_proof(Judgement *to, const Judgement *from) {
    if (from->first < 0) return false;
    const int task = to->cases[to->first].settings.task;
    if (from->cases[from->first].settings.task == task) {
        to->repair = from->repair;
        to->accounting = from->accounting;
        return true;
    }
    for (int o = 0; o < from->other_count; o++) {
        const OtherFailure *other = &from->others[o];
        if (from->cases[other->first].settings.task != task) continue;
        to->repair = other->repair;
        to->accounting = other->accounting;
        return true;
    }
    return false;
}

// What is right at one size or under one schedule may be wrong at others, so that nothing is proved by them:
// the cause is the one that all cases of the chapter show, and those of this size.
void judge(const Chapter *of, const Subjects *subjects, const Options *options, JudgeProgress progress,
           Judgement *judgement) {
    const bool is_part = options->n >= 0 || options->has_schedule;
    if (!is_part || options->repair_work == 0 || options->time_count > 0) {
        judge_cases(of, subjects, options, progress, judgement);
        return;
    }
    Options facts = *options, all = *options;
    facts.repair_work = 0;
    judge_cases(of, subjects, &facts, progress, judgement);
    if (judgement->first < 0) return;
    if (options->n >= 0 && options->n <= EMULATED_MOST && all.also_count < MAX_ALSO)
        all.also[all.also_count++] = (CaseSize){.n = options->n};
    all.n = -1;
    all.has_schedule = all.is_profile = false;
    Judgement whole;
    judge_cases(of, subjects, &all, NULL, &whole);
    const bool is_shown = take_proof(judgement, &whole);
    judgement->seconds += whole.seconds;
    judgement_free(&whole);
    if (is_shown) return;
    judgement_free(judgement); // it fails in this case alone
    judge_cases(of, subjects, options, progress, judgement);
}
