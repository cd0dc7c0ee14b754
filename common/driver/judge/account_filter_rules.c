// By which wrong rule an image was filtered: those that are often taken, each tried on every value of every
// case of whole numbers that failed.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/judge/account.h"
#include "driver/plan/elements.h"
#include "driver/plan/filter.h"

enum { MOST_CASES = 8, MOST_ELEMENTS = 1 << 14 };

// What stands for an element outside the image.
typedef enum {
    EDGE_NOTHING,
    EDGE_NEAREST,
    EDGE_OPPOSITE,
    EDGE_MIRRORED,        // with the element at the edge twice
    EDGE_MIRRORED_WITHIN, // and once
    EDGE_NEXT_ROW,        // what is at that distance in memory, if the row is one of the image
    EDGE_MEMORY,          // what is at that distance in memory
    EDGES,
} Edge;

// Which coefficient belongs to a neighbour.
typedef enum { PLACE_OWN, PLACE_TURNED, PLACE_ROWS, PLACE_COLUMNS, PLACE_SWAPPED, PLACES } Place;

typedef enum { FRAME_LIKE_ALL, FRAME_ZERO, FRAME_COPIED, FRAMES } Frame; // outputs whose window is cut

typedef struct {
    Edge edge;
    Place place;
    Frame frame;
    int top, bottom, left, right; // the part of the window that counts, as distances from the element
    int without;                  // a coefficient that does not count; -1: all do
    int down, aside;              // by which the image is shifted
    int stride;                   // coefficients of a row of them; 0: as many as there are
    int first_row, last_row, first_column, last_column; // so many of the image count as outside
    long long high, wide; // of tiles that know nothing of each other; 0: no limit
    const char *mistake;
    char words[160];
} Rule;

typedef struct {
    FilterImage image;
    FilterWeights weights;
    float *elements, *written; // of the image and of the output
} FilterCase;

typedef struct {
    Account *account;
    int in, out;
    FilterCase cases[MOST_CASES];
    int case_count, fit_count;
    Rule fitting;
} Search;

// ---- What a rule gives -----------------------------------------------------------------------------------

static long long mirrored(long long at, long long count, int within) {
    if (at < 0) at = -at - 1 + within;
    if (at >= count) at = 2 * count - 1 - at - within;
    return at < 0 || at >= count ? -1 : at;
}

// The place in the image that stands for (row, column); -1: none.
static long long stands_for(const FilterImage *image, Edge edge, long long row, long long column) {
    const long long rows = image->rows, columns = image->columns, at = row * columns + column;
    const bool has_row = row >= 0 && row < rows, has_column = column >= 0 && column < columns;
    if (has_row && has_column) return at;
    switch (edge) {
    case EDGE_NEAREST:
        row = row < 0 ? 0 : row >= rows ? rows - 1 : row;
        column = column < 0 ? 0 : column >= columns ? columns - 1 : column;
        return row * columns + column;
    case EDGE_OPPOSITE: return (row % rows + rows) % rows * columns + (column % columns + columns) % columns;
    case EDGE_MIRRORED:
    case EDGE_MIRRORED_WITHIN:
        row = mirrored(row, rows, edge == EDGE_MIRRORED_WITHIN);
        column = mirrored(column, columns, edge == EDGE_MIRRORED_WITHIN);
        return row < 0 || column < 0 ? -1 : row * columns + column;
    case EDGE_NEXT_ROW: return has_row && at >= 0 && at < rows * columns ? at : -1;
    case EDGE_MEMORY: return at >= 0 && at < rows * columns ? at : -1;
    default: return -1;
    }
}

static int coefficient_of(Place place, int radius, int dy, int dx) {
    const int side = 2 * radius + 1;
    if (place == PLACE_TURNED || place == PLACE_ROWS) dy = -dy;
    if (place == PLACE_TURNED || place == PLACE_COLUMNS) dx = -dx;
    const int y = place == PLACE_SWAPPED ? dx : dy, x = place == PLACE_SWAPPED ? dy : dx;
    return (y + radius) * side + x + radius;
}

static bool is_cut_off(const Rule *rule, const FilterImage *image, long long at) {
    const long long row = at / image->columns, column = at % image->columns;
    return row < rule->first_row || row >= image->rows - rule->last_row || column < rule->first_column ||
           column >= image->columns - rule->last_column;
}

static bool are_in_one_tile(const Rule *rule, long long row, long long column, long long other_row,
                            long long other_column) {
    return (rule->high == 0 || row / rule->high == other_row / rule->high) &&
           (rule->wide == 0 || column / rule->wide == other_column / rule->wide);
}

static bool is_in_frame(const FilterImage *image, int radius, long long row, long long column) {
    return row < radius || column < radius || row >= image->rows - radius ||
           column >= image->columns - radius;
}

