#include "driver/judge/accounting.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/judge/account.h"
#include "driver/judge/account_fit.h"
#include "driver/judge/repair/ptx_lines.h"
#include "driver/plan/elements.h"
#include "driver/plan/inputs.h"
#include "support/text.h"

enum {
    LARGEST = 1 << 18, // elements of a case that is accounted for
    WARP = 32,
};

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

static void close_account(Account *account) {
    for (int b = 0; b < MAX_BUFFERS; b++) free(account->inputs[b]);
}

// For a case of the shape that it was run with, or would be. Close it in any case.
static bool open_account(Judge *judge, const Case *one, double work, Account *account) {
    *account = (Account){.judge = judge, .task = &judge->of->tasks[one->task], .work = work, .one = *one};
    for (int w = 0; w < judge->worker_count && !account->worker; w++)
        if (judge->workers[w].is_beside == judge->is_gpu) account->worker = &judge->workers[w];
    const TaskShape *shape = judge_case_shape(judge, one);
    char why[512];
    CaseLayout layout;
    if (!shape || shape->verdict != VERDICT_PASS || !account->worker ||
        !case_layout(account->task, &shape->shape, runner_arena_bytes(account->worker->runner), &layout, why,
                     sizeof why))
        return false;
    account->one.is_counted = false;
    account->launch = shape->shape.launches[0];
    for (int b = 0; b < MAX_BUFFERS; b++) account->counts[b] = layout.counts[b];
    account->how = (Rerun){.kernels = judge_image(judge, judge->is_gpu)->kernels[one->task],
                           .checks = account->one.schedule ? CHECK_ALL : CHECK_MEMORY,
                           .inputs = account->inputs,
                           .is_of_search = true};
    return true;
}

// ---- Rules over several sizes ----------------------------------------------------------------------------

// The same case with another n. False: its account has no stretch.
static bool take_point(Judge *judge, const Case *like, long long n, const Attempt *attempt, double share,
                       FitPoint *point) {
    Case one = *like;
    one.size.n = n;
    if (!judge_ask_case_shape(judge, &one)) return false;
    Account account;
    Accounting found = {0};
    const bool is_known = open_account(judge, &one, share * attempt->work, &account) &&
                          clear_inputs(&account) && attempt->method(&account, &found);
    *point = (FitPoint){n, account.launch, found.stretch};
    close_account(&account);
    return is_known && found.stretch.end > 0;
}

// Whether no case of the task is wrong whose n is not a multiple of `multiple`, and the rule names elements
// in no case of whole numbers that passed although its n is one: their sum would be wrong.
static bool agrees(const Judgement *judgement, const Case *like, const StretchFit *fit, long long multiple) {
    for (int i = 0; i < judgement->case_count; i++) {
        const CaseReport *report = &judgement->cases[i];
        const Case *one = &report->settings;
        if (!report->was_run || one->task != like->task) continue;
        if (report->verdict != VERDICT_PASS && one->size.n % multiple != 0) return false;
        if (report->verdict == VERDICT_PASS && one->size.n % multiple == 0 && !one->is_large &&
            report->origin == CASE_OF_PLAN && one->family == FAMILY_INTEGERS &&
            one->misalignment == like->misalignment &&
            account_fit_count(fit, one->size.n, &report->shape.launches[0]) > 0)
            return false;
    }
    return true;
}

// The smallest of 1, 2, 4 ... 32 for which it agrees; 0: it does for none.
static long long agreeing_multiple(const Judgement *judgement, const Case *like, const StretchFit *fit) {
    for (long long multiple = 1; multiple <= WARP; multiple *= 2)
        if (agrees(judgement, like, fit, multiple)) return multiple;
    return 0;
}

// "; at n = 1,023, 2,023 and 3,053 these are elements n % 4 to n - n % 4 - 1"
static void say_fit(const FitPoint *points, int count, const StretchFit *fit, long long multiple,
                    Accounting *out) {
    Text words = {0};
    text_add(&words, "; at n = ");
    for (int p = 0; p < count; p++) {
        char n[32];
        count_text(points[p].n, n, sizeof n);
        text_printf(&words, "%s%s", p == 0 ? "" : p == count - 1 ? " and " : ", ", n);
    }
    text_add(&words, " these are ");
    account_fit_say(fit, &words);
    if (multiple > 1)
        text_printf(&words, "; of the sizes that were run, only multiples of %lld are wrong", multiple);
    const size_t used = strlen(out->words);
    if (!words.failed && used + words.bytes < sizeof out->words)
        snprintf(out->words + used, sizeof out->words - used, "%s", text_chars(&words));
    text_free(&words);
}

