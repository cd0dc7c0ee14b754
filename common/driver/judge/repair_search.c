#include "driver/judge/repair_search.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/judge/repair/linked_lines.h"
#include "driver/judge/repair_balance.h"
#include "driver/judge/repair_elsewhere.h"
#include "driver/judge/repair_use.h"
#include "driver/judge/rerun.h"

enum {
    BASES = 4,         // changes that help but do not suffice, to which a second one is added
    PATIENCE = 1,      // Rerun, in an attempt, and ...
    MORE_PATIENCE = 2, // ... to confirm one: it may make a loop of another case endless
    LARGEST = 1 << 17, // elements of a case, unless only larger ones fail
    LARGER = 1 << 22, // of a case with another number or comparison, which may leave out what only runs there
    SCHEDULES = 64,   // that show whether an order is missing, and ...
    FEWEST_SCHEDULES = 8, // ... if they are much work
    THREADS = 1 << 22,    // of a case: the largest ones take longer than everything else together
};
// In milliseconds of a usual machine, as judge_work_of(). An attempt takes its first run besides, and reading
// the PTX.
static const double work_of_attempt = 2, work_of_byte = 2e-5, work_to_confirm = 3000, work_of_larger = 600,
                    work_to_reduce = 1000, work_to_settle = 100, work_for_rivals = 300;
// Two blocks that go through long loops take that share of judge_work_of().
static const double work_of_ends = 0.4;

typedef struct {
    TaskPtx ptx;
    Changes changes;
    Case smallest;            // of the failing cases
    bool is_of_the_end;       // Rerun
    long long largest;        // elements of a case that is run
    const CaseReport *shown;  // its report
    const CaseReport *beyond; // a larger case that failed in another way and has to pass too; NULL: none
    double work, most_work;   // that is left, and at first
    const Repair *known;      // tried first; NULL: none
    int bases[BASES], base_count;
    CaseReport base_reports[BASES];
} Search;

static bool is_over(const Search *search) { return search->work <= 0; }

// A third of the work is for pairs, if a change has been found that a second one may complete.
static bool is_over_for_single(const Search *search) {
    return search->work <= (search->base_count > 0 ? search->most_work / 3 : 0);
}

// ---- One attempt -----------------------------------------------------------------------------------------

static Symptoms symptoms_of(const Search *search, const CaseReport *report) {
    return (Symptoms){
        .verdict = report->verdict,
        .finding = report->has_finding ? &report->finding : NULL,
        .is_weak = schedule_is_weak(report->settings.schedule),
        .is_of_order = report->settings.schedule != 0,
        .n = report->settings.size.n,
        .is_large = report->settings.is_large,
        .has_rows = report->settings.size.rows > 0,
        .has_bounds = search->ptx.judge->of->tasks[search->ptx.task].expect == EXPECT_ROWS,
        .is_left_out = report->has_check && report->check.outcome == CHECK_LEFT_OUT,
        .source = search->ptx.judge->subjects->source_text,
    };
}

// The file that the finding is in.
static const char *source_of(const Search *search) {
    const char *source = search->shown->has_finding ? search->shown->finding.place.file : "";
    return source[0] ? source : "kernel.cu";
}

static double to_start(const Search *search) {
    return work_of_attempt + work_of_byte * (double)search->ptx.ptx_bytes;
}

// Those that a case of the plan starts; it need not have been run.
static long long threads_of(const Search *search, const CaseReport *report) {
    const TaskShape *shape = judge_case_shape(search->ptx.judge, &report->settings);
    return shape ? case_threads(&shape->shape) : 0;
}

static bool run(const Search *search, Worker *worker, const Case *one, const Change *const changes[],
                int count, int patience, CaseReport *report) {
    return task_ptx_run(&search->ptx, worker, one, changes, count, patience, search->is_of_the_end, NULL,
                        report);
}

static bool is_of_search(const Search *search, long long largest, const CaseReport *report) {
    const bool is_small = !report->settings.is_large && report->settings.size.n <= largest;
    return report->settings.task == search->ptx.task && report->origin == CASE_OF_PLAN &&
           (is_small || (search->smallest.is_large && report->settings.is_large));
}

// May keep the kernel away from what is wrong if there are few elements, or access other elements.
static bool widens(ChangeKind kind) {
    return kind == CHANGE_COMPARISON || kind == CHANGE_CONSTANT || kind == CHANGE_NUMBER ||
           kind == CHANGE_ONE_WAY || kind == CHANGE_NEIGHBOUR || kind == CHANGE_SIZE ||
           kind == CHANGE_INDEX || kind == CHANGE_OPERATOR;
}

