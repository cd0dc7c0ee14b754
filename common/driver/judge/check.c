#include "driver/judge/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/judge/missing_elements.h"
#include "driver/judge/unwritten_rows.h"
#include "driver/judge/wrong_bins.h"
#include "driver/judge/wrong_column.h"
#include "driver/judge/wrong_rows.h"
#include "driver/judge/wrong_scan.h"
#include "driver/plan/elements.h"
#include "driver/plan/expected_rows.h"

const char *check_outcome_name(CheckOutcome outcome) {
    static const char *const names[] = {
        [CHECK_RIGHT] = "right",       [CHECK_NOT_WRITTEN] = "not_written",
        [CHECK_VALUE] = "value",       [CHECK_BUDGET] = "budget",
        [CHECK_SPECIAL] = "special",   [CHECK_INPUT_CHANGED] = "input_changed",
        [CHECK_NOT_ZERO] = "not_zero", [CHECK_NOT_IDENTICAL] = "not_identical",
        [CHECK_LEFT_OUT] = "left_out", [CHECK_TWICE] = "twice",
        [CHECK_BROKEN] = "broken",
    };
    return names[outcome];
}

// ---- What was never written, what should not have been ---------------------------------------------------

static void name_buffer(CheckReport *report, const Buffer *buffer, long long index, long long elements) {
    snprintf(report->buffer, sizeof report->buffer, "%s", buffer->name);
    report->index = index;
    report->elements = elements;
}

// "element 7" or what the chapter calls it.
static void element_name(const CheckedCase *finished, int b, long long index, char *text, size_t bytes) {
    const Buffer *buffer = &finished->task->buffers[b];
    if (buffer->describe) {
        const TableView view = {
            .seed = finished->expected->seed, .count = finished->counts[b], .inputs = finished->pristine};
        buffer->describe(&view, index, text, bytes);
    } else {
        char number[32];
        count_text(index, number, sizeof number);
        int used = snprintf(text, bytes, "%s[%s]", buffer->name, number);
        const long long columns = finished->shape->size.columns;
        const Expectation expect = finished->task->expect;
        if ((expect == EXPECT_ROWS || expect == EXPECT_PRODUCT) && columns > 0 && used > 0 &&
            (size_t)used < bytes)
            snprintf(text + used, bytes - (size_t)used, " (row %lld, column %lld)", index / columns,
                     index % columns);
    }
}

static bool all_written(const CheckedCase *finished, int b, CheckReport *report) {
    const Buffer *buffer = &finished->task->buffers[b];
    const long long count = finished->counts[b];
    long long missing = 0, first = -1, last = -1;
#pragma omp parallel for reduction(+ : missing) if (count > 1 << 20)
    for (long long i = 0; i < count; i++) missing += element_is_poison(finished->after[b], buffer->type, i);
    if (missing == 0) return true;
    missing = 0;
    for (long long i = 0; i < count; i++) {
        if (!element_is_poison(finished->after[b], buffer->type, i)) continue;
        if (first < 0) first = i;
        last = i;
        missing++;
    }
    report->outcome = CHECK_NOT_WRITTEN;
    name_buffer(report, buffer, first, count);
    report->wrong = missing;
    report->is_rest = last == count - 1 && last - first + 1 == missing;
    char name[160], total[32], some[32];
    element_name(finished, b, first, name, sizeof name);
    count_text(count, total, sizeof total);
    count_text(missing, some, sizeof some);
    if (missing == count && count > 1)
        snprintf(report->what, sizeof report->what, "none of the %s elements of %s was written", total,
                 buffer->name);
    else if (missing == 1)
        snprintf(report->what, sizeof report->what, "%s was never written (element %lld of %s)", name,
                 first + 1, total);
    else
        snprintf(report->what, sizeof report->what,
                 "%s of the %s elements of %s were never written, %s first", some, total, buffer->name, name);
    if (missing == 1 && count > 1 && last == count - 1)
        snprintf(report->why, sizeof report->why, "It is the last element of the buffer.");
    else if (missing < count && last == count - 1 && last - first + 1 == missing)
        snprintf(report->why, sizeof report->why, "They are the last %s of the buffer.", some);
    else if (missing < count && missing > 1 && last - first + 1 == missing)
        snprintf(report->why, sizeof report->why, "They are contiguous, from element %lld to element %lld.",
                 first, last);
    const CaseSize *size = &finished->shape->size;
    if (missing < count && count == size->rows * size->columns)
        report->row_for_each_block = explain_unwritten_rows(finished->shape, finished->after[b], buffer->type,
                                                            report->why, sizeof report->why) > 0;
    return false;
}

