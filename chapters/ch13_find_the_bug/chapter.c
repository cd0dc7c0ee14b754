// Chapter 13: eight kernels, each with one mistake to be named and fixed.
#include <math.h>
#include <stdio.h>

#include "driver/plan/chapter.h"

// ---- What is right ----------------------------------------------------------------------------------------

static void rows_with_addend(const ReferenceView *view, double *expected, double *magnitude,
                             long long count) {
    const float *in = view->inputs[0], *addend = view->inputs[1];
    const long long columns = view->shape.size.columns;
    for (long long i = 0; i < count; i++) {
        expected[i] = (double)in[i] + (double)addend[i / columns];
        magnitude[i] = fabs((double)in[i]) + fabs((double)addend[i / columns]);
    }
}

static long long three_each(const CaseShape *shape) { return 3 * shape->size.n; }

static void squared_lengths(const ReferenceView *view, double *expected, double *magnitude, long long count) {
    const float *points = view->inputs[0];
    for (long long i = 0; i < count; i++) {
        double sum = 0;
        for (int k = 0; k < 3; k++) sum += (double)points[3 * i + k] * (double)points[3 * i + k];
        expected[i] = magnitude[i] = sum;
    }
}

// A product and at most two additions for each of the three.
static double length_chain(const CaseShape *shape) {
    (void)shape;
    return 3;
}

static double one_addition(const CaseShape *shape) {
    (void)shape;
    return 1;
}

// Nothing is calculated, only moved: a magnitude of 0 leaves no room for rounding.
static void reversed_tiles(const ReferenceView *view, double *expected, double *magnitude, long long count) {
    const float *in = view->inputs[0];
    for (long long start = 0; start < count; start += 256) {
        const long long length = count - start < 256 ? count - start : 256;
        for (long long i = 0; i < length; i++) {
            expected[start + i] = in[start + length - 1 - i];
            magnitude[start + i] = 0;
        }
    }
}

// ---- What it is called ------------------------------------------------------------------------------------

static const char *const kernels[] = {"add_to_rows",   "squared_lengths", "sum_butterfly", "sum_slots",
                                      "reverse_tiles", "sum_tree",        "sum_unrolled",  "transpose_tiles"};
enum { KERNELS = sizeof kernels / sizeof kernels[0] };
// As enum Mistake of kernel.cu numbers them. A handout does not have the file: there, any name will do.
static const int mistakes[KERNELS] = {
#if __has_include("answers.h")
#include "answers.h"
#else
    0
#endif
};

static void describe_name(const TableView *view, long long index, char *text, size_t bytes) {
    (void)view;
    snprintf(text, bytes, "the mistake named in %s", kernels[index]);
}

// ---- Cases ------------------------------------------------------------------------------------------------

// Around warps, blocks and grids; small, since a kernel that is wrong at one of these is wrong.
static const CaseSize sizes[] = {{.n = 0},    {.n = 1},    {.n = 31},   {.n = 32},   {.n = 33},
                                 {.n = 64},   {.n = 65},   {.n = 127},  {.n = 128},  {.n = 129},
                                 {.n = 256},  {.n = 257},  {.n = 511},  {.n = 512},  {.n = 1000},
                                 {.n = 1025}, {.n = 4096}, {.n = 4099}, {.n = 9001}, {.n = 65537}};
enum { SIZES = sizeof sizes / sizeof sizes[0] };

static const CaseSize row_sizes[] = {{.rows = 1, .columns = 1},
                                     {.rows = 3, .columns = 31},
                                     {.rows = 40, .columns = 33},
                                     {.rows = 66000, .columns = 2}};
enum { ROW_SIZES = sizeof row_sizes / sizeof row_sizes[0] };

static const CaseSize tile_sizes[] = {{.rows = 1, .columns = 1},   {.rows = 5, .columns = 40},
                                      {.rows = 31, .columns = 33}, {.rows = 32, .columns = 32},
                                      {.rows = 64, .columns = 96}, {.rows = 100, .columns = 70}};
enum { TILE_SIZES = sizeof tile_sizes / sizeof tile_sizes[0] };

#define SUM_TASK(task_name, of_partials, ...)                                                                \
    {                                                                                                        \
        .name = (task_name),                                                                                 \
        .buffers = {{.name = "in", .role = INPUT},                                                           \
                    {.name = "partial", .role = OUTPUT, .count = of_partials}},                              \
        .launches = {{.kernel = (task_name),                                                                 \
                      .arguments = {BUFFER("in"), BUFFER("partial"), INT(COUNT_N)},                          \
                      __VA_ARGS__}},                                                                         \
        .expect = EXPECT_SUM, .sizes = sizes, .size_count = SIZES, .counted = {.n = 4096},                   \
        .timed = NOT_TIMED                                                                                   \
    }

