// Chapter 11: transposing a matrix, one access at a time.
#include "driver/plan/chapter.h"

// Sides that are not multiples of the tile size, sides that are, partial tiles only, and empty matrices.
static const CaseSize matrices[] = {
    {.rows = 0, .columns = 5},     {.rows = 7, .columns = 0},       {.rows = 1, .columns = 1},
    {.rows = 1, .columns = 5},     {.rows = 6, .columns = 1},       {.rows = 2, .columns = 3},
    {.rows = 8, .columns = 33},    {.rows = 31, .columns = 33},     {.rows = 32, .columns = 32},
    {.rows = 33, .columns = 31},   {.rows = 33, .columns = 33},     {.rows = 100, .columns = 100},
    {.rows = 40, .columns = 25},   {.rows = 1, .columns = 1025},    {.rows = 1030, .columns = 1},
    {.rows = 64, .columns = 96},   {.rows = 3, .columns = 4099},    {.rows = 257, .columns = 129},
    {.rows = 100, .columns = 650}, {.rows = 1024, .columns = 1024}, {.rows = 4099, .columns = 2053},
};

#define TRANSPOSE(task_name, kernel_name)                                                                    \
    {                                                                                                        \
        .name = task_name, .buffers = {{.name = "in", .role = INPUT}, {.name = "out", .role = OUTPUT}},      \
        .launches = {{.kernel = kernel_name,                                                                 \
                      .arguments = {BUFFER("in"), BUFFER("out"), INT(COUNT_ROWS), INT(COUNT_COLUMNS)}}},     \
        .expect = EXPECT_TRANSPOSE, .sizes = matrices, .size_count = sizeof matrices / sizeof matrices[0],   \
        .max_n = 1 << 20, .schedules = 2, .counted = {.rows = 1024, .columns = 1024},                        \
        .timed = {.rows = 16384, .columns = 16384},                                                          \
    }

const Chapter chapter = {
    .number = 11,
    .name = "ch11",
    .title = "Transpose",
    .points = 10,
    .tasks = {TRANSPOSE("naive", "transpose_naive"), TRANSPOSE("tile", "transpose_tile"),
              TRANSPOSE("padded tile", "transpose_padded"),
              TRANSPOSE("several a thread", "transpose_several")},
    .goals =
        {
            {
                .words = "sectors per load request",
                .measure = "global_ld_sectors / global_ld_requests",
                .bound = AT_MOST,
                .limit = 4,
                .slack_moved = 0.05, // a warp whose lanes end in different rounds is split
                .needs = {{"different floats per load request", "n / global_ld_requests", 24}},
                .points = 1,
                .task = "tile",
                .why = "A sector is 32 bytes: 32 floats that are neighbours fill 4.",
            },
            {
                .words = "sectors per store request",
                .measure = "global_st_sectors / global_st_requests",
                .bound = AT_MOST,
                .limit = 4,
                .needs = {{"different floats per store request", "n / global_st_requests", 24}},
                .points = 1,
                .task = "tile",
                .why = "A sector is 32 bytes: 32 floats that are neighbours fill 4.",
            },
            {
                .words = "bank conflicts of the padded tile",
                .measure = "shared_ld_conflicts + shared_st_conflicts",
                .bound = EXACTLY,
                .limit = 0,
                .needs = {{"shared stores per 32 elements", "32 * shared_st / n", 0.2}}, // of 16 bytes each
                .points = 2,
                .task = "padded tile",
                .why = "Lanes that access different words of one bank are served one after the other.",
            },
            {
                .words = "times the sectors that must move",
                .measure = "4 * (global_ld_sectors + global_st_sectors) / n",
                .bound = AT_MOST,
                .limit = 1,
                .points = 1,
                .task = "several a thread",
                .why = "A partly used sector costs as much as a whole one.",
            },
            {
                .words = "instructions per element",
                .measure = "thread_instructions / n",
                .bound = AT_MOST,
                .limit = 36,
                .points = 1,
                .task = "several a thread",
                .why = "Instructions for indices and bounds count, too.",
            },
            BANDWIDTH_GOAL(.points = 1, .task = "several a thread",
                           .why = "Memory can deliver more in this time."),
        },
    .remarks =
        {
            REMARK_RACE,
            REMARK_SHARED_UNSET,
            {.verdict = "OOB",
             .say = "`out` has as many rows as `in` has columns: check which number bounds which index.",
             .objects = "in|out"},
            REMARK_SYNC,
            {.verdict = "WRONG",
             .say =
                 "Element (row, column) of `in` belongs at (column, row) of `out`, whose rows have as many "
                 "elements as `in` has rows."},
        },
};
