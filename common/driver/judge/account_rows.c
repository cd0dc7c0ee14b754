// Which elements of a row the others depend on. In each run one element of every row is a mark, and all
// others are 0: if the other results of the row are those of zeros alone, the mark is left out of all that
// the row shares, such as a sum. A mark so large that its power is infinite shows whether it is taken into
// account before powers are computed.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/judge/account.h"
#include "driver/judge/subset.h"
#include "driver/plan/elements.h"
#include "driver/plan/expected.h"
#include "driver/plan/expected_rows.h"
#include "support/text.h"

enum { REACHES, LEFT_OUT, OVERFLOWS, KINDS };
static const double mark = 8, large_mark = 200;

typedef struct {
    Account *account;
    int in, out;
    ElementType in_type, out_type;
    long long rows, columns;
    double chain;
    double *ones;                  // in every other input
    double *row, *values, *bounds; // of one row
    double *before;                // the results of zeros
    unsigned char *kinds;          // of each column
} Rows;

static void expect(const Rows *rows, double *values, double *bounds, long long columns) {
    const double *others[MAX_ROW_OTHERS];
    for (int k = 0; k < MAX_ROW_OTHERS; k++) others[k] = rows->ones;
    memset(values, 0, (size_t)columns * sizeof *values);
    memset(bounds, 0, (size_t)columns * sizeof *bounds);
    expect_row(rows->account->task, columns, rows->chain, rows->row, others, values, bounds);
}

static double result(const Rows *rows, long long row, long long column) {
    return account_result(rows->account, row * rows->columns + column);
}

static void put(Rows *rows, long long row, long long column, double value) {
    account_mark(rows->account, rows->in, row * rows->columns + column, value);
}

// Whether the results of the row are those without a mark, except in the column of the mark.
static bool is_as_before(const Rows *rows, long long row, long long except) {
    for (long long c = 0; c < rows->columns; c++) {
        const double before = rows->before[row * rows->columns + c], bound = rows->bounds[c];
        if (c != except && !is_near(rows->out_type, before, 2 * bound, result(rows, row, c))) return false;
    }
    return true;
}

static bool has_special(const Rows *rows, long long row) {
    for (long long c = 0; c < rows->columns; c++)
        if (!isfinite(result(rows, row, c))) return true;
    return false;
}

// What zeros alone give, and how far that may be off. False if it is not a number.
static bool keep_zeros(Rows *rows) {
    expect(rows, rows->values, rows->bounds, rows->columns);
    if (!account_run(rows->account)) return false;
    for (long long r = 0; r < rows->rows; r++) {
        if (has_special(rows, r)) return false;
        for (long long c = 0; c < rows->columns; c++)
            rows->before[r * rows->columns + c] = result(rows, r, c);
    }
    return true;
}

// One run: row r has its mark in column `first` + r.
static bool try_columns(Rows *rows, long long first, double value, bool is_large) {
    const long long left = rows->columns - first, count = left < rows->rows ? left : rows->rows;
    for (long long r = 0; r < count; r++) put(rows, r, first + r, value);
    const bool has_run = account_run(rows->account);
    for (long long r = 0; r < count; r++) put(rows, r, first + r, 0);
    for (long long r = 0; has_run && r < count; r++) {
        unsigned char *kind = &rows->kinds[first + r];
        if (is_large && *kind == REACHES && has_special(rows, r)) *kind = OVERFLOWS;
        if (!is_large && rows->columns > 1 && is_as_before(rows, r, first + r)) *kind = LEFT_OUT;
    }
    return has_run;
}

// Whether rows of other numbers are what they should be without the columns that are left out.
static bool are_confirmed(Rows *rows) {
    enum { DRAWN = 256 };
    for (long long r = 0; r < rows->rows; r++)
        for (long long c = 0; c < rows->columns; c++)
            put(rows, r, c,
                account_drawn(rows->account, rows->in, r * rows->columns + c, DRAWN) / (double)DRAWN);
    if (!account_run(rows->account)) return false;
    for (long long r = 0; r < rows->rows; r++) {
        long long used = 0;
        for (long long c = 0; c < rows->columns; c++)
            if (rows->kinds[c] != LEFT_OUT)
                rows->row[used++] =
                    element_get(rows->account->inputs[rows->in], rows->in_type, r * rows->columns + c);
        expect(rows, rows->values, rows->bounds, used);
        for (long long c = 0, at = 0; c < rows->columns; c++) {
            if (rows->kinds[c] == LEFT_OUT) continue;
            if (!is_near(rows->out_type, rows->values[at], rows->bounds[at], result(rows, r, c)))
                return false;
            at++;
        }
    }
    return true;
}

