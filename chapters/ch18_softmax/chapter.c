// Chapter 18: softmax and layer norm, in three passes, in one, and from registers.
#include <math.h>
#include <string.h>

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

// What is often computed instead, as bits of RowView.deviations.
enum {
    SUM_FROM_ONE,
    MAXIMUM_FROM_ZERO,
    MAXIMUM_OF_WARP,
    MAXIMUM_TWICE,
    NAN_SKIPPED,
    ZERO_WITHOUT_SUM,
    ZERO_WITHOUT_MAXIMUM,
    NO_SUM,
    SUM_OF_ONES,
    SCALED_FIRST,
    CUT_OFF,
    DIFFERENCE_ROUNDED,
    POWERS_ROUNDED
};
#define OF_SOFTMAX                                                                                           \
    [SUM_FROM_ONE] = {"every thread's sum begins at 1", "sum-from-one"},                                     \
    [MAXIMUM_FROM_ZERO] = {"the maximum is never below 0", "maximum-from-zero"},                             \
    [MAXIMUM_OF_WARP] = {"each warp subtracts the maximum of its own elements", "maximum-of-each-warp"},     \
    [MAXIMUM_TWICE] = {"the maximum is subtracted twice", NULL},                                             \
    [NAN_SKIPPED] = {"elements that are NaN are part of neither maximum nor sum",                            \
                     "special-values-swallowed"},                                                            \
    [ZERO_WITHOUT_SUM] = {"the factor is 0, not 1 / sum, where the sum is not above 0",                      \
                          "masked-row-becomes-zero"},                                                        \
    [ZERO_WITHOUT_MAXIMUM] = {"a row of nothing but -Inf becomes 0, not NaN", "masked-row-becomes-zero"},    \
    [NO_SUM] = {"the powers are not divided by their sum", NULL},                                            \
    [SUM_OF_ONES] = {"the sum is the number of elements", NULL},                                             \
    [SCALED_FIRST] = {"element and maximum are each multiplied by log2(e) before they are subtracted",       \
                      "scaled-before-the-difference"}
static const Deviation of_softmax[] = {OF_SOFTMAX, {0}};
static const Deviation of_softmax_16[] = {
    OF_SOFTMAX,
    [CUT_OFF] = {"results are cut off to the upper 16 bits of a float, not rounded",
                 "not-rounded-to-nearest"},
    [DIFFERENCE_ROUNDED] = {"element - maximum is rounded to bfloat16", "rounded-too-early"},
    [POWERS_ROUNDED] = {"powers are rounded to bfloat16 before they are added", "rounded-too-early"},
    {0}};

static bool has(const RowView *view, int deviation) { return view->deviations >> deviation & 1; }

// A float as a bfloat16: rounded to nearest even, or cut off.
static double to_16_bits(double value, bool is_cut_off) {
    const float single = (float)value;
    uint32_t bits;
    memcpy(&bits, &single, sizeof bits);
    if (!isfinite(value)) return value;
    if (!is_cut_off) bits += 0x7fff + (bits >> 16 & 1);
    bits &= 0xffff0000;
    float result;
    memcpy(&result, &bits, sizeof result);
    return result;
}

// The middle of what a value becomes that is at most `bound` off, and how far that is from its ends.
static double in_16_bits(double value, bool is_cut_off, double *bound) {
    const double least = to_16_bits(value - *bound, is_cut_off),
                 most = to_16_bits(value + *bound, is_cut_off);
    *bound = (most - least) / 2;
    return least + *bound;
}

// The largest element of those that a warp takes, if thread t takes columns t, t + threads and so on.
static double maximum_of_warp(const RowView *view, long long column) {
    enum { WARP = 32 };
    const int threads = view->threads > 0 ? view->threads : 1, warp = (int)(column % threads) / WARP;
    double maximum = -(double)INFINITY;
    for (long long c = 0; c < view->columns; c++)
        if ((int)(c % threads) / WARP == warp) maximum = fmax(maximum, view->in[c]);
    return maximum;
}

// The exponent of an element, and how far it may be off.
static double exponent_of(const RowView *view, long long c, double maximum, double *bound) {
    static const float log2_e = 1.44269504f;
    static const double log_2 = 0.69314718055994531;
    const double x = view->in[c];
    if (has(view, SCALED_FIRST)) { // each product may be rounded, or part of a fused operation
        const double exact = x * (double)log2_e, rounded = (double)(float)exact,
                     other = maximum * (double)log2_e, other_rounded = (double)(float)other;
        const double t = (exact + rounded - other - other_rounded) / 2;
        const double off = (fabs(exact - rounded) + fabs(other - other_rounded)) / 2;
        *bound = isfinite(t) ? (off + fabs(t) * unit) * log_2 : isfinite(x) ? (double)INFINITY : 0;
        return t * log_2;
    }
    double t = x - (has(view, MAXIMUM_OF_WARP) ? maximum_of_warp(view, c) : maximum);
    if (has(view, MAXIMUM_TWICE)) t -= maximum;
    *bound = isfinite(t) ? fabs(t) * unit : 0;
    return has(view, DIFFERENCE_ROUNDED) ? in_16_bits(t, false, bound) : t;
}

