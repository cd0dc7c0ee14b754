#include "driver/judge/unwritten_rows.h"

#include <stdio.h>

#include "driver/plan/elements.h"

typedef struct {
    long long rows, columns;
    const void *output;
    ElementType type;
} Matrix;

static bool is_unwritten(const Matrix *of, long long row, long long column) {
    return element_is_poison(of->output, of->type, row * of->columns + column);
}

// Whether in every row the columns from `first` to `last` are unwritten, and no others.
static bool are_columns(const Matrix *of, long long first, long long last) {
    for (long long row = 0; row < of->rows; row++)
        for (long long column = 0; column < of->columns; column++)
            if (is_unwritten(of, row, column) != (column >= first && column <= last)) return false;
    return true;
}

static void say_columns(const Matrix *of, long long first, long long last, char *why, size_t bytes) {
    const bool has_last = last == of->columns - 1;
    if (first == last)
        snprintf(why, bytes, "They are column %lld of each of the %lld rows%s.", first, of->rows,
                 has_last ? ", the last one" : "");
    else
        snprintf(why, bytes, "They are columns %lld to %lld of each of the %lld rows%s.", first, last,
                 of->rows, has_last ? ", the last ones" : "");
}

// The first row from which on all are unwritten, if all before it are written; 0: they are not.
static long long first_of_rest(const Matrix *of) {
    long long first = 0;
    while (first < of->rows && !is_unwritten(of, first, 0)) first++;
    for (long long i = 0; i < of->rows * of->columns; i++)
        if (is_unwritten(of, 0, i) != (i >= first * of->columns)) return 0;
    return first;
}

typedef struct {
    long long first, end; // of each step, the rows from `first` to `end` - 1 are unwritten
    long long steps;      // that have some of these
} Gaps;

// Whether rows are unwritten as a whole, and which of each so many. One row or one step alone has its end
// where the matrix continues.
static bool find_gaps(const Matrix *of, Gaps *gaps) {
    *gaps = (Gaps){0};
    while (gaps->first < of->rows && !is_unwritten(of, gaps->first, 0)) gaps->first++;
    for (gaps->end = gaps->first; gaps->end < of->rows && is_unwritten(of, gaps->end, 0);) gaps->end++;
    if (gaps->first < 1 || gaps->end >= of->rows) return false;
    for (long long row = 0; row < of->rows; row++) {
        const bool is_in_gap = row % gaps->end >= gaps->first;
        gaps->steps += row % gaps->end == gaps->first;
        for (long long column = 0; column < of->columns; column++)
            if (is_unwritten(of, row, column) != is_in_gap) return false;
    }
    return true;
}

// `blocks_y`: those of the grid along y, if it has several along both; else 0.
static void say_gaps(const Matrix *of, const Gaps *gaps, long long blocks_y, char *why, size_t bytes) {
    char first[32], last[32], step[32], all[32], grid[96] = "";
    count_text(gaps->first, first, sizeof first);
    count_text(gaps->end - 1, last, sizeof last);
    count_text(gaps->end, step, sizeof step);
    count_text(of->rows, all, sizeof all);
    if (blocks_y == gaps->first) snprintf(grid, sizeof grid, " The grid has %s blocks along y.", first);
    const bool is_one = gaps->first == gaps->end - 1;
    if (gaps->steps > 1 && is_one)
        snprintf(why, bytes, "They are the last of every %s rows, whole.%s", step, grid);
    else if (gaps->steps > 1)
        snprintf(why, bytes, "They are rows %s to %s, whole, and the same of every %s rows.%s", first, last,
                 step, grid);
    else if (is_one)
        snprintf(why, bytes, "They are row %s of the %s rows, whole.%s", first, all, grid);
    else
        snprintf(why, bytes, "They are rows %s to %s of the %s rows, whole.%s", first, last, all, grid);
}

long long explain_unwritten_rows(const CaseShape *shape, const void *output, ElementType type, char *why,
                                 size_t bytes) {
    const Matrix of = {shape->size.rows, shape->size.columns, output, type};
    const long long blocks = shape->launches[0].blocks;
    if (of.rows < 2 || of.columns < 1) return 0;
    const long long rest = first_of_rest(&of);
    if (rest > 1 && rest == blocks) {
        char written[32], all[32];
        count_text(blocks, written, sizeof written);
        count_text(of.rows, all, sizeof all);
        snprintf(why, bytes, "The grid has %s blocks, and the first %s of the %s rows are written.", written,
                 written, all);
        return rest;
    }
    Gaps gaps;
    if (find_gaps(&of, &gaps)) {
        const uint32_t *grid = shape->launches[0].grid;
        say_gaps(&of, &gaps, grid[0] > 1 && grid[1] > 1 ? grid[1] : 0, why, bytes);
        return 0;
    }
    long long first = 0, last;
    while (first < of.columns && !is_unwritten(&of, 0, first)) first++;
    for (last = first; last + 1 < of.columns && is_unwritten(&of, 0, last + 1);) last++;
    const bool is_part = first < of.columns && (first > 0 || last < of.columns - 1);
    if (is_part && are_columns(&of, first, last)) say_columns(&of, first, last, why, bytes);
    return 0;
}