static bool inputs_unchanged(const CheckedCase *finished, CheckReport *report) {
    for (int b = 0; b < task_buffer_count(finished->task); b++) {
        const Buffer *buffer = &finished->task->buffers[b];
        if (buffer->role != INPUT || finished->counts[b] <= 0) continue;
        size_t size = element_bytes(buffer->type);
        const char *before = finished->pristine[b], *after = finished->after[b];
        if (same_bytes(before, after, (size_t)finished->counts[b] * size)) continue;
        long long first = 0;
        while (memcmp(before + (size_t)first * size, after + (size_t)first * size, size) == 0) first++;
        report->outcome = CHECK_INPUT_CHANGED;
        name_buffer(report, buffer, first, finished->counts[b]);
        report->wrong = 1;
        element_text(before, buffer->type, first, report->expected_words, sizeof report->expected_words);
        element_text(after, buffer->type, first, report->got_words, sizeof report->got_words);
        snprintf(report->what, sizeof report->what,
                 "the kernel changed its input: %s[%lld] was %s and is now %s", buffer->name, first,
                 report->expected_words, report->got_words);
        snprintf(report->why, sizeof report->why,
                 "Inputs are only for reading: write results to the outputs.");
        return false;
    }
    return true;
}

// A workspace that the next run will find as this one left it.
static bool is_left_zero(const CheckedCase *finished, int b, CheckReport *report) {
    const Buffer *buffer = &finished->task->buffers[b];
    for (long long i = 0; i < finished->counts[b]; i++) {
        static const unsigned char zeros[8] = {0};
        const size_t size = element_bytes(buffer->type);
        if (memcmp((const char *)finished->after[b] + (size_t)i * size, zeros, size) == 0) continue;
        report->outcome = CHECK_NOT_ZERO;
        name_buffer(report, buffer, i, finished->counts[b]);
        report->wrong = 1;
        element_text(finished->after[b], buffer->type, i, report->got_words, sizeof report->got_words);
        snprintf(report->expected_words, sizeof report->expected_words, "0");
        snprintf(report->what, sizeof report->what,
                 "%s[%lld] is %s after the run; it must be 0 again, as before the run", buffer->name, i,
                 report->got_words);
        snprintf(report->why, sizeof report->why, "The next launch finds that value there.");
        return false;
    }
    return true;
}

// ---- Numbers ---------------------------------------------------------------------------------------------

static void set_numbers(CheckReport *report, double expected, double got, double budget) {
    report->has_numbers = true;
    report->expected = expected;
    report->got = got;
    report->difference = got - expected;
    report->budget = budget;
    value_text(expected, report->expected_words, sizeof report->expected_words);
    value_text(got, report->got_words, sizeof report->got_words);
}

// What an element of that type holds of it.
static double as_stored(ElementType type, double value) {
    uint64_t element = 0;
    element_set(&element, type, 0, value);
    return element_get(&element, type, 0);
}