// The formula with deviations. It follows the operations of a kernel, infinities and NaN included; what a
// float cannot hold is infinite or 0.
static void softmax_otherwise(const RowView *view, double *expected, double *bound) {
    static const double largest_float = 0x1.fffffep127, smallest_float = 0x1p-150;
    double maximum = has(view, ZERO_WITHOUT_SUM) ? -largest_float : -(double)INFINITY, sum = 0, error = 0;
    bool has_nan = false, is_any = false;
    for (long long c = 0; c < view->columns; c++) {
        maximum = fmax(maximum, view->in[c]);
        has_nan |= isnan(view->in[c]);
    }
    if (has(view, ZERO_WITHOUT_MAXIMUM) && isinf(maximum) && maximum < 0 && !has_nan) return;
    if (has(view, MAXIMUM_FROM_ZERO)) maximum = fmax(maximum, 0);
    for (long long c = 0; c < view->columns; c++) {
        double off = 0;
        const double t = exponent_of(view, c, maximum, &off), exact = exp(t);
        is_any |= isinf(off);
        double power = exact > largest_float ? (double)INFINITY : exact < smallest_float ? 0 : exact;
        bound[c] = isfinite(power) && power > 0 ? power * (expm1(off) + EXP * (1 - t) * unit) : 0;
        if (power < smallest_normal) bound[c] = power; // perhaps 0
        if (has(view, POWERS_ROUNDED)) power = in_16_bits(power, false, &bound[c]);
        expected[c] = power;
        if (has(view, NAN_SKIPPED) && isnan(view->in[c])) continue;
        sum += has(view, SUM_OF_ONES) ? 1 : power;
        error += bound[c] + (isfinite(power) ? power * view->chain * (EXP + 2) * unit : 0);
    }
    if (has(view, SUM_FROM_ONE)) sum += view->threads;
    is_any |= sum > 0 && sum < smallest_normal; // its reciprocal may be infinite
    double factor = has(view, NO_SUM) ? 1 : 1 / sum;
    if (has(view, ZERO_WITHOUT_SUM) && !(sum > 0)) factor = 0;
    for (long long c = 0; c < view->columns; c++) {
        const double power = expected[c];
        expected[c] = power * factor;
        const double of_sum = isfinite(expected[c]) && sum > 0 ? expected[c] * (error / sum + 8 * unit) : 0;
        bound[c] = isfinite(expected[c]) ? bound[c] * factor + of_sum + smallest_normal : 0;
        if (has(view, CUT_OFF)) expected[c] = in_16_bits(expected[c], true, &bound[c]);
        if (is_any) bound[c] = (double)INFINITY;
    }
}