static double value_at(const Rule *rule, const FilterCase *one, long long row, long long column) {
    const FilterImage *image = &one->image;
    const int radius = one->weights.radius;
    const float *elements = image->image;
    double sum = 0;
    if (rule->frame != FRAME_LIKE_ALL && is_in_frame(image, radius, row, column))
        return rule->frame == FRAME_COPIED ? (double)elements[row * image->columns + column] : 0;
    for (int dy = rule->top; dy <= rule->bottom; dy++) {
        for (int dx = rule->left; dx <= rule->right; dx++) {
            const int k = rule->stride ? rule->stride * (dy + radius) + dx + radius
                                       : coefficient_of(rule->place, radius, dy, dx);
            const long long y = row + dy + rule->down, x = column + dx + rule->aside;
            const long long at = stands_for(image, rule->edge, y, x);
            if (k == rule->without || at < 0 || is_cut_off(rule, image, at) ||
                !are_in_one_tile(rule, row, column, y, x))
                continue;
            sum += one->weights.weights[k] * (double)elements[at];
        }
    }
    return sum;
}

// ---- Trying ----------------------------------------------------------------------------------------------

static bool does_fit(const Search *search, const Rule *rule) {
    for (int c = 0; c < search->case_count; c++) {
        const FilterCase *one = &search->cases[c];
        const long long columns = one->image.columns;
        for (long long i = 0; i < one->image.rows * columns; i++)
            if ((double)one->written[i] != value_at(rule, one, i / columns, i % columns)) return false;
    }
    return true;
}

static void try_rule(Search *search, const Rule *rule) {
    if (!does_fit(search, rule)) return;
    // If the window is small, two rules of one kind may be the same.
    if (search->fit_count == 1 && strcmp(search->fitting.mistake, rule->mistake) == 0) return;
    search->fitting = *rule;
    search->fit_count++;
}

static Rule right_rule(const Search *search) {
    const int radius = search->cases[0].weights.radius;
    return (Rule){.top = -radius, .bottom = radius, .left = -radius, .right = radius, .without = -1};
}

static void try_edges(Search *search) {
    static const char *const words[EDGES] = {
        [EDGE_NEAREST] = "the nearest element of its edge",
        [EDGE_OPPOSITE] = "the elements at the opposite edge",
        [EDGE_MIRRORED] = "the image mirrored at its edge",
        [EDGE_MIRRORED_WITHIN] = "the image mirrored at the elements of its edge",
    };
    for (Edge edge = EDGE_NEAREST; edge < EDGES; edge++) {
        Rule rule = right_rule(search);
        rule.edge = edge;
        rule.mistake = words[edge] ? "edge-is-not-zero" : "column-of-another-row";
        if (words[edge])
            snprintf(rule.words, sizeof rule.words, "what lies outside the image is %s", words[edge]);
        else
            snprintf(rule.words, sizeof rule.words,
                     "columns beyond the edge are those of the row above or below%s",
                     edge == EDGE_MEMORY ? ", in all rows" : "");
        try_rule(search, &rule);
    }
}

static void try_places(Search *search) {
    static const char *const words[PLACES] = {
        [PLACE_TURNED] = "the coefficients are turned by 180 degrees",
        [PLACE_ROWS] = "the rows of the coefficients are in the opposite order",
        [PLACE_COLUMNS] = "the columns of the coefficients are in the opposite order",
        [PLACE_SWAPPED] = "rows and columns of the coefficients are swapped",
    };
    for (Place place = PLACE_TURNED; place < PLACES; place++) {
        Rule rule = right_rule(search);
        rule.place = place;
        rule.mistake = "coefficients-in-another-order";
        snprintf(rule.words, sizeof rule.words, "%s", words[place]);
        try_rule(search, &rule);
    }
}

static void try_strides(Search *search) {
    const int side = 2 * search->cases[0].weights.radius + 1;
    for (int stride = 1; stride < side; stride++) {
        Rule rule = right_rule(search);
        rule.stride = stride;
        rule.mistake = "coefficients-in-another-order";
        snprintf(rule.words, sizeof rule.words, "rows of the coefficients are %d apart, not %d", stride,
                 side);
        try_rule(search, &rule);
    }
}