// Both NaN, the same infinity, or finite and at most `budget` apart. `share` grows to the part of the budget
// used.
static CheckOutcome compare(double expected, double got, double budget, double *share) {
    if (isnan(expected)) return isnan(got) ? CHECK_RIGHT : CHECK_SPECIAL;
    if (isinf(expected)) return got == expected ? CHECK_RIGHT : CHECK_SPECIAL;
    if (!isfinite(got)) return CHECK_SPECIAL;
    double error = fabs(got - expected);
    if (error > budget) return budget > 0 ? CHECK_BUDGET : CHECK_VALUE;
    if (budget > 0 && error / budget > *share) *share = error / budget;
    return CHECK_RIGHT;
}

// The families whose sums no order of additions rounds.
static bool sums_are_exact(const CheckedCase *finished, int input) {
    if (!element_is_float(finished->task->buffers[input].type)) return true;
    return finished->family == FAMILY_INTEGERS ||
           (finished->family == FAMILY_ONES && finished->counts[input] <= 1LL << 23);
}

static void say_sum(CheckReport *report, Family family, const char *of_what) {
    if (report->outcome == CHECK_SPECIAL) {
        snprintf(report->what, sizeof report->what, "%s is %s; it should be %s", of_what, report->got_words,
                 report->expected_words);
        return;
    }
    char difference[64], budget[64];
    value_text(report->difference, difference, sizeof difference);
    if (report->budget > 0) {
        value_text(report->budget, budget, sizeof budget);
        snprintf(report->what, sizeof report->what,
                 "%s is %s, not %s: off by %s, but the budget for rounding is %s", of_what, report->got_words,
                 report->expected_words, difference, budget);
    } else {
        snprintf(report->what, sizeof report->what, "%s is %s, not %s: off by %s, and sums of %s are exact",
                 of_what, report->got_words, report->expected_words, difference,
                 family == FAMILY_ONES                             ? "ones and halves"
                 : floor(report->difference) == report->difference ? "whole numbers"
                                                                   : "such numbers");
    }
}

enum { MOST_TO_CONFIRM = 512 }; // elements of a right case that is asked too: the larger ones add little

// Whole numbers tell which elements a wrong sum lacks, and right ones which explanations are wrong.
static void try_shapes(const CheckedCase *finished, int input, double got, CheckReport *report) {
    const long long count = finished->counts[input];
    if (finished->family != FAMILY_INTEGERS) return;
    if (report->outcome == CHECK_RIGHT && count > MOST_TO_CONFIRM) return;
    if (report->outcome != CHECK_RIGHT && report->outcome != CHECK_VALUE) {
        report->shapes = (ShapeSet){0};
        return;
    }
    report->shapes =
        shapes_that_fit(finished->candidates, finished->pristine[input], finished->task->buffers[input].type,
                        count, finished->misalignment, finished->shape, finished->expected->values[0], got);
}

static bool check_sum(const CheckedCase *finished, CheckReport *report) {
    const Task *task = finished->task;
    const int in = task_input(task), out = task_output(task);
    const Buffer *buffer = &task->buffers[out];
    const long long count = finished->counts[out];
    ExactSum got = exact_sum(finished->after[out], buffer->type, 0, count);
    const double expected = finished->expected->values[0];
    double budget = 0;
    if (!sums_are_exact(finished, in))
        budget = error_budget(buffer->type, longest_chain(task, finished->shape),
                              finished->expected->magnitudes[0], expected);
    CheckOutcome outcome = compare(expected, got.sum, budget, &report->budget_share);
    report->outcome = outcome;
    try_shapes(finished, in, got.sum, report);
    if (outcome == CHECK_RIGHT) return true;
    name_buffer(report, buffer, count == 1 ? 0 : -1, count);
    report->wrong = 1;
    set_numbers(report, expected, got.sum, budget);
    char of_what[128];
    if (count == 1) {
        snprintf(of_what, sizeof of_what, "the sum in %s[0]", buffer->name);
    } else {
        char total[32];
        count_text(count, total, sizeof total);
        snprintf(of_what, sizeof of_what, "the sum of the %s partials in %s", total, buffer->name);
    }
    say_sum(report, finished->family, of_what);
    if (outcome == CHECK_SPECIAL && isfinite(expected)) {
        for (long long i = 0; i < count && count > 1; i++) {
            if (isfinite(element_get(finished->after[out], buffer->type, i))) continue;
            snprintf(report->why, sizeof report->why, "%s[%lld] is the first partial that is not finite.",
                     buffer->name, i);
            report->index = i;
            break;
        }
    } else if (finished->family == FAMILY_INTEGERS) {
        explain_difference(finished->pristine[in], task->buffers[in].type, finished->counts[in],
                           integer_range(finished->counts[in]), expected, got.sum, finished->shape,
                           report->why, sizeof report->why);
    }
    return false;
}

