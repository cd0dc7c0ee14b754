// Chapter 18: softmax and layer norm, in three passes, in one, and from registers.
#include <math.h>

#include "driver/plan/chapter.h"

// ---- What is right ---------------------------------------------------------------------------------------

// The unit roundoff of a float: all arithmetic is in floats, whatever the row holds. Results below the
// smallest normal number may be 0.
static const double unit = 0x1p-24, smallest_normal = 0x1p-126;

// A computed e^t deviates by at most (EXP + EXP |t|) units. The CUDA C++ programming guide gives 2 + 1.173
// |t| units in the last place, of up to two units each, for __expf(t), the least exact; t = x - maximum is
// rounded once before.
enum { EXP = 4 };

static bool is_undefined(const RowView *view, double *maximum) {
    *maximum = -(double)INFINITY;
    for (long long c = 0; c < view->columns; c++) {
        if (isnan(view->in[c]) || view->in[c] == (double)INFINITY) return true;
        if (view->in[c] > *maximum) *maximum = view->in[c];
    }
    return isinf(*maximum);
}

static void fill_with_nan(const RowView *view, double *expected) {
    for (long long c = 0; c < view->columns; c++) expected[c] = (double)NAN;
}

// e^(x - maximum) divided by the sum of these over the row. As in PyTorch, a row with a NaN, with +Inf or
// with -Inf alone is NaN everywhere; -Inf beside a finite element gives 0.
static void softmax(const RowView *view, double *expected, double *bound) {
    double maximum, sum = 0, error = 0;
    long long largest = 0, others = 0;
    if (is_undefined(view, &maximum)) {
        fill_with_nan(view, expected);
        return;
    }
    for (long long c = 0; c < view->columns; c++) {
        const double t = view->in[c] - maximum, power = exp(t);
        largest += t == 0;
        others += t < 0 && isfinite(t);
        sum += power;
        // Each of `chain` additions may round, and rescale what was added before with one more power.
        if (power > 0) error += power * (EXP - EXP * t + view->chain * (EXP + 2)) * unit;
    }
    // Only zeros and ones are added, and 1 divided by a power of two: nothing is rounded.
    const bool is_exact = others == 0 && (largest & (largest - 1)) == 0;
    for (long long c = 0; c < view->columns; c++) {
        const double t = view->in[c] - maximum;
        expected[c] = exp(t) / sum;
        if (is_exact || isinf(t)) continue;
        // One more rescaling, the reciprocal of the sum, and the product with it.
        const double relative = (2 * EXP - EXP * t + 6) * unit + error / sum;
        bound[c] = expected[c] * relative + smallest_normal;
    }
}

static const double epsilon = 1e-5f;

// (x - mean) / sqrt(variance + epsilon) * gamma + beta, with the mean and the variance of the row. A row with
// a NaN or an infinity is NaN everywhere.
//
// The bounds hold for a mean from a sum and a variance from the squares of the deviations, and for both by
// Welford's method: T. Chan, G. Golub, R. LeVeque, "Algorithms for computing the sample variance", The
// American Statistician 37, 1983.
static void layer_norm(const RowView *view, double *expected, double *bound) {
    static const double largest_square = 1e18; // above it, squares may be infinite
    const double *gamma = view->others[0], *beta = view->others[1], n = (double)view->columns;
    double sum = 0, magnitude = 0, squares = 0, largest = 0;
    for (long long c = 0; c < view->columns; c++) {
        sum += view->in[c];
        magnitude += fabs(view->in[c]);
        if (fabs(view->in[c]) > largest) largest = fabs(view->in[c]);
    }
    if (!isfinite(sum)) {
        fill_with_nan(view, expected);
        return;
    }
    const double mean = sum / n, steps = view->chain + 4;
    for (long long c = 0; c < view->columns; c++) squares += (view->in[c] - mean) * (view->in[c] - mean);
    const double variance = squares / n;
    // How far the mean may be off; and the variance, of which that changes each product of two deviations.
    const double off = steps * unit * magnitude / n;
    const double spread = off * off + 4 * off * sqrt(variance) + 2 * steps * unit * (variance + off * off);
    const double scale = 1 / sqrt(variance + epsilon);
    const double most = 1 / sqrt(fmax(0, variance - spread) + epsilon) * (1 + EXP * unit);
    for (long long c = 0; c < view->columns; c++) {
        const double deviation = view->in[c] - mean;
        expected[c] = deviation * scale * gamma[c] + beta[c];
        bound[c] = fabs(gamma[c]) * (fabs(deviation) * (most - scale + 4 * unit * scale) + off * most) +
                   3 * unit * (fabs(deviation * scale * gamma[c]) + fabs(beta[c])) + smallest_normal;
        if (largest > largest_square) bound[c] = (double)INFINITY;
        if (largest == 0) bound[c] = 0;
    }
}