// e^(x - maximum) divided by the sum of these over the row. As in PyTorch, a row with a NaN, with +Inf or
// with -Inf alone is NaN everywhere; -Inf beside a finite element gives 0.
static void softmax(const RowView *view, double *expected, double *bound) {
    double maximum, sum = 0, error = 0;
    long long largest = 0, others = 0;
    if (view->deviations) {
        softmax_otherwise(view, expected, bound);
        return;
    }
    if (is_undefined(view, &maximum)) {
        fill_with_nan(view, expected);
        return;
    }
    for (long long c = 0; c < view->columns; c++) {
        const double t = view->in[c] - maximum, power = exp(t);
        expected[c] = power;
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
        expected[c] /= sum;
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
//
// What is often computed instead, as bits of RowView.deviations.
enum {
    NO_EPSILON,
    EPSILON_BESIDE_ROOT,
    NO_ROOT,
    ONE_LESS,
    MEAN_OF_SQUARES,
    NO_MEAN,
    NO_GAMMA,
    NO_BETA,
    NORM_CUT_OFF
};
#define OF_LAYER_NORM                                                                                        \
    [NO_EPSILON] = {"no epsilon is added to the variance", "epsilon-belongs-under-the-root"},                \
    [EPSILON_BESIDE_ROOT] = {"epsilon is added to the root of the variance, not below the root",             \
                             "epsilon-belongs-under-the-root"},                                              \
    [NO_ROOT] = {"deviations are divided by the variance, not by its root",                                  \
                 "epsilon-belongs-under-the-root"},                                                          \
    [ONE_LESS] = {"the squares are divided by one less than the columns", "variance-of-a-sample"},           \
    [MEAN_OF_SQUARES] = {"the variance is the mean of the squares minus the square of the mean",             \
                         "variance-from-squares"},                                                           \
    [NO_MEAN] = {"the mean is not subtracted from the elements", "gamma-or-beta-left-out"},                  \
    [NO_GAMMA] = {"there is no factor gamma", "gamma-or-beta-left-out"},                                     \
    [NO_BETA] = {"beta is not added", "gamma-or-beta-left-out"}
static const Deviation of_layer_norm[] = {OF_LAYER_NORM, {0}};
static const Deviation of_layer_norm_16[] = {
    OF_LAYER_NORM,
    [NORM_CUT_OFF] = {"results are cut off to the upper 16 bits of a float, not rounded",
                      "not-rounded-to-nearest"},
    {0}};

// What deviations are multiplied by.
static double scale_of(const RowView *view, double variance) {
    if (variance < 0) variance = 0;
    if (has(view, NO_EPSILON)) return 1 / sqrt(variance);
    if (has(view, EPSILON_BESIDE_ROOT)) return 1 / (sqrt(variance) + epsilon);
    if (has(view, NO_ROOT)) return 1 / (variance + epsilon);
    return 1 / sqrt(variance + epsilon);
}

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
    const double divisor = has(view, ONE_LESS) ? n - 1 : n;
    for (long long c = 0; c < view->columns; c++) squares += (view->in[c] - mean) * (view->in[c] - mean);
    const double variance = squares / divisor;
    // How far the mean may be off; and the variance, of which that changes each product of two deviations.
    const double off = steps * unit * magnitude / n;
    double spread = off * off + 4 * off * sqrt(variance) + 2 * steps * unit * (variance + off * off);
    if (has(view, MEAN_OF_SQUARES))
        spread += 2 * steps * unit * (variance + mean * mean) + 2 * fabs(mean) * off;
    // A root of less than 0, perhaps, or squares that a float cannot hold.
    const bool is_any =
        (has(view, MEAN_OF_SQUARES) && spread > variance / 2) ||
        (has(view, NO_EPSILON) && variance > 0 && variance < 0x1p-100); // perhaps the root of less than 0
    const double scale = scale_of(view, variance);
    const double most = scale_of(view, variance - spread) * (1 + EXP * unit);
    for (long long c = 0; c < view->columns; c++) {
        const double deviation = view->in[c] - (has(view, NO_MEAN) ? 0 : mean);
        const double factor = has(view, NO_GAMMA) ? 1 : gamma[c], offset = has(view, NO_BETA) ? 0 : beta[c];
        expected[c] = deviation * scale * factor + offset;
        bound[c] = fabs(factor) * (fabs(deviation) * (most - scale + 4 * unit * scale) + off * most) +
                   3 * unit * (fabs(deviation * scale * factor) + fabs(offset)) + smallest_normal;
        if (largest > largest_square || is_any || isnan(bound[c])) bound[c] = (double)INFINITY;
        if (largest == 0) bound[c] = 0;
        if (has(view, NORM_CUT_OFF)) expected[c] = in_16_bits(expected[c], true, &bound[c]);
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

#define SOFTMAX(task_name, kernel_name, element, often, ...)                                                 \
    {                                                                                                        \
        .name = task_name,                                                                                   \
        .buffers = {{.name = "in", .role = INPUT, .type = element, .family = FAMILY_LOGITS},                 \
                    {.name = "out", .role = OUTPUT, .type = element, .deviations = often}},                  \
        ROWS(kernel_name, softmax, BUFFER("in"), BUFFER("out")), __VA_ARGS__                                 \
    }

#define LAYER_NORM(task_name, kernel_name, element, often, ...)                                              \
    {                                                                                                        \
        .name = task_name,                                                                                   \
        .buffers = {{.name = "in", .role = INPUT, .type = element, .family = FAMILY_LOGITS},                 \
                    {.name = "gamma", .role = INPUT, .count = COUNT_COLUMNS, .make = make_weights},          \
                    {.name = "beta", .role = INPUT, .count = COUNT_COLUMNS, .make = make_offsets},           \
                    {.name = "out", .role = OUTPUT, .type = element, .deviations = often}},                  \
        ROWS(kernel_name, layer_norm, BUFFER("in"), BUFFER("gamma"), BUFFER("beta"), BUFFER("out")),         \
        __VA_ARGS__                                                                                          \
    }

#define EVERY_SIZE                                                                                           \
    .sizes = matrices, .size_count = sizeof matrices / sizeof matrices[0], .max_n = 1 << 18, .schedules = 2, \
    .counted = {.rows = 24, .columns = 2048}, .timed = {.rows = 65536, .columns = 2048}

// The same kernel where one warp has several rows: how fast it is there.
static const CaseSize short_rows[] = {{.rows = 33, .columns = 128}, {.rows = 150, .columns = 200}};
#define SHORT_ROWS                                                                                           \
    .sizes = short_rows, .size_count = sizeof short_rows / sizeof short_rows[0], .schedules = 1,             \
    .counted = {.rows = 384, .columns = 128}, .timed = {.rows = 1 << 20, .columns = 128}, .large = NOT_LARGE

// More elements than an unsigned number counts, or an int: where a block goes from row to row, its share is
// large.
#define MANY_ROWS .large = {.rows = 600011, .columns = 8191, .n = 600011LL * 8191}
#define FEWER_ROWS .large = {.rows = 300007, .columns = 8191, .n = 300007LL * 8191}

#define REMARK_OF_NORM                                                                                       \
    "The mean is the sum divided by the number of columns. The variance adds (x - mean)^2 of every element " \
    "of the row, also of one that is 0, and of nothing that only fills a register."

const Chapter chapter = {
    .number = 18,
    .name = "ch18",
    .title = "Softmax and layer norm",
    .points = 10,
    .tasks = {SOFTMAX("three passes", "softmax_three_passes", F32, of_softmax, EVERY_SIZE, MANY_ROWS),
              SOFTMAX("online", "softmax_online", F32, of_softmax, EVERY_SIZE, MANY_ROWS),
              SOFTMAX("registers", "softmax_registers", F32, of_softmax, EVERY_SIZE, MANY_ROWS),
              SOFTMAX("bfloat16", "softmax_bfloat16", BF16, of_softmax_16, EVERY_SIZE, MANY_ROWS),
              SOFTMAX("bfloat16, short rows", "softmax_bfloat16", BF16, of_softmax_16, SHORT_ROWS),
              LAYER_NORM("layer norm", "layer_norm", F32, of_layer_norm, EVERY_SIZE, FEWER_ROWS),
              LAYER_NORM("layer norm, bfloat16", "layer_norm_bfloat16", BF16, of_layer_norm_16, EVERY_SIZE,
                         FEWER_ROWS)},
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
                .why = "Reading once and writing once are 8 bytes, if no sector is requested again.",
            },
            {
                .words = "input bytes per request",
                .measure = "4 * n / input_ld_requests",
                .bound = AT_LEAST,
                .limit = 500,
                .points = 1,
                .task = "registers",
                .why = "32 lanes can load 16 bytes each with one request, and each byte once.",
            },
            {
                .words = "bytes moved per element",
                .measure = "32 * (global_ld_sectors + global_st_sectors) / n",
                .bound = AT_MOST,
                .limit = 4.1,
                .points = 1,
                .task = "bfloat16",
                .why = "Reading once and writing once are 4 bytes, if no sector is requested again.",
            },
            {
                .words = "bytes moved per element",
                .measure = "32 * (global_ld_sectors + global_st_sectors) / n",
                .bound = AT_MOST,
                .limit = 16.2, // of which 8 are gamma and beta, loaded for each row
                .points = 1,
                .task = "layer norm",
                .why = "A row, gamma and beta read once and a row written are 16 bytes, if no sector is "
                       "requested again.",
            },
            BANDWIDTH_GOAL(.points = 1, .task = "registers", .why = "Memory can deliver more in this time."),
            BANDWIDTH_GOAL(.points = 1, .task = "bfloat16, short rows",
                           .why = "Memory can deliver more in this time."),
            BANDWIDTH_GOAL(.points = 1, .task = "layer norm, bfloat16",
                           .why = "Memory can deliver more in this time. gamma and beta are twice as many "
                                  "bytes as a row of bfloat16, read and written."),
        },
    .remarks =
        {
            REMARK_RACE,
            REMARK_SYNC,
            {.verdict = "OOB",
             .say = "Row r begins at element r * columns and has `columns` elements, and the last row is "
                    "rows - 1.",
             .objects = "in|out"},
            {.verdict = "MISALIGNED",
             .say = "Rows follow each other without gaps: they begin at multiples of 16 bytes only if their "
                    "length "
                    "allows it.",
             .objects = "in|out"},
            {.verdict = "WRONG", .task = "layer norm", .say = REMARK_OF_NORM},
            {.verdict = "WRONG", .task = "layer norm, bfloat16", .say = REMARK_OF_NORM},
            {.verdict = "WRONG",
             .task = "online",
             .say = "Two sums can be added only if the same maximum was subtracted in both."},
            {.verdict = "WRONG",
             .say =
                 "Maximum and sum must be those of the whole row, in every thread, and the maximum must be "
                 "complete before the first power is computed."},
        },
};