// The threads that share a row, as the launch tells: a block, where every row has one, or else a warp.
static CaseShape shape_of_row(const CaseShape *shape) {
    const ShapeOfLaunch *grid = &shape->launches[0];
    const int threads = grid->blocks >= shape->size.rows ? grid->block_threads : 32;
    CaseShape row = {.size = {.n = shape->size.columns}, .launch_count = 1};
    row.launches[0] = (ShapeOfLaunch){
        .blocks = 1, .warps = (threads + 31) / 32, .threads = threads, .block_threads = threads};
    return row;
}

enum { ROWS_ASKED = 16 };

// Elements that wrong row sums lack and correct ones do not. A single row does not show which threads share
// it.
static void try_row_shapes(const CheckedCase *finished, int in, int out, CheckReport *report) {
    const long long rows = finished->shape->size.rows, columns = finished->shape->size.columns;
    const ElementType type = finished->task->buffers[in].type;
    if (finished->family != FAMILY_INTEGERS || rows < 2 || columns < 1) return;
    if (report->outcome == CHECK_RIGHT && rows * columns > MOST_TO_CONFIRM) return;
    if (report->outcome != CHECK_RIGHT && report->outcome != CHECK_VALUE) {
        report->shapes = (ShapeSet){0};
        return;
    }
    const CaseShape shape = shape_of_row(finished->shape);
    int asked = 0;
    for (long long row = 0; row < rows && asked < ROWS_ASKED; row++) {
        const double expected = finished->expected->values[row];
        const double got = element_get(finished->after[out], finished->task->buffers[out].type, row);
        if (report->outcome != CHECK_RIGHT && got == expected) continue;
        const size_t start = (size_t)(row * columns) * element_bytes(type);
        report->shapes =
            shapes_that_fit(report->shapes, (const char *)finished->pristine[in] + start, type, columns,
                            (unsigned)((finished->misalignment + start) % 16), &shape, expected, got);
        asked++;
    }
}

// Reports the origin of the wrong element `at`: a part of its row, or another place.
static void explain_element(const CheckedCase *finished, int in, long long at, double got,
                            CheckReport *report) {
    const Expected *expected = finished->expected;
    if (finished->task->expect == EXPECT_ROW_SUMS && finished->family == FAMILY_INTEGERS) {
        const ElementType type = finished->task->buffers[in].type;
        const long long columns = finished->shape->size.columns;
        const CaseShape shape = shape_of_row(finished->shape);
        explain_difference((const char *)finished->pristine[in] +
                               (size_t)(at * columns) * element_bytes(type),
                           type, columns, integer_range(columns), expected->values[at], got, &shape,
                           report->why, sizeof report->why);
        if (report->why[0]) return;
    }
    if (finished->family != FAMILY_INTEGERS && finished->family != FAMILY_UNIFORM) return;
    // Numbers with so few bits are often equal by chance, so an equal number does not show where the value
    // belongs.
    if (in >= 0 && finished->task->buffers[in].type == BF16) return;
    long long home = -1, homes = 0;
    for (long long i = 0; i < expected->count && homes < 2; i++) {
        if (i == at || expected_value(expected, i) != got) continue;
        home = i;
        homes++;
    }
    if (homes != 1) return;
    report->is_elsewhere = true;
    report->is_copied = in >= 0 && at < finished->counts[in] &&
                        element_get(finished->pristine[in], finished->task->buffers[in].type, at) == got;
    snprintf(report->why, sizeof report->why, "That value belongs at index %lld.", home);
}

