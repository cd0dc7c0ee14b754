// Which products each element of a matrix product adds.
//
// In one run for each step d of the depth, row d of the right matrix is all ones and the rest of it 0, and
// every element of the left matrix has its own number: each result then is the number of the left element
// that has met row d. In another run column d of the left matrix is all ones, and the right matrix has the
// numbers.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "driver/judge/account.h"
#include "driver/judge/image_subset.h"
#include "driver/plan/elements.h"
#include "driver/plan/product.h"

enum {
    MOST_DEPTH = 64,
    MOST_NUMBERS = 1 << 20, // of elements: several of them together are still whole numbers of a float
    NOTHING = 0,            // no element was met
};

typedef struct {
    Account *account;
    const Task *task;
    int left, right, out; // buffers
    long long rows, columns, depth, n;
    // What result p has met at step d, at d * n + p: the number of the left element, of the right one, and
    // how often.
    int *met_left, *met_right;
    bool *is_written;
    bool has_examples; // each number that was met is that of one element
} Products;

// How a result differs from the right one; bits.
enum { LACKS = 1, REPEATS = 2, HAS_OTHERS = 4, IS_EMPTY = 8, IS_UNWRITTEN = 16 };

static float *input_of(const Products *of, int b) { return of->account->inputs[b]; }

static bool run(Products *of) {
    if (!account_run(of->account)) return false;
    for (long long p = 0; p < of->n; p++) of->is_written[p] = !account_is_unwritten(of->account, p);
    return true;
}

static void clear(Products *of) {
    for (long long i = 0; i < of->rows * of->depth; i++) input_of(of, of->left)[i] = 0;
    for (long long i = 0; i < of->depth * of->columns; i++) input_of(of, of->right)[i] = 0;
}

// The whole numbers that the results hold.
static bool read(const Products *of, int *met) {
    for (long long p = 0; p < of->n; p++) {
        const double value = of->is_written[p] ? account_result(of->account, p) : NOTHING;
        if (!(value >= 0 && value < MOST_NUMBERS) || value != (double)(int)value) return false;
        met[p] = (int)value;
    }
    return true;
}

static bool find(Products *of) {
    for (long long d = 0; d < of->depth; d++) {
        clear(of);
        for (long long i = 0; i < of->rows * of->depth; i++) input_of(of, of->left)[i] = (float)(i + 1);
        for (long long c = 0; c < of->columns; c++) input_of(of, of->right)[d * of->columns + c] = 1;
        if (!run(of) || !read(of, &of->met_left[d * of->n])) return false;
        clear(of);
        for (long long i = 0; i < of->depth * of->columns; i++) input_of(of, of->right)[i] = (float)(i + 1);
        for (long long r = 0; r < of->rows; r++) input_of(of, of->left)[r * of->depth + d] = 1;
        if (!run(of) || !read(of, &of->met_right[d * of->n])) return false;
    }
    return true;
}

// What result p should meet at step d.
static int own_left(const Products *of, long long p, long long d) {
    return (int)(p / of->columns * of->depth + d + 1);
}
static int own_right(const Products *of, long long p, long long d) {
    return (int)(d * of->columns + p % of->columns + 1);
}

// Whether both elements of a product are met, that many times.
static bool is_met(const Products *of, long long p, long long d, int times) {
    return of->met_left[d * of->n + p] == times * own_left(of, p, d) &&
           of->met_right[d * of->n + p] == times * own_right(of, p, d);
}

static int kind_of(const Products *of, long long p) {
    int kind = 0;
    bool is_empty = true;
    if (!of->is_written[p]) return IS_UNWRITTEN;
    for (long long d = 0; d < of->depth; d++) {
        const bool is_nothing =
            of->met_left[d * of->n + p] == NOTHING && of->met_right[d * of->n + p] == NOTHING;
        is_empty = is_empty && is_nothing;
        if (is_met(of, p, d, 1)) continue;
        kind |= is_nothing ? LACKS : is_met(of, p, d, 2) ? REPEATS : HAS_OTHERS;
    }
    return is_empty && of->depth > 0 ? IS_EMPTY : kind;
}