// May give the work to other threads, or let some do it again.
static bool moves_work(ChangeKind kind) {
    return widens(kind) || kind == CHANGE_UNSIGNED || kind == CHANGE_ARRAY;
}

// With such a change, more elements must be right too.
static long long largest_for(const Search *search, const Change *const changes[], int count) {
    for (int c = 0; c < count; c++)
        if (widens(changes[c]->kind) && search->largest == LARGEST) return LARGER;
    return search->largest;
}

// What fails in one order of the threads passes in many others, whatever is changed, and accesses through a
// pointer to volatile do not race although their values may be wrong: the case that failed has to pass under
// more schedules of its kind.
static bool holds_in_any_order(const Search *search, Worker *worker, const Change *const changes[],
                               int count) {
    enum { KINDS_REPEAT = 1000 }; // schedule_is_weak(), schedule_holds()
    bool is_of_order = search->smallest.schedule != 0;
    for (int c = 0; c < count; c++) is_of_order |= changes[c]->kind == CHANGE_VOLATILE;
    double work = work_to_confirm;
    for (unsigned k = 1; is_of_order && k <= SCHEDULES && (work > 0 || k <= FEWEST_SCHEDULES); k++) {
        Case one = search->smallest;
        one.schedule += one.schedule ? (uint64_t)k * KINDS_REPEAT : k;
        CaseReport now;
        if (!run(search, worker, &one, changes, count, 0, &now) || now.verdict != VERDICT_PASS) return false;
        work -= judge_work_of(&now);
    }
    return true;
}

// Runs a case of the plan again. False: it fails.
static bool passes(const Search *search, Worker *worker, const CaseReport *report,
                   const Change *const changes[], int count, double *work) {
    Case one = report->settings;
    CaseReport now;
    one.is_counted = false;
    const bool was_run = run(search, worker, &one, changes, count, MORE_PATIENCE, &now);
    if (was_run) *work -= judge_work_of(&now);
    return was_run && now.verdict == VERDICT_PASS;
}

// Runs the cases of the task with more than `least` elements and at most `largest`, those that failed first.
// The number of them that passed; -1: one fails, or they are more than `work`.
static int passing(const Search *search, long long least, long long largest, Worker *worker,
                   const Change *const changes[], int count, double *work) {
    const Judgement *judgement = search->ptx.judge->judgement;
    int done = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < judgement->case_count; i++) {
            const CaseReport *report = &judgement->cases[i];
            const bool has_failed = report->was_run && report->verdict != VERDICT_PASS;
            const bool is_beyond = report == search->beyond && least < 0;
            const bool is_wanted = is_of_search(search, largest, report) && report->settings.size.n > least &&
                                   (least < 0 || !report->settings.is_large);
            if ((!is_wanted && !is_beyond) || has_failed != (pass == 0)) continue;
            if (*work <= 0) return -1;
            if (!passes(search, worker, report, changes, count, work)) return -1;
            done += is_wanted;
        }
    }
    return done;
}

// Runs every case of the task, and with some changes larger ones as well, as far as the work goes. The number
// of cases that pass, none with more than *largest elements; 0: one fails, or they are too much work.
static int confirm(Search *search, Worker *worker, const Change *const changes[], int count,
                   long long *largest) {
    double work = work_to_confirm, more = work_of_larger;
    const int done = passing(search, -1, search->largest, worker, changes, count, &work);
    *largest = largest_for(search, changes, count);
    if (done <= 0) search->work -= work_to_confirm - work; // for nothing
    if (done <= 0 || *largest == search->largest) return done > 0 ? done : 0;
    const int others = passing(search, search->largest, *largest, worker, changes, count, &more);
    if (others < 0 && more > 0) return 0;
    if (others < 0) *largest = search->largest;
    return done + (others > 0 ? others : 0);
}

// Some changes move a finding elsewhere whatever the mistake is.
static bool may_be_half(ChangeKind kind) {
    return kind != CHANGE_SIZE && kind != CHANGE_UNSIGNED && kind != CHANGE_ARRAY && kind != CHANGE_ONE_WAY;
}

// Whether a change that does not suffice takes the kernel further: another finding comes first now.
static bool helps(const CaseReport *was, const CaseReport *now) {
    return was->has_finding && now->has_finding &&
           (was->verdict != now->verdict || was->finding.place.line != now->finding.place.line ||
            was->finding.other_place.line != now->finding.other_place.line);
}

