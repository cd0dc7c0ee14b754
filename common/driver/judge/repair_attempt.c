#include "driver/judge/repair_attempt.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/judge/repair_balance.h"
#include "driver/judge/repair_elsewhere.h"
#include "driver/judge/repair_switch.h"
#include "driver/judge/repair_use.h"
#include "driver/judge/rerun.h"
#include "driver/judge/shared_trials.h"

enum {
    MORE_PATIENCE = 2, // Rerun, to confirm a change: it may make a loop of another case endless
    LARGER = 1 << 22, // of a case with another number or comparison, which may leave out what only runs there
    LARGEST_TRIED = 1 << 24, // of the one case beyond these that it has to pass
    SCHEDULES = 64,          // that show whether an order is missing, and ...
    FEWEST_SCHEDULES = 8,    // ... if they are much work
};
// In milliseconds of a usual machine, as judge_work_of().
static const double work_for_rival = 600, work_of_larger = 600, work_apart = 150;
// The file that the finding is in.
const char *search_source(const Search *search) {
    const char *source = search->shown->has_finding ? search->shown->finding.place.file : "";
    return source[0] ? source : "kernel.cu";
}

// Whether the launches of a task that have as many elements for each thread have one for each element of its
// large cases, too: a grid that has grown to its limit lacks more of them the more there are. 0: not known.
static bool reaches_large_cases(Judge *judge, int task, double of_thread) {
    for (int i = 0; of_thread > 0 && i < judge->plan.count; i++) {
        const Case *one = &judge->plan.cases[i];
        if (one->task != task || !one->is_large || one->figures || one->size.rows > 0) continue;
        if (!judge_ask_case_shape(judge, one)) return false;
        const TaskShape *shape = judge_case_shape(judge, one);
        if (shape && shape->verdict == VERDICT_PASS &&
            of_thread * (double)shape->shape.launches[0].threads < (double)one->size.n)
            return false;
    }
    return true;
}

// As how many times larger the first launch has to be for all elements to be written, if what is missing is
// the same share of them whatever their number is, except for what blocks round up; 0: it is not. A launch
// that is too small for another reason lacks a number of elements, or more of them the more there are.
static int launch_lacks(const Search *search) {
    Judge *judge = search->ptx.judge;
    enum { SOME_BLOCKS = 8 }; // of which one more is little
    const Judgement *judgement = judge->judgement;
    const double alike = 0.8;
    double least = 0, most = 0; // elements for each that is written
    double of_thread = 0;       // most elements that a thread of the grid writes
    for (int i = 0; i < judgement->case_count; i++) {
        const CaseReport *report = &judgement->cases[i];
        const CheckReport *check = &report->check;
        if (report->settings.task != search->ptx.task || !report->was_run || !report->has_check ||
            check->outcome != CHECK_NOT_WRITTEN)
            continue;
        if (!check->is_rest || check->index <= 0) return 0;
        const double times = (double)check->elements / (double)check->index;
        if (times > most) most = times;
        const ShapeOfLaunch *launch = &report->shape.launches[0];
        if (launch->blocks >= SOME_BLOCKS && (least == 0 || times < least)) least = times;
        if (check->elements == report->settings.size.n && launch->threads > 0)
            of_thread = fmax(of_thread, (double)check->index / (double)launch->threads);
    }
    const int whole = (int)lround(fmin(most, INT_MAX));
    const bool is_share = least >= alike * whole && most <= whole;
    return is_share && reaches_large_cases(judge, search->ptx.task, whole * of_thread) ? whole : 0;
}

Symptoms search_symptoms(const Search *search, const CaseReport *report) {
    return (Symptoms){
        .verdict = report->verdict,
        .finding = report->has_finding ? &report->finding : NULL,
        .cause = report->has_cause ? &report->cause : NULL,
        .is_weak = schedule_is_weak(report->settings.schedule),
        .is_of_order = report->settings.schedule != 0,
        .n = report->settings.size.n,
        .is_large = report->settings.is_large,
        .has_rows = report->settings.size.rows > 0,
        .has_bounds = search->ptx.judge->of->tasks[search->ptx.task].expect == EXPECT_ROWS,
        .is_special = report->has_check && report->check.outcome == CHECK_SPECIAL,
        .is_unwritten = report->has_check && report->check.outcome == CHECK_NOT_WRITTEN,
        // Blocks of another size round otherwise, whatever the mistake is.
        .block_threads = report->has_check && report->check.outcome == CHECK_BUDGET
                             ? 0
                             : report->shape.launches[0].block_threads,
        .blocks = report->shape.launch_count == 1 ? (int)report->shape.launches[0].blocks : 0,
        .launch_lacks = launch_lacks(search),
        .is_left_out = report->has_check && report->check.outcome == CHECK_LEFT_OUT,
        .source = search->ptx.judge->subjects->source_text,
    };
}

