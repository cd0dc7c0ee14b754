// By which wrong formula the rows of EXPECT_ROWS were computed: the chapter gives those that learners often
// write, as deviations from the right one. Each is tried alone and then in pairs, on every result of many
// cases that were wrong and of some that were right.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/text.h"
#include "driver/judge/account.h"
#include "driver/plan/elements.h"
#include "driver/plan/expected.h"
#include "driver/plan/expected_rows.h"
#include "driver/plan/inputs.h"

enum {
    MOST_WRONG = 24, // cases
    MOST_RIGHT = 24,
    LARGEST_CASE = 1 << 13, // elements: larger cases say no more
    MOST_IN_PAIRS = 2,
};

// What a submission wrote in one case, as numbers, and what it was computed from.
typedef struct {
    long long rows, columns;
    double chain;
    int threads;
    double *in, *written, *others[MAX_ROW_OTHERS];
    bool *is_wrong; // by result: not what the task's own formula gives
} RowsCase;

typedef struct {
    Account *account;
    const Buffer *output;
    int in, out;
    RowsCase cases[MOST_WRONG + MOST_RIGHT];
    int case_count, deviation_count, fit_count;
    long long results, wrong; // of all cases, and those of them that are wrong
    double *values, *bounds;  // of one row
    uint64_t fits;            // the deviations of all sets that fit
} RowFormulas;

// ---- Comparing -------------------------------------------------------------------------------------------

// What a formula gives. A formula that allows any result tells nothing.
typedef struct {
    long long told, wrong_told; // results, and wrong ones among them
    bool is_another;            // of at least one result
} Told;

static bool is_same(const RowFormulas *formulas, const RowsCase *one, long long at, long long column) {
    return is_near(formulas->output->type, formulas->values[column], formulas->bounds[column],
                   one->written[at]);
}

// Compares all results of the case, or marks those that are wrong if `wrong` is not NULL.
static Told compare(const RowFormulas *formulas, const RowsCase *one, uint64_t deviations, bool *wrong) {
    Told told = {0};
    RowView view = {
        .columns = one->columns, .chain = one->chain, .deviations = deviations, .threads = one->threads};
    for (int k = 0; k < MAX_ROW_OTHERS; k++) view.others[k] = one->others[k];
    for (long long r = 0; r < one->rows; r++) {
        view.in = one->in + r * one->columns;
        for (long long c = 0; c < one->columns; c++) formulas->values[c] = formulas->bounds[c] = 0;
        formulas->account->task->row(&view, formulas->values, formulas->bounds);
        for (long long c = 0; c < one->columns; c++) {
            const long long at = r * one->columns + c;
            const bool is_told = !isinf(formulas->bounds[c]);
            if (wrong) {
                wrong[at] = !is_same(formulas, one, at, c);
                told.wrong_told += wrong[at];
                continue;
            }
            if (!is_same(formulas, one, at, c)) return (Told){.is_another = true};
            told.told += is_told;
            told.wrong_told += is_told && one->is_wrong[at];
        }
    }
    return told;
}

// At least half of the results have to be told by the formula, and a quarter of the wrong ones: rounding can
// make some of them of any size, which tells nothing. A formula that explains only what is right explains
// nothing.
static bool do_fit(const RowFormulas *formulas, uint64_t deviations) {
    Told sum = {0};
    for (int c = 0; c < formulas->case_count; c++) {
        const Told here = compare(formulas, &formulas->cases[c], deviations, NULL);
        if (here.is_another) return false;
        sum.told += here.told;
        sum.wrong_told += here.wrong_told;
    }
    return 2 * sum.told >= formulas->results && 4 * sum.wrong_told >= formulas->wrong;
}

// All sets of `more` deviations from number `first` on, together with those that are chosen.
static void try_sets(RowFormulas *formulas, uint64_t chosen, int first, int more) {
    if (more == 0) {
        if (!do_fit(formulas, chosen)) return;
        formulas->fits = formulas->fit_count++ ? formulas->fits & chosen : chosen;
        return;
    }
    for (int d = first; d < formulas->deviation_count; d++)
        try_sets(formulas, chosen | (uint64_t)1 << d, d + 1, more - 1);
}

// ---- What was written ------------------------------------------------------------------------------------

static double *take_numbers(const void *array, ElementType type, long long count) {
    double *numbers = malloc(((size_t)count + 1) * sizeof *numbers);
    if (numbers) elements_get(array, type, 0, count, numbers);
    return numbers;
}

static bool take_inputs(const Account *account, const Prepared *prepared, int in, RowsCase *one) {
    int used = 0;
    for (int b = 0; b < task_buffer_count(account->task) && used < MAX_ROW_OTHERS; b++) {
        const Buffer *buffer = &account->task->buffers[b];
        if (buffer->role != INPUT) continue;
        double *numbers = take_numbers(prepared->inputs[b], buffer->type, prepared->counts[b]);
        if (!numbers) return false;
        if (b == in)
            one->in = numbers;
        else
            one->others[used++] = numbers;
    }
    return one->in != NULL;
}

