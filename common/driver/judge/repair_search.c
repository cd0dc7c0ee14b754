#include "driver/judge/repair_search.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/judge/repair/linked_lines.h"
#include "driver/judge/repair/words.h"
#include "driver/judge/repair_attempt.h"
#include "driver/judge/repair_elsewhere.h"
#include "driver/judge/shared_trials.h"
#include "driver/judge/variant_search.h"

enum {
    THREADS = 1 << 22, // of a case: the largest ones take longer than everything else together
};
// In milliseconds of a usual machine, as judge_work_of().
static const double work_to_settle = 100, work_for_rivals = 300;
// To propose changes, for each line of PTX: many look at all of them.
static const double work_of_line = 0.09;
// Of the search's work: before the source is compiled.
static const double share_alone = 0.1;
// Of the page's work: for edits of the PTX, and to make one of them smaller; for the search in the source,
// which is not begun for less than the least; and what that leaves to confirm what it finds.
static const double share_of_edits = 0.4, share_to_reduce = 0.18, share_of_source = 0.37,
                    least_of_source = 0.18, share_to_keep = 0.21;

// A third of the work is for pairs, if a change has been found that a second one may complete.
static bool is_over_for_single(const Search *search) {
    return search_is_over(search) || (search->base_count > 0 && search->work <= search->most_work / 3);
}

// ---- The search ------------------------------------------------------------------------------------------

static double proposal_work(const Search *search) { return work_of_line * search->ptx.lines.count; }