static void keep_repair(Search *search, long long largest, const Change *const changes[], int count,
                        int cases) {
    Repair *repair = &search->ptx.judge->judgement->repair;
    repair->change_count = count;
    repair->cases = cases;
    repair->largest = largest;
    if (search->beyond) repair->shown = search->beyond->settings.size.n;
    const Judgement *judgement = search->ptx.judge->judgement;
    for (int i = 0; i < judgement->case_count; i++) {
        const CaseReport *report = &judgement->cases[i];
        const long long n = report->settings.size.n;
        if (report->settings.is_large && is_of_search(search, largest, report) &&
            (repair->large == 0 || n < repair->large))
            repair->large = n;
    }
    for (int c = 0; c < count; c++) {
        repair->changes[c].name = change_name(changes[c]->kind);
        repair->changes[c].line = changes[c]->source;
        repair->changes[c].side = change_side_name(changes[c]->side);
        memcpy(repair->changes[c].words, changes[c]->words, sizeof changes[c]->words);
    }
}

// Whether these changes repair the kernel. `base`: the place of the last one, to be remembered if it helps.
static bool attempt(Search *search, const Change *const changes[], int count, int base) {
    Text text = {0};
    Worker worker;
    CaseReport report;
    int cases = 0;
    long long largest = search->largest;
    search->work -= to_start(search);
    if (task_ptx_start(&search->ptx, changes, count, &text, &worker)) {
        if (run(search, &worker, &search->smallest, changes, count, PATIENCE, &report)) {
            search->work -= judge_work_of(&report);
            if (report.verdict == VERDICT_PASS && holds_in_any_order(search, &worker, changes, count))
                cases = confirm(search, &worker, changes, count, &largest);
            else if (base >= 0 && search->base_count < BASES && may_be_half(changes[0]->kind) &&
                     helps(search->shown, &report)) {
                search->base_reports[search->base_count] = report;
                search->bases[search->base_count++] = base;
            }
        }
        runner_stop(worker.runner);
    }
    text_free(&text);
    if (cases == 0) return false;
    const Symptoms symptoms = symptoms_of(search, search->shown);
    if (repair_breaks_another(&search->ptx, source_of(search), &symptoms, changes, count)) return false;
    bool moves = false;
    for (int c = 0; c < count; c++) moves |= moves_work(changes[c]->kind);
    if (moves && !search->smallest.is_large &&
        (repair_drops_results(&search->ptx, search->shown, changes, count, &search->work) ||
         !repair_keeps_balance(&search->ptx, changes, count, &search->work)))
        return false;
    keep_repair(search, largest, changes, count, cases);
    return true;
}

// Whether the first and the last block of a large case show whether a change repairs it.
static bool lacks_only_the_last(const Search *search) {
    const CaseReport *shown = search->shown;
    return shown->settings.is_large && shown->has_check && shown->check.outcome == CHECK_LEFT_OUT &&
           shown->check.index >= 0;
}

static bool passes_smallest(Search *search, const Change *const changes[], int count, double *work) {
    Text text = {0};
    Worker worker;
    CaseReport report;
    bool passes = false;
    *work -= to_start(search);
    if (task_ptx_start(&search->ptx, changes, count, &text, &worker)) {
        search->is_of_the_end = lacks_only_the_last(search);
        passes = run(search, &worker, &search->smallest, changes, count, PATIENCE, &report) &&
                 report.verdict == VERDICT_PASS;
        *work -= search->is_of_the_end ? work_of_ends * judge_work_of(search->shown) : judge_work_of(&report);
        search->is_of_the_end = false;
        runner_stop(worker.runner);
    }
    text_free(&text);
    return passes;
}

// ---- The search ------------------------------------------------------------------------------------------

static void add_proposals(Search *search, const CaseReport *report) {
    const Task *task = &search->ptx.judge->of->tasks[search->ptx.task];
    const Symptoms symptoms = symptoms_of(search, report);
    for (int l = 0; l < task_launch_count(task); l++) {
        if (report->kernel[0] && strcmp(report->kernel, task->launches[l].kernel) != 0) continue;
        const int function =
            ptx_find_function(&search->ptx.lines, search->ptx.image->kernels[search->ptx.task][l].symbol);
        bool is_done = false; // one kernel may be launched twice
        for (int k = 0; k < l; k++)
            is_done |= strcmp(task->launches[k].kernel, task->launches[l].kernel) == 0;
        const int first = search->changes.count;
        if (function < 0 || is_done) continue;
        propose(&search->ptx.lines, function, &symptoms, &search->changes);
        repair_extend(&search->ptx, &symptoms, &search->changes, first);
    }
}

