// Which element of what all rows share, such as a factor for each column, reaches which result. An input that
// is multiplied by 2 at half of its places multiplies the results by 2 that it reaches as a factor, and adds
// 1 to those that it reaches as an addend, where 1 was added before. Doubling rounds nothing. With the places
// chosen by the bits of their number, one run for each bit tells which place it was.
#include <stdio.h>
#include <stdlib.h>

#include "driver/judge/account.h"
#include "driver/plan/elements.h"
#include "support/text.h"

enum { NOT_REACHED = -1 };

typedef struct {
    Account *account;
    int in;
    long long rows, columns;
    double *before;   // the results while the input is 1 everywhere
    long long *place; // of the input, that reaches each result
} Shared;

static void fill(const Shared *shared, int buffer, double value) {
    for (long long i = 0; i < shared->account->counts[buffer]; i++)
        account_mark(shared->account, buffer, i, value);
}

// Rows of numbers of either sign, no two of which are alike, so that no result is 0 in general.
static void fill_rows(const Shared *shared) {
    enum { LIMIT = 1000 };
    const Account *account = shared->account;
    for (long long i = 0; i < account->counts[shared->in]; i++)
        account_mark(account, shared->in, i, account_drawn(account, shared->in, i, LIMIT) / 100.0 - 5);
}

// One run with `buffer` twice as large at some places: whether each result is twice as large, too. False if
// one is something else.
static bool try_bit(const Shared *shared, int buffer, int bit) {
    for (long long i = 0; i < shared->account->counts[buffer]; i++)
        account_mark(shared->account, buffer, i, bit < 0 || i >> bit & 1 ? 2 : 1);
    if (!account_run(shared->account)) return false;
    for (long long i = 0; i < shared->rows * shared->columns; i++) {
        const double now = account_result(shared->account, i), before = shared->before[i];
        // A single 0 may be an element that is the mean of its row.
        if ((before == 0 && shared->rows == 1) || (now != before && now != 2 * before)) return false;
        if (bit < 0)
            shared->place[i] = now == before ? NOT_REACHED : 0;
        else if (now != before && shared->place[i] == NOT_REACHED)
            return false;
        else if (now != before)
            shared->place[i] |= 1LL << bit;
    }
    return true;
}

// Where each result takes its element of the buffer from. `is_added`: it is added, and all else is 0.
static bool find_places(const Shared *shared, int buffer, int factor, bool is_added) {
    fill_rows(shared);
    fill(shared, buffer, 1);
    if (is_added) fill(shared, factor, 0);
    bool is_found = account_run(shared->account);
    for (long long i = 0; is_found && i < shared->rows * shared->columns; i++)
        shared->before[i] = account_result(shared->account, i);
    for (int bit = -1; is_found && (bit < 0 || (shared->account->counts[buffer] - 1) >> bit > 0); bit++)
        is_found = try_bit(shared, buffer, bit);
    fill(shared, buffer, 0);
    if (is_added) fill(shared, factor, 1);
    return is_found;
}

static bool say(const Shared *shared, int buffer, Accounting *out) {
    enum { SHOWN = 3 };
    const char *name = shared->account->task->buffers[buffer].name;
    Text words = {0};
    char columns[32], count[32];
    long long wrong = 0;
    for (long long c = 0; c < shared->columns; c++) {
        const long long place = shared->place[c];
        for (long long r = 1; r < shared->rows; r++)
            if (shared->place[r * shared->columns + c] != place)
                return false; // it is not a matter of columns
        if (place == c) continue;
        if (wrong++ >= SHOWN) continue;
        text_printf(&words, "%scolumn %lld takes ", wrong > 1 ? ", " : "", c);
        if (place == NOT_REACHED)
            text_add(&words, "none");
        else
            text_printf(&words, "%s[%lld]", name, place);
    }
    count_text(shared->columns, columns, sizeof columns);
    count_text(wrong, count, sizeof count);
    if (wrong > 0) {
        out->n = shared->rows * shared->columns;
        out->misplaced = wrong * shared->rows;
        snprintf(out->words, sizeof out->words,
                 "in rows of %s, %s columns take another element of %s than their own, or none: %s%s",
                 columns, count, name, text_chars(&words), wrong > SHOWN ? " and so on" : "");
    }
    text_free(&words);
    return wrong > 0;
}

bool account_row_shared(Account *account, Accounting *out) {
    const CaseSize *size = &account->one.size;
    Shared shared = {
        .account = account, .in = task_input(account->task), .rows = size->rows, .columns = size->columns};
    int others[MAX_BUFFERS], count = 0;
    for (int b = 0; b < task_buffer_count(account->task); b++)
        if (account->task->buffers[b].role == INPUT && b != shared.in) others[count++] = b;
    shared.before = calloc((size_t)size->n + 1, sizeof *shared.before);
    shared.place = calloc((size_t)size->n + 1, sizeof *shared.place);
    bool is_said = false;
    // The first input is a factor, and the others are added: anything else is not told.
    for (int k = 0; shared.before && shared.place && k < count && !is_said; k++) {
        fill(&shared, others[0], 1);
        is_said = find_places(&shared, others[k], others[0], k > 0) && say(&shared, others[k], out);
    }
    free(shared.before);
    free(shared.place);
    return is_said;
}
