#include "driver/judge/repair_elsewhere.h"

#include <string.h>

#include "driver/judge/rerun.h"

enum {
    SAME = 16,         // changes, with those that are the same elsewhere
    LARGEST = 1 << 14, // elements of a case: what a change breaks, it breaks in small ones
    PATIENCE = 2,      // Rerun
};
static const double work_elsewhere = 300; // of all cases of a task, as judge_work_of()

static bool is_compiled_into(const PtxLines *lines, int function, int source) {
    for (int l = 0; l < lines->count; l++) {
        const PtxLine *line = &lines->lines[l];
        if (line->function == function && line->is_instruction && line->source == source) return true;
    }
    return false;
}

// Whether two texts differ in digits only: the registers and labels of two kernels have different numbers.
static bool is_same_but_digits(const char *a, const char *b) {
    const char *digits = "0123456789";
    for (;;) {
        a += strspn(a, digits), b += strspn(b, digits);
        if (*a != *b || !*a) return *a == *b;
        a++, b++;
    }
}

// The words alone do not say which side of a condition is left.
static bool is_same(const Change *a, const Change *b) {
    return a->kind == b->kind && a->source == b->source && a->side == b->side && a->edit_count > 0 &&
           b->edit_count > 0 && strcmp(a->words, b->words) == 0 &&
           is_same_but_digits(a->edits[0].text, b->edits[0].text);
}

static bool has_edit_in(const PtxLines *lines, const Change *change, int function) {
    for (int e = 0; e < change->edit_count; e++)
        if (lines->lines[change->edits[e].line].function == function) return true;
    return false;
}

static void add_edits(Changes *changes, Change *change, const Change *other) {
    for (int e = 0; e < other->edit_count; e++) {
        const Edit *edit = &other->edits[e];
        if (edit->replaces)
            change_replace(changes, change, edit->line, "%s", edit->text);
        else
            change_insert(changes, change, edit->line, "%s", edit->text);
    }
}

void repair_extend(const TaskPtx *ptx, const Symptoms *symptoms, Changes *changes, int first) {
    const Task *task = &ptx->judge->of->tasks[ptx->task];
    for (int l = 0; l < task_launch_count(task); l++) {
        const int function = ptx_find_function(&ptx->lines, ptx->image->kernels[ptx->task][l].symbol);
        bool is_shared = false;
        for (int c = first; function >= 0 && c < changes->count && !is_shared; c++)
            is_shared = changes->all[c].source > 0 && !has_edit_in(&ptx->lines, &changes->all[c], function) &&
                        is_compiled_into(&ptx->lines, function, changes->all[c].source);
        if (!is_shared) continue;
        Changes same = {0};
        propose(&ptx->lines, function, symptoms, &same);
        for (int c = first; c < changes->count; c++) {
            Change *change = &changes->all[c];
            if (change->wide_count > 0 || has_edit_in(&ptx->lines, change, function)) continue;
            for (int s = 0; s < same.count; s++) {
                if (!is_same(&same.all[s], change)) continue;
                add_edits(changes, change, &same.all[s]);
                break;
            }
        }
        changes_free(&same);
    }
}

// Proposes a change in each kernel of a task that has its line and not the change.
static void propose_same(const TaskPtx *ptx, const Change *change, const Symptoms *symptoms, Changes *same) {
    int done[MAX_LAUNCHES], count = 0;
    Symptoms like = *symptoms;
    like.only = change;
    for (int l = 0; l < task_launch_count(&ptx->judge->of->tasks[ptx->task]); l++) {
        const int function = ptx_find_function(&ptx->lines, ptx->image->kernels[ptx->task][l].symbol);
        bool is_done = function < 0 || has_edit_in(&ptx->lines, change, function);
        for (int d = 0; d < count; d++) is_done |= done[d] == function;
        if (is_done || !is_compiled_into(&ptx->lines, function, change->source)) continue;
        propose(&ptx->lines, function, &like, same);
        done[count++] = function;
    }
}

// A change that does not repair the kernel may bring a case that was only wrong to a finding.
static bool is_worse(const CaseReport *was, const CaseReport *now) {
    return now->verdict != VERDICT_PASS && now->verdict != was->verdict &&
           (was->verdict == VERDICT_PASS || !was->has_finding);
}

bool repair_harms(const TaskPtx *ptx, const Change *const changes[], int count, bool heeds_failures) {
    const Judgement *judgement = ptx->judge->judgement;
    Worker worker;
    bool harms = false;
    if (task_ptx_start(ptx, changes, count, &worker)) {
        double work = work_elsewhere;
        for (int i = 0; !harms && work > 0 && i < judgement->case_count; i++) {
            const CaseReport *report = &judgement->cases[i];
            Case one = report->settings;
            if (one.task != ptx->task || one.is_large || one.size.n > LARGEST ||
                report->origin != CASE_OF_PLAN || !report->was_run ||
                (!heeds_failures && report->verdict != VERDICT_PASS))
                continue;
            CaseReport now;
            one.is_counted = false;
            const bool was_run =
                task_ptx_run(ptx, &worker, &one, changes, count, PATIENCE, false, NULL, &now);
            harms = !was_run || is_worse(report, &now);
            work -= judge_work_of(&now);
        }
        task_ptx_stop(ptx, &worker);
    }
    return harms;
}

static bool breaks(const TaskPtx *ptx, const Symptoms *symptoms, const Change *const changes[], int count,
                   bool is_own) {
    const Change *here[SAME];
    int used = 0, added = 0;
    Changes same = {0};
    for (int c = 0; c < count; c++)
        if (changes[c]->source > 0) propose_same(ptx, changes[c], symptoms, &same);
    for (int c = 0; is_own && c < count; c++) here[used++] = changes[c];
    for (int s = 0; s < same.count && used < SAME; s++) {
        bool is_wanted = false;
        for (int c = 0; c < count; c++) is_wanted |= is_same(&same.all[s], changes[c]);
        if (is_wanted) here[used++] = &same.all[s], added++;
    }
    const bool breaks = added > 0 && repair_harms(ptx, here, used, false);
    changes_free(&same);
    return breaks;
}

// Whether a line of the changes is compiled into a kernel of another task, whose lines `ptx` has too.
static bool has_line(const TaskPtx *ptx, int task, const Change *const changes[], int count) {
    for (int l = 0; l < task_launch_count(&ptx->judge->of->tasks[task]); l++) {
        const int function = ptx_find_function(&ptx->lines, ptx->image->kernels[task][l].symbol);
        for (int c = 0; function >= 0 && c < count; c++)
            if (changes[c]->source > 0 && is_compiled_into(&ptx->lines, function, changes[c]->source))
                return true;
    }
    return false;
}

bool repair_breaks_another(const TaskPtx *ptx, const char *source, const Symptoms *symptoms,
                           const Change *const changes[], int count) {
    if (breaks(ptx, symptoms, changes, count, true)) return true;
    bool is_broken = false;
    for (int t = 0; t < MAX_TASKS && ptx->judge->of->tasks[t].name && !is_broken; t++) {
        TaskPtx other;
        if (t == ptx->task || !has_line(ptx, t, changes, count)) continue; // reading the PTX again is work
        if (task_ptx_make(ptx->judge, ptx->image, t, source, &other))
            is_broken = breaks(&other, symptoms, changes, count, false);
        task_ptx_free(&other);
    }
    return is_broken;
}