static bool add_case(RowFormulas *formulas, const CaseReport *report) {
    Account *account = formulas->account;
    RowsCase *one = &formulas->cases[formulas->case_count];
    account->one = report->settings;
    account->one.is_counted = false;
    if (!account_run(account)) return false;
    *one = (RowsCase){.rows = report->settings.size.rows,
                      .columns = report->settings.size.columns,
                      .chain = longest_chain(account->task, &report->shape),
                      .threads = (int)report->shape.launches[0].block[0]};
    formulas->case_count++;
    const uint64_t seed = seed_of_inputs(&account->judge->seeds, &account->one.size, account->one.family);
    Prepared *prepared = prepared_take(&account->judge->cache, account->task, &account->one, &report->shape,
                                       account->worker->layout.counts, seed);
    if (!prepared) return false;
    const bool is_taken = take_inputs(account, prepared, formulas->in, one);
    prepared_release(prepared);
    one->written = take_numbers(account_output(account), formulas->output->type, one->rows * one->columns);
    formulas->results += one->rows * one->columns;
    one->is_wrong = calloc((size_t)(one->rows * one->columns) + 1, sizeof *one->is_wrong);
    if (!is_taken || !one->written || !one->is_wrong) return false;
    formulas->wrong += compare(formulas, one, 0, one->is_wrong).wrong_told;
    return true;
}

// Small cases of the task with this verdict, up to `most`; false if one cannot be run again.
static bool collect(RowFormulas *formulas, Verdict verdict, int most) {
    const Judgement *judgement = formulas->account->judge->judgement;
    const int task = (int)(formulas->account->task - formulas->account->judge->of->tasks);
    for (int i = 0; i < judgement->case_count && most > 0; i++) {
        const CaseReport *report = &judgement->cases[i];
        const CaseSize *size = &report->settings.size;
        if (!report->was_run || report->settings.task != task || report->verdict != verdict ||
            report->origin != CASE_OF_PLAN || report->settings.is_large || report->settings.schedule ||
            size->n < 1 || size->n > LARGEST_CASE)
            continue;
        if (!add_case(formulas, report)) return false;
        most--;
    }
    return true;
}

// ---- Words -----------------------------------------------------------------------------------------------

static long long count_wrong(const RowFormulas *formulas) {
    long long wrong = 0;
    for (int c = 0; c < formulas->case_count; c++)
        wrong += compare(formulas, &formulas->cases[c], 0, NULL).is_another;
    return wrong;
}

static void say(const RowFormulas *formulas, Accounting *out) {
    char count[32];
    Text words = {0};
    count_text(formulas->results, count, sizeof count);
    out->n = formulas->results;
    out->misplaced = count_wrong(formulas);
    text_printf(&words, "all %s results of %d cases match a formula in which ", count, formulas->case_count);
    for (int d = 0; d < formulas->deviation_count; d++) {
        if (!(formulas->fits >> d & 1)) continue;
        const Deviation *deviation = &formulas->output->deviations[d];
        text_printf(&words, "%s%s", out->deviation_count ? ", and " : "", deviation->words);
        out->deviations[out->deviation_count++] = deviation;
    }
    snprintf(out->words, sizeof out->words, "%s", text_chars(&words));
    text_free(&words);
}

static void free_cases(RowFormulas *formulas) {
    for (int c = 0; c < formulas->case_count; c++) {
        free(formulas->cases[c].in);
        free(formulas->cases[c].written);
        free(formulas->cases[c].is_wrong);
        for (int k = 0; k < MAX_ROW_OTHERS; k++) free(formulas->cases[c].others[k]);
    }
}

bool account_row_formulas(Account *account, Accounting *out) {
    static void *none[MAX_BUFFERS];
    RowFormulas formulas = {
        .account = account, .in = task_input(account->task), .out = task_output(account->task)};
    formulas.output = &account->task->buffers[formulas.out];
    while (formulas.output->deviations && formulas.deviation_count < MAX_DEVIATIONS &&
           formulas.output->deviations[formulas.deviation_count].words)
        formulas.deviation_count++;
    formulas.values = calloc(2 * LARGEST_CASE, sizeof *formulas.values);
    formulas.bounds = formulas.values + LARGEST_CASE;
    account->how.inputs = none; // those of the case
    if (formulas.values && formulas.deviation_count > 0 && collect(&formulas, VERDICT_WRONG, MOST_WRONG) &&
        formulas.case_count > 0 && collect(&formulas, VERDICT_PASS, MOST_RIGHT))
        for (int together = 1; together <= MOST_IN_PAIRS && formulas.fit_count == 0; together++)
            try_sets(&formulas, 0, 0, together);
    // If several sets fit, the results do not tell which one it is, but what all of them have in common.
    if (formulas.fits) say(&formulas, out);
    free_cases(&formulas);
    free(formulas.values);
    return out->deviation_count > 0;
}
