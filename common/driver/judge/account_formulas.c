// Which formulas a table was computed by: the chapter gives those that learners often get wrong, as
// deviations from the right ones. Each is tried alone, then in pairs and in threes, on every value of every
// case that failed.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/text.h"
#include "driver/judge/account.h"
#include "driver/plan/elements.h"

enum {
    MOST_CASES = 8,
    PREVIEW = 16, // values that are compared before all are computed, as a share of them
};

// What a submission wrote in one case, and what it was computed from.
typedef struct {
    void *written;
    Prepared *prepared;
    uint64_t seed;
    const CaseReport *report;
} TableCase;

typedef struct {
    const Buffer *buffer;
    int index; // of the buffer
    long long count;
    size_t bytes; // of an element
    TableCase cases[MOST_CASES];
    int case_count;
    void *computed; // room for a table
    uint64_t fits;  // the deviations of all sets that fit
    int fit_count, deviation_count;
} Tables;

// ---- Comparing -------------------------------------------------------------------------------------------

static void compute(const Tables *tables, const TableCase *one, uint64_t deviations, long long count) {
    const TableView view = {.seed = one->seed,
                            .count = count,
                            .inputs = (const void *const *)one->prepared->inputs,
                            .deviations = deviations};
    tables->buffer->make(&view, tables->computed);
}

static bool has_values(const Tables *tables, const TableCase *one, uint64_t deviations, long long count) {
    compute(tables, one, deviations, count);
    return memcmp(tables->computed, one->written, (size_t)count * tables->bytes) == 0;
}

static bool do_fit(const Tables *tables, uint64_t deviations) {
    if (!has_values(tables, &tables->cases[0], deviations, tables->count / PREVIEW)) return false;
    for (int c = 0; c < tables->case_count; c++)
        if (!has_values(tables, &tables->cases[c], deviations, tables->count)) return false;
    return true;
}

// All sets of `more` deviations from number `first` on, together with those that are chosen.
static void try_sets(Tables *tables, uint64_t chosen, int first, int more) {
    if (more == 0) {
        if (!do_fit(tables, chosen)) return;
        tables->fits = tables->fit_count++ ? tables->fits & chosen : chosen;
        return;
    }
    for (int d = first; d < tables->deviation_count; d++)
        try_sets(tables, chosen | (uint64_t)1 << d, d + 1, more - 1);
}

// ---- What was written ------------------------------------------------------------------------------------

static bool add_case(Account *account, const CaseReport *report, Tables *tables) {
    TableCase *one = &tables->cases[tables->case_count];
    account->one = report->settings;
    account->one.is_counted = false;
    if (!account_run(account)) return false;
    const size_t bytes = (size_t)tables->count * tables->bytes;
    one->report = report;
    one->seed = seed_of_inputs(&account->judge->seeds, &account->one.size, account->one.family);
    one->prepared = prepared_take(&account->judge->cache, account->task, &account->one, &report->shape,
                                  account->counts, one->seed);
    if (!one->prepared) return false;
    tables->case_count++;
    one->written = malloc(bytes + 1);
    if (one->written) memcpy(one->written, account_output(account), bytes);
    return one->written != NULL;
}

// Of all cases of the task that are wrong; false if one cannot be run again.
static bool collect(Account *account, Tables *tables) {
    const Judgement *judgement = account->judge->judgement;
    const int task = account->one.task;
    for (int i = 0; i < judgement->case_count && tables->case_count < MOST_CASES; i++) {
        const CaseReport *report = &judgement->cases[i];
        if (report->was_run && report->settings.task == task && report->verdict == VERDICT_WRONG &&
            !add_case(account, report, tables))
            return false;
    }
    return tables->case_count > 0;
}

// ---- Words -----------------------------------------------------------------------------------------------

static long long count_wrong(const Tables *tables) {
    const TableCase *one = &tables->cases[0];
    const void *right = one->prepared->expected.tables[tables->index];
    long long wrong = 0;
    for (long long i = 0; right && i < tables->count; i++)
        wrong += memcmp((const char *)right + (size_t)i * tables->bytes,
                        (const char *)one->written + (size_t)i * tables->bytes, tables->bytes) != 0;
    return wrong;
}

static void say(const Tables *tables, Accounting *out) {
    char count[32];
    count_text(tables->count, count, sizeof count);
    out->n = tables->count;
    out->misplaced = count_wrong(tables);
    size_t used =
        (size_t)snprintf(out->words, sizeof out->words, "all %s values of %s are those of formulas in which ",
                         count, tables->buffer->name);
    for (int d = 0; d < tables->deviation_count; d++) {
        if (!(tables->fits >> d & 1)) continue;
        if (out->deviation_count > 0 && used < sizeof out->words)
            used += (size_t)snprintf(out->words + used, sizeof out->words - used, ", and ");
        const Deviation *deviation = &tables->buffer->deviations[d];
        if (used < sizeof out->words)
            used += (size_t)snprintf(out->words + used, sizeof out->words - used, "%s", deviation->words);
        out->deviations[out->deviation_count++] = deviation;
    }
}

// Which of several deviations makes the value that is shown what it is.
static void find_shown(const Account *account, const Tables *tables, Accounting *out) {
    const Judgement *judgement = account->judge->judgement;
    const CaseReport *shown = judgement->first >= 0 ? &judgement->cases[judgement->first] : NULL;
    if (!shown || !shown->has_check || shown->check.index < 0 || shown->check.index >= tables->count) return;
    const TableCase *one = NULL;
    for (int c = 0; c < tables->case_count && !one; c++)
        if (tables->cases[c].report == shown) one = &tables->cases[c];
    int found = 0;
    for (int d = 0; d < out->deviation_count && one; d++) {
        const long long number = out->deviations[d] - tables->buffer->deviations;
        const size_t at = (size_t)shown->check.index * tables->bytes;
        compute(tables, one, (uint64_t)1 << number, tables->count);
        if (memcmp((char *)tables->computed + at, (char *)one->written + at, tables->bytes) != 0) continue;
        out->shown = d;
        found++;
    }
    out->is_one_shown = found == 1;
}

bool account_formulas(Account *account, Accounting *out) {
    const int output = task_output(account->task);
    Tables tables = {
        .buffer = &account->task->buffers[output], .index = output, .count = account->counts[output]};
    void *none[MAX_BUFFERS] = {0};
    tables.bytes = element_bytes(tables.buffer->type);
    tables.computed = malloc((size_t)tables.count * tables.bytes + 1);
    while (tables.deviation_count < MAX_DEVIATIONS && tables.buffer->deviations[tables.deviation_count].words)
        tables.deviation_count++;
    account->how.inputs = none; // those of the case
    if (tables.computed && collect(account, &tables))
        for (int together = 1; together <= MAX_TOGETHER && tables.fit_count == 0; together++)
            try_sets(&tables, 0, 0, together);
    // If several sets fit, the values do not tell which one it is, but what all of them have in common.
    if (tables.fits) say(&tables, out);
    if (out->deviation_count > 1) find_shown(account, &tables, out);
    for (int c = 0; c < tables.case_count; c++) {
        free(tables.cases[c].written);
        prepared_release(tables.cases[c].prepared);
    }
    free(tables.computed);
    return out->deviation_count > 0;
}
