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
                .slack_moved = 0.05, // a warp whose lanes end in different rounds is split
                .needs = {{"different floats per load request", "n / global_ld_requests", 24}},
                .points = 1,
                .why = "A sector is 32 bytes: 32 floats that are neighbours fill 4.",
            },
            {
                .words = "shared-memory accesses and atomics",
                .measure = "shared_ld + shared_st + shared_atom + global_red_requests + global_atom_requests",
                .bound = EXACTLY,
                .limit = 0,
                .points = 1,
                .why = "The lanes of a warp can read each other's registers, without using memory.",
            },
            {
                .words = "shuffles per warp",
                .measure = "shuffles / warps",
                .bound = EXACTLY,
                .limit = 5,
                .needs = {{"different floats per load request", "n / global_ld_requests",
                           24}}, // else each lane adds all itself
                .points = 2,
                .why = "Halving 32 five times gives 1, and every step is one shuffle.",
            },
            {
                .words = "barriers",
                .measure = "barriers",
                .bound = EXACTLY,
                .limit = 0,
                .points = 1,
                .why = "Each warp works alone, so no warp has to wait for another.",
            },
            BANDWIDTH_GOAL(.points = 1, .why = "Memory can deliver more in this time."),
        },
    .remarks =
        {
            {.verdict = "SYNC",
             .say =
                 "All 32 lanes can take part in a shuffle, with a mask that names them all: one without an "
                 "element contributes 0.",
             .findings = SHUFFLE_FINDINGS},
            {.verdict = "WRONG",
             .say = "Each partial is the sum of one warp of 32 lanes; warps are numbered over the whole "
                    "grid, not "
                    "within the block."},
        },
};