bool search_is_over(const Search *search) {
    return search->work <= 0 || page_work_is_over(search->ptx.judge);
}

static bool run(const Search *search, Worker *worker, const Case *one, const Change *const changes[],
                int count, int patience, CaseReport *report) {
    return task_ptx_run(&search->ptx, worker, one, changes, count, patience, search->is_of_the_end, NULL,
                        report);
}

bool search_knows(const Search *search, const char *words) {
    for (int k = 0; k < search->known_count; k++)
        if (search->known[k].change_count == 1 && strcmp(search->known[k].changes[0].words, words) == 0)
            return true;
    return false;
}

bool search_has_case(const Search *search, long long largest, const CaseReport *report) {
    const bool is_small = !report->settings.is_large && report->settings.size.n <= largest;
    return report->settings.task == search->ptx.task && report->origin == CASE_OF_PLAN &&
           (is_small || (search->smallest.is_large && report->settings.is_large));
}

// May keep the kernel away from what is wrong if there are few elements, or access other elements.
bool change_widens(ChangeKind kind) {
    return kind == CHANGE_COMPARISON || kind == CHANGE_CONSTANT || kind == CHANGE_NUMBER ||
           kind == CHANGE_ONE_WAY || kind == CHANGE_NEIGHBOUR || kind == CHANGE_SIZE ||
           kind == CHANGE_INDEX || kind == CHANGE_OPERATOR || kind == CHANGE_EXPRESSION ||
           kind == CHANGE_NAME || kind == CHANGE_LEFT_OUT || kind == CHANGE_CONDITION ||
           kind == CHANGE_EXCHANGED || kind == CHANGE_LARGER_LAUNCH;
}

// May give the work to other threads, or let some do it again.
static bool moves_work(ChangeKind kind) {
    return (change_widens(kind) && kind != CHANGE_LARGER_LAUNCH) || kind == CHANGE_UNSIGNED ||
           kind == CHANGE_ARRAY;
}

// Says itself what no longer runs.
static bool says_what_it_leaves_out(ChangeKind kind) {
    return kind == CHANGE_LEFT_OUT || kind == CHANGE_ONE_WAY;
}

// With such a change, more elements must be right too: a guard leaves out what is beyond a wrong bound, and
// what the bound itself leaves out only a larger case has.
static long long largest_for(const Search *search, const Change *const changes[], int count) {
    for (int c = 0; c < count; c++)
        if ((change_widens(changes[c]->kind) || changes[c]->kind == CHANGE_GUARD) &&
            search->largest == LARGEST_REPAIRED)
            return LARGER;
    return search->largest;
}

// Changes whose runs two processes share.
typedef struct {
    const Search *search;
    const Change *const *changes;
    int count;
    OwnWorker own;
    int *cases;  // what passing() runs, by trial
    double work; // for the orders, and for the cases
} Sharing;

// What fails in one order of the threads passes in many others, whatever is changed, and accesses through a
// pointer to volatile do not race although their values may be wrong: the case that failed has to pass under
// more schedules of its kind.
static void run_in_another_order(void *context, int which, void *result) {
    enum { KINDS_REPEAT = 1000 }; // schedule_is_weak(), schedule_holds()
    Sharing *sharing = context;
    const Search *search = sharing->search;
    Case one = search->smallest;
    one.schedule += one.schedule ? (uint64_t)which * KINDS_REPEAT : (uint64_t)which;
    Worker *worker = own_worker(&search->ptx, sharing->changes, sharing->count, &sharing->own);
    CaseReport now;
    *(bool *)result = worker && run(search, worker, &one, sharing->changes, sharing->count, 0, &now) &&
                      now.verdict == VERDICT_PASS;
}

