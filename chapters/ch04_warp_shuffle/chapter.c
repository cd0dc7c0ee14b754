// Chapter 4: five shuffles turn the 32 sums of a warp into one.
#include "driver/plan/chapter.h"

const Chapter chapter = {
    .number = 4,
    .name = "ch04",
    .title = "Warp shuffle",
    .points = 10,
    .tasks = {{
        .name = "sum_shuffle",
        .buffers = {{.name = "in", .role = INPUT}, {.name = "partial", .role = OUTPUT, .count = PER_WARP}},
        .launches = {{
            .kernel = "sum_shuffle",
            .arguments = {BUFFER("in"), BUFFER("partial"), INT(COUNT_N)},
            .block_multiple_of = 32,
        }},
        .expect = EXPECT_SUM,
        .chain = CHAIN_WARP,
        .max_n_gpu = 1 << 30,
    }},
    .goals =
        {
            {
                .words = "sectors per load request",
                .measure = "global_ld_sectors / global_ld_requests",
                .bound = AT_MOST,
                .limit = 4,
                .points = 1,
                .why = "Each load of a warp fetches more 32-byte sectors than its 32 floats fill.",
            },
            {
                .words = "shared-memory accesses",
                .measure = "shared_ld + shared_st + shared_atom",
                .bound = EXACTLY,
                .limit = 0,
                .points = 1,
                .why = "The lanes of a warp can read each other's registers; memory is a detour.",
            },
            {
                .words = "shuffles per warp",
                .measure = "shuffles / warps",
                .bound = AT_MOST,
                .limit = 5,
                .points = 2,
                .why = "Halving 32 five times gives 1: more shuffles do work that nobody needs.",
            },
            {
                .words = "barriers",
                .measure = "barriers",
                .bound = EXACTLY,
                .limit = 0,
                .points = 1,
                .why = "Nothing here concerns a second warp, so no warp has to wait for another.",
            },
            BANDWIDTH_GOAL(.points = 1, .why = "Memory could deliver more in the same time."),
        },
    .remarks =
        {
            {"SYNC", NULL,
             "The mask names the lanes that must come to the shuffle, and every one of them has to: a lane "
             "that found nothing to add comes with a zero."},
            {"WRONG", NULL,
             "Each partial is the sum of one warp of 32 lanes; warps are counted over the whole grid, not "
             "within the block."},
        },
};
