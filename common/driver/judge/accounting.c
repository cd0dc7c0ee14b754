#include "driver/judge/accounting.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/judge/account.h"
#include "driver/plan/elements.h"
#include "driver/plan/inputs.h"

enum { LARGEST = 1 << 18 }; // elements of a case that is accounted for

typedef bool Method(Account *account, Accounting *out);

// What can be found out about a wrong case of the task: the first that finds something is told.
typedef struct {
    Method *method;
    bool of_integers;  // needs a case of whole numbers, which is wrong by whole elements
    long long telling; // elements of a case that tells enough, if there is one
    double work; // in the milliseconds of a usual machine: counted, so that every machine finds the same
} Attempt;

// 1,100 elements are several blocks of every usual size; 140 are several warps, if more is too much work.
// 20,000 are several tiles of a scan; 8,200 are two of most, if each of several lacks something else. Of
// 4,096, a row has several elements for each thread, if one without them tells nothing.
static const Attempt of_sums[] = {{account_sums, true, 1100, 500},
                                  {account_sums, true, 140, 200},
                                  {account_values, false, 1100, 100},
                                  {0}},
                     of_row_sums[] = {{account_results, true, 1100, 200},
                                      {account_sums, true, 1100, 500},
                                      {account_sums, true, 140, 200},
                                      {account_values, false, 1100, 100},
                                      {0}},
                     of_bins[] = {{account_bin_values, true, 140, 600}, {account_bins, true, 1100, 400}, {0}},
                     of_places[] = {{account_results, true, 1100, 200},
                                    {account_places, false, 1100, 400},
                                    {0}},
                     of_filters[] = {{account_filter_rules, true, 700, 300},
                                     {account_results, true, 700, 200},
                                     {account_filter, true, 700, 600},
                                     {account_filter_weights, true, 700, 100},
                                     {0}},
                     of_rows[] = {{account_row_formulas, false, 700, 400},
                                  {account_rows, true, 1100, 500},
                                  {account_row_shared, true, 1100, 300},
                                  {account_rows, true, 4096, 500},
                                  {0}},
                     of_products[] = {{account_results, true, 1100, 200},
                                      {account_product, true, 1100, 600},
                                      {account_product, true, 140, 600},
                                      {0}},
                     of_scans[] = {{account_scan, true, 20000, 400},
                                   {account_scan, true, 8200, 200},
                                   {account_scan_digits, true, 140, 400},
                                   {0}},
                     of_terms[] = {{account_terms, false, 1100, 400},
                                   {account_terms, false, 1 << 17, 1500},
                                   {0}},
                     of_tables[] = {{account_formulas, false, 1100, 400}, {0}}, none[] = {{0}};

static const Attempt *choose_attempts(const Task *task) {
    switch (task->expect) {
    case EXPECT_SUM: return of_sums;
    case EXPECT_ROW_SUMS: return of_row_sums;
    case EXPECT_HISTOGRAM: return of_bins;
    case EXPECT_FILTER: return of_filters;
    case EXPECT_PRODUCT: return of_products;
    case EXPECT_SCAN: return of_scans;
    case EXPECT_REFERENCE: return of_terms;
    case EXPECT_ROWS: return of_rows;
    case EXPECT_ELEMENTWISE: return task->element ? none : of_places;
    case EXPECT_TRANSPOSE: return of_places;
    case EXPECT_TABLE: return task->buffers[task_output(task)].deviations ? of_tables : none;
    default: return none;
    }
}

// How much a case of n elements tells: most in the upper half of what is `telling`, and there with many
// elements after the last whole warp, since those are the ones that a wrong end leaves out.
static long long telling_rank(long long n, long long telling) {
    enum { WARP = 32 };
    if (n > telling) return -n;
    return n > telling / 2 ? telling + n % WARP : n;
}

// The wrong case of the task that tells most: of several that tell as much, one under the plain schedule, the
// one that is shown, or the first.
static const CaseReport *choose_case(const Judgement *judgement, int task, const Attempt *attempt) {
    const CaseReport *chosen = NULL;
    long long best = 0;
    for (int i = 0; i < judgement->case_count; i++) {
        const CaseReport *report = &judgement->cases[i];
        const long long n = report->settings.size.n, rank = telling_rank(n, attempt->telling);
        if (!report->was_run || report->settings.task != task || report->verdict != VERDICT_WRONG ||
            report->settings.is_large || report->origin != CASE_OF_PLAN || n < 1 || n > LARGEST ||
            (attempt->of_integers && report->settings.family != FAMILY_INTEGERS))
            continue;
        const bool is_plainer = chosen && chosen->settings.schedule > 0 &&
                                (report->settings.schedule == 0 || i == judgement->first);
        if (chosen && (rank < best || (rank == best && !is_plainer))) continue;
        chosen = report;
        best = rank;
    }
    return chosen;
}