static bool holds_in_any_order(Sharing *sharing) {
    const Search *search = sharing->search;
    bool is_of_order = search->smallest.schedule != 0, holds = true;
    for (int c = 0; c < sharing->count; c++) is_of_order |= sharing->changes[c]->kind == CHANGE_VOLATILE;
    if (!is_of_order) return true;
    SharedTrials *trials = shared_trials_begin(search->ptx.judge, 1, SCHEDULES + 1, sharing->work,
                                               sizeof(bool), run_in_another_order, sharing);
    double left = sharing->work;
    for (int k = 1; trials && holds && k <= SCHEDULES && (left > 0 || k <= FEWEST_SCHEDULES); k++) {
        double work;
        holds = *(const bool *)shared_trials_next(trials, &work);
        left -= work;
    }
    const bool is_known = trials != NULL;
    shared_trials_end(trials);
    return is_known && holds;
}

// Whether some threads of a block do not arrive at a barrier that the changes put somewhere. `was`: the case
// without them, if it is known.
static bool misses_threads(const Search *search, const CaseReport *was, const CaseReport *now,
                           const Change *const changes[], int count) {
    bool places_barrier = false;
    for (int c = 0; c < count; c++)
        places_barrier |= changes[c]->kind == CHANGE_BARRIER || changes[c]->kind == CHANGE_MOVED_BARRIER ||
                          changes[c]->kind == CHANGE_MOVED;
    return places_barrier && now->has_partial_barrier && !was->has_partial_barrier &&
           !search->shown->has_partial_barrier;
}

// Runs a case of the plan again. False: it fails, or not all threads reach a barrier of the changes. `hash`:
// of its output; NULL: is not asked for.
static bool passes(const Search *search, Worker *worker, const CaseReport *report,
                   const Change *const changes[], int count, double *work, uint64_t *hash) {
    Case one = report->settings;
    CaseReport now;
    one.is_counted = false;
    const bool was_run = run(search, worker, &one, changes, count, MORE_PATIENCE, &now);
    if (was_run) *work -= judge_work_of(&now);
    if (hash) *hash = now.output_hash;
    return was_run && now.verdict == VERDICT_PASS && !misses_threads(search, report, &now, changes, count);
}

// Whether all cases that passed have the same bits under every schedule, as far as the task asks for that.
// `hashes`: by case; 0: it was not run.
static bool keeps_bits(const Judgement *judgement, const uint64_t *hashes) {
    for (int i = 0; i < judgement->case_count; i++)
        for (int k = 0; hashes[i] && k < i; k++)
            if (hashes[k] && hashes[k] != hashes[i] &&
                case_is_of_other_schedule(&judgement->cases[k].settings, &judgement->cases[i].settings))
                return false;
    return true;
}

typedef struct {
    bool passes;
    uint64_t hash;
} Passing;

static void run_case(void *context, int which, void *result) {
    Sharing *sharing = context;
    Passing *passing = result;
    const Search *search = sharing->search;
    const CaseReport *report = &search->ptx.judge->judgement->cases[sharing->cases[which]];
    Worker *worker = own_worker(&search->ptx, sharing->changes, sharing->count, &sharing->own);
    double ignored = 0;
    passing->passes =
        worker && passes(search, worker, report, sharing->changes, sharing->count, &ignored, &passing->hash);
}

// Lists the cases of the task with more than `least` elements and at most `largest`, those that failed first.
// The number of them; *wanted: without the one beyond.
static int list_cases(const Search *search, long long least, long long largest, int *cases, int *wanted) {
    const Judgement *judgement = search->ptx.judge->judgement;
    int count = 0;
    *wanted = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < judgement->case_count; i++) {
            const CaseReport *report = &judgement->cases[i];
            const bool has_failed = report->was_run && report->verdict != VERDICT_PASS;
            const bool is_beyond = report == search->beyond && least < 0;
            const bool is_wanted = search_has_case(search, largest, report) &&
                                   report->settings.size.n > least &&
                                   (least < 0 || !report->settings.is_large);
            if ((!is_wanted && !is_beyond) || has_failed != (pass == 0)) continue;
            cases[count++] = i;
            *wanted += is_wanted;
        }
    }
    return count;
}