// Leaves out of a change that repairs the smallest case what is not needed for that: the place of what is
// left.
static int reduce(Search *search, int whole) {
    const Symptoms symptoms = symptoms_of(search, search->shown);
    double work = work_to_reduce;
    int least = whole;
    for (int parts = search->changes.all[whole].wide_count / 2; parts > 0; parts /= 2) {
        for (int from = 0; work > 0;) {
            if (!propose_less(&search->ptx.lines, &search->changes.all[least], from, parts, &symptoms,
                              &search->changes))
                break;
            const Change *one[] = {&search->changes.all[search->changes.count - 1]};
            if (passes_smallest(search, one, 1, &work))
                least = search->changes.count - 1;
            else
                from += parts;
        }
    }
    return least;
}

static bool is_of_one_line(const Change *change) {
    return change->kind == CHANGE_COMPARISON || change->kind == CHANGE_CONSTANT ||
           change->kind == CHANGE_NUMBER || change->kind == CHANGE_INDEX || change->kind == CHANGE_UNSIGNED ||
           change->kind == CHANGE_ONE_WAY;
}

// A change that repairs the kernel may be one of several lines at once, of which one is enough, or all are
// needed.
static void settle_line(Search *search, int which) {
    const Symptoms symptoms = symptoms_of(search, search->shown);
    char also[96];
    const int first = search->changes.count;
    if (!propose_parts(&search->ptx.lines, &search->changes.all[which], &symptoms, &search->changes, also,
                       sizeof also))
        return;
    search->work = search->work < work_to_settle ? work_to_settle : search->work;
    for (int i = first; i < search->changes.count && !is_over(search); i++) {
        const Change *one[] = {&search->changes.all[i]};
        if (attempt(search, one, 1, -1)) return;
    }
    char *words = search->ptx.judge->judgement->repair.changes[0].words;
    const size_t used = strlen(words);
    snprintf(words + used, sizeof search->ptx.judge->judgement->repair.changes[0].words - used, "%s", also);
}

// What repairs another task comes first: it may be the same mistake.
static void put_known_first(Search *search) {
    for (int i = 1; search->known && i < search->changes.count; i++) {
        const Change change = search->changes.all[i];
        if (search->known->change_count != 1 || strcmp(change.words, search->known->changes[0].words) != 0)
            continue;
        memmove(&search->changes.all[1], search->changes.all, (size_t)i * sizeof change);
        search->changes.all[0] = change;
        return;
    }
}

// Whether another change of a value repairs the kernel too, in another line: which of them is the mistake is
// not known then.
static bool has_rival(Search *search, const Change *found, int from, int count) {
    double work = search->work < work_for_rivals ? search->work : work_for_rivals;
    bool is_found = false;
    for (int i = from; i < count && !is_found && work > 0; i++) {
        const Change *one[] = {&search->changes.all[i]};
        long long largest;
        const bool is_same_value =
            one[0]->source == found->source ||
            (one[0]->kind == found->kind &&
             lines_are_linked(search->ptx.judge->subjects->source_text, one[0]->source, found->source));
        if (!widens(one[0]->kind) || is_same_value || !passes_smallest(search, one, 1, &work)) continue;
        Text text = {0};
        Worker worker;
        if (task_ptx_start(&search->ptx, one, 1, &text, &worker)) {
            is_found = confirm(search, &worker, one, 1, &largest) > 0;
            runner_stop(worker.runner);
        }
        text_free(&text);
    }
    search->work -= work_for_rivals;
    return is_found;
}

static bool search_single(Search *search) {
    add_proposals(search, search->shown);
    put_known_first(search);
    const int count = search->changes.count;
    for (int i = 0; i < count && !is_over_for_single(search); i++) {
        const Change *one[] = {&search->changes.all[i]};
        if (one[0]->wide_count > 0) {
            if (!passes_smallest(search, one, 1, &search->work)) continue;
            const int least = reduce(search, i); // the array may move
            one[0] = &search->changes.all[least];
        }
        if (!attempt(search, one, 1, i)) continue;
        if (widens(one[0]->kind) && !search->known && !search->smallest.is_large &&
            has_rival(search, one[0], i + 1, count)) {
            search->ptx.judge->judgement->repair = (Repair){0};
            return true;
        }
        if (is_of_one_line(one[0])) settle_line(search, i);
        return true;
    }
    return false;
}