static void add_proposals(Search *search, const CaseReport *report) {
    page_work_take(search->ptx.judge, proposal_work(search));
    const Task *task = &search->ptx.judge->of->tasks[search->ptx.task];
    const Symptoms symptoms = search_symptoms(search, report);
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
    const Symptoms symptoms = search_symptoms(search, search->shown);
    double work = share_to_reduce * search->ptx.judge->options->repair_work;
    int least = whole;
    for (int parts = search->changes.all[whole].wide_count / 2; parts > 0; parts /= 2) {
        for (int from = 0; work > 0;) {
            if (!propose_less(&search->ptx.lines, &search->changes.all[least], from, parts, &symptoms,
                              &search->changes))
                break;
            const Change *one[] = {&search->changes.all[search->changes.count - 1]};
            if (search_passes_smallest(search, one, 1, &work))
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
    const Symptoms symptoms = search_symptoms(search, search->shown);
    char also[96];
    const int first = search->changes.count;
    if (!propose_parts(&search->ptx.lines, &search->changes.all[which], &symptoms, &search->changes, also,
                       sizeof also))
        return;
    search->work = search->work < work_to_settle ? work_to_settle : search->work;
    for (int i = first; i < search->changes.count && !search_is_over(search); i++) {
        const Change *one[] = {&search->changes.all[i]};
        if (search_attempt(search, one, 1, -1)) return;
    }
    char *words = search->ptx.judge->judgement->repair.changes[0].words;
    const size_t used = strlen(words);
    snprintf(words + used, sizeof search->ptx.judge->judgement->repair.changes[0].words - used, "%s", also);
}

// What repairs another task comes first: it may be the same mistake. The number of those changes.
static int put_known_first(Search *search) {
    int known = 0;
    for (int i = 0; i < search->changes.count; i++) {
        const Change change = search->changes.all[i];
        if (!search_knows(search, change.words)) continue;
        memmove(&search->changes.all[known + 1], &search->changes.all[known],
                (size_t)(i - known) * sizeof change);
        search->changes.all[known++] = change;
    }
    return known;
}

// Whether another change of a value repairs the kernel too, in another line: which of them is the mistake is
// not known then.
static bool has_rival(Search *search, const Change *found, int from, int count) {
    double work = search->work < work_for_rivals ? search->work : work_for_rivals;
    bool is_found = false;
    for (int i = from; i < count && !is_found && work > 0; i++) {
        const Change *one[] = {&search->changes.all[i]};
        const bool is_same_value =
            one[0]->source == found->source ||
            (one[0]->kind == CHANGE_LARGER_LAUNCH && found->kind == CHANGE_LARGER_LAUNCH) ||
            (one[0]->kind == found->kind &&
             lines_are_linked(search->ptx.judge->subjects->source_text, one[0]->source, found->source));
        if (!change_widens(one[0]->kind) || is_same_value || !search_passes_smallest(search, one, 1, &work))
            continue;
        is_found = search_confirms(search, one[0]);
    }
    search->work -= work_for_rivals;
    return is_found;
}

// What search_single() asks of a change first.
typedef struct {
    bool passes; // if it is a wide one
    SmallestRun run;
} FirstRun;

static void run_first(void *context, int which, void *result) {
    Search *search = context;
    FirstRun *first = result;
    const Change *one[] = {&search->changes.all[which]};
    double ignored = 0;
    first->passes = false;
    first->run.was_run = false;
    if (one[0]->wide_count > 0)
        first->passes = search_passes_smallest(search, one, 1, &ignored);
    else
        search_run_smallest(search, one, 1, &first->run);
}

// Whether a change repairs the kernel. `count`: of those that are searched, of which this is the `which`th.
static bool conclude_single(Search *search, int which, int count, int known, const FirstRun *first) {
    const Change *one[] = {&search->changes.all[which]};
    if (one[0]->wide_count > 0) {
        if (!first->passes) return false;
        const int least = reduce(search, which); // the array may move
        one[0] = &search->changes.all[least];
        if (!search_attempt(search, one, 1, which)) return false;
    } else if (!search_conclude(search, one, 1, which, &first->run))
        return false;
    if (change_widens(one[0]->kind) && which >= known && !search->smallest.is_large &&
        has_rival(search, one[0], which + 1, count))
        search->ptx.judge->judgement->repair = (Repair){0};
    else if (is_of_one_line(one[0]))
        settle_line(search, which);
    return true;
}

// `variants`: those that are searched next, which are compiled meanwhile; NULL: none.
static bool search_single(Search *search, VariantSearch *variants) {
    Judge *judge = search->ptx.judge;
    add_proposals(search, search->shown);
    const int known = put_known_first(search), count = search->changes.count;
    SharedTrials *trials =
        shared_trials_begin(judge, 0, count, search->work, sizeof(FirstRun), run_first, search);
    bool is_found = false;
    for (int i = 0; trials && i < count && !is_found && !is_over_for_single(search); i++) {
        double work;
        if (variants && search->work < (1 - share_alone) * search->most_work) variant_search_begin(variants);
        const FirstRun *first = shared_trials_next(trials, &work);
        search->work -= work;
        is_found = conclude_single(search, i, count, known, first);
    }
    shared_trials_end(trials);
    return is_found;
}

// A change that leaves out what is out of bounds passes with any wider bound: together they prove nothing.
static bool leaves_out(ChangeKind kind) {
    return kind == CHANGE_GUARD || kind == CHANGE_SINGLE || kind == CHANGE_STAY;
}

static bool are_proof(const Change *a, const Change *b) {
    return !(leaves_out(a->kind) && change_widens(b->kind)) &&
           !(leaves_out(b->kind) && change_widens(a->kind));
}

static bool search_pairs(Search *search) {
    for (int b = 0; b < search->base_count; b++) {
        const int first = search->changes.count;
        search->work -= proposal_work(search);
        if (search_is_over(search)) return false;
        add_proposals(search, &search->base_reports[b]);
        for (int i = first; i < search->changes.count && !search_is_over(search); i++) {
            const Change *both[] = {&search->changes.all[search->bases[b]], &search->changes.all[i]};
            if (!are_proof(both[0], both[1]) || !search_attempt(search, both, 2, -1)) continue;
            search_attempt(search, &both[1], 1, -1); // if that is enough, the first was only in the way
            return true;
        }
    }
    return false;
}

// Those that a case of the plan starts; it need not have been run.
static long long threads_of(const Search *search, const CaseReport *report) {
    const TaskShape *shape = judge_case_shape(search->ptx.judge, &report->settings);
    return shape ? case_threads(&shape->shape) : 0;
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
    search->largest = n > LARGEST_REPAIRED ? n : LARGEST_REPAIRED;
    for (int i = 0; i < judgement->case_count; i++) {
        const CaseReport *report = &judgement->cases[i];
        const long long other = report->settings.size.n;
        if (search_has_case(search, search->largest, report) && !report->settings.is_large &&
            threads_of(search, report) > THREADS && other > n)
            search->largest = other - 1;
    }
    search->smallest.is_counted = false;
    if (is_endless && !is_large && shown->origin == CASE_OF_PLAN && shown->settings.size.n > search->largest)
        search->beyond = shown;
    search->shown = smallest;
    return true;
}

static bool is_of(const Repair *repair, ChangeKind kind) {
    return repair->change_count == 1 && strcmp(repair->changes[0].name, change_name(kind)) == 0;
}

// Whether it is a maximum in place of a minimum, or the other way round.
static bool turns_a_limit(const Repair *repair) {
    return is_of(repair, CHANGE_OPERATOR) && strstr(repair->changes[0].words, "max") &&
           strstr(repair->changes[0].words, "min");
}

static void search_source_text(const Search *search, VariantSearch *variants) {
    const Judge *judge = search->ptx.judge;
    const double all = judge->options->repair_work, left = judge->work_left - share_to_keep * all;
    if (variants && left > least_of_source * all)
        variant_search_run(variants, left < share_of_source * all ? left : share_of_source * all);
}

// A condition that is decided one way shows where the mistake is. What it is may be said by a text in place
// of that line. A limit that is turned round may be none any more, which repairs what is wrong elsewhere: a
// text in any line may say that. The first change stays if there is none.
static void look_closer(Search *search) {
    Repair *repair = &search->ptx.judge->judgement->repair, before = *repair;
    const bool is_of_line = is_of(&before, CHANGE_ONE_WAY);
    if (!is_of_line && !turns_a_limit(&before)) return;
    search->line = is_of_line ? before.changes[0].line : 0;
    VariantSearch *variants = variant_search_new(search);
    if (variants && is_of_line) variant_search_keep_line(variants, search->line);
    *repair = (Repair){0};
    search_source_text(search, variants);
    // Another text in the line of a limit says no more.
    const bool is_same_line = repair->change_count == 1 && repair->changes[0].line == before.changes[0].line;
    if (repair->change_count != 1 || is_same_line != is_of_line) *repair = before;
    variant_search_free(variants);
}

// How often a name is in a line of the source.
static int times_in_line(const char *source, int line, const char *name) {
    const size_t length = strlen(name);
    int times = 0;
    for (int l = 1; l < line && source; l++) source = (source = strchr(source, '\n')) ? source + 1 : NULL;
    if (!source) return 0;
    const char *end = source + strcspn(source, "\n");
    for (const char *at = source; (at = strstr(at, name)) && at + length <= end; at += length)
        times += (at == source || !is_word(at[-1])) && !is_word(at[length]);
    return times;
}

// Whether the words "rows instead of columns in line 23" leave open which of several places is meant.
static bool is_ambiguous(const Search *search, const Repair *repair) {
    char was[64];
    const char *behind = strstr(repair->changes[0].words, " instead of ");
    int end = 0;
    return is_of(repair, CHANGE_NUMBER) && behind &&
           sscanf(behind, " instead of %63s in line %n", was, &end) == 1 && end > 0 &&
           times_in_line(search->ptx.judge->subjects->source_text, repair->changes[0].line, was) > 1;
}

// Whether a change that is one word of the text is none when it is written there.
static bool is_refuted_by_text(const Search *search, VariantSearch *variants) {
    Repair *repair = &search->ptx.judge->judgement->repair;
    const ChangeKind kinds[] = {CHANGE_COMPARISON, CHANGE_CONSTANT, CHANGE_OPERATOR};
    if (!variants || repair->change_count != 1) return false;
    if (is_ambiguous(search, repair)) {
        variant_search_leave_off(variants);
        if (variant_search_try_said(search, CHANGE_NUMBER) == TEXT_AGREES) return false;
        *repair = (Repair){0};
        return true;
    }
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        if (strcmp(repair->changes[0].name, change_name(kinds[k])) != 0) continue;
        variant_search_leave_off(variants); // their folder has one text at a time
        if (variant_search_try_said(search, kinds[k]) != TEXT_REFUTES) return false;
        *repair = (Repair){0};
        return true;
    }
    return false;
}

// A text that repairs another task, then edits of the PTX, and pairs of them, then texts of the source.
static void search_all(Search *search) {
    if (variant_search_try_proved(search)) return;
    VariantSearch *variants = variant_search_new(search);
    const bool is_known = variants && variant_search_try_known(variants);
    if (!is_known) {
        const bool is_found =
            search_single(search, variants) ? !is_refuted_by_text(search, variants) : search_pairs(search);
        if (!is_found) search_source_text(search, variants);
    }
    variant_search_keep(variants);
    if (!is_known) look_closer(search);
}

// Whether the formulas that every value follows say what is wrong. That a column is 0 does not say why.
static bool is_explained(const Accounting *accounting) {
    for (int d = 0; d < accounting->deviation_count; d++) {
        const char *mistake = accounting->deviations[d]->mistake;
        if (!mistake || strcmp(mistake, "not-filled-in") != 0) return true;
    }
    return false;
}

void judge_find_repair(Judge *judge, double share, const Repair known[], int known_count) {
    Judgement *judgement = judge->judgement;
    if (judge->options->repair_work == 0 || judgement->first < 0 || judge->options->time_count > 0 ||
        judge->worker_count == 0 || !can_be_repaired(judgement->verdict) ||
        is_explained(&judgement->accounting))
        return;
    const Image *image = judge_image(judge, judge->is_gpu);
    Search search = {.shown = &judgement->cases[judgement->first],
                     .work = share * share_of_edits * judge->options->repair_work,
                     .most_work = share * share_of_edits * judge->options->repair_work,
                     .known = known,
                     .known_count = known_count};
    search.ptx = (TaskPtx){.judge = judge, .image = image, .task = search.shown->settings.task};
    if (!image || !image->is_ptx || !find_smallest(&search)) return;
    if (schedule_holds(search.smallest.schedule)) return; // each attempt would take as long as the waiting
    if (task_ptx_make(judge, image, search.ptx.task, search_source(&search), &search.ptx)) {
        // What does not end takes longest without a change: that is only run where one has been found.
        const bool is_endless = search.shown->verdict == VERDICT_TIMEOUT;
        if (is_endless || !search_passes_smallest(&search, NULL, 0, &search.work)) search_all(&search);
        if (is_endless && judgement->repair.change_count > 0 &&
            (search_passes_smallest(&search, NULL, 0, &search.work) || page_work_is_over(judge)))
            judgement->repair = (Repair){0};
    }
    changes_free(&search.changes);
    task_ptx_free(&search.ptx);
}