static bool find_kinds(Rows *rows) {
    if (!keep_zeros(rows)) return false;
    for (long long c = 0; c < rows->columns; c += rows->rows)
        if (!try_columns(rows, c, mark, false)) return false;
    for (long long c = 0; c < rows->columns; c += rows->rows)
        if (!try_columns(rows, c, large_mark, true)) return false;
    return are_confirmed(rows);
}

static long long describe(const Rows *rows, int kind, char *words, size_t bytes) {
    const Subset subset = {rows->kinds, rows->columns, 1u << kind, &rows->account->launch, 0};
    return subset_describe(&subset, words, bytes);
}

static bool say(const Rows *rows, Accounting *out) {
    char left_out[240], overflow[240], columns[32];
    const long long missing = describe(rows, LEFT_OUT, left_out, sizeof left_out),
                    too_large = describe(rows, OVERFLOWS, overflow, sizeof overflow);
    // If none reaches any other, rows of other numbers confirm nothing: a mark may be lost in what is
    // computed.
    if ((missing == 0 && too_large == 0) || missing == rows->columns) return false;
    out->n = rows->account->one.size.n;
    out->missing = missing;
    if (missing > 0) out->rules |= ACCOUNT_LEFT_OUT_OF_ROW;
    if (too_large > 0)
        out->rules |= too_large == rows->columns ? ACCOUNT_ROWS_OVERFLOW : ACCOUNT_SOME_OVERFLOW;
    count_text(rows->columns, columns, sizeof columns);
    Text words = {0};
    text_printf(&words, "in rows of %s, ", columns);
    if (missing > 0)
        text_printf(&words, "%s %s no other element of the row", left_out,
                    missing == 1 ? "changes" : "change");
    if (missing > 0 && too_large > 0) text_add(&words, "; ");
    if (too_large == rows->columns)
        text_printf(&words, "one element of %g, with all others 0, gives NaN or infinity wherever it is",
                    large_mark);
    else if (too_large > 0)
        text_printf(&words, "one element of %g, with all others 0, gives NaN or infinity if it is one of %s",
                    large_mark, overflow);
    snprintf(out->words, sizeof out->words, "%s", text_chars(&words));
    text_free(&words);
    return true;
}

bool account_rows(Account *account, Accounting *out) {
    const Task *task = account->task;
    const CaseSize *size = &account->one.size;
    Rows rows = {.account = account,
                 .in = task_input(task),
                 .out = task_output(task),
                 .rows = size->rows,
                 .columns = size->columns};
    CaseShape shape = {.size = *size, .launch_count = 1};
    shape.launches[0] = account->launch;
    rows.chain = longest_chain(task, &shape);
    rows.in_type = task->buffers[rows.in].type;
    rows.out_type = task->buffers[rows.out].type;
    double *room = calloc((size_t)(rows.columns * (4 + rows.rows)) + 1, sizeof *room);
    rows.kinds = calloc((size_t)rows.columns + 1, 1);
    bool is_known = room && rows.kinds;
    if (is_known) {
        rows.row = room;
        rows.values = rows.row + rows.columns;
        rows.bounds = rows.values + rows.columns;
        rows.ones = rows.bounds + rows.columns;
        rows.before = rows.ones + rows.columns;
        for (long long c = 0; c < rows.columns; c++) rows.ones[c] = 1;
        for (int b = 0; b < task_buffer_count(task); b++)
            for (long long i = 0; task->buffers[b].role == INPUT && b != rows.in && i < account->counts[b];
                 i++)
                account_mark(account, b, i, 1);
        is_known = find_kinds(&rows) && say(&rows, out);
    }
    free(room);
    free(rows.kinds);
    return is_known;
}
