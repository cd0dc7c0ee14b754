// Chapter 1: one thread adds everything. Judged by the answer alone; its time is what later chapters beat.
#include "driver/plan/chapter.h"

const Chapter chapter = {
    .number = 1,
    .name = "ch01",
    .title = "Single thread",
    .points = 10,
    .tasks = {{
        .name = "sum_single",
        .buffers = {{.name = "in", .role = INPUT}, {.name = "partial", .role = OUTPUT, .count = COUNT_ONE}},
        .launches = {{
            .kernel = "sum_single",
            .arguments = {BUFFER("in"), BUFFER("partial"), INT(COUNT_N)},
            .max_blocks = 1,
            .max_block_threads = 1,
        }},
        .expect = EXPECT_SUM,
        .chain = CHAIN_SERIAL,
        .max_n = 65537, // one lane at a time: a million elements would take the emulator seconds
        .max_n_gpu = (1 << 20) + 1,
    }},
    .remarks =
        {
            {.verdict = "WRONG",
             .say =
                 "The sum has each element from 0 to n - 1 once and nothing else; of no elements it is 0."},
            {.verdict = "OOB",
             .say = "The last element is in[n - 1]; if n is 0 there is none.",
             .objects = "in"},
            {.verdict = "LAUNCH", .say = "This chapter is about a single thread: one block of one thread."},
        },
};
