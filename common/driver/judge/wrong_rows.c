#include "driver/judge/wrong_rows.h"

#include <math.h>
#include <stdio.h>

#include "support/text.h"
#include "driver/plan/elements.h"
#include "driver/plan/expected_rows.h"

typedef struct {
    const Expected *expected;
    const void *output;
    ElementType type;
    long long rows, columns;
    long long wrong, first, last;                     // rows
    long long wrong_elements, first_left, last_right; // columns, of all wrong rows together
} WrongRows;

static bool is_wrong(const WrongRows *of, long long index) {
    return !is_near(of->type, of->expected->values[index], of->expected->bounds[index],
                    element_get(of->output, of->type, index));
}

static void find_wrong(WrongRows *of) {
    of->first_left = of->columns;
    for (long long r = 0; r < of->rows; r++) {
        long long here = 0;
        for (long long c = 0; c < of->columns; c++) {
            if (!is_wrong(of, r * of->columns + c)) continue;
            if (c < of->first_left) of->first_left = c;
            if (c > of->last_right) of->last_right = c;
            here++;
        }
        if (here == 0) continue;
        if (of->wrong++ == 0) of->first = r;
        of->last = r;
        of->wrong_elements += here;
    }
}

static void say_number(Text *why, const char *before, long long number) {
    char words[32];
    count_text(number, words, sizeof words);
    text_printf(why, "%s%s", before, words);
}

static void say_rows(const WrongRows *of, Text *why) {
    if (of->rows == 1) {
        text_add(why, "The row is wrong");
    } else if (of->wrong == of->rows) {
        if (of->rows == 2)
            text_add(why, "Both");
        else
            say_number(why, "All ", of->rows);
        text_add(why, " rows are wrong");
    } else if (of->wrong == 1) {
        say_number(why, "Row ", of->first);
        say_number(why, " of ", of->rows);
        text_add(why, " alone is wrong");
    } else if (of->wrong == of->last - of->first + 1) {
        say_number(why, "Rows ", of->first);
        say_number(why, " to ", of->last);
        say_number(why, " of ", of->rows);
        text_add(why, " are wrong");
    } else {
        say_number(why, "", of->wrong);
        say_number(why, " of ", of->rows);
        text_add(why, " rows are wrong");
    }
}

static void say_columns(const WrongRows *of, Text *why) {
    const long long width = of->last_right - of->first_left + 1;
    if (of->columns == 1) return;
    if (of->wrong_elements == of->wrong * of->columns) {
        text_add(why, ", in every column");
    } else if (width == 1) {
        say_number(why, ", in column ", of->first_left);
        text_add(why, " only");
    } else if (width < of->columns) {
        say_number(why, ", in columns ", of->first_left);
        say_number(why, " to ", of->last_right);
        text_add(why, " only");
    }
}

static double got(const WrongRows *of, long long c) {
    return element_get(of->output, of->type, of->first * of->columns + c);
}
static double right(const WrongRows *of, long long c) {
    return of->expected->values[of->first * of->columns + c];
}

// What every element of the first wrong row is multiplied by; 0 if that is not one factor, or cannot be told
// from rounding.
static double common_factor(const WrongRows *of) {
    enum { FEWEST = 2 };
    const double near = of->type == BF16 ? 0x1p-6 : 1e-3, smallest = 1e-30;
    double least = INFINITY, most = 0;
    long long compared = 0;
    for (long long c = 0; c < of->columns; c++) {
        if (!isfinite(right(of, c)) || !isfinite(got(of, c))) return 0;
        if (fabs(right(of, c)) < smallest) continue;
        const double factor = got(of, c) / right(of, c);
        if (factor < least) least = factor;
        if (factor > most) most = factor;
        compared++;
    }
    const bool is_one = compared >= FEWEST && least > 0 && most - least < near * most;
    return is_one && fabs(most - 1) > near ? sqrt(least * most) : 0;
}

static void say_sum_of_row(const WrongRows *of, Text *why) {
    double sum = 0, should = 0;
    for (long long c = 0; c < of->columns; c++) {
        sum += got(of, c);
        should += right(of, c);
    }
    if (!(fabs(should - 1) < 1e-9)) return;
    const double near = of->type == BF16 ? 0x1p-7 : 1e-3;
    char row[32];
    count_text(of->first, row, sizeof row);
    if (isnan(sum))
        text_printf(why, " The elements of row %s should add up to 1; there is a NaN among them.", row);
    else if (isinf(sum))
        text_printf(why, " The elements of row %s should add up to 1; their sum is infinite.", row);
    else if (fabs(sum - 1) > near)
        text_printf(why, " The elements of row %s add up to %.4g, not to 1.", row, sum);
    else
        text_printf(why, " The elements of row %s add up to 1.", row);
}

void explain_wrong_rows(const Expected *expected, const void *output, ElementType type, char *why,
                        size_t bytes) {
    WrongRows of = {.expected = expected,
                    .output = output,
                    .type = type,
                    .rows = expected->size.rows,
                    .columns = expected->size.columns};
    Text words = {0};
    find_wrong(&of);
    if (of.wrong == 0) return;
    say_rows(&of, &words);
    say_columns(&of, &words);
    text_add(&words, ".");
    const double factor = common_factor(&of);
    if (factor > 0) {
        say_number(&words, " Each element of row ", of.first);
        text_printf(&words, " is %.4g times what it should be.", factor);
    }
    say_sum_of_row(&of, &words);
    snprintf(why, bytes, "%s", text_chars(&words));
    text_free(&words);
}
