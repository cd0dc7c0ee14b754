// Which elements of the image reach each output of a filter, and with which coefficients.
//
// If the coefficients are an input, one run for each of them has it as the only one that is not 0, and each
// element has its own number: every output then is the number of the element that has met this coefficient.
// If they are fixed, a few elements at a time are the only ones that are not 0, as digits of a number, and an
// output holds the coefficients of each.
#include <stdio.h>
#include <stdlib.h>

#include "driver/judge/account.h"
#include "driver/judge/image_subset.h"
#include "driver/plan/elements.h"
#include "driver/plan/filter.h"

enum {
    MOST_ELEMENTS = 1 << 10,
    DIGIT = 16, // the coefficients of an output together, of one element, in units, are less
    DIGITS = 5, // of a number that a float holds with its units
    UNITS = 8,  // fixed coefficients are multiples of 1/8
};

typedef struct {
    Account *account;
    const Task *task;
    int in, out, coefficients; // buffers; -1: they are fixed
    int radius, side;
    long long rows, columns, n;
    // What output p takes of element j, at p * n + j: a bit for each coefficient, or the sum of the fixed
    // ones in units.
    uint64_t *taken;
    bool *is_written; // of each output
} Filtered;

static float *input_of(const Filtered *of, int b) { return of->account->inputs[b]; }

static bool run(Filtered *of) {
    if (!account_run(of->account)) return false;
    for (long long p = 0; p < of->n; p++) of->is_written[p] = !account_is_unwritten(of->account, p);
    return true;
}

// One run for each coefficient.
static bool find_by_coefficient(Filtered *of) {
    const int taps = of->side * of->side;
    for (long long j = 0; j < of->n; j++) input_of(of, of->in)[j] = (float)(j + 1);
    for (int k = 0; k < taps; k++) {
        input_of(of, of->coefficients)[k] = 1;
        if (!run(of)) return false;
        input_of(of, of->coefficients)[k] = 0;
        for (long long p = 0; p < of->n; p++) {
            const double mark = of->is_written[p] ? account_result(of->account, p) : 0;
            if (mark == 0) continue;
            if (!(mark >= 1 && mark <= (double)of->n) || mark != (double)(long long)mark) return false;
            of->taken[p * of->n + (long long)mark - 1] |= (uint64_t)1 << k;
        }
    }
    return true;
}

// One run for a few elements.
static bool find_by_element(Filtered *of) {
    float *image = input_of(of, of->in);
    for (long long j = 0; j < of->n; j += DIGITS) {
        const int count = of->n - j < DIGITS ? (int)(of->n - j) : DIGITS;
        float digit = UNITS;
        for (int d = 0; d < count; d++) {
            image[j + d] = digit;
            digit *= DIGIT;
        }
        if (!run(of)) return false;
        for (int d = 0; d < count; d++) image[j + d] = 0;
        for (long long p = 0; p < of->n; p++) {
            const double sum = of->is_written[p] ? account_result(of->account, p) : 0;
            if (!(sum >= 0 && sum < 0x1p24) || sum != (double)(long long)sum) return false;
            uint64_t left = (uint64_t)sum;
            for (int d = 0; d < count; d++, left /= DIGIT) of->taken[p * of->n + j + d] = left % DIGIT;
        }
    }
    return true;
}

static double coefficient_at(const Filtered *of, int k) {
    return of->coefficients < 0 ? (double)of->task->filter.fixed[k]
                                : (double)input_of(of, of->coefficients)[k];
}

static double weight_of(const Filtered *of, uint64_t taken) {
    if (of->coefficients < 0) return (double)taken / UNITS;
    double sum = 0;
    for (; taken; taken &= taken - 1) sum += coefficient_at(of, __builtin_ctzll(taken));
    return sum;
}

// Whether that explains the result of another input, of both signs.
static bool are_confirmed(Filtered *of) {
    enum { LIMIT = 100 };
    for (long long j = 0; j < of->n; j++)
        input_of(of, of->in)[j] = (float)(UNITS * (account_drawn(of->account, of->in, j, 2 * LIMIT) - LIMIT));
    for (int k = 0; of->coefficients >= 0 && k < of->side * of->side; k++)
        input_of(of, of->coefficients)[k] =
            (float)(1 + account_drawn(of->account, of->coefficients, k, LIMIT));
    if (!run(of)) return false;
    for (long long p = 0; p < of->n; p++) {
        double sum = 0;
        for (long long j = 0; j < of->n; j++)
            if (of->taken[p * of->n + j])
                sum += weight_of(of, of->taken[p * of->n + j]) * (double)input_of(of, of->in)[j];
        if (of->is_written[p] && sum != account_result(of->account, p)) return false;
    }
    return true;
}