// Whole numbers tell what was written in place of a[i] + b[i], such as a[i] + a[i].
static void try_formulas(const CheckedCase *finished, int out, CheckReport *report) {
    static const struct {
        int left, sign, right; // sign 0: the left one alone
    } formulas[] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 1}, {0, -1, 1}, {1, -1, 0}};
    const Task *task = finished->task;
    const Buffer *inputs[2];
    const void *arrays[2];
    int count = 0;
    for (int b = 0; b < task_buffer_count(task); b++) {
        if (task->buffers[b].role != INPUT) continue;
        if (count == 2) return;
        arrays[count] = finished->pristine[b];
        inputs[count++] = &task->buffers[b];
    }
    if (count < 2 || task->element || finished->family != FAMILY_INTEGERS || report->elements < 8) return;
    for (size_t f = 0; f < sizeof formulas / sizeof formulas[0] && !report->is_formula; f++) {
        const int left = formulas[f].left, right = formulas[f].right, sign = formulas[f].sign;
        report->is_formula = true;
        for (long long i = 0; i < report->elements && report->is_formula; i++)
            report->is_formula = element_get(arrays[left], inputs[left]->type, i) +
                                     sign * element_get(arrays[right], inputs[right]->type, i) ==
                                 element_get(finished->after[out], task->buffers[out].type, i);
        if (!report->is_formula) continue;
        snprintf(report->why, sizeof report->why, "Element k of the output is %s[k]", inputs[left]->name);
        const size_t used = strlen(report->why);
        if (sign)
            snprintf(report->why + used, sizeof report->why - used, " %c %s[k]", sign > 0 ? '+' : '-',
                     inputs[right]->name);
        const size_t all = strlen(report->why);
        snprintf(report->why + all, sizeof report->why - all, ", for every k.");
    }
}

// One step apart among the numbers of a type: floats of one sign are in the order of their bits.
static bool are_neighbours(uint64_t one, uint64_t other) { return one - other == 1 || other - one == 1; }

// The same where each element has its own bound, and is rounded once more to the output's type.
static CheckOutcome compare_near(const Expected *expected, ElementType type, long long index, double got,
                                 double *budget, double *share) {
    const double value = expected->values[index], bound = expected->bounds[index];
    const double used = bound > 0 ? fabs(got - value) / bound : 0;
    // In a narrow output almost all of the difference is the last rounding.
    if (type != BF16 && used > *share && used <= 1) *share = used;
    if (is_near(type, value, bound, got)) return CHECK_RIGHT;
    *budget = farthest_near(type, value, bound);
    const CheckOutcome outcome = compare(value, got, *budget, share);
    return outcome != CHECK_RIGHT ? outcome : *budget > 0 ? CHECK_BUDGET : CHECK_VALUE;
}

// Whether a wrong element of an exclusive scan is what adding its own element and subtracting it again
// leaves: NaN if that is not finite, or else a sum that it took digits of.
static bool own_explains(const CheckedCase *finished, long long i, double chain) {
    const Task *task = finished->task;
    const int in = task_input(task), out = task_output(task);
    if (task->expect != EXPECT_SCAN || !task->is_exclusive || in < 0) return false;
    const double own = element_get(finished->pristine[in], task->buffers[in].type, i);
    const double got = element_get(finished->after[out], task->buffers[out].type, i);
    const double expected = expected_value(finished->expected, i);
    if (!isfinite(own) || isnan(got)) return !isfinite(own) && isnan(got);
    const double magnitude = finished->expected->magnitudes ? finished->expected->magnitudes[i] : 0;
    return fabs(got - expected) <=
           error_budget(task->buffers[out].type, chain + 2, magnitude + 2 * fabs(own), expected);
}

