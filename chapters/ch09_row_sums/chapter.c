// Chapter 9: the sum of every row, by a block and by a warp.
#include "driver/plan/chapter.h"

// Rows of every remainder modulo 4 and 32, shorter and longer than a warp and a block, and none at all.
static const CaseSize matrices[] = {
    {.rows = 0, .columns = 2048},    {.rows = 5, .columns = 0},      {.rows = 1, .columns = 1},
    {.rows = 1, .columns = 2},       {.rows = 3, .columns = 1},      {.rows = 2, .columns = 4},
    {.rows = 5, .columns = 5},       {.rows = 64, .columns = 64},    {.rows = 129, .columns = 129},
    {.rows = 1, .columns = 31},      {.rows = 33, .columns = 1},     {.rows = 7, .columns = 32},
    {.rows = 9, .columns = 33},      {.rows = 8, .columns = 63},     {.rows = 5, .columns = 130},
    {.rows = 3, .columns = 255},     {.rows = 2, .columns = 257},    {.rows = 257, .columns = 4},
    {.rows = 1, .columns = 1025},    {.rows = 260, .columns = 7},    {.rows = 5, .columns = 1023},
    {.rows = 3, .columns = 4099},    {.rows = 1000, .columns = 13},  {.rows = 1, .columns = 65537},
    {.rows = 40000, .columns = 3},   {.rows = 100, .columns = 2048}, {.rows = 512, .columns = 2048},
    {.rows = 70001, .columns = 300},
};

#define ROW_TASK                                                                                             \
    .expect = EXPECT_ROW_SUMS, .chain = CHAIN_ROW, .sizes = matrices,                                        \
    .size_count = sizeof matrices / sizeof matrices[0], .max_n = 1 << 20,                                    \
    .large = {.n = 1000003LL * 65999, .rows = 1000003, .columns = 65999},                                    \
    .counted = {.rows = 512, .columns = 2048}, .timed = {.rows = 65536, .columns = 2048}

const Chapter chapter = {
    .number = 9,
    .name = "ch09",
    .title = "Row sums",
    .points = 10,
    .tasks =
        {
            {
                .name = "a block a row",
                .buffers = {{.name = "in", .role = INPUT, .misaligned = true},
                            {.name = "out", .role = OUTPUT, .count = COUNT_ROWS}},
                .launches = {{
                    .kernel = "row_sums_block",
                    .arguments = {BUFFER("in"), BUFFER("out"), INT(COUNT_ROWS), INT(COUNT_COLUMNS)},
                }},
                ROW_TASK,
            },
            {
                .name = "a warp a row",
                .buffers = {{.name = "in", .role = INPUT, .misaligned = true},
                            {.name = "out", .role = OUTPUT, .count = COUNT_ROWS}},
                .launches = {{
                    .kernel = "row_sums_warp",
                    .arguments = {BUFFER("in"), BUFFER("out"), INT(COUNT_ROWS), INT(COUNT_COLUMNS)},
                }},
                ROW_TASK,
            },
            {
                .name = "doubles",
                .buffers = {{.name = "in", .role = INPUT, .type = F64, .misaligned = true},
                            {.name = "out", .role = OUTPUT, .type = F64, .count = COUNT_ROWS}},
                .launches = {{
                    .kernel = "row_sums_double",
                    .arguments = {BUFFER("in"), BUFFER("out"), INT(COUNT_ROWS), INT(COUNT_COLUMNS)},
                }},
                ROW_TASK,
            },
        },
    .goals =
        {
            {
                .words = "loads per 2,048 floats, by a block",
                .measure = "2048 * global_ld_requests / n",
                .bound = AT_MOST,
                .limit = 16,
                .points = 1,
                .task = "a block a row",
                .why = "A row of 2,048 floats is 16 requests of 512 bytes.",
            },
            {
                .words = "barriers per warp",
                .measure = "barriers / warps",
                .bound = AT_MOST,
                .limit = 1,
                .needs = {{"warps per row", "warps / rows", 2}},
                .points = 1,
                .task = "a block a row",
                .why = "At a barrier all warps of the block wait for the slowest; one is enough here.",
            },
            {
                .words = "loads per 2,048 floats, by a warp",
                .measure = "2048 * global_ld_requests / n",
                .bound = AT_MOST,
                .limit = 16,
                .points = 1,
                .task = "a warp a row",
                .why = "A row of 2,048 floats is 16 requests of 512 bytes.",
            },
            {
                .words = "sectors per load request",
                .measure = "global_ld_sectors / global_ld_requests",
                .bound = EXACTLY,
                .limit = 16,
                .slack = 0.1,
                .points = 1,
                .task = "a warp a row",
                .why = "512 contiguous bytes are 16 sectors if they begin with one, else 17.",
            },
            {
                .words = "shared accesses and barriers, by a warp",
                .measure = "shared_ld + shared_st + shared_atom + barriers",
                .bound = EXACTLY,
                .limit = 0,
                .points = 1,
                .task = "a warp a row",
                .why = "The lanes of one warp read each other's registers and do not wait for other warps.",
            },
            {
                .words = "loads per 2,048 doubles",
                .measure = "2048 * global_ld_requests / n",
                .bound = AT_MOST,
                .limit = 32,
                .points = 1,
                .task = "doubles",
                .why = "A row of 2,048 doubles is 32 requests of 512 bytes.",
            },
            BANDWIDTH_GOAL(.points = 1, .task = "a warp a row",
                           .why = "Memory can deliver more in this time."),
        },
    .remarks =
        {
            {.verdict = "OOB",
             .say = "Row r is the elements of `in` from r * columns up to (r + 1) * columns - 1, and the "
                    "last row "
                    "is rows - 1.",
             .objects = "in"},
            {.verdict = "OOB", .say = "`out` has one element for each row.", .objects = "out"},
            {.verdict = "MISALIGNED",
             .say = "Rows follow each other without gaps: if `columns` is not a multiple of 4, they begin at "
                    "different distances from a multiple of 16 bytes.",
             .objects = "in"},
            REMARK_RACE,
            REMARK_SYNC,
            {.verdict = "SYNC",
             .say = "All lanes that the mask of a shuffle names must execute it: one without an element "
                    "contributes "
                    "0.",
             .findings = SHUFFLE_FINDINGS},
            {.verdict = "WRONG",
             .say = "The sum of a row has each of its elements once, whichever thread read it, and no other; "
                    "out[r] "
                    "is that of row r."},
        },
};
