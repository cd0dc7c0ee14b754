#include "driver/judge/race_replay.h"

#include <stdio.h>

#include "support/command_words.h"
#include "support/process.h"
#include "driver/judge/rerun.h"
#include "driver/plan/elements.h"

enum { SEEDS_TRIED = 64 };
static const double seconds_for_seeds = 0.3;

// The values of a case alone, without looking for races. False when nothing can be said.
static bool values_of(Judge *judge, Worker *worker, const Case *one, CaseReport *report) {
    const Rerun how = {.kernels = judge_image(judge, worker->is_beside)->kernels[one->task],
                       .checks = CHECK_MEMORY};
    return judge_rerun(judge, worker, one, &how, report) && report->has_check;
}

void judge_show_race(Judge *judge) {
    Judgement *judgement = judge->judgement;
    if (judgement->verdict != VERDICT_RACE) return;
    const CaseReport *shown = &judgement->cases[judgement->first];
    Worker *emulator = NULL;
    for (int w = 0; w < judge->worker_count && !emulator; w++)
        if (judge->workers[w].is_beside == judge->is_gpu) emulator = &judge->workers[w];
    if (!emulator) return;
    for (int i = 0; i < judgement->case_count; i++) {
        const CaseReport *report = &judgement->cases[i];
        if (report->verdict == VERDICT_RACE && report->settings.task == shown->settings.task &&
            report->settings.is_beside == judge->is_gpu && report->settings.family == FAMILY_INTEGERS &&
            report->settings.size.n <= 1025)
            shown = report;
    }
    Case one = shown->settings;
    one.is_counted = false;
    const double until = monotonic_seconds() + seconds_for_seeds;
    const bool is_fixed = judge->options->has_schedule;
    char plain[64] = "";
    for (uint64_t seed = 0; seed <= SEEDS_TRIED && monotonic_seconds() < until; seed++) {
        CaseReport report;
        one.schedule = is_fixed ? judge->options->schedule : seed;
        if (!values_of(judge, emulator, &one, &report)) return;
        if (report.verdict != VERDICT_PASS) {
            char n[32];
            count_text(one.size.n, n, sizeof n);
            judgement->has_replay = true;
            judgement->replay_schedule = one.schedule;
            snprintf(
                judgement->replay, sizeof judgement->replay,
                "at n = %s %sschedule %llu gives this: %.300s. To repeat it: %s%s%s --n %lld --schedule %llu",
                n, plain, (unsigned long long)one.schedule, report.check.what, command_run(), judge->of->name,
                judge->is_gpu ? " --device emulator" : "", one.size.n, (unsigned long long)one.schedule);
            return;
        }
        if (is_fixed) return;
        snprintf(plain, sizeof plain, "schedule 0 gives the right result, and ");
    }
}