// Every element against its own expectation, within a budget where there is one.
static bool check_elements(const CheckedCase *finished, CheckReport *report) {
    const Task *task = finished->task;
    const int in = task_input(task), out = task_output(task);
    const Buffer *buffer = &task->buffers[out];
    const Expected *expected = finished->expected;
    const bool adds = task->expect == EXPECT_ROW_SUMS || task->expect == EXPECT_SCAN;
    const bool exact_inputs = adds && in >= 0 && sums_are_exact(finished, in);
    const double chain = expected->magnitudes ? longest_chain(task, finished->shape) : 0;
    long long wrong = 0, first = -1;
    double budget_there = 0;
    CheckOutcome outcome = CHECK_RIGHT;
    if (!expected->magnitudes && !expected->bounds &&
        expected_are_all_met(expected, finished->after[out], buffer->type))
        return true;
    for (long long i = 0; i < expected->count; i++) {
        double budget = 0;
        CheckOutcome here = CHECK_RIGHT;
        if (expected->magnitudes) {
            if (expected->magnitudes[i] > 0 && !exact_inputs)
                budget = error_budget(buffer->type, chain, expected->magnitudes[i], expected->values[i]) +
                         expected->underflow;
            here = compare(expected->values[i], element_get(finished->after[out], buffer->type, i), budget,
                           &report->budget_share);
        } else if (expected->bounds) {
            here = compare_near(expected, buffer->type, i, element_get(finished->after[out], buffer->type, i),
                                &budget, &report->budget_share);
        } else if (!expected_is_met(expected, finished->after[out], buffer->type, i)) {
            uint64_t rounded = 0, bits = 0;
            element_set(&rounded, buffer->type, 0, expected_value(expected, i));
            memcpy(&bits, (const char *)finished->after[out] + (size_t)i * element_bytes(buffer->type),
                   element_bytes(buffer->type));
            here = CHECK_VALUE;
            report->off_by_one += are_neighbours(bits, rounded);
        }
        if (here == CHECK_RIGHT) continue;
        report->own_cancels = (wrong == 0 || report->own_cancels) && own_explains(finished, i, chain);
        if (wrong++ == 0) {
            first = i;
            outcome = here;
            budget_there = budget;
        }
    }
    report->outcome = outcome;
    if (task->expect == EXPECT_ROW_SUMS) try_row_shapes(finished, in, out, report);
    if (wrong == 0) return true;
    report->wrong = wrong;
    name_buffer(report, buffer, first, expected->count);
    double got = element_get(finished->after[out], buffer->type, first);
    const double value = expected_value(expected, first);
    const bool has_range = expected->magnitudes || expected->bounds;
    set_numbers(report, has_range ? value : as_stored(buffer->type, value), got, budget_there);
    element_text(finished->after[out], buffer->type, first, report->got_words, sizeof report->got_words);
    char name[160];
    element_name(finished, out, first, name, sizeof name);
    say_sum(report, finished->family, name);
    if (!expected->magnitudes && !(expected->bounds && budget_there > 0))
        snprintf(report->what, sizeof report->what, "%s is %s; it should be %s", name, report->got_words,
                 report->expected_words);
    if (task->expect == EXPECT_HISTOGRAM) { // equal counts do not show where one belongs
        explain_wrong_bins(expected, finished->after[out], buffer->type, finished->counts[in], report->why,
                           sizeof report->why);
        report->counter_bits =
            wrong_bins_counter_bits(expected, finished->after[out], buffer->type, &report->counters_carry);
    } else if (task->expect == EXPECT_SCAN) // sums of many elements are often equal by chance
        explain_wrong_scan(expected, finished->after[out], buffer->type, finished->family, report->why,
                           sizeof report->why);
    else if (task->expect == EXPECT_ROWS)
        explain_wrong_rows(expected, finished->after[out], buffer->type, report->why, sizeof report->why);
    else
        explain_element(finished, in, first, got, report);
    if (task->expect == EXPECT_ELEMENTWISE) try_formulas(finished, out, report);
    return false;
}