// What result p comes to if each number that it has met is that of one element; NAN: it is not.
static double sum_of_met(const Products *of, long long p) {
    double sum = 0;
    for (long long d = 0; d < of->depth; d++) {
        const int a = of->met_left[d * of->n + p];
        if (a == NOTHING) continue;
        if (a > of->rows * of->depth) return (double)NAN;
        const int b = of->met_right[(a - 1) % of->depth * of->n + p]; // what meets the same column
        if (b == NOTHING || b > of->depth * of->columns || (b - 1) / of->columns != d) return (double)NAN;
        sum += (double)input_of(of, of->left)[a - 1] * (double)input_of(of, of->right)[b - 1];
    }
    return sum;
}

// Whether products that are missing or added twice, and nothing else, explain the results of other inputs, of
// both signs.
static bool are_confirmed(Products *of, const int *kinds) {
    enum { LIMIT = 50 };
    for (long long i = 0; i < of->rows * of->depth; i++)
        input_of(of, of->left)[i] = (float)(account_drawn(of->account, of->left, i, 2 * LIMIT) - LIMIT);
    for (long long i = 0; i < of->depth * of->columns; i++)
        input_of(of, of->right)[i] = (float)(1 + account_drawn(of->account, of->right, i, LIMIT));
    if (!run(of)) return false;
    for (long long p = 0; p < of->n; p++) {
        double sum = 0;
        if (!of->is_written[p]) continue;
        if (kinds[p] & HAS_OTHERS) {
            of->has_examples &= sum_of_met(of, p) == account_result(of->account, p);
            continue;
        }
        for (long long d = 0; d < of->depth; d++)
            sum += (is_met(of, p, d, 1)   ? 1
                    : is_met(of, p, d, 2) ? 2
                                          : 0) *
                   (double)input_of(of, of->left)[own_left(of, p, d) - 1] *
                   (double)input_of(of, of->right)[own_right(of, p, d) - 1];
        if (sum != account_result(of->account, p)) return false;
    }
    return true;
}

// ---- Words -----------------------------------------------------------------------------------------------

// "the products at k = 8 to 11, 24 to 27 and others": what all results that `room` marks lack, or add twice.
static void say_steps(const Products *of, const bool *room, int times, Text *words) {
    enum { MOST_RANGES = 2 };
    int ranges = 0;
    bool is_inside = false;
    long long begin = 0;
    text_add(words, "the products at k = ");
    for (long long d = 0; d <= of->depth; d++) {
        bool is_so = false;
        for (long long p = 0; p < of->n && d < of->depth; p++)
            is_so = is_so || (room[p] && !is_met(of, p, d, 1) &&
                              (times ? is_met(of, p, d, times) : of->met_left[d * of->n + p] == NOTHING));
        if (is_so && !is_inside) begin = d;
        if (!is_so && is_inside) {
            if (ranges == MOST_RANGES) {
                text_add(words, " and others");
                return;
            }
            text_printf(words, d - begin == 1 ? "%s%lld" : "%s%lld to %lld", ranges ? ", " : "", begin,
                        d - 1);
            ranges++;
        }
        is_inside = is_so;
    }
}

// "c(3, 5) takes a(3, 7) and b(6, 5) at k = 6", the first that is not its own.
static void say_other(const Products *of, long long p, Text *words) {
    for (long long d = 0; d < of->depth; d++) {
        const int a = of->met_left[d * of->n + p], b = of->met_right[d * of->n + p];
        const bool has_one = a > 0 && a <= of->rows * of->depth,
                   has_other = b > 0 && b <= of->depth * of->columns;
        const char *name = of->task->buffers[of->out].name;
        if (is_met(of, p, d, 1) || (a == NOTHING && b == NOTHING)) continue;
        if (has_one && a != own_left(of, p, d))
            text_printf(words, ": %s(%lld, %lld) multiplies row %lld of %s by element (%lld, %lld) of %s",
                        name, p / of->columns, p % of->columns, d, of->task->buffers[of->right].name,
                        (a - 1) / of->depth, (a - 1) % of->depth, of->task->buffers[of->left].name);
        else if (has_other && b != own_right(of, p, d))
            text_printf(words, ": %s(%lld, %lld) multiplies column %lld of %s by element (%lld, %lld) of %s",
                        name, p / of->columns, p % of->columns, d, of->task->buffers[of->left].name,
                        (b - 1) / of->columns, (b - 1) % of->columns, of->task->buffers[of->right].name);
        else
            continue;
        return;
    }
}