// Runs those cases. The number of them that passed; -1: one fails, or they are more than `work`. `hashes`: as
// keeps_bits().
static int passing(Sharing *sharing, long long least, long long largest, double *work, uint64_t *hashes) {
    const Search *search = sharing->search;
    const Judgement *judgement = search->ptx.judge->judgement;
    sharing->cases = calloc((size_t)judgement->case_count + 1, sizeof *sharing->cases);
    if (!sharing->cases) return -1;
    int wanted, done = 0;
    const int count = list_cases(search, least, largest, sharing->cases, &wanted);
    SharedTrials *trials =
        shared_trials_begin(search->ptx.judge, 0, count, *work, sizeof(Passing), run_case, sharing);
    bool is_right = trials != NULL;
    for (; is_right && done < count; done++) {
        double taken = 0;
        const Passing *one = *work > 0 ? shared_trials_next(trials, &taken) : NULL;
        *work -= taken;
        is_right = one && one->passes;
        if (is_right) hashes[sharing->cases[done]] = one->hash;
    }
    shared_trials_end(trials);
    free(sharing->cases);
    return is_right && keeps_bits(judgement, hashes) ? wanted : -1;
}

// Whether the largest case that failed passes, which is beyond those of the search. One that is too much work
// says nothing.
static bool passes_largest(const Search *search, long long largest, Worker *worker,
                           const Change *const changes[], int count, double *work) {
    const Judgement *judgement = search->ptx.judge->judgement;
    const CaseReport *found = NULL;
    for (int i = 0; i < judgement->case_count; i++) {
        const CaseReport *report = &judgement->cases[i];
        const long long n = report->settings.size.n;
        if (report->was_run && report->verdict != VERDICT_PASS && n > largest && n <= LARGEST_TRIED &&
            search_has_case(search, LARGEST_TRIED, report) && !report->settings.is_large &&
            judge_work_of(report) < work_of_larger && (!found || n > found->settings.size.n))
            found = report;
    }
    return !found || passes(search, worker, found, changes, count, work, NULL);
}

// Whether it passes in cases that no plan has, too: the plan's own may not tell it from another change, as
// `n * m` from `n * k`. Those that LAUNCH refuses say nothing.
static bool passes_apart(const Search *search, Worker *worker, const Change *const changes[], int count) {
    Judge *judge = search->ptx.judge;
    double work = work_apart;
    Case one;
    for (int k = 0; work > 0 && plan_draw_apart(&judge->of->tasks[search->ptx.task], search->ptx.task,
                                                &judge->seeds, k, &one);
         k++) {
        if (judge->workers[0].is_lost || !judge_ask_case_shape(judge, &one)) return true;
        const CaseReport drawn = {.settings = one};
        if (judge_case_shape(judge, &one)->verdict == VERDICT_PASS &&
            !passes(search, worker, &drawn, changes, count, &work, NULL))
            return false;
    }
    return true;
}

// As confirm().
static int confirm_with(Search *search, Sharing *sharing, long long *largest, uint64_t *hashes) {
    const Change *const *changes = sharing->changes;
    const int count = sharing->count;
    double work = sharing->work, more = work_of_larger;
    const int done = passing(sharing, -1, search->largest, &work, hashes);
    *largest = largest_for(search, changes, count);
    if (done <= 0) search->work -= sharing->work - work; // for nothing
    Worker *worker = own_worker(&search->ptx, changes, count, &sharing->own);
    if (done <= 0 || !worker) return 0;
    if (!search->smallest.is_large && !passes_apart(search, worker, changes, count)) return 0;
    if (*largest == search->largest) return done;
    const int others = passing(sharing, search->largest, *largest, &more, hashes);
    if (others < 0 && more > 0) return 0;
    if (!passes_largest(search, *largest, worker, changes, count, &search->work)) return 0;
    if (others < 0) *largest = search->largest;
    return done + (others > 0 ? others : 0);
}