static bool check_tables(const CheckedCase *finished, CheckReport *report) {
    for (int b = 0; b < task_buffer_count(finished->task); b++) {
        const Buffer *buffer = &finished->task->buffers[b];
        if ((buffer->role != OUTPUT && buffer->role != OUTPUT_ZEROED) || !finished->expected->tables[b])
            continue;
        const void *table = finished->expected->tables[b];
        const size_t size = element_bytes(buffer->type);
        long long wrong = 0, first = -1;
        for (long long i = 0; i < finished->counts[b]; i++) {
            const double right = element_get(table, buffer->type, i);
            const double here = element_get(finished->after[b], buffer->type, i);
            // A handout does not have the hidden answers: there, each is 0, and every answer but 0 will do.
            const bool is_right =
                buffer->hides_answer && right == 0
                    ? here != 0
                    : memcmp((const char *)table + (size_t)i * size,
                             (const char *)finished->after[b] + (size_t)i * size, size) == 0;
            if (is_right) continue;
            if (wrong++ == 0) first = i;
            report->larger += here > right;
            report->where_zero += right == 0;
            report->off_by_one += fabs(here - right) == 1;
        }
        if (wrong == 0) continue;
        report->outcome = CHECK_VALUE;
        report->wrong = wrong;
        name_buffer(report, buffer, first, finished->counts[b]);
        if (buffer->hides_answer) {
            char name[160];
            element_name(finished, b, first, name, sizeof name);
            const bool is_open = element_get(finished->after[b], buffer->type, first) == 0;
            snprintf(report->what, sizeof report->what, "%s is %s (%lld of %lld are wrong)", name,
                     is_open ? "still open" : "not the one", wrong, finished->counts[b]);
            return false;
        }
        set_numbers(report, element_get(table, buffer->type, first),
                    element_get(finished->after[b], buffer->type, first), 0);
        element_text(table, buffer->type, first, report->expected_words, sizeof report->expected_words);
        element_text(finished->after[b], buffer->type, first, report->got_words, sizeof report->got_words);
        char name[160];
        element_name(finished, b, first, name, sizeof name);
        snprintf(report->what, sizeof report->what,
                 "%s: %s is %s; it should be %s (%lld of %lld numbers are wrong)", name, buffer->name,
                 report->got_words, report->expected_words, wrong, finished->counts[b]);
        const TableView view = {
            .seed = finished->expected->seed, .count = finished->counts[b], .inputs = finished->pristine};
        if (buffer->describe)
            explain_wrong_column(buffer, &view, table, finished->after[b], report->why, sizeof report->why);
        return false;
    }
    return true;
}

bool check_case(const CheckedCase *finished, CheckReport *report) {
    *report = (CheckReport){.outcome = CHECK_RIGHT, .index = -1, .shapes = finished->candidates};
    if (finished->expected->error[0]) {
        report->outcome = CHECK_BROKEN;
        snprintf(report->what, sizeof report->what, "%s", finished->expected->error);
        return false;
    }
    if (!inputs_unchanged(finished, report)) return false;
    for (int b = 0; b < task_buffer_count(finished->task); b++)
        if (finished->task->buffers[b].role == OUTPUT && !all_written(finished, b, report)) return false;
    for (int b = 0; b < task_buffer_count(finished->task); b++)
        if (finished->task->buffers[b].stays_zero && !is_left_zero(finished, b, report)) return false;
    switch (finished->task->expect) {
    case EXPECT_SUM: return check_sum(finished, report);
    case EXPECT_TABLE: return check_tables(finished, report);
    default: return check_elements(finished, report);
    }
}
