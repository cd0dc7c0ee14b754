#include "driver/judge/needless_barriers.h"

#include <stdlib.h>
#include <string.h>

#include "driver/judge/repair_trial.h"

enum {
    PATIENCE = 2,           // Rerun
    LARGEST_TRIED = 1 << 17 // elements of a case that is run
};
// In milliseconds of a usual machine, as judge_work_of().
static const double work_to_try = 3000;

typedef struct {
    TaskPtx ptx;
    Changes changes;
    int lines[MOST_NEEDLESS]; // those of kernel.cu that have barriers
    double barriers[MOST_NEEDLESS];
    double all; // barriers of all lines
    int count;
} Search;

// One whose value is in proportion to the barriers, and too large.
static const GoalResult *missed_goal(const Judgement *judgement) {
    for (int g = 0; g < judgement->goal_count; g++) {
        const GoalResult *result = &judgement->goals[g];
        const char *measure = result->goal->measure;
        const Measured *counted = &judgement->counted[0][result->task];
        if (result->state == GOAL_MISSED && !result->lacks && !result->device[0] && result->partial == 0 &&
            strstr(measure, "barriers") && !strchr(measure, '+') && result->value > result->goal->limit &&
            result->size.n == counted->shape.size.n)
            return result;
    }
    return NULL;
}

static void list_lines(Search *search, const Judgement *judgement) {
    for (int i = 0; i < judgement->line_count; i++) {
        const CountedLine *one = &judgement->lines[i];
        const double barriers = (double)one->counters.counters.barriers;
        if (one->task != search->ptx.task || barriers == 0) continue;
        search->all += barriers;
        int place = 0;
        while (place < search->count && search->lines[place] != one->counters.place.line) place++;
        if (place == MOST_NEEDLESS || one->counters.place.line <= 0) continue;
        if (place == search->count) search->count++;
        search->lines[place] = one->counters.place.line;
        search->barriers[place] += barriers;
    }
}

// The kernel without the barriers of a line; false: it has none that all threads of a block wait at.
static bool leave_out(Search *search, int line) {
    Change *change = changes_add(&search->changes, CHANGE_LEFT_OUT, line);
    for (int i = 0; change && i < search->ptx.lines.count; i++) {
        const PtxLine *ptx = &search->ptx.lines.lines[i];
        PtxInstruction in;
        if (ptx->source != line || ptx->is_left_out || !ptx_instruction(ptx, &in) ||
            !(opcode_is(&in, "bar") || opcode_is(&in, "barrier")) || opcode_has(&in, "warp"))
            continue;
        if (!opcode_has(&in, "sync")) return false; // others count on it, or its result is used
        change_replace(&search->changes, change, i, "// no barrier");
    }
    return change && !search->changes.failed && change->edit_count > 0;
}

// How many cases of the task pass without these barriers; 0: one fails, or they are too much work.
static int passing(Search *search, const Change *const changes[], int count) {
    const Judgement *judgement = search->ptx.judge->judgement;
    Worker worker;
    double work = work_to_try;
    int done = 0;
    bool is_right = task_ptx_start(&search->ptx, changes, count, &worker);
    const bool was_started = is_right;
    for (int i = 0; is_right && i < judgement->case_count; i++) {
        const CaseReport *report = &judgement->cases[i];
        if (report->settings.task != search->ptx.task || report->origin != CASE_OF_PLAN ||
            report->settings.is_large || report->settings.size.n > LARGEST_TRIED)
            continue;
        Case one = report->settings;
        CaseReport now;
        one.is_counted = false;
        is_right = work > 0 &&
                   task_ptx_run(&search->ptx, &worker, &one, changes, count, PATIENCE, false, NULL, &now) &&
                   now.verdict == VERDICT_PASS;
        work -= is_right ? judge_work_of(&now) : 0;
        done++;
    }
    if (was_started) task_ptx_stop(&search->ptx, &worker);
    return is_right ? done : 0;
}

static void try_lines(Search *search, const GoalResult *missed, NeedlessBarriers *found) {
    int kept[MOST_NEEDLESS] = {0};
    double left = search->all;
    for (int l = 0; l < search->count && missed->value * left > missed->goal->limit * search->all; l++) {
        if (!leave_out(search, search->lines[l])) continue;
        const Change *changes[MOST_NEEDLESS];
        kept[found->count] = search->changes.count - 1;
        for (int c = 0; c <= found->count; c++) changes[c] = &search->changes.all[kept[c]];
        const int cases = passing(search, changes, found->count + 1);
        if (cases == 0) continue;
        found->lines[found->count++] = search->lines[l];
        found->cases = cases;
        left -= search->barriers[l];
    }
    found->left = missed->value * left / search->all;
    found->goal = missed->goal;
}

void judge_find_needless_barriers(Judge *judge) {
    Judgement *judgement = judge->judgement;
    const Image *image = judge->subjects->kernel;
    const GoalResult *missed = missed_goal(judgement);
    if (!missed || judgement->verdict != VERDICT_SLOW || !image->is_ptx || judge->options->repair_work == 0)
        return;
    Search search = {0};
    if (task_ptx_make(judge, image, missed->task, "kernel.cu", &search.ptx)) {
        list_lines(&search, judgement);
        try_lines(&search, missed, &judgement->needless);
    }
    changes_free(&search.changes);
    task_ptx_free(&search.ptx);
}
