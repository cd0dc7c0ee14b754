#include "driver/judge/repair_switch.h"

#include <stdlib.h>
#include <string.h>

enum { PATIENCE = 2 }; // Rerun
// Of the runs in which a line may still do what it did: with fewer, too few sizes and bases are tried.
static const double work_to_find = 400;

// What a line did, as bits.
typedef struct {
    char file[sizeof(SourcePlace){0}.file];
    int line;
    unsigned done;
} Doing;

typedef struct {
    Doing *all;
    int count;
    const Change *const *changes;
    int change_count;
    unsigned own;               // what the lines of the changes do
    const SourcePlace *endless; // the loop that did not end; NULL: none
    bool failed;                // memory ran out
} Doings;

static bool is_endless(const Doings *doings, const SourcePlace *place) {
    return doings->endless && doings->endless->line == place->line &&
           strcmp(doings->endless->file, place->file) == 0;
}

// Instructions that decide where to go, or with which index, may be others with the change; but a loop that
// did not end has to run, or nothing shows that it ends.
static unsigned doings_of(const Doings *doings, const LineCounters *line) {
    const Counters *counted = &line->counters;
    const uint64_t counts[] = {counted->global_ld_requests,
                               counted->global_st_requests,
                               counted->global_red_requests + counted->global_atom_requests,
                               counted->shared_ld + counted->shared_atom,
                               counted->shared_st + counted->shared_atom,
                               counted->float_ops,
                               counted->shuffles + counted->votes + counted->matches + counted->reductions,
                               is_endless(doings, &line->place) ? counted->thread_instructions : 0};
    unsigned done = 0;
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) done |= (unsigned)(counts[c] > 0) << c;
    return done;
}

static Doing *find(const Doings *doings, const SourcePlace *place) {
    for (int d = 0; d < doings->count; d++)
        if (doings->all[d].line == place->line && strcmp(doings->all[d].file, place->file) == 0)
            return &doings->all[d];
    return NULL;
}

static void add(Doings *doings, const LineCounters *line) {
    const unsigned done = doings_of(doings, line);
    Doing *one = find(doings, &line->place);
    if (done == 0 || line->place.line <= 0) return;
    if (!one) {
        Doing *grown = realloc(doings->all, (size_t)(doings->count + 1) * sizeof *grown);
        doings->failed |= !grown;
        if (!grown) return;
        doings->all = grown;
        one = &grown[doings->count++];
        *one = (Doing){.line = line->place.line};
        memcpy(one->file, line->place.file, sizeof one->file);
    }
    one->done |= done;
}

// Whether a line is what the changes are in place of.
static bool is_own(const Doings *doings, int line) {
    for (int c = 0; c < doings->change_count; c++) {
        const Change *change = doings->changes[c];
        for (int o = 0; change->variant > 0 && o < change->own_count; o++)
            if (line >= change->own[o].first && line <= change->own[o].last) return true;
        if (change->variant == 0 && change->kind == CHANGE_OPERATOR && line == change->source) return true;
    }
    return false;
}

static void take(Doings *doings, const LineCounters *line) {
    Doing *one = find(doings, &line->place);
    if (one) one->done &= ~doings_of(doings, line);
    if (is_own(doings, line->place.line)) doings->own |= doings_of(doings, line);
}

// Runs a case, and hands each of its lines to `heed`. False: nothing can be said.
static bool run(const TaskPtx *ptx, Worker *worker, const Case *settings, const Change *const changes[],
                int count, void (*heed)(Doings *, const LineCounters *), Doings *doings, double *work) {
    Judgement *judgement = ptx->judge->judgement;
    const int before = judgement->line_count;
    Case one = *settings;
    CaseReport report;
    one.is_counted = false;
    const bool was_run = task_ptx_count(ptx, worker, &one, changes, count, PATIENCE, &report);
    for (int i = before; i < judgement->line_count; i++) heed(doings, &judgement->lines[i].counters);
    judgement->line_count = before; // they are none of the counted case
    if (was_run) *work -= judge_work_of(&report);
    return was_run;
}

// Whether some line no longer does what it did. A compiler may give a load of one line to another: what the
// lines of the changes do is not missing.
static bool is_left(const Doings *doings) {
    for (int d = 0; d < doings->count; d++)
        if (doings->all[d].done & ~doings->own && !is_own(doings, doings->all[d].line)) return true;
    return false;
}

// Whether an earlier case of the plan has the same size and base: threads then go the same ways.
static bool is_repeated(const Judgement *judgement, int which) {
    const Case *one = &judgement->cases[which].settings;
    for (int i = 0; i < which; i++) {
        const Case *other = &judgement->cases[i].settings;
        if (other->task == one->task && other->misalignment == one->misalignment &&
            memcmp(&other->size, &one->size, sizeof one->size) == 0)
            return true;
    }
    return false;
}

bool repair_switches_off(const TaskPtx *ptx, const CaseReport *failed, long long largest,
                         const Change *const changes[], int count, double *work) {
    const Judgement *judgement = ptx->judge->judgement;
    Worker worker;
    Doings doings = {.changes = changes, .change_count = count};
    if (failed->settings.is_large) return false;
    if (failed->verdict == VERDICT_TIMEOUT && failed->has_finding && failed->finding.place.line > 0)
        doings.endless = &failed->finding.place;
    bool is_known = task_ptx_start(ptx, NULL, 0, &worker);
    if (is_known) {
        is_known = run(ptx, &worker, &failed->settings, NULL, 0, add, &doings, work);
        task_ptx_stop(ptx, &worker);
    }
    if (is_known && !doings.failed && (is_known = task_ptx_start(ptx, changes, count, &worker))) {
        double left = work_to_find;
        is_known = run(ptx, &worker, &failed->settings, changes, count, take, &doings, &left);
        for (int i = 0; is_known && left > 0 && is_left(&doings) && i < judgement->case_count; i++) {
            const CaseReport *report = &judgement->cases[i];
            if (report->settings.task != ptx->task || report->origin != CASE_OF_PLAN ||
                report->settings.is_large || report->settings.size.n > largest || is_repeated(judgement, i))
                continue;
            is_known = run(ptx, &worker, &report->settings, changes, count, take, &doings, &left);
        }
        *work -= work_to_find - left;
        task_ptx_stop(ptx, &worker);
    }
    const bool switches_off = is_known && !doings.failed && is_left(&doings);
    free(doings.all);
    return switches_off;
}