// ---- What is run -----------------------------------------------------------------------------------------

// Factors and offsets of either sign, none of them 0, with few digits, so that bfloat16 holds them too.
static void make_weights(const TableView *view, void *array) {
    float *weights = array;
    for (long long c = 0; c < view->count; c++) {
        const uint64_t bits = (view->seed ^ (uint64_t)c) * 0x9e3779b97f4a7c15u >> 40;
        const float size = (float)(1 + bits % 32) / 16;
        weights[c] = bits >> 8 & 1 ? size : -size;
    }
}

static void make_offsets(const TableView *view, void *array) {
    float *offsets = array;
    for (long long c = 0; c < view->count; c++) {
        const uint64_t bits = (view->seed + (uint64_t)c) * 0xbf58476d1ce4e5b9u >> 40;
        offsets[c] = (float)(bits % 64) / 32 - 1.03125f;
    }
}

// Rows of every remainder modulo 4, 8 and 32, shorter and longer than a warp and a block, and none at all.
static const CaseSize matrices[] = {
    {.rows = 0, .columns = 2048},  {.rows = 5, .columns = 0},     {.rows = 1, .columns = 1},
    {.rows = 40, .columns = 2},    {.rows = 3, .columns = 3},     {.rows = 2, .columns = 4},
    {.rows = 9, .columns = 8},     {.rows = 12, .columns = 31},   {.rows = 12, .columns = 32},
    {.rows = 12, .columns = 33},   {.rows = 33, .columns = 128},  {.rows = 7, .columns = 129},
    {.rows = 5, .columns = 204},   {.rows = 4, .columns = 256},   {.rows = 5, .columns = 511},
    {.rows = 4, .columns = 512},   {.rows = 3, .columns = 516},   {.rows = 3, .columns = 1023},
    {.rows = 3, .columns = 1027},  {.rows = 8, .columns = 1048},  {.rows = 6, .columns = 2048},
    {.rows = 3, .columns = 2050},  {.rows = 2, .columns = 4104},  {.rows = 2, .columns = 8191},
    {.rows = 1, .columns = 16381}, {.rows = 1, .columns = 16384}, {.rows = 150, .columns = 128},
};

#define ROWS(kernel_name, function, ...)                                                                     \
    .launches = {{.kernel = kernel_name, .arguments = {__VA_ARGS__, INT(COUNT_ROWS), INT(COUNT_COLUMNS)}}},  \
    .expect = EXPECT_ROWS, .row = function, .chain = CHAIN_ROW

#define SOFTMAX(task_name, kernel_name, element, ...)                                                        \
    {                                                                                                        \
        .name = task_name,                                                                                   \
        .buffers = {{.name = "in", .role = INPUT, .type = element, .family = FAMILY_LOGITS},                 \
                    {.name = "out", .role = OUTPUT, .type = element}},                                       \
        ROWS(kernel_name, softmax, BUFFER("in"), BUFFER("out")), __VA_ARGS__                                 \
    }

#define LAYER_NORM(task_name, kernel_name, element, ...)                                                     \
    {                                                                                                        \
        .name = task_name,                                                                                   \
        .buffers = {{.name = "in", .role = INPUT, .type = element, .family = FAMILY_LOGITS},                 \
                    {.name = "gamma", .role = INPUT, .count = COUNT_COLUMNS, .make = make_weights},          \
                    {.name = "beta", .role = INPUT, .count = COUNT_COLUMNS, .make = make_offsets},           \
                    {.name = "out", .role = OUTPUT, .type = element}},                                       \
        ROWS(kernel_name, layer_norm, BUFFER("in"), BUFFER("gamma"), BUFFER("beta"), BUFFER("out")),         \
        __VA_ARGS__                                                                                          \
    }