// A change that leaves out what is out of bounds passes with any wider bound: together they prove nothing.
static bool leaves_out(ChangeKind kind) {
    return kind == CHANGE_GUARD || kind == CHANGE_SINGLE || kind == CHANGE_STAY;
}

static bool are_proof(const Change *a, const Change *b) {
    return !(leaves_out(a->kind) && widens(b->kind)) && !(leaves_out(b->kind) && widens(a->kind));
}

static bool search_pairs(Search *search) {
    for (int b = 0; b < search->base_count; b++) {
        const int first = search->changes.count;
        add_proposals(search, &search->base_reports[b]);
        for (int i = first; i < search->changes.count && !is_over(search); i++) {
            const Change *both[] = {&search->changes.all[search->bases[b]], &search->changes.all[i]};
            if (!are_proof(both[0], both[1]) || !attempt(search, both, 2, -1)) continue;
            attempt(search, &both[1], 1, -1); // if that is enough, the first was only in the way
            return true;
        }
    }
    return false;
}

static bool can_be_repaired(Verdict verdict) {
    switch (verdict) {
    case VERDICT_WRONG:
    case VERDICT_OOB:
    case VERDICT_UNINIT:
    case VERDICT_RACE:
    case VERDICT_SYNC:
    case VERDICT_FAULT:
    case VERDICT_MISALIGNED:
    case VERDICT_TIMEOUT: return true;
    default: return false;
    }
}

// The smallest case that fails as the shown one does, with a finding if that has one; of one that does not
// end, any that fails. False: there is none that can be run again.
static bool find_smallest(Search *search) {
    const Judgement *judgement = search->ptx.judge->judgement;
    const CaseReport *smallest = NULL, *shown = search->shown;
    const bool is_large = shown->settings.is_large, is_endless = shown->verdict == VERDICT_TIMEOUT;
    for (int i = 0; i < judgement->case_count; i++) {
        const CaseReport *report = &judgement->cases[i];
        if (report->settings.task != search->ptx.task || report->settings.is_large != is_large ||
            report->origin != CASE_OF_PLAN || !report->was_run || report->verdict == VERDICT_PASS ||
            (!is_endless && (report->verdict != shown->verdict || report->has_finding < shown->has_finding)))
            continue;
        if (!smallest || report->settings.size.n < smallest->settings.size.n) smallest = report;
    }
    if (!smallest) return false;
    search->smallest = smallest->settings;
    const long long n = is_large ? 0 : smallest->settings.size.n; // below, every case is run again
    search->largest = n > LARGEST ? n : LARGEST;
    for (int i = 0; i < judgement->case_count; i++) {
        const CaseReport *report = &judgement->cases[i];
        const long long other = report->settings.size.n;
        if (is_of_search(search, search->largest, report) && !report->settings.is_large &&
            threads_of(search, report) > THREADS && other > n)
            search->largest = other - 1;
    }
    search->smallest.is_counted = false;
    if (is_endless && !is_large && shown->origin == CASE_OF_PLAN && shown->settings.size.n > search->largest)
        search->beyond = shown;
    search->shown = smallest;
    return true;
}

void judge_find_repair(Judge *judge, double work, const Repair *known) {
    Judgement *judgement = judge->judgement;
    if (judge->options->repair_ms == 0 || judgement->first < 0 || judge->options->time_count > 0 ||
        judge->worker_count == 0 || !can_be_repaired(judgement->verdict) ||
        judgement->accounting.deviation_count > 0)
        return;
    const Image *image = judge_image(judge, judge->is_gpu);
    Search search = {
        .shown = &judgement->cases[judgement->first], .work = work, .most_work = work, .known = known};
    search.ptx = (TaskPtx){.judge = judge, .image = image, .task = search.shown->settings.task};
    if (!image || !image->is_ptx || !find_smallest(&search)) return;
    if (schedule_holds(search.smallest.schedule)) return; // each attempt would take as long as the waiting
    if (task_ptx_make(judge, image, search.ptx.task, source_of(&search), &search.ptx)) {
        if (!passes_smallest(&search, NULL, 0, &search.work) && !search_single(&search))
            search_pairs(&search);
    }
    changes_free(&search.changes);
    task_ptx_free(&search.ptx);
}