static void try_cuts(Search *search) {
    static const struct {
        int first_row, last_row, first_column, last_column;
        const char *words;
    } cuts[] = {{1, 0, 0, 0, "the first row"},
                {0, 1, 0, 0, "the last row"},
                {0, 0, 1, 0, "the first column"},
                {0, 0, 0, 1, "the last column"},
                {0, 1, 0, 1, "the last row and the last column"},
                {1, 0, 1, 0, "the first row and the first column"},
                {1, 1, 1, 1, "the edge"}};
    for (size_t c = 0; c < sizeof cuts / sizeof cuts[0]; c++) {
        Rule rule = right_rule(search);
        rule.first_row = cuts[c].first_row;
        rule.last_row = cuts[c].last_row;
        rule.first_column = cuts[c].first_column;
        rule.last_column = cuts[c].last_column;
        rule.mistake = "edge-taken-for-outside";
        snprintf(rule.words, sizeof rule.words, "%s of the image count%s as outside", cuts[c].words,
                 strstr(cuts[c].words, " and ") ? "" : "s");
        try_rule(search, &rule);
    }
}

static void try_windows(Search *search) {
    static const struct {
        int top, bottom, left, right; // how much shorter
        const char *words;
    } cuts[] = {{0, 1, 0, 0, "the last row of products is"},
                {0, 0, 0, 1, "the last column of products is"},
                {0, 1, 0, 1, "the last row and column of products are"},
                {1, 0, 0, 0, "the first row of products is"},
                {0, 0, 1, 0, "the first column of products is"},
                {1, 0, 1, 0, "the first row and column of products are"},
                {1, 1, 0, 0, "the first and the last row of products are"},
                {0, 0, 1, 1, "the first and the last column of products are"}};
    for (size_t c = 0; c < sizeof cuts / sizeof cuts[0]; c++) {
        Rule rule = right_rule(search);
        rule.top += cuts[c].top;
        rule.bottom -= cuts[c].bottom;
        rule.left += cuts[c].left;
        rule.right -= cuts[c].right;
        rule.mistake = "products-left-out";
        snprintf(rule.words, sizeof rule.words, "%s left out", cuts[c].words);
        try_rule(search, &rule);
    }
}

static void name_neighbour(int dy, int dx, char *words, size_t bytes) {
    char vertical[32] = "", aside[32] = "";
    if (dy) snprintf(vertical, sizeof vertical, "%d %s", abs(dy), dy < 0 ? "above" : "below");
    if (dx) snprintf(aside, sizeof aside, "%d to the %s", abs(dx), dx < 0 ? "left" : "right");
    snprintf(words, bytes, "%s%s%s", vertical, dy && dx ? " and " : "", aside);
}

static void try_neighbours(Search *search) {
    const FilterWeights *weights = &search->cases[0].weights;
    const int radius = weights->radius, side = 2 * radius + 1;
    for (int k = 0; k < side * side; k++) {
        Rule rule = right_rule(search);
        char which[80];
        const int dy = k / side - radius, dx = k % side - radius;
        rule.without = k;
        rule.mistake = "products-left-out";
        name_neighbour(dy, dx, which, sizeof which);
        snprintf(rule.words, sizeof rule.words, "the element %s is left out", dy || dx ? which : "itself");
        bool is_edge_of_cross = !weights->counts[0]; // there a row of products has one
        if (weights->counts[k] && !(is_edge_of_cross && (dy || dx))) try_rule(search, &rule);
    }
}

static void try_shifts(Search *search) {
    const int most = 2 * search->cases[0].weights.radius;
    for (int down = -most; down <= most; down++)
        for (int aside = -most; aside <= most; aside++) {
            Rule rule = right_rule(search);
            char which[80];
            rule.down = down;
            rule.aside = aside;
            rule.mistake = "window-is-shifted";
            name_neighbour(down, aside, which, sizeof which);
            snprintf(rule.words, sizeof rule.words, "every window is around the element %s", which);
            if (down || aside) try_rule(search, &rule);
        }
}

static void try_tiles(Search *search) {
    static const long long sides[] = {0, 4, 8, 16, 32, 64, 128, 256};
    enum { SIDES = sizeof sides / sizeof sides[0] };
    for (int h = 0; h < SIDES; h++)
        for (int w = 0; w < SIDES; w++) {
            Rule rule = right_rule(search);
            rule.high = sides[h];
            rule.wide = sides[w];
            rule.mistake = "halo-left-out";
            if (rule.high && rule.wide)
                snprintf(rule.words, sizeof rule.words, "elements outside a tile of %lld x %lld count as 0",
                         rule.high, rule.wide);
            else
                snprintf(rule.words, sizeof rule.words, "elements outside %s of a tile count as 0",
                         rule.high ? "the rows" : "the columns");
            if (rule.high || rule.wide) try_rule(search, &rule);
        }
}

static void try_frames(Search *search) {
    for (Frame frame = FRAME_ZERO; frame < FRAMES; frame++) {
        Rule rule = right_rule(search);
        rule.frame = frame;
        rule.mistake = "edges-left-out";
        snprintf(rule.words, sizeof rule.words, "outputs with neighbours outside the image are %s",
                 frame == FRAME_ZERO ? "0" : "the element itself");
        try_rule(search, &rule);
    }
}