// ---- Words -----------------------------------------------------------------------------------------------

// How an output differs from the right one; bits.
enum { LACKS = 1, HAS_OTHERS = 2, IS_EMPTY = 4, IS_UNWRITTEN = 8, IS_REWEIGHTED = 16 };

// What it should take of the element `dy` rows and `dx` columns away.
static uint64_t proper(const Filtered *of, int k) {
    if (of->coefficients >= 0) return (uint64_t)1 << k;
    return (uint64_t)(UNITS * of->task->filter.fixed[k]);
}

// The element of coefficient k of output p; -1: there is none.
static long long neighbour(const Filtered *of, long long p, int k) {
    const long long row = p / of->columns + k / of->side - of->radius;
    const long long column = p % of->columns + k % of->side - of->radius;
    const bool is_inside = row >= 0 && row < of->rows && column >= 0 && column < of->columns;
    return is_inside ? row * of->columns + column : -1;
}

// `lacking` gets the coefficients that output p lacks.
static int sort_output(const Filtered *of, long long p, uint64_t *lacking) {
    const uint64_t *taken = &of->taken[p * of->n];
    int kind = 0, own = 0, all = 0;
    bool is_empty = true;
    *lacking = 0;
    if (!of->is_written[p]) return IS_UNWRITTEN;
    for (int k = 0; k < of->side * of->side; k++) {
        const long long j = neighbour(of, p, k);
        if (j < 0 || proper(of, k) == 0) continue;
        own += taken[j] != 0;
        if (taken[j] == 0)
            *lacking |= (uint64_t)1 << k;
        else if (taken[j] != proper(of, k))
            kind = IS_REWEIGHTED;
    }
    for (long long j = 0; j < of->n; j++) {
        all += taken[j] != 0;
        is_empty &= taken[j] == 0;
    }
    if (*lacking) kind |= LACKS;
    if (all > own) kind = (kind & LACKS) | HAS_OTHERS;
    if (kind & LACKS) kind &= ~IS_REWEIGHTED;
    return is_empty && kind ? IS_EMPTY : kind;
}

// "3 columns to the left", "what is above": what all lacking coefficients have in common.
static void say_lacking(const Filtered *of, uint64_t lacking, Text *words) {
    int top = of->radius, bottom = -of->radius, left = of->radius, right = -of->radius;
    for (uint64_t rest = lacking; rest; rest &= rest - 1) {
        const int k = __builtin_ctzll(rest), dy = k / of->side - of->radius, dx = k % of->side - of->radius;
        if (dy < top) top = dy;
        if (dy > bottom) bottom = dy;
        if (dx < left) left = dx;
        if (dx > right) right = dx;
    }
    const char *vertical = bottom < 0 ? "above" : top > 0 ? "below" : "";
    const char *aside = right < 0 ? "to the left" : left > 0 ? "to the right" : "";
    text_printf(words, "elements %s%s%s", vertical, *vertical && *aside ? " and " : "",
                *vertical || *aside ? aside : "on several sides");
}

