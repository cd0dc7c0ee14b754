// Chapter 14: the sum of everything, in one launch.
#include <math.h>

#include "driver/plan/chapter.h"

// Those that every sum is tried at.
static const CaseSize sizes[] = {
    {.n = 0},     {.n = 1},     {.n = 2},     {.n = 3},       {.n = 4},       {.n = 5},
    {.n = 7},     {.n = 31},    {.n = 32},    {.n = 33},      {.n = 63},      {.n = 64},
    {.n = 65},    {.n = 255},   {.n = 256},   {.n = 257},     {.n = 1023},    {.n = 1024},
    {.n = 1025},  {.n = 2047},  {.n = 2049},  {.n = 4096},    {.n = 8191},    {.n = 8193},
    {.n = 65535}, {.n = 65536}, {.n = 65537}, {.n = 1048576}, {.n = 1048577}, {.n = 268435459},
};

// What a thread adds of its share, the tree over its block, and at most one addition for every block at the
// end.
static double longest_chain(const CaseShape *shape) {
    const ShapeOfLaunch *launch = &shape->launches[0];
    if (launch->threads == 0) return 1;
    double own = ceil((double)shape->size.n / (double)launch->threads) + 6;
    return own + ceil(log2((double)launch->block_threads)) + 1 + (double)launch->blocks + 1;
}

const Chapter chapter = {
    .number = 14,
    .name = "ch14",
    .title = "Capstone: the fastest sum",
    .points = 10,
    .when_passed = "Beside CUB, torch and the roofline: make leaderboard",
    .tasks = {{
        .name = "sum",
        .buffers = {{.name = "in", .role = INPUT, .misaligned = true},
                    {.name = "out", .role = OUTPUT, .count = COUNT_ONE},
                    {.name = "mailbox", .role = ZEROED, .type = U64, .count = PER_BLOCK, .stays_zero = true}},
        .launches = {{
            .kernel = "sum",
            .arguments = {BUFFER("in"), BUFFER("out"), BUFFER("mailbox"), SIZE(COUNT_N)},
        }},
        .expect = EXPECT_SUM,
        .output = "out",
        .chain = CHAIN_FUNCTION,
        .chain_function = longest_chain,
        .is_bit_identical = true,
        .sizes = sizes,
        .size_count = sizeof sizes / sizeof sizes[0],
        .max_n = 12 << 20,
        .max_n_gpu = 1 << 30,
        .counted = {.n = 1 << 20},
        .weak_schedules = 16,
    }},
    .goals =
        {
            {
                .words = "floats per load request",
                .measure = "n / input_ld_requests",
                .bound = AT_LEAST,
                .limit = 120, // what is short of 128 are the ends
                .points = 1,
                .why = "32 lanes can load 4 floats each with one instruction.",
            },
            {
                .words = "sectors per load request",
                .measure = "input_ld_sectors / input_ld_requests",
                .bound = EXACTLY,
                .limit = 16,
                .slack = 0.5,
                .slack_moved = 1, // 17 where the array begins within a sector
                .points = 1,
                .why = "512 contiguous bytes are 16 sectors if they begin with one, else 17.",
            },
            {
                .words = "atomics per block",
                .measure = "(global_red_requests + global_atom_requests) / blocks",
                .bound = AT_MOST,
                .limit = 1,
                .points = 1,
                .why = "Atomics on one address are done one after the other for the whole GPU.",
            },
            BANDWIDTH_GOAL(.points = 3, .why = "Memory can deliver more in this time."),
        },
    .remarks =
        {
            {.verdict = "RACE",
             .say = "A flag or a ticket shows only that another block has been there. To be sure that its "
                    "sum is "
                    "visible too, use a fence on both sides, or one store for both.",
             .objects = "out|mailbox",
             .is_between_blocks = true},
            REMARK_RACE,
            {.verdict = "UNINIT", .say = "Everything that a thread reads must have been written."},
            REMARK_WAIT,
            REMARK_SYNC,
            {.verdict = "MISALIGNED",
             .say = "`in` may begin 4, 8 or 12 bytes past a multiple of 16.",
             .objects = "in"},
        },
};
