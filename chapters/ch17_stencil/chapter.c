// Chapter 17: a stencil of five points and filters of 3 x 3 and 7 x 7, on images with edges.
#include "driver/plan/chapter.h"
#include "driver/plan/inputs.h"

// Images smaller than a filter, a single row or column, sides around those of tiles, and empty ones.
static const CaseSize images[] = {
    {.rows = 0, .columns = 5},    {.rows = 7, .columns = 0},     {.rows = 1, .columns = 1},
    {.rows = 1, .columns = 2},    {.rows = 1, .columns = 5},     {.rows = 6, .columns = 1},
    {.rows = 2, .columns = 3},    {.rows = 3, .columns = 3},     {.rows = 4, .columns = 6},
    {.rows = 7, .columns = 7},    {.rows = 8, .columns = 33},    {.rows = 17, .columns = 19},
    {.rows = 33, .columns = 31},  {.rows = 16, .columns = 64},   {.rows = 1, .columns = 261},
    {.rows = 262, .columns = 1},  {.rows = 5, .columns = 140},   {.rows = 70, .columns = 9},
    {.rows = 32, .columns = 128}, {.rows = 3, .columns = 650},   {.rows = 65, .columns = 129},
    {.rows = 60, .columns = 257}, {.rows = 131, .columns = 100},
};

static const float five_points[] = {0, 0.125f, 0, 0.125f, 0.5f, 0.125f, 0, 0.125f, 0};

// Multiples of 1/16 from -1 to 1, none of them 0: of whole numbers no sum of products rounds.
static void make_weights(const TableView *view, void *array) {
    enum { STREAM = 17, STEPS = 16 };
    float *weights = array;
    for (long long k = 0; k < view->count; k++) {
        const uint64_t bits = random_bits(view->seed, STREAM, (uint64_t)k);
        const float magnitude = (float)(1 + bits % STEPS) / STEPS;
        weights[k] = bits >> 63 ? -magnitude : magnitude;
    }
}

#define IMAGES                                                                                               \
    .expect = EXPECT_FILTER, .input = "in", .chain = CHAIN_FILTER, .sizes = images,                          \
    .size_count = sizeof images / sizeof images[0], .max_n = 1 << 20, .schedules = 2,                        \
    .counted = {.rows = 128, .columns = 1024}, .timed = {.rows = 8192, .columns = 8192}

#define ARGUMENTS                                                                                            \
    { BUFFER("in"), BUFFER("out"), INT(COUNT_ROWS), INT(COUNT_COLUMNS) }

#define STENCIL(task_name, kernel_name)                                                                      \
    {                                                                                                        \
        .name = task_name, .buffers = {{.name = "in", .role = INPUT}, {.name = "out", .role = OUTPUT}},      \
        .launches = {{.kernel = kernel_name, .arguments = ARGUMENTS}},                                       \
        .filter = {.radius = 1, .fixed = five_points}, IMAGES,                                               \
    }

#define FILTER(task_name, kernel_name, weights, side)                                                        \
    {                                                                                                        \
        .name = task_name,                                                                                   \
        .buffers = {{.name = "in", .role = INPUT},                                                           \
                    {.name = "out", .role = OUTPUT},                                                         \
                    {.name = weights,                                                                        \
                     .role = INPUT,                                                                          \
                     .is_constant = true,                                                                    \
                     .make = make_weights,                                                                   \
                     .count = COUNT_FIXED((side) * (side))}},                                                \
        .launches = {{.kernel = kernel_name, .arguments = ARGUMENTS}},                                       \
        .filter = {.radius = (side) / 2, .coefficients = weights}, IMAGES,                                   \
    }

const Chapter chapter = {
    .number = 17,
    .name = "ch17",
    .title = "Stencil and convolution",
    .points = 10,
    .tasks = {STENCIL("simple", "stencil_simple"), STENCIL("tile", "stencil_tile"),
              FILTER("constant", "filter_constant", "weights_7", 7),
              FILTER("column, 3 x 3", "filter_column_3", "weights_3", 3),
              FILTER("column, 7 x 7", "filter_column_7", "weights_7", 7)},
    .goals =
        {
            {
                .words = "sectors loaded per 8 outputs",
                .measure = "8 * global_ld_sectors / n",
                .bound = AT_MOST,
                .limit = 6,
                .points = 1,
                .task = "simple",
                .why = "A sector is 32 bytes: 8 elements of a row that are neighbours.",
            },
            {
                .words = "sectors loaded per 8 outputs",
                .measure = "8 * global_ld_sectors / n",
                .bound = AT_MOST,
                .limit = 2,
                .slack_moved = 0.1, // partial tiles
                .points = 1,
                .task = "tile",
                .why = "8 outputs of a row need one sector, and a tile its halo once.",
            },
            {
                .words = "sectors loaded per 8 outputs",
                .measure = "8 * global_ld_sectors / n",
                .bound = AT_MOST,
                .limit = 2.4,
                .slack_moved = 0.2,
                .points = 1,
                .task = "constant",
                .why = "8 outputs of a row need one sector, and a tile its halo once.",
            },
            {
                .words = "loads per output",
                .measure = "32 * (shared_ld + global_ld_requests) / n",
                .bound = AT_MOST,
                .limit = 53,
                .slack_moved = 10, // partial tiles
                .needs = {{"loads from constant memory per output", "32 * const_ld / n", 0.02}},
                .points = 1,
                .task = "constant",
                .why = "A coefficient in constant memory costs no load from another memory.",
            },
            {
                .words = "bytes moved per output",
                .measure = "32 * (global_ld_sectors + global_st_sectors) / n",
                .bound = AT_MOST,
                .limit = 11,
                .slack_moved = 0.5,
                .points = 1,
                .task = "column, 3 x 3",
                .why = "Reading once and writing once are 8 bytes, and the halo comes on top.",
            },
            {
                .words = "loads per output",
                .measure = "32 * (global_ld_requests + shared_ld) / n",
                .bound = AT_MOST,
                .limit = 12,
                .slack_moved = 6,
                .points = 1,
                .task = "column, 7 x 7",
                .why = "An element that is loaded once can serve seven outputs of a column.",
            },
            BANDWIDTH_GOAL(.points = 1, .task = "column, 3 x 3",
                           .why = "Memory can deliver more in this time."),
            BANDWIDTH_GOAL(.points = 1, .task = "column, 7 x 7",
                           .why = "The same sums can be computed in less time."),
        },
    .remarks =
        {
            REMARK_RACE,
            REMARK_SYNC,
            {.verdict = "OOB",
             .say = "An element of the image exists if its row is at least 0 and below `rows`, and its "
                    "column at "
                    "least 0 and below `columns`.",
             .objects = "in|out"},
            {.verdict = "UNINIT",
             .say = "Every element of the tile that is read needs a value: 0 where the image has none.",
             .objects = "shared"},
            {.verdict = "WRONG",
             .say =
                 "Each output is a sum over the window around its own place; what is outside the image adds "
                 "nothing."},
        },
};
