// Chapter 7: sixteen bytes a load, at every length and every base.
#include <math.h>

#include "driver/plan/chapter.h"

// A thread adds ceil(n / 4 / threads) groups, up to three additions more within a group, and a float of
// the head and of the tail; then comes the tree over the block, with one more level for a partial warp.
static double longest_chain(const CaseShape *shape) {
    const ShapeOfLaunch *launch = &shape->launches[0];
    if (launch->threads == 0) return 1;
    double own = ceil((double)shape->size.n / (double)launch->threads);
    return own + 3 + 2 + ceil(log2((double)launch->block_threads)) + 1;
}

const Chapter chapter = {
    .number = 7,
    .name = "ch07",
    .title = "float4",
    .points = 10,
    .tasks = {{
        .name = "sum_float4",
        .buffers = {{.name = "in", .role = INPUT, .misaligned = true},
                    {.name = "partial", .role = OUTPUT, .count = PER_BLOCK}},
        .launches = {{
            .kernel = "sum_float4",
            .arguments = {BUFFER("in"), BUFFER("partial"), INT(COUNT_N)},
        }},
        .expect = EXPECT_SUM,
        .chain = CHAIN_FUNCTION,
        .chain_function = longest_chain,
        .max_n_gpu = 1 << 30,
    }},
    .goals =
        {
            {
                .words = "floats per load request",
                .measure = "n / global_ld_requests",
                .bound = AT_LEAST,
                .limit = 128,
                .slack = 4,
                .points = 3,
                .why = "32 lanes can load 4 floats each with one instruction.",
            },
            {
                .words = "sectors per load request",
                .measure = "global_ld_sectors / global_ld_requests",
                .bound = EXACTLY,
                .limit = 16,
                .slack = 0.1,
                .slack_moved = 1, // 17 where the array begins within a sector
                .points = 2,
                .why = "512 contiguous bytes are 16 sectors if they begin with one, else 17.",
            },
            BANDWIDTH_GOAL(.points = 1, .why = "Memory can deliver more in this time."),
        },
    .remarks =
        {
            {.verdict = "MISALIGNED",
             .say = "A load of 16 bytes needs an address that is a multiple of 16, but `in` may start 4, 8 "
                    "or 12 "
                    "bytes past one.",
             .objects = "in"},
            {.verdict = "OOB",
             .say = "The last element is in[n - 1]; four floats at once are all elements only if the last of "
                    "them "
                    "is.",
             .objects = "in"},
            {.verdict = "WRONG",
             .say =
                 "Each element belongs once into the sum of one block: those before the first group of four, "
                 "those in groups, and those after the last."},
        },
};
