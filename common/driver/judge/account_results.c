// By which rule every output holds right results, but at other places, or several of them in one: each rule
// is tried on every value of several cases, wrong and right ones.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "driver/judge/account.h"
#include "driver/plan/elements.h"

enum {
    MOST_WRONG = 8, // cases
    MOST_RIGHT = 4,
    MOST_ELEMENTS = 1 << 14,
    LEAST_WRONG = 8,    // elements, which a rule explains by chance with hardly any numbers
    LONGEST = 128,      // side of a tile that is transposed in itself
    MOST_PLACES = 4096, // that are exchanged with each other
};

// What a distance between outputs may be.
typedef enum { NUMBER, BLOCKS, WARPS, THREADS, UNITS } Unit;

typedef struct {
    enum {
        KEPT,     // an output also holds the one `a` places before it, as far as that is in its `b`
        REPLACED, // place x + a i of every a * b holds what belongs at b x + i
        STEPPED,  // place x + a i of every a * c holds what belongs at x + b i
        TURNED,   // tiles of a x a blocks of b x b have the rows and columns of blocks exchanged
    } kind;
    bool is_down; // along columns: rows are counted
    Unit unit;    // of a
    long long a, b, c;
} Rule;

typedef struct {
    long long rows, columns, units[UNITS];
    double *right, *written;
    bool *is_written;
    double rounding; // by which a sum of several results may be off
} ResultCase;

typedef struct {
    Account *account;
    int out;
    ResultCase cases[MOST_WRONG + MOST_RIGHT];
    int case_count, wrong_count;
    long long wrong, values; // of those that fail
    Rule fitting;
    int fit_count;
} Results;

// ---- What a rule gives -----------------------------------------------------------------------------------

// Where the result belongs that a place has by a rule that moves them; -1: none is there.
static long long source_of(const Rule *rule, const ResultCase *one, long long row, long long column) {
    const long long a = rule->a, b = rule->b;
    if (rule->kind == TURNED) {
        const long long y = row % (a * b), x = column % (a * b);
        const long long from_row = row - y + x / b * b + y % b, from_column = column - x + y / b * b + x % b;
        return from_row < one->rows && from_column < one->columns ? from_row * one->columns + from_column
                                                                  : -1;
    }
    const long long at = rule->is_down ? row : column, extent = rule->is_down ? one->rows : one->columns;
    const long long inside = at % (a * (rule->kind == REPLACED ? b : rule->c));
    const long long x = inside % a, i = inside / a;
    const long long from = at - inside + (rule->kind == REPLACED ? b * x + i : x + b * i);
    if (from >= extent) return -1;
    return rule->is_down ? from * one->columns + column : row * one->columns + from;
}

// How many places before its own the other result is that an output also holds; 0: there is none.
static long long kept_from(const Rule *rule, const ResultCase *one, long long row, long long column) {
    const long long distance = rule->unit == NUMBER ? rule->a : one->units[rule->unit];
    const long long at = rule->is_down ? row : column;
    const long long inside = rule->b ? at % rule->b : at;
    if (distance < 1 || inside < distance) return 0;
    return rule->is_down ? distance * one->columns : distance;
}

static bool is_held(const Rule *rule, const ResultCase *one) {
    for (long long row = 0; row < one->rows; row++)
        for (long long column = 0; column < one->columns; column++) {
            const long long p = row * one->columns + column;
            if (rule->kind == KEPT) {
                const long long before = kept_from(rule, one, row, column);
                const double sum = one->right[p] + (before ? one->written[p - before] : 0);
                if (!one->is_written[p] || !(fabs(one->written[p] - sum) <= (before ? one->rounding : 0)))
                    return false;
                continue;
            }
            const long long from = source_of(rule, one, row, column);
            if (from < 0 ? one->is_written[p] && one->written[p] != 0
                         : !one->is_written[p] || one->written[p] != one->right[from])
                return false;
        }
    return true;
}

static bool does_fit(const Results *results, const Rule *rule) {
    for (int c = 0; c < results->case_count; c++)
        if (!is_held(rule, &results->cases[c])) return false;
    return true;
}

// Whether two rules that fit say the same of these cases: they differ by the length of stretches or tiles, of
// which no case has more, or the distance is a number and also that of blocks, warps or threads.
static bool are_alike(const Rule *one, const Rule *other) {
    if (one->kind != other->kind || one->is_down != other->is_down) return false;
    return (one->kind == KEPT && (one->a == other->a || other->unit != NUMBER)) ||
           (one->kind == STEPPED && one->a == other->a && one->b == other->b) ||
           (one->kind == TURNED && one->b == other->b);
}

static void try_rule(Results *results, Rule rule) {
    if (results->fit_count > 0 && are_alike(&results->fitting, &rule)) return;
    if (!does_fit(results, &rule)) return;
    results->fitting = rule;
    results->fit_count++;
}

