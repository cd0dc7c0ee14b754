// Chapter 10: c = a + b with one, four and eight numbers a load.
#include "driver/plan/chapter.h"

// Every remainder modulo 4 and 8, borders of warps, blocks and groups of both, and more than one round of a
// grid that fills the GPU, with one, four and eight numbers a thread.
static const CaseSize sizes[] = {
    {.n = 0},     {.n = 1},     {.n = 2},      {.n = 3},       {.n = 4},       {.n = 5},
    {.n = 6},     {.n = 7},     {.n = 8},      {.n = 9},       {.n = 15},      {.n = 16},
    {.n = 17},    {.n = 31},    {.n = 32},     {.n = 33},      {.n = 63},      {.n = 65},
    {.n = 255},   {.n = 256},   {.n = 257},    {.n = 1023},    {.n = 1024},    {.n = 1025},
    {.n = 2047},  {.n = 2049},  {.n = 4096},   {.n = 8191},    {.n = 8193},    {.n = 65535},
    {.n = 65536}, {.n = 65537}, {.n = 300007}, {.n = 1048576}, {.n = 2200003}, {.n = 33554435},
};

#define EVERY_SIZE                                                                                           \
    .sizes = sizes, .size_count = sizeof sizes / sizeof sizes[0], .max_n = 1 << 22, .counted = {.n = 1 << 20}

const Chapter chapter = {
    .number = 10,
    .name = "ch10",
    .title = "Vector add",
    .points = 10,
    .tasks =
        {
            {
                .name = "grid-stride",
                .buffers = {{.name = "a", .role = INPUT},
                            {.name = "b", .role = INPUT},
                            {.name = "c", .role = OUTPUT}},
                .launches = {{
                    .kernel = "add",
                    .arguments = {BUFFER("a"), BUFFER("b"), BUFFER("c"), INT(COUNT_N)},
                }},
                .expect = EXPECT_ELEMENTWISE,
                EVERY_SIZE,
            },
            {
                .name = "float4",
                .buffers = {{.name = "a", .role = INPUT},
                            {.name = "b", .role = INPUT},
                            {.name = "c", .role = OUTPUT}},
                .launches = {{
                    .kernel = "add_float4",
                    .arguments = {BUFFER("a"), BUFFER("b"), BUFFER("c"), INT(COUNT_N)},
                }},
                .expect = EXPECT_ELEMENTWISE,
                EVERY_SIZE,
            },
            {
                .name = "bfloat16",
                .buffers = {{.name = "a", .role = INPUT, .type = BF16},
                            {.name = "b", .role = INPUT, .type = BF16},
                            {.name = "c", .role = OUTPUT, .type = BF16}},
                .launches = {{
                    .kernel = "add_bf16",
                    .arguments = {BUFFER("a"), BUFFER("b"), BUFFER("c"), INT(COUNT_N)},
                }},
                .expect = EXPECT_ELEMENTWISE,
                EVERY_SIZE,
            },
        },
    .goals =
        {
            {
                .words = "% of the places for warps can be taken",
                .measure = "100 * occupancy",
                .bound = AT_LEAST,
                .limit = 100,
                .points = 1,
                .task = "grid-stride",
                .why = "Only resident warps can request bytes.",
            },
            {
                .words = "waves of blocks",
                .measure = "waves",
                .bound = EXACTLY,
                .limit = 1,
                .points = 1,
                .task = "grid-stride",
                .why = "One wave is as many blocks as all SMs together can hold at a time.",
            },
            {
                .words = "times the sectors that must move",
                .measure = "8 * (global_ld_sectors + global_st_sectors) / (3 * n)",
                .bound = AT_MOST,
                .limit = 1,
                .slack = 0.01,
                .points = 1,
                .task = "grid-stride",
                .why = "Two floats are loaded and one is stored for each sum, and 8 floats fill a sector.",
            },
            {
                .words = "floats per request",
                .measure = "3 * n / (global_ld_requests + global_st_requests)",
                .bound = AT_LEAST,
                .limit = 128,
                .slack = 0.5, // the last group
                .points = 1,
                .task = "float4",
                .why = "32 lanes can load or store 4 floats each with one instruction.",
            },
            {
                .words = "bfloat16 per request",
                .measure = "3 * n / (global_ld_requests + global_st_requests)",
                .bound = AT_LEAST,
                .limit = 256,
                .slack = 1, // the last group
                .points = 1,
                .task = "bfloat16",
                .why = "16 bytes are 8 bfloat16.",
            },
            {
                .words = "instructions per sum",
                .measure = "thread_instructions / n",
                .bound = AT_MOST,
                .limit = 8,
                .points = 1,
                .task = "bfloat16",
                .why = "Addresses, loads and stores count too: eight sums can share one of each.",
            },
            BANDWIDTH_GOAL(.points = 1, .task = "float4", .why = "Memory can deliver more in this time."),
        },
    .remarks =
        {
            {.verdict = "OOB",
             .say = "a, b and c have n elements each: the last is number n - 1.",
             .objects = "a|b|c"},
            {.verdict = "WRONG",
             .task = "bfloat16",
             .say = "bfloat16 is the upper half of a float. The sum is rounded once, to nearest, and ties to "
                    "even."},
            {.verdict = "WRONG", .say = "c[i] is a[i] + b[i], for every i from 0 to n - 1."},
        },
};