// Whether the task goes wrong under other schedules than the plain one only.
static bool is_by_schedule(const Judgement *judgement, int task) {
    for (int i = 0; i < judgement->case_count; i++) {
        const CaseReport *report = &judgement->cases[i];
        if (report->settings.task == task && report->settings.schedule == 0 && report->was_run &&
            report->verdict != VERDICT_PASS)
            return false;
    }
    return true;
}

// Inputs of zeros. False when memory ran out.
static bool clear_inputs(Account *account) {
    for (int b = 0; b < task_buffer_count(account->task); b++) {
        if (account->task->buffers[b].role != INPUT) continue;
        account->inputs[b] =
            calloc((size_t)account->counts[b] + 1, element_bytes(account->task->buffers[b].type));
        if (!account->inputs[b]) return false;
    }
    return true;
}

// Whether a run of the chosen case goes wrong as it did. What a schedule with draws does depends on the
// checks that run beside it, and perhaps on the values.
static bool goes_alike(Account *account, const CaseReport *chosen) {
    if (chosen->settings.schedule == 0) return true;
    Rerun how = account->how;
    how.inputs = NULL;
    CaseReport report;
    if (!judge_rerun(account->judge, account->worker, &account->one, &how, &report)) return false;
    account->work -= judge_work_of(&report);
    return report.verdict == VERDICT_WRONG && report.check.index == chosen->check.index &&
           report.check.wrong == chosen->check.wrong;
}

static bool account_for(Judge *judge, int task, const Attempt *attempt, double share) {
    Judgement *judgement = judge->judgement;
    Account account = {.judge = judge, .task = &judge->of->tasks[task], .work = share * attempt->work};
    const CaseReport *chosen = choose_case(judgement, task, attempt);
    for (int w = 0; w < judge->worker_count && !account.worker; w++)
        if (judge->workers[w].is_beside == judge->is_gpu) account.worker = &judge->workers[w];
    const TaskShape *shape = chosen ? judge_case_shape(judge, &chosen->settings) : NULL;
    char why[512];
    CaseLayout layout;
    if (!shape || !account.worker ||
        !case_layout(account.task, &shape->shape, runner_arena_bytes(account.worker->runner), &layout, why,
                     sizeof why))
        return false;
    account.one = chosen->settings;
    account.one.is_counted = false;
    account.launch = chosen->shape.launches[0];
    for (int b = 0; b < MAX_BUFFERS; b++) account.counts[b] = layout.counts[b];
    account.how = (Rerun){.kernels = judge_image(judge, judge->is_gpu)->kernels[task],
                          .checks = account.one.schedule ? CHECK_ALL : CHECK_MEMORY,
                          .inputs = account.inputs};
    Accounting *out = &judgement->accounting;
    const bool is_known =
        goes_alike(&account, chosen) && clear_inputs(&account) && attempt->method(&account, out);
    if (!is_known) *out = (Accounting){0}; // a part of what an attempt has found says nothing
    size_t length = strlen(out->words);
    if (is_known && length > 0 && account.one.misalignment > 0)
        snprintf(out->words + length, sizeof out->words - length,
                 "; with a base %u bytes past an aligned address", account.one.misalignment);
    length = strlen(out->words);
    if (is_known && length > 0 && is_by_schedule(judgement, task))
        snprintf(out->words + length, sizeof out->words - length, "; with schedule %llu",
                 (unsigned long long)account.one.schedule);
    for (int b = 0; b < MAX_BUFFERS; b++) free(account.inputs[b]);
    return is_known;
}

void judge_account(Judge *judge, double share) {
    const Judgement *judgement = judge->judgement;
    if (judge->options->repair_ms == 0 || judgement->verdict != VERDICT_WRONG || judgement->first < 0 ||
        judge->options->time_count > 0)
        return;
    const int task = judgement->cases[judgement->first].settings.task;
    const Attempt *attempt = choose_attempts(&judge->of->tasks[task]);
    while (attempt->method && !account_for(judge, task, attempt, share)) attempt++;
}