static bool is_copy(const Search *search) {
    for (int c = 0; c < search->case_count; c++) {
        const FilterImage *image = &search->cases[c].image;
        if (memcmp(search->cases[c].written, image->image,
                   (size_t)(image->rows * image->columns) * sizeof(float)) != 0)
            return false;
    }
    return true;
}

// ---- Collecting ------------------------------------------------------------------------------------------

static float *copy_of(const void *array, long long count) {
    float *copy = malloc((size_t)count * sizeof *copy + 1);
    if (copy) memcpy(copy, array, (size_t)count * sizeof *copy);
    return copy;
}

// What the kernel makes of a case. False if that cannot be run again.
static bool add_case(Search *search, const CaseReport *report) {
    Account *account = search->account;
    FilterCase *one = &search->cases[search->case_count];
    const int coefficients = filter_coefficients(account->task);
    const CaseSize *size = &report->settings.size;
    account->one = report->settings;
    account->one.is_counted = false;
    const TaskShape *shape = judge_case_shape(account->judge, &account->one);
    if (!shape || !account_run(account)) return false;
    search->case_count++;
    one->written = copy_of(account_output(account), size->n);
    Prepared *prepared = prepared_take(&account->judge->cache, account->task, &account->one, &shape->shape,
                                       account->worker->layout.counts, report->seed);
    if (!prepared) return false;
    one->elements = copy_of(prepared->inputs[search->in], size->n);
    filter_weights(account->task, coefficients < 0 ? NULL : prepared->inputs[coefficients], &one->weights);
    prepared_release(prepared);
    one->image = (FilterImage){one->elements, F32, size->rows, size->columns, size->n};
    if (!one->written || !one->elements) return false;
    for (long long i = 0; i < size->n; i++)
        if (element_is_poison(one->written, F32, i)) return false;
    return true;
}

// The wrong cases of whole numbers that tell most: the larger ones.
static bool collect(Search *search) {
    const Judgement *judgement = search->account->judge->judgement;
    const Case chosen = search->account->one;
    bool is_known = true;
    for (int i = judgement->case_count - 1; i >= 0 && search->case_count < MOST_CASES && is_known; i--) {
        const CaseReport *report = &judgement->cases[i];
        const Case *settings = &report->settings;
        if (report->was_run && settings->task == chosen.task && report->verdict == VERDICT_WRONG &&
            settings->family == FAMILY_INTEGERS && settings->schedule == 0 && !settings->is_large &&
            report->origin == CASE_OF_PLAN && settings->size.n > 0 && settings->size.n <= MOST_ELEMENTS)
            is_known = add_case(search, report);
    }
    search->account->one = chosen;
    return is_known && search->case_count > 0;
}

static void say(const Search *search, Accounting *out) {
    static Deviation deviation; // of the one submission that this process judges
    const Account *account = search->account;
    deviation = (Deviation){.words = search->fitting.words, .mistake = search->fitting.mistake};
    out->n = account->one.size.n;
    out->misplaced = out->n;
    out->deviations[out->deviation_count++] = &deviation;
    long long values = 0;
    for (int c = 0; c < search->case_count; c++)
        values += search->cases[c].image.rows * search->cases[c].image.columns;
    char count[32], cases[32] = "one failing case";
    count_text(values, count, sizeof count);
    if (search->case_count > 1) snprintf(cases, sizeof cases, "%d failing cases", search->case_count);
    snprintf(out->words, sizeof out->words, "all %s values of %s are those of a filter in which %s", count,
             cases, search->fitting.words);
}

bool account_filter_rules(Account *account, Accounting *out) {
    void *none[MAX_BUFFERS] = {0};
    Search search = {.account = account, .in = task_input(account->task), .out = task_output(account->task)};
    if (account->task->buffers[search.in].type != F32 || account->task->buffers[search.out].type != F32)
        return false;
    account->how.inputs = none; // those of the case
    if (collect(&search)) {
        try_edges(&search);
        try_places(&search);
        try_strides(&search);
        try_cuts(&search);
        try_windows(&search);
        try_neighbours(&search);
        try_shifts(&search);
        try_tiles(&search);
        try_frames(&search);
        if (is_copy(&search)) {
            search.fitting = (Rule){.mistake = "image-is-copied", .words = "each element is copied"};
            search.fit_count = 1;
        }
    }
    // If two rules fit, the values do not tell which one it is.
    if (search.fit_count == 1) say(&search, out);
    for (int c = 0; c < search.case_count; c++) {
        free(search.cases[c].written);
        free(search.cases[c].elements);
    }
    return out->deviation_count > 0;
}