#define EVERY_SIZE                                                                                           \
    .sizes = matrices, .size_count = sizeof matrices / sizeof matrices[0], .max_n = 1 << 18, .schedules = 2, \
    .counted = {.rows = 24, .columns = 2048}, .timed = {.rows = 65536, .columns = 2048}

// More elements than an unsigned number counts, or an int: where a block goes from row to row, its share is
// large.
#define MANY_ROWS .large = {.rows = 600011, .columns = 8191, .n = 600011LL * 8191}
#define FEWER_ROWS .large = {.rows = 300007, .columns = 8191, .n = 300007LL * 8191}

const Chapter chapter = {
    .number = 18,
    .name = "ch18",
    .title = "Softmax and layer norm",
    .points = 10,
    .tasks = {SOFTMAX("three passes", "softmax_three_passes", F32, EVERY_SIZE, MANY_ROWS),
              SOFTMAX("online", "softmax_online", F32, EVERY_SIZE, MANY_ROWS),
              SOFTMAX("registers", "softmax_registers", F32, EVERY_SIZE, MANY_ROWS),
              SOFTMAX("bfloat16", "softmax_bfloat16", BF16, EVERY_SIZE, MANY_ROWS),
              LAYER_NORM("layer norm", "layer_norm", F32, EVERY_SIZE, FEWER_ROWS),
              LAYER_NORM("layer norm, bfloat16", "layer_norm_bfloat16", BF16, EVERY_SIZE, FEWER_ROWS)},
    .goals =
        {
            {
                .words = "bytes moved per element",
                .measure = "32 * (global_ld_sectors + global_st_sectors) / n",
                .bound = AT_MOST,
                .limit = 12.2,
                .points = 1,
                .task = "online",
                .why = "One pass for maximum and sum and one for the shares are 8 bytes read and 4 written.",
            },
            {
                .words = "bytes moved per element",
                .measure = "32 * (global_ld_sectors + global_st_sectors) / n",
                .bound = AT_MOST,
                .limit = 8.2,
                .points = 1,
                .task = "registers",
                .why = "Reading once and writing once are 8 bytes.",
            },
            {
                .words = "bytes per load request",
                .measure = "4 * n / input_ld_requests",
                .bound = AT_LEAST,
                .limit = 500,
                .points = 1,
                .task = "registers",
                .why = "32 lanes can load 16 bytes each with one instruction.",
            },
            {
                .words = "bytes moved per element",
                .measure = "32 * (global_ld_sectors + global_st_sectors) / n",
                .bound = AT_MOST,
                .limit = 4.1,
                .points = 1,
                .task = "bfloat16",
                .why = "Reading once and writing once are 4 bytes.",
            },
            {
                .words = "bytes moved per element",
                .measure = "32 * (global_ld_sectors + global_st_sectors) / n",
                .bound = AT_MOST,
                .limit = 16.2, // of which 8 are gamma and beta, loaded for each row
                .points = 1,
                .task = "layer norm",
                .why = "A row has to be read only once for its mean, its variance and the result.",
            },
            BANDWIDTH_GOAL(.points = 1, .task = "registers", .why = "Memory can deliver more in this time."),
            BANDWIDTH_GOAL(.points = 1, .task = "layer norm, bfloat16",
                           .why = "gamma and beta are four times as many bytes as the elements of a row of "
                                  "bfloat16: one load of them can be for several rows."),
        },
    .remarks =
        {
            {"RACE", NULL,
             "Between two uses of the same shared memory all threads must have read what the first one left "
             "there."},
            {"SYNC", NULL,
             "All threads of a block must reach each barrier, also those beyond the end of a row."},
            {"OOB", NULL,
             "The last thread of a row may have fewer elements than the others, and the last block fewer "
             "rows."},
            {"MISALIGNED", NULL,
             "Rows follow each other without gaps: they begin at multiples of 16 bytes only if their length "
             "allows it."},
            {"WRONG", "layer norm",
             "What fills a thread's last registers is not part of the row: it must change neither the mean "
             "nor "
             "the variance."},
            {"WRONG", "online", "Two sums can be added only if the same maximum was subtracted in both."},
            {"WRONG", NULL,
             "What e^x can be: above 88 infinite, below -104 zero. After the maximum is subtracted, the "
             "largest "
             "is 1."},
        },
};
