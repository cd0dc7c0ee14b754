// Chapter 19: a product of two matrices of floats, from one element a thread to tiles in registers.
#include "driver/plan/chapter.h"

// Rows, columns and depths around the sides of tiles, with whole groups of four and without, and nothing at
// all.
static const CaseSize products[] = {
    {.rows = 0, .columns = 5, .depth = 3},      {.rows = 4, .columns = 0, .depth = 8},
    {.rows = 3, .columns = 5, .depth = 0},      {.rows = 64, .columns = 36, .depth = 0},
    {.rows = 1, .columns = 1, .depth = 1},      {.rows = 1, .columns = 1, .depth = 9},
    {.rows = 2, .columns = 3, .depth = 1},      {.rows = 1, .columns = 37, .depth = 5},
    {.rows = 41, .columns = 1, .depth = 6},     {.rows = 4, .columns = 4, .depth = 4},
    {.rows = 5, .columns = 8, .depth = 12},     {.rows = 7, .columns = 12, .depth = 3},
    {.rows = 16, .columns = 16, .depth = 16},   {.rows = 17, .columns = 15, .depth = 33},
    {.rows = 3, .columns = 2, .depth = 131},    {.rows = 33, .columns = 31, .depth = 32},
    {.rows = 32, .columns = 32, .depth = 40},   {.rows = 9, .columns = 100, .depth = 20},
    {.rows = 65, .columns = 63, .depth = 17},   {.rows = 1, .columns = 516, .depth = 12},
    {.rows = 300, .columns = 1, .depth = 7},    {.rows = 64, .columns = 68, .depth = 36},
    {.rows = 129, .columns = 20, .depth = 24},  {.rows = 128, .columns = 128, .depth = 8},
    {.rows = 130, .columns = 132, .depth = 20}, {.rows = 131, .columns = 140, .depth = 13},
};

#define PRODUCT(task_name, kernel_name, ...)                                                                 \
    {                                                                                                        \
        .name = task_name,                                                                                   \
        .buffers = {{.name = "a", .role = INPUT, .count = COUNT_ROWS_BY_DEPTH},                              \
                    {.name = "b", .role = INPUT, .count = COUNT_DEPTH_BY_COLUMNS},                           \
                    {.name = "c", .role = OUTPUT}},                                                          \
        .launches = {{.kernel = kernel_name,                                                                 \
                      .arguments = {BUFFER("a"), BUFFER("b"), BUFFER("c"), INT(COUNT_ROWS),                  \
                                    INT(COUNT_COLUMNS), INT(COUNT_DEPTH)}}},                                 \
        .expect = EXPECT_PRODUCT, .chain = CHAIN_PRODUCT, .sizes = products,                                 \
        .size_count = sizeof products / sizeof products[0], .max_n = 1 << 18, .schedules = 1,                \
        .counted = {.rows = 128, .columns = 256, .depth = 32},                                               \
        .timed = {.rows = 4096, .columns = 4096, .depth = 4096}, __VA_ARGS__                                 \
    }

// More elements than an int counts in one of the matrices: in a, in b or in c.
#define LARGE(height, width, inner)                                                                          \
    .large = {.rows = (height), .columns = (width), .depth = (inner), .n = (long long)(height) * (width)}

const Chapter chapter = {
    .number = 19,
    .name = "ch19",
    .title = "Matrix multiply",
    .points = 10,
    .tasks = {PRODUCT("naive", "matmul_naive", LARGE(500009, 3, 4409)),
              PRODUCT("tile", "matmul_tile", LARGE(3, 1000003, 2203)),
              PRODUCT("registers", "matmul_registers", LARGE(70001, 65999, 5)),
              PRODUCT("vectors", "matmul_vectors", LARGE(70001, 65996, 8))},
    .goals =
        {
            {
                .words = "sectors per global load request",
                .measure = "global_ld_sectors / global_ld_requests",
                .bound = AT_MOST,
                .limit = 2.5,
                .slack_moved = 0.2,
                .points = 1,
                .task = "naive",
                .why =
                    "In each product one matrix can be read along a row by the lanes of a warp, and of the "
                    "other all lanes can need the same element.",
            },
            {
                .words = "bytes loaded from global memory per product",
                .measure = "32 * global_ld_sectors / (n * depth)",
                .needs = {{"shared loads per product", "32 * shared_ld / (n * depth)", 0.05}},
                .bound = AT_MOST,
                .limit = 0.26,
                .slack_moved = 0.1, // partial tiles
                .points = 1,
                .task = "tile",
                .why = "An element in a tile of 32 x 32 serves 32 products for one load.",
            },
            {
                .words = "shared loads per product",
                .measure = "32 * shared_ld / (n * depth)",
                .needs = {{"shared stores per product", "32 * shared_st / (n * depth)", 0.01}},
                .bound = AT_MOST,
                .limit = 0.5,
                .slack_moved = 0.3, // partial tiles
                .points = 1,
                .task = "registers",
                .why = "A value in a register can serve several products of the same thread.",
            },
            {
                .words = "bytes per global load request",
                .measure = "global_ld_bytes / global_ld_requests",
                .bound = AT_LEAST,
                .limit = 500,
                .slack_moved = 60, // partial tiles
                .points = 1,
                .task = "vectors",
                .why = "A warp that loads 16 bytes with each lane moves 512 with one instruction.",
            },
            {
                .words = "shared loads per product",
                .measure = "32 * shared_ld / (n * depth)",
                .needs = {{"shared stores per product", "32 * shared_st / (n * depth)", 0.001}},
                .bound = AT_MOST,
                .limit = 0.0645,
                .slack_moved = 0.04, // partial tiles
                .points = 1,
                .task = "vectors",
                .why = "64 products of a thread need 16 values: four loads of 16 bytes.",
            },
            {
                .words = "bank conflicts",
                .measure = "shared_ld_conflicts + shared_st_conflicts",
                .needs = {{"shared stores per block", "shared_st / blocks", 1}},
                .bound = EXACTLY,
                .limit = 0,
                .points = 1,
                .task = "vectors",
                .why = "Each conflict costs the shared memory a cycle more, in which the other warps wait "
                       "for theirs.",
            },
            {
                .words = "% of the reference's speed",
                .measure = "100 * bandwidth_ratio",
                .bound = AT_LEAST,
                .limit = 95,
                .points = 1,
                .task = "vectors",
                .why = "The float units can do more in this time.",
            },
        },
    .remarks =
        {
            REMARK_RACE,
            REMARK_SYNC,
            {.verdict = "OOB",
             .say = "Test row and step for a, step and column for b, row and column for c. n is the length "
                    "of the "
                    "rows of b and c, and k that of the rows of a.",
             .objects = "a|b|c"},
            {.verdict = "MISALIGNED",
             .say = "A row of a begins k floats after the one before, and a row of b or c n floats after.",
             .objects = "a|b|c"},
            {.verdict = "UNINIT",
             .say = "Every element of a tile that is read needs a value: 0 where the matrix has none.",
             .objects = "shared"},
            {.verdict = "WRONG",
             .say = "Element (row, column) of c is the sum of k products: of a(row, step) and b(step, "
                    "column), for "
                    "each step once."},
        },
};