static void try_kept(Results *results, bool is_down) {
    static const long long stretches[] = {0, 2, 4, 8, 16, 32, 64, 128, 256};
    enum { NEAR = 32, FAR = 256 };
    for (size_t s = 0; s < sizeof stretches / sizeof stretches[0]; s++)
        for (long long a = 1; a <= FAR; a = a < NEAR ? a + 1 : 2 * a)
            try_rule(results, (Rule){KEPT, is_down, NUMBER, a, stretches[s], 0});
    for (Unit unit = BLOCKS; unit < UNITS; unit++) try_rule(results, (Rule){KEPT, is_down, unit, 0, 0, 0});
}

static void try_replaced(Results *results, bool is_down) {
    for (long long a = 2; a <= MOST_PLACES; a *= 2)
        for (long long b = 2; a * b <= MOST_PLACES; b *= 2)
            try_rule(results, (Rule){REPLACED, is_down, NUMBER, a, b, 0});
}

static void try_stepped(Results *results, bool is_down) {
    for (long long a = 2; a <= LONGEST; a *= 2)
        for (long long c = 2; a * c <= MOST_PLACES; c *= 2)
            for (long long b = 0; b < a; b = b ? 2 * b : 1)
                try_rule(results, (Rule){STEPPED, is_down, NUMBER, a, b, c});
}

static void try_all(Results *results) {
    const ResultCase *first = &results->cases[0];
    for (int down = first->rows > 1; down >= 0; down--) try_kept(results, down);
    for (int down = first->rows > 1; down >= 0; down--) try_replaced(results, down);
    for (int down = first->rows > 1; down >= 0; down--) try_stepped(results, down);
    for (long long block = 1; block < LONGEST && first->rows > 1; block *= 2)
        for (long long blocks = 2; blocks * block <= LONGEST; blocks *= 2)
            try_rule(results, (Rule){TURNED, false, NUMBER, blocks, block, 0});
}

// ---- Collecting ------------------------------------------------------------------------------------------

static bool make_room(ResultCase *one, long long n) {
    one->right = calloc((size_t)n + 1, sizeof *one->right);
    one->written = calloc((size_t)n + 1, sizeof *one->written);
    one->is_written = calloc((size_t)n + 1, 1);
    return one->right && one->written && one->is_written;
}

static void set_shape(const Results *results, const CaseReport *report, ResultCase *one, long long n) {
    const CaseSize *size = &report->settings.size;
    const ShapeOfLaunch *launch = &report->shape.launches[0];
    const Expectation expect = results->account->task->expect;
    const bool is_matrix = size->rows > 0 && expect != EXPECT_ROW_SUMS;
    one->rows = !is_matrix ? 1 : expect == EXPECT_TRANSPOSE ? size->columns : size->rows;
    one->columns = !is_matrix ? n : expect == EXPECT_TRANSPOSE ? size->rows : size->columns;
    one->units[BLOCKS] = launch->blocks;
    one->units[WARPS] = launch->warps;
    one->units[THREADS] = launch->threads;
}

// The elements of the case's buffers. False: the case cannot be laid out.
static bool count_elements(Account *account, CaseLayout *layout) {
    const TaskShape *shape = judge_case_shape(account->judge, &account->one);
    char why[512];
    return shape && case_layout(account->task, &shape->shape, runner_arena_bytes(account->worker->runner),
                                layout, why, sizeof why);
}

static double rounded(double value, ElementType type) {
    uint64_t bytes = 0;
    element_set(&bytes, type, 0, value);
    return element_get(&bytes, type, 0);
}

static void keep_written(Results *results, ResultCase *one, long long n) {
    for (long long i = 0; i < n; i++) {
        one->is_written[i] = !account_is_unwritten(results->account, i);
        one->written[i] = one->is_written[i] ? account_result(results->account, i) : 0;
        results->wrong += !one->is_written[i] || one->written[i] != one->right[i];
    }
    results->values += n;
    results->wrong_count++;
}

// What the kernel makes of a case: it runs again unless it was right. False if that cannot be told.
static bool add_case(Results *results, const CaseReport *report) {
    Account *account = results->account;
    const bool is_right = report->verdict == VERDICT_PASS;
    ResultCase *one = &results->cases[results->case_count];
    CaseLayout layout;
    account->one = report->settings;
    account->one.is_counted = false;
    if (!count_elements(account, &layout) || (!is_right && !account_run(account))) return false;
    Prepared *prepared = prepared_take(&account->judge->cache, account->task, &account->one, &report->shape,
                                       layout.counts, report->seed);
    if (!prepared) return false;
    const long long n = layout.counts[results->out];
    set_shape(results, report, one, n);
    results->case_count++;
    const bool has_room = make_room(one, n) && one->rows * one->columns == n;
    for (long long i = 0; has_room && i < n; i++) {
        one->right[i] =
            rounded(expected_value(&prepared->expected, i), account->task->buffers[results->out].type);
        one->written[i] = one->right[i];
        one->is_written[i] = true;
        // Each result alone is exact, but their sums are rounded to 24 bits at every addition.
        one->rounding = fmax(one->rounding, 0x1p-18 * fabs(one->right[i]));
    }
    prepared_release(prepared);
    if (has_room && !is_right) keep_written(results, one, n);
    return has_room;
}