static long long say_kind(const Products *of, const int *kinds, int kind, bool *room, Text *words) {
    long long first = -1;
    for (long long p = 0; p < of->n; p++) {
        room[p] = kinds[p] == kind;
        if (room[p] && first < 0) first = p;
    }
    if (first < 0) return 0;
    if (words->bytes) text_add(words, "; ");
    const long long count = image_subset_describe(room, of->rows, of->columns, words);
    const bool is_one = count == 1;
    if (kind == IS_UNWRITTEN) text_add(words, is_one ? " is never written" : " are never written");
    if (kind == IS_EMPTY) text_add(words, is_one ? " adds no product" : " add no product");
    if (kind & HAS_OTHERS) {
        text_add(words, is_one ? " adds products of other elements" : " add products of other elements");
        if (of->has_examples) say_other(of, first, words);
        return count;
    }
    if (kind & LACKS) {
        text_add(words, is_one ? " lacks " : " lack ");
        say_steps(of, room, 0, words);
    }
    if (kind & REPEATS) {
        text_add(words, kind & LACKS ? " and " : " ");
        text_add(words, is_one ? "adds twice " : "add twice ");
        say_steps(of, room, 2, words);
    }
    return count;
}

static void say(const Products *of, const int *kinds, bool *room, Accounting *out) {
    Text words = {0};
    out->n = of->n;
    for (int kind = IS_UNWRITTEN; kind > 0; kind--) {
        const long long count = say_kind(of, kinds, kind, room, &words);
        *(kind & (HAS_OTHERS | REPEATS) ? &out->misplaced : &out->missing) += count;
        if (count > 0 && kind & HAS_OTHERS) out->rules |= ACCOUNT_OTHER_PRODUCTS;
        if (count > 0 && kind & (LACKS | IS_EMPTY)) out->rules |= ACCOUNT_PRODUCTS_LACKING;
    }
    if (out->rules & ACCOUNT_OTHER_PRODUCTS) out->rules = ACCOUNT_OTHER_PRODUCTS;
    const long long others = of->n - out->missing - out->misplaced;
    if (!words.bytes)
        text_add(&words, "every output adds its own products, once");
    else if (others > 0)
        text_add(&words, others == 1 ? "; the other one is right" : "; the others are right");
    snprintf(out->words, sizeof out->words, "at m = %lld, n = %lld, k = %lld, %s", of->rows, of->columns,
             of->depth, text_chars(&words));
    text_free(&words);
}

bool account_product(Account *account, Accounting *out) {
    const Task *task = account->task;
    const CaseSize *size = &account->one.size;
    Products of = {.account = account,
                   .task = task,
                   .has_examples = true,
                   .left = task_input(task),
                   .right = product_right(task),
                   .out = task_output(task),
                   .rows = size->rows,
                   .columns = size->columns,
                   .depth = size->depth,
                   .n = size->n};
    if (of.depth < 1 || of.depth > MOST_DEPTH || task->buffers[of.out].type != F32) return false;
    of.met_left = calloc((size_t)(of.n * of.depth), sizeof *of.met_left);
    of.met_right = calloc((size_t)(of.n * of.depth), sizeof *of.met_right);
    of.is_written = calloc((size_t)of.n, 1);
    int *kinds = calloc((size_t)of.n, sizeof *kinds);
    bool *room = calloc((size_t)of.n, 1);
    if (of.met_left && of.met_right && of.is_written && kinds && room && find(&of)) {
        for (long long p = 0; p < of.n; p++) kinds[p] = kind_of(&of, p);
        if (are_confirmed(&of, kinds)) say(&of, kinds, room, out);
    }
    free(of.met_left);
    free(of.met_right);
    free(of.is_written);
    free(kinds);
    free(room);
    return out->n > 0;
}
