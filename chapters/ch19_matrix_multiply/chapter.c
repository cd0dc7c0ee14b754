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
    {.rows = 3, .columns = 2, .depth = 515},    {.rows = 33, .columns = 31, .depth = 32},
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
        .counted = {.rows = 128, .columns = 128, .depth = 64},                                               \
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
};