// Runs every case of the task with changes that have just been loaded, those that tell changes apart, and
// with some changes larger ones as well, as far as the work goes. The number of cases that pass, none with
// more than *largest elements; 0: one fails, or they are too much work.
static int confirm(Search *search, const Change *const changes[], int count, double work,
                   long long *largest) {
    Sharing sharing = {.search = search, .changes = changes, .count = count, .work = work};
    uint64_t *hashes = calloc((size_t)search->ptx.judge->judgement->case_count + 1, sizeof *hashes);
    const int done =
        hashes && holds_in_any_order(&sharing) ? confirm_with(search, &sharing, largest, hashes) : 0;
    own_worker_stop(&search->ptx, &sharing.own);
    free(hashes);
    return done;
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
    repair->is_of_source = changes[0]->variant > 0;
    if (search->beyond) repair->shown = search->beyond->settings.size.n;
    const Judgement *judgement = search->ptx.judge->judgement;
    for (int i = 0; i < judgement->case_count; i++) {
        const CaseReport *report = &judgement->cases[i];
        const long long n = report->settings.size.n;
        if (report->settings.is_large && search_has_case(search, largest, report) &&
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

// With another value or condition, a thread may no longer wait at all, and then what it waited for does not
// matter.
static bool may_skip_a_wait(const Search *search, const Change *const changes[], int count) {
    const Finding *finding = &search->shown->finding;
    bool may_skip = false;
    for (int c = 0; c < count; c++) {
        const ChangeKind kind = changes[c]->kind;
        may_skip |= kind > CHANGE_FULL_MASK && kind != CHANGE_STAY && kind != CHANGE_MOVED &&
                    !says_what_it_leaves_out(kind);
    }
    return search->shown->has_finding && finding->is_endless && finding->object[0] && may_skip;
}

void search_run_smallest(const Search *search, const Change *const changes[], int count,
                         SmallestRun *smallest) {
    Worker worker;
    smallest->was_run = false;
    if (may_skip_a_wait(search, changes, count) || !task_ptx_start(&search->ptx, changes, count, &worker))
        return;
    smallest->was_run = run(search, &worker, &search->smallest, changes, count, PATIENCE, &smallest->report);
    task_ptx_stop(&search->ptx, &worker);
}

bool search_conclude(Search *search, const Change *const changes[], int count, int base,
                     const SmallestRun *smallest) {
    const CaseReport *report = &smallest->report;
    int cases = 0;
    long long largest = search->largest;
    if (smallest->was_run && report->verdict == VERDICT_PASS &&
        !misses_threads(search, search->shown, report, changes, count))
        cases = confirm(search, changes, count, search->ptx.judge->options->repair_work, &largest);
    else if (smallest->was_run && report->verdict != VERDICT_PASS && base >= 0 &&
             search->base_count < BASES && may_be_half(changes[0]->kind) && helps(search->shown, report)) {
        search->base_reports[search->base_count] = *report;
        search->bases[search->base_count++] = base;
    }
    if (cases == 0) return false;
    const Symptoms symptoms = search_symptoms(search, search->shown);
    // No function of a task that passes has variants.
    if (!changes[0]->variant &&
        repair_breaks_another(&search->ptx, search_source(search), &symptoms, changes, count))
        return false;
    bool moves = false, may_switch_off = false;
    for (int c = 0; c < count; c++) {
        moves |= moves_work(changes[c]->kind);
        may_switch_off |= moves_work(changes[c]->kind) && !says_what_it_leaves_out(changes[c]->kind);
    }
    if (moves && !search->smallest.is_large &&
        (repair_drops_results(&search->ptx, search->shown, changes, count, &search->work) ||
         (may_switch_off &&
          repair_switches_off(&search->ptx, search->shown, search->largest, changes, count, &search->work)) ||
         !repair_keeps_balance(&search->ptx, changes, count, &search->work))) {
        return false;
    }
    if (page_work_is_over(search->ptx.judge)) return false; // what could not be run says nothing
    keep_repair(search, largest, changes, count, cases);
    return true;
}

bool search_attempt(Search *search, const Change *const changes[], int count, int base) {
    SmallestRun smallest;
    const double left = search->ptx.judge->work_left;
    search_run_smallest(search, changes, count, &smallest);
    search->work -= left - search->ptx.judge->work_left;
    return search_conclude(search, changes, count, base, &smallest);
}

// Whether the first and the last block of a large case show whether a change repairs it.
static bool lacks_only_the_last(const Search *search) {
    const CaseReport *shown = search->shown;
    return shown->settings.is_large && shown->has_check && shown->check.outcome == CHECK_LEFT_OUT &&
           shown->check.index >= 0;
}

bool search_passes_smallest(Search *search, const Change *const changes[], int count, double *work) {
    const double *left = &search->ptx.judge->work_left, before = *left;
    Worker worker;
    CaseReport report;
    bool passes = false;
    if (task_ptx_start(&search->ptx, changes, count, &worker)) {
        search->is_of_the_end = lacks_only_the_last(search);
        passes = run(search, &worker, &search->smallest, changes, count, PATIENCE, &report) &&
                 report.verdict == VERDICT_PASS;
        search->is_of_the_end = false;
        task_ptx_stop(&search->ptx, &worker);
    }
    *work -= before - *left;
    return passes;
}

bool search_confirms(Search *search, const Change *change) {
    const Change *one[] = {change};
    long long largest;
    return confirm(search, one, 1, work_for_rival, &largest) > 0;
}