// The largest cases of whole numbers with this verdict, as many as there is work for.
static bool collect(Results *results, Verdict verdict, int most) {
    const Judgement *judgement = results->account->judge->judgement;
    const int task = (int)(results->account->task - results->account->judge->of->tasks);
    for (int i = judgement->case_count - 1; i >= 0 && most > 0 && results->account->work > 0; i--) {
        const CaseReport *report = &judgement->cases[i];
        const Case *settings = &report->settings;
        if (!report->was_run || settings->task != task || report->verdict != verdict ||
            settings->family != FAMILY_INTEGERS || settings->schedule != 0 || settings->is_large ||
            report->origin != CASE_OF_PLAN || settings->size.n < 1 || settings->size.n > MOST_ELEMENTS)
            continue;
        if (!add_case(results, report)) return false;
        most--;
    }
    return true;
}

// ---- Words -----------------------------------------------------------------------------------------------

// "the outputs 7, 14 and so on rows before it in its 16 rows"
static void say_kept(const Rule *rule, bool is_matrix, Text *words) {
    static const char *const units[UNITS] = {
        [BLOCKS] = "as many places before it as there are blocks",
        [WARPS] = "as many places before it as there are warps",
        [THREADS] = "as many places before it as there are threads",
    };
    const char *places = !is_matrix ? "places" : rule->is_down ? "rows" : "columns";
    const char *before = !is_matrix ? "before" : rule->is_down ? "above" : "to the left of";
    text_add(words, "an output also contains the output ");
    if (rule->unit == NUMBER && rule->a == 1)
        text_printf(words, "%s it", is_matrix ? before : "just before");
    else if (rule->unit == NUMBER)
        text_printf(words, "%lld %s %s it", rule->a, places, before);
    else
        text_add(words, units[rule->unit]);
    if (rule->b) text_printf(words, ", if both are in the same %lld %s", rule->b, places);
}

static void say_moved(const Rule *rule, bool is_matrix, Text *words) {
    const char *place = !is_matrix ? "place" : rule->is_down ? "row" : "column";
    const bool is_replaced = rule->kind == REPLACED;
    const long long count = is_replaced ? rule->b : rule->c, side = rule->a * rule->b;
    if (rule->kind == TURNED && rule->b == 1) {
        text_printf(words,
                    "tiles of %lld x %lld are at their places, but rows and columns are exchanged in each",
                    side, side);
        return;
    }
    if (rule->kind == TURNED) {
        text_printf(
            words,
            "in tiles of %lld x %lld, blocks of %lld x %lld are right, but rows and columns of blocks are "
            "exchanged",
            side, side, rule->b, rule->b);
        return;
    }
    text_printf(words, "in every %lld %ss %s x + %lld i holds what belongs in %s ", rule->a * count, place,
                place, rule->a, place);
    if (is_replaced)
        text_printf(words, "%lld x + i", rule->b);
    else if (rule->b)
        text_printf(words, "x + %lld i", rule->b);
    else
        text_add(words, "x");
    text_printf(words, ", for x below %lld and i below %lld", rule->a, count);
}

static void say(const Results *results, Accounting *out) {
    const Rule *rule = &results->fitting;
    const bool is_matrix = results->cases[0].rows > 1;
    char values[32], cases[40] = "one wrong case";
    Text words = {0};
    count_text(results->values, values, sizeof values);
    if (results->wrong_count > 1) snprintf(cases, sizeof cases, "%d wrong cases", results->wrong_count);
    text_printf(&words, "all %s values of %s: ", values, cases);
    if (rule->kind == KEPT)
        say_kept(rule, is_matrix, &words);
    else
        say_moved(rule, is_matrix, &words);
    out->n = results->values;
    out->misplaced = results->wrong;
    out->rules = rule->kind == KEPT ? ACCOUNT_KEPT : ACCOUNT_MOVED;
    snprintf(out->words, sizeof out->words, "%s", text_chars(&words));
    text_free(&words);
}

bool account_results(Account *account, Accounting *out) {
    static void *none[MAX_BUFFERS];
    Results results = {.account = account, .out = task_output(account->task)};
    account->how.inputs = none; // those of the case
    if (results.out >= 0 && collect(&results, VERDICT_WRONG, MOST_WRONG) && results.wrong >= LEAST_WRONG &&
        collect(&results, VERDICT_PASS, MOST_RIGHT))
        try_all(&results);
    account->one.misalignment = 0; // the rule holds for every base
    // If several rules fit, the values do not tell which one it is.
    if (results.fit_count == 1) say(&results, out);
    for (int c = 0; c < results.case_count; c++) {
        free(results.cases[c].right);
        free(results.cases[c].written);
        free(results.cases[c].is_written);
    }
    return out->n > 0;
}
