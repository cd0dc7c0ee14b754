#include "driver/judge/image_subset.h"

#include <stdlib.h>

#include "driver/plan/elements.h"

// Rows or columns: those that have a place of the set, and those of which all places are.
typedef struct {
    bool *some, *whole;
    long long count; // of all rows, or columns
} Lines;

static long long count_of(const bool *is_in, long long count) {
    long long found = 0;
    for (long long i = 0; i < count; i++) found += is_in[i];
    return found;
}

static long long first_of(const bool *is_in) {
    long long i = 0;
    while (!is_in[i]) i++;
    return i;
}

static void say_number(long long number, Text *words) {
    char text[32];
    count_text(number, text, sizeof text);
    text_add(words, text);
}

// "63 and 64 of every 64" would be no help: a period is said as "64k + 63".
static bool say_period(const bool *is_in, long long count, const char *name, Text *words) {
    static const long long periods[] = {4, 8, 16, 32, 64, 128, 256};
    for (size_t p = 0; p < sizeof periods / sizeof periods[0]; p++) {
        const long long period = periods[p];
        bool fits = count > period;
        long long at = -1;
        for (long long i = 0; i < period && fits; i++) {
            if (!is_in[i]) continue;
            fits = at < 0;
            at = i;
        }
        for (long long i = period; i < count && fits; i++) fits = is_in[i] == is_in[i - period];
        if (!fits || at < 0 || at + 2 * period >= count) continue;
        text_printf(words, at ? "%ss %lldk + %lld" : "%ss %lldk", name, period, at);
        return true;
    }
    return false;
}

// "row 3", "columns 0 to 2, 61 to 66 and 128"
static void say_lines(const bool *is_in, long long count, const char *name, Text *words) {
    enum { RANGES = 4 };
    const long long all = count_of(is_in, count);
    if (all == 1 || !say_period(is_in, count, name, words)) {
        text_printf(words, all == 1 ? "%s" : "%ss", name);
        long long said = 0;
        for (long long i = 0; i < count && said < all; i++) {
            if (!is_in[i]) continue;
            long long last = i;
            static const char *const joints[] = {" ", ", ", ", ", ", "};
            while (last + 1 < count && is_in[last + 1]) last++;
            const long long here = last - i + 1;
            int range = 0;
            for (long long k = 0; k < i; k++) range += is_in[k] && (k + 1 == count || !is_in[k + 1]);
            if (range == RANGES) {
                text_add(words, " and others");
                return;
            }
            text_add(words, range > 0 && said + here == all ? " and " : joints[range]);
            say_number(i, words);
            if (last > i) {
                text_add(words, last == i + 1 ? " and " : " to ");
                say_number(last, words);
            }
            said += here;
            i = last;
        }
    }
}

static void say_area(const bool *rows, long long row_count, const bool *columns, long long column_count,
                     Text *words) {
    const bool all_rows = count_of(rows, row_count) == row_count;
    const bool all_columns = count_of(columns, column_count) == column_count;
    if (!all_rows) say_lines(rows, row_count, "row", words);
    if (!all_rows && !all_columns) text_add(words, " in ");
    if (!all_columns) say_lines(columns, column_count, "column", words);
}

// The set is every place of these rows that is in one of these columns.
static bool say_product(const bool *is_in, Lines rows, Lines columns, long long all, Text *words) {
    if (count_of(rows.some, rows.count) * count_of(columns.some, columns.count) != all) return false;
    (void)is_in;
    text_add(words, all == 1 ? "that of " : "those of ");
    say_area(rows.some, rows.count, columns.some, columns.count, words);
    return true;
}

// The set is some whole rows and some whole columns.
static bool say_cross(const bool *is_in, Lines rows, Lines columns, Text *words) {
    for (long long i = 0; i < rows.count * columns.count; i++)
        if (is_in[i] && !rows.whole[i / columns.count] && !columns.whole[i % columns.count]) return false;
    text_add(words, "those of ");
    say_lines(rows.whole, rows.count, "row", words);
    text_add(words, " and of ");
    say_lines(columns.whole, columns.count, "column", words);
    return true;
}

static void say_box(Lines rows, Lines columns, long long all, Text *words) {
    long long bottom = rows.count - 1, right = columns.count - 1;
    while (!rows.some[bottom]) bottom--;
    while (!columns.some[right]) right--;
    say_number(all, words);
    text_add(words, " of ");
    say_number(rows.count * columns.count, words);
    text_printf(words, " outputs, within rows %lld to %lld and columns %lld to %lld", first_of(rows.some),
                bottom, first_of(columns.some), right);
}

long long image_subset_describe(const bool *is_in, long long rows, long long columns, Text *words) {
    const long long all = count_of(is_in, rows * columns);
    if (all == 0) return 0;
    if (all == rows * columns) {
        text_add(words, "all outputs");
        return all;
    }
    bool *lines = calloc(2 * (size_t)(rows + columns), 1);
    if (!lines) return all;
    const Lines of_rows = {lines, lines + rows, rows};
    const Lines of_columns = {lines + 2 * rows, lines + 2 * rows + columns, columns};
    for (long long i = 0; i < rows; i++) of_rows.whole[i] = true;
    for (long long i = 0; i < columns; i++) of_columns.whole[i] = true;
    for (long long i = 0; i < rows * columns; i++) {
        of_rows.some[i / columns] |= is_in[i];
        of_columns.some[i % columns] |= is_in[i];
        of_rows.whole[i / columns] &= is_in[i];
        of_columns.whole[i % columns] &= is_in[i];
    }
    if (!say_product(is_in, of_rows, of_columns, all, words) && !say_cross(is_in, of_rows, of_columns, words))
        say_box(of_rows, of_columns, all, words);
    free(lines);
    return all;
}