// How many different remainders of a warp the sizes have: with the same one, all that depends on it looks
// alike.
static int count_remainders(const FitPoint *points, int count) {
    unsigned found = 0;
    for (int p = 0; p < count; p++) found |= 1u << points[p].n % WARP;
    return __builtin_popcount(found);
}

// Says where the stretch of an account begins and ends at several sizes, if formulas give it for all.
static void find_fit(const Account *account, const Attempt *attempt, double share, Accounting *out) {
    // What a size has more than whole warps: the first ones as much as the case, the others other remainders
    // of 2, 4, 8, 16 and 32.
    const int own = (int)(account->one.size.n % WARP), ends[FIT_MOST] = {own, own, 7, 13, 22, own};
    const Case *like = &account->one;
    if (out->stretch.end == 0 || like->size.rows > 0 || like->size.columns > 0 || like->schedule > 0) return;
    FitPoint points[FIT_MOST] = {{like->size.n, account->launch, out->stretch}};
    int count = 1;
    for (int i = 1; i < FIT_MOST; i++) {
        const long long n = like->size.n * (i + 1) / WARP * WARP + ends[i];
        if (n <= LARGEST && take_point(account->judge, like, n, attempt, share, &points[count]) &&
            points[count].stretch.times == out->stretch.times)
            count++;
    }
    StretchFit fit = NO_STRETCH_FIT;
    long long multiple = 0;
    while (multiple == 0 && account_fit(points, count, &fit)) {
        if (account_fit_is_all(&fit))
            return; // as the account says; another formula is the same in other words
        multiple = agreeing_multiple(account->judge->judgement, like, &fit);
    }
    if (multiple > 1 || (multiple == 1 && count_remainders(points, count) >= FIT_LEAST))
        say_fit(points, count, &fit, multiple, out);
}

// ---- All of it -------------------------------------------------------------------------------------------

static void add_words(Accounting *out, const char *format, unsigned long long number) {
    const size_t length = strlen(out->words);
    if (length > 0) snprintf(out->words + length, sizeof out->words - length, format, number);
}

// The line of kernel.cu in which a kernel of the task makes a float of a double; 0: there is none, or several
// have one.
static int narrowing_line(const Judge *judge, int task) {
    const Image *image = judge_image(judge, judge->is_gpu);
    PtxLines lines;
    int found = 0;
    bool is_one = true;
    if (!image || !image->is_ptx || !ptx_lines_make(&image->text, "kernel.cu", &lines)) return 0;
    for (int l = 0; l < task_launch_count(&judge->of->tasks[task]); l++) {
        const int function = ptx_find_function(&lines, image->kernels[task][l].symbol);
        for (int i = 0; function >= 0 && i < lines.count; i++) {
            PtxInstruction in;
            const int line = lines.lines[i].source;
            if (lines.lines[i].function != function || !ptx_instruction(&lines.lines[i], &in) ||
                !opcode_is(&in, "cvt") || !strstr(in.opcode, ".f32.f64"))
                continue;
            is_one &= line > 0 && (found == 0 || found == line);
            found = line;
        }
    }
    ptx_lines_free(&lines);
    return is_one ? found : 0;
}

static bool account_for(Judge *judge, int task, const Attempt *attempt, double share) {
    Judgement *judgement = judge->judgement;
    const CaseReport *chosen = choose_case(judgement, task, attempt);
    if (!chosen) return false;
    Account account;
    Accounting *out = &judgement->accounting;
    const bool is_known = open_account(judge, &chosen->settings, share * attempt->work, &account) &&
                          goes_alike(&account, chosen) && clear_inputs(&account) &&
                          attempt->method(&account, out);
    if (is_known) {
        find_fit(&account, attempt, share, out);
        if (account.one.misalignment > 0)
            add_words(out, "; with a base %llu bytes past an aligned address", account.one.misalignment);
        if (is_by_schedule(judgement, task)) add_words(out, "; with schedule %llu", account.one.schedule);
        const int narrowing = out->rules & ACCOUNT_32_BITS ? narrowing_line(judge, task) : 0;
        if (narrowing > 0)
            add_words(out, "; line %llu makes a float of a double", (unsigned long long)narrowing);
    } else
        *out = (Accounting){0}; // a part of what an attempt has found says nothing
    close_account(&account);
    return is_known;
}

void judge_account(Judge *judge, double share) {
    const Judgement *judgement = judge->judgement;
    if (judge->options->repair_work == 0 || judgement->verdict != VERDICT_WRONG || judgement->first < 0 ||
        judge->options->time_count > 0)
        return;
    const int task = judgement->cases[judgement->first].settings.task;
    const Attempt *attempt = choose_attempts(&judge->of->tasks[task]);
    while (attempt->method && !account_for(judge, task, attempt, share)) attempt++;
}