// All outputs of one kind, in one part of a sentence. Returns how many.
static long long say_kind(const Filtered *of, const int *kinds, const uint64_t *lacking, int kind, bool *room,
                          Text *words) {
    long long first = -1;
    uint64_t all = 0;
    for (long long p = 0; p < of->n; p++) {
        room[p] = kinds[p] == kind;
        if (!room[p]) continue;
        all |= lacking[p];
        if (first < 0) first = p;
    }
    if (first < 0) return 0;
    if (words->bytes) text_add(words, "; ");
    const long long count = image_subset_describe(room, of->rows, of->columns, words);
    const bool is_one = count == 1;
    if (kind == IS_UNWRITTEN) text_add(words, is_one ? " is never written" : " are never written");
    if (kind == IS_EMPTY) text_add(words, is_one ? " takes no element" : " take no element");
    if (kind == LACKS) {
        text_add(words, is_one ? " lacks " : " lack ");
        say_lacking(of, all, words);
    }
    if (kind == HAS_OTHERS)
        text_printf(words, " %s all of %s elements, and others", is_one ? "takes" : "take",
                    is_one ? "its" : "their");
    if (kind == IS_REWEIGHTED)
        text_printf(words, " %s %s own elements with other coefficients", is_one ? "takes" : "take",
                    is_one ? "its" : "their");
    if (kind == (LACKS | HAS_OTHERS))
        text_printf(words, " %s other elements than %s own", is_one ? "takes" : "take",
                    is_one ? "its" : "their");
    if (kind & HAS_OTHERS) {
        const uint64_t *taken = &of->taken[first * of->n];
        for (long long j = 0; j < of->n; j++) {
            bool is_own = false;
            for (int k = 0; k < of->side * of->side; k++)
                is_own |= neighbour(of, first, k) == j && proper(of, k);
            if (!taken[j] || is_own) continue;
            text_printf(words, ": output (%lld, %lld) takes element (%lld, %lld)", first / of->columns,
                        first % of->columns, j / of->columns, j % of->columns);
            break;
        }
    }
    return count;
}

static void say(const Filtered *of, const int *kinds, const uint64_t *lacking, bool *room, Accounting *out) {
    static const int order[] = {IS_UNWRITTEN, IS_EMPTY, LACKS, HAS_OTHERS, LACKS | HAS_OTHERS, IS_REWEIGHTED};
    Text words = {0};
    out->n = of->n;
    for (size_t k = 0; k < sizeof order / sizeof order[0]; k++) {
        const long long count = say_kind(of, kinds, lacking, order[k], room, &words);
        *(order[k] & (HAS_OTHERS | IS_REWEIGHTED) ? &out->misplaced : &out->missing) += count;
    }
    const long long others = of->n - out->missing - out->misplaced;
    if (!words.bytes)
        text_add(&words, "every output is made of its own elements");
    else if (others > 0)
        text_add(&words, others == 1 ? "; the other one is right" : "; the others are right");
    char rows[32], columns[32];
    count_text(of->rows, rows, sizeof rows);
    count_text(of->columns, columns, sizeof columns);
    snprintf(out->words, sizeof out->words, "at %s x %s, %s", rows, columns, text_chars(&words));
    text_free(&words);
}

static void sort_and_say(const Filtered *of, Accounting *out) {
    int *kinds = calloc((size_t)of->n, sizeof *kinds);
    uint64_t *lacking = calloc((size_t)of->n, sizeof *lacking);
    bool *room = calloc((size_t)of->n, 1);
    if (kinds && lacking && room) {
        for (long long p = 0; p < of->n; p++) kinds[p] = sort_output(of, p, &lacking[p]);
        say(of, kinds, lacking, room, out);
    }
    free(kinds);
    free(lacking);
    free(room);
}

// ---- All of it -------------------------------------------------------------------------------------------

static bool is_in_units(const Task *task) {
    const int side = 2 * task->filter.radius + 1;
    for (int k = 0; task->filter.fixed && k < side * side; k++) {
        const float units = UNITS * task->filter.fixed[k];
        if (!(units >= 0 && units < DIGIT) || units != (float)(int)units) return false;
    }
    return true;
}

bool account_filter(Account *account, Accounting *out) {
    const Task *task = account->task;
    const CaseSize *size = &account->one.size;
    Filtered of = {.account = account,
                   .task = task,
                   .in = task_input(task),
                   .out = task_output(task),
                   .coefficients = filter_coefficients(task),
                   .radius = task->filter.radius,
                   .side = 2 * task->filter.radius + 1,
                   .rows = size->rows,
                   .columns = size->columns,
                   .n = size->n};
    const int bits = 64;
    if (of.n > MOST_ELEMENTS || task->buffers[of.in].type != F32 || task->buffers[of.out].type != F32 ||
        of.side * of.side > bits || !is_in_units(task))
        return false;
    of.taken = calloc((size_t)(of.n * of.n), sizeof *of.taken);
    of.is_written = calloc((size_t)of.n, 1);
    if (of.taken && of.is_written &&
        (of.coefficients < 0 ? find_by_element(&of) : find_by_coefficient(&of)) && are_confirmed(&of))
        sort_and_say(&of, out);
    free(of.taken);
    free(of.is_written);
    return out->n > 0;
}
