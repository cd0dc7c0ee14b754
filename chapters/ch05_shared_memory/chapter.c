// Chapter 5: the warps of a block meet in shared memory.
#include "driver/plan/chapter.h"

// The second time only the numbers are wider: where blocks and warps end, and enough for the rounding to
// show.
static const CaseSize double_sizes[] = {{.n = 0},    {.n = 1},     {.n = 2},      {.n = 31},   {.n = 33},
                                        {.n = 255},  {.n = 256},   {.n = 257},    {.n = 1023}, {.n = 1025},
                                        {.n = 4096}, {.n = 65537}, {.n = 1 << 18}};

const Chapter chapter = {
    .number = 5,
    .name = "ch05",
    .title = "Shared memory",
    .points = 10,
    .tasks =
        {
            {
                .name = "sum_shared",
                .buffers = {{.name = "in", .role = INPUT},
                            {.name = "partial", .role = OUTPUT, .count = PER_BLOCK}},
                .launches = {{
                    .kernel = "sum_shared",
                    .arguments = {BUFFER("in"), BUFFER("partial"), INT(COUNT_N)},
                }},
                .expect = EXPECT_SUM,
                .chain = CHAIN_BLOCK,
                .max_n_gpu = 1 << 30,
            },
            {
                .name = "sum_shared_double",
                .buffers = {{.name = "in", .role = INPUT, .type = F64},
                            {.name = "partial", .role = OUTPUT, .type = F64, .count = PER_BLOCK}},
                .launches = {{
                    .kernel = "sum_shared_double",
                    .arguments = {BUFFER("in"), BUFFER("partial"), INT(COUNT_N)},
                }},
                .expect = EXPECT_SUM,
                .chain = CHAIN_BLOCK,
                .sizes = double_sizes,
                .size_count = sizeof double_sizes / sizeof double_sizes[0],
                .counted = {.n = 1 << 18},
            },
        },
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
                .words = "barriers per warp",
                .measure = "barriers / warps",
                .bound = EXACTLY,
                .limit = 1,
                .points = 2,
                .why = "A warp reads what others wrote only after a barrier, and one is enough here.",
            },
            {
                .words = "bank conflicts",
                .measure = "shared_ld_conflicts + shared_st_conflicts",
                .bound = EXACTLY,
                .limit = 0,
                .needs = {{"shared stores per block", "shared_st / blocks", 1},
                          {"shared loads per block", "shared_ld / blocks", 1}},
                .points = 1,
                .why = "Lanes that access different words of one bank are served one after the other.",
            },
            {
                .words = "shared accesses and atomics per warp",
                .measure = "(shared_ld + shared_st + shared_atom + global_atom_requests + "
                           "global_red_requests) / warps",
                .bound = AT_MOST,
                .limit = 2,
                // One warp of the block may keep its sum.
                .needs = {{"warps per block", "warps / blocks", 2},
                          {"shared stores for each warp but one", "shared_st / (warps - blocks)", 0.9},
                          {"shared loads per block", "shared_ld / blocks", 1}},
                .points = 1,
                .why = "Only one float per warp must pass through shared memory, not one per thread.",
            },
            BANDWIDTH_GOAL(.points = 1, .why = "Memory can deliver more in this time."),
            {
                .words = "bank conflicts",
                .measure = "shared_ld_conflicts + shared_st_conflicts",
                .bound = EXACTLY,
                .limit = 0,
                // One warp of the block may keep its sum.
                .needs = {{"warps per block", "warps / blocks", 2},
                          {"shared stores for each warp but one", "shared_st / (warps - blocks)", 0.9},
                          {"shared loads per block", "shared_ld / blocks", 1}},
                .points = 1,
                .task = "sum_shared_double",
                .why = "Neighbouring doubles use two banks each, and half a warp at a time: no conflict.",
            },
        },
    .remarks =
        {
            REMARK_RACE,
            {.verdict = "WRONG",
             .say = "Each partial is the sum of all threads of its block, which is 0 without an element."},
            REMARK_SHARED_UNSET,
            REMARK_SYNC,
        },
};