const Chapter chapter =
    {
        .number = 13,
        .name = "ch13",
        .title = "Find the bug",
        .points = 10,
        .tasks =
            {
                {
                    .name = "add_to_rows",
                    .buffers = {{.name = "in", .role = INPUT},
                                {.name = "addend", .role = INPUT, .count = COUNT_ROWS},
                                {.name = "out", .role = OUTPUT}},
                    .launches = {{
                        .kernel = "add_to_rows",
                        .arguments = {BUFFER("in"), BUFFER("addend"), BUFFER("out"), INT(COUNT_ROWS),
                                      INT(COUNT_COLUMNS)},
                    }},
                    .expect = EXPECT_REFERENCE,
                    .reference = rows_with_addend,
                    .chain = CHAIN_FUNCTION,
                    .chain_function = one_addition,
                    .sizes = row_sizes,
                    .size_count = ROW_SIZES,
                    .counted = {.rows = 40, .columns = 33},
                    .large = {.n = 1000003LL * 65999, .rows = 1000003, .columns = 65999},
                    .timed = NOT_TIMED,
                },
                {
                    .name = "squared_lengths",
                    .buffers = {{.name = "points", .role = INPUT, .count = COUNT_BY(three_each)},
                                {.name = "out", .role = OUTPUT}},
                    .launches = {{
                        .kernel = "squared_lengths",
                        .arguments = {BUFFER("points"), BUFFER("out"), INT(COUNT_N)},
                    }},
                    .expect = EXPECT_REFERENCE,
                    .reference = squared_lengths,
                    .chain = CHAIN_FUNCTION,
                    .chain_function = length_chain,
                    .flushes_subnormals = true, // their squares are 0
                    .sizes = sizes,
                    .size_count = SIZES,
                    .counted = {.n = 4096},
                    .timed = NOT_TIMED,
                },
                SUM_TASK("sum_butterfly", PER_WARP, .block_multiple_of = 32),
                SUM_TASK("sum_slots", PER_BLOCK, .max_block_threads = 128),
                {
                    .name = "reverse_tiles",
                    .buffers = {{.name = "in", .role = INPUT}, {.name = "out", .role = OUTPUT}},
                    .launches = {{
                        .kernel = "reverse_tiles",
                        .arguments = {BUFFER("in"), BUFFER("out"), INT(COUNT_N)},
                    }},
                    .expect = EXPECT_REFERENCE,
                    .reference = reversed_tiles,
                    .sizes = sizes,
                    .size_count = SIZES,
                    .counted = {.n = 4096},
                    .timed = NOT_TIMED,
                },
                SUM_TASK("sum_tree", PER_BLOCK, .max_block_threads = 256),
                SUM_TASK("sum_unrolled", PER_THREAD),
                {
                    .name = "transpose_tiles",
                    .buffers = {{.name = "in", .role = INPUT}, {.name = "out", .role = OUTPUT}},
                    .launches = {{
                        .kernel = "transpose_tiles",
                        .arguments = {BUFFER("in"), BUFFER("out"), INT(COUNT_ROWS), INT(COUNT_COLUMNS)},
                    }},
                    .expect = EXPECT_TRANSPOSE,
                    .sizes = tile_sizes,
                    .size_count = TILE_SIZES,
                    .counted = {.rows = 64, .columns = 96},
                    .timed = NOT_TIMED,
                },
                {
                    .name = "names",
                    .buffers = {{.name = "named",
                                 .role = OUTPUT,
                                 .type = I32,
                                 .count = COUNT_FIXED(KERNELS),
                                 .data = mistakes,
                                 .describe = describe_name,
                                 .hides_answer = true}},
                    .launches = {{.kernel = "names", .arguments = {BUFFER("named")}}},
                    .expect = EXPECT_TABLE,
                    .counted = {.n = KERNELS},
                },
            },
        .goals =
            {
                {
                    .words = "bank conflicts",
                    .measure = "shared_ld_conflicts + shared_st_conflicts",
                    .bound = EXACTLY,
                    .limit = 0,
                    .points = 1,
                    .task = "transpose_tiles",
                    .why = "Lanes that access different words of one bank are served one after the other.",
                },
            },
        .remarks =
            {
                {.verdict = "LAUNCH",
                 .task = "add_to_rows",
                 .say = "It is the launch that fails, not the kernel: for which numbers of rows?"},
                {.verdict = "OOB",
                 .task = "squared_lengths",
                 .say = "Where does point i begin, where does the kernel read it, and how many bytes does it "
                        "read?",
                 .objects = "points"},
                {.verdict = "SYNC",
                 .task = "sum_butterfly",
                 .say = "Which lanes does the mask name, and which lanes are read?",
                 .findings = SHUFFLE_FINDINGS},
                {.verdict = "SYNC",
                 .task = "sum_slots",
                 .say = "How often does each thread reach each of the barriers?",
                 .findings = 1u << FINDING_DIVERGENT_BARRIER},
                {.verdict = "RACE",
                 .task = "reverse_tiles",
                 .say = "Which threads must be done before that line runs, and what makes a thread wait for "
                        "them?"},
                {.verdict = "WRONG",
                 .task = "names",
                 .say = "The kernel may be fixed already; what was wrong with it?"},
            },
};
