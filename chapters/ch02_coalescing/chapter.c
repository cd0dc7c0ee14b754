// Chapter 2: from a chunk per thread to a grid-stride loop.
#include "driver/plan/chapter.h"

const Chapter chapter = {
    .number = 2,
    .name = "ch02",
    .title = "Coalescing",
    .points = 10,
    .tasks = {{
        .name = "sum_coalesced",
        .buffers = {{.name = "in", .role = INPUT}, {.name = "partial", .role = OUTPUT, .count = PER_THREAD}},
        .launches = {{
            .kernel = "sum_coalesced",
            .arguments = {BUFFER("in"), BUFFER("partial"), INT(COUNT_N)},
        }},
        .expect = EXPECT_SUM,
        .chain = CHAIN_PER_THREAD,
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
                .needs = {{"floats per thread", "n / threads", 1.5},
                          {"different floats per load request", "n / global_ld_requests", 24}},
                .points = 4,
                .why =
                    "A sector is 32 bytes, whether a request uses all of them or only four: the 128 bytes of "
                    "32 neighbouring floats fill 4.",
            },
            {
                .words = "sectors per store request",
                .measure = "global_st_sectors / global_st_requests",
                .bound = AT_MOST,
                .limit = 4,
                .needs = {{"different floats per store request", "threads / global_st_requests", 24}},
                .points = 1,
                .why = "Stores move in sectors too: partials at scattered addresses cost one sector for each "
                       "lane.",
            },
            BANDWIDTH_GOAL(.points = 1, .why = "Memory can deliver more in this time."),
        },
    .remarks =
        {
            {.verdict = "OOB",
             .say = "The last element is in[n - 1]; if n is 0 there is none.",
             .objects = "in"},
            {.verdict = "OOB",
             .say = "partial has one element for each thread of the grid.",
             .objects = "partial"},
            {.verdict = "WRONG",
             .say = "Each element belongs into exactly one of the partial sums, and each thread writes one, "
                    "which "
                    "is 0 without an element."},
        },
};
