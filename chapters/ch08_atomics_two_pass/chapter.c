// Chapter 8: one sum out of many blocks, by atomics and by a second pass.
#include "driver/plan/chapter.h"

const Chapter chapter = {
    .number = 8,
    .name = "ch08",
    .title = "Atomics and two passes",
    .points = 10,
    .tasks =
        {
            {
                .name = "atomic",
                .buffers = {{.name = "in", .role = INPUT},
                            {.name = "out", .role = OUTPUT_ZEROED, .count = COUNT_ONE}},
                .launches = {{
                    .kernel = "sum_atomic",
                    .arguments = {BUFFER("in"), BUFFER("out"), INT(COUNT_N)},
                }},
                .expect = EXPECT_SUM,
                .chain = CHAIN_ATOMIC,
                .flushes_subnormals = true,
                .weak_schedules = 4,
                .max_n_gpu = 1 << 30,
            },
            {
                .name = "two passes",
                .buffers = {{.name = "in", .role = INPUT},
                            {.name = "partial", .role = OUTPUT, .count = PER_BLOCK_OF("sum_blocks")},
                            {.name = "out", .role = OUTPUT, .count = COUNT_ONE}},
                .launches = {{
                                 .kernel = "sum_blocks",
                                 .arguments = {BUFFER("in"), BUFFER("partial"), INT(COUNT_N)},
                             },
                             {
                                 .kernel = "sum_partials",
                                 .arguments = {BUFFER("partial"), BUFFER("out"), INT(ELEMENTS_OF("partial"))},
                                 .n = ELEMENTS_OF("partial"),
                                 .max_blocks = 1,
                             }},
                .expect = EXPECT_SUM,
                .output = "out",
                .chain = CHAIN_TWO_PASS,
                .is_bit_identical = true,
                .weak_schedules = 4,
                .max_n_gpu = 1 << 30,
            },
        },
    .goals =
        {
            {
                .words = "atomics per block",
                .measure = "(global_red_requests + global_atom_requests) / blocks",
                .bound = EXACTLY,
                .limit = 1,
                .needs = {{"blocks per SM", "blocks / sm_count", 1}},
                .points = 2,
                .task = "atomic",
                .why = "Additions to one address are done one after the other for the whole GPU.",
            },
            {
                .words = "lanes at most on one address",
                .measure = "atomic_max_lanes",
                .bound = AT_MOST,
                .limit = 1,
                .needs = {{"blocks per SM", "blocks / sm_count", 1}},
                .points = 1,
                .task = "atomic",
                .why = "Additions of one instruction to one address are done one after the other.",
            },
            {
                .words = "atomics in two passes",
                .measure = "global_red_requests + global_atom_requests",
                .bound = EXACTLY,
                .limit = 0,
                .points = 1,
                .task = "two passes",
                .why = "Atomics add in the order in which blocks happen to arrive.",
            },
            {
                .words = "sectors per load request",
                .measure = "input_ld_sectors / input_ld_requests",
                .bound = AT_MOST,
                .limit = 4,
                .slack_moved = 0.05, // a warp whose lanes end in different rounds is split
                .needs = {{"different floats per load request", "n / input_ld_requests", 24}},
                .points = 1,
                .task = "two passes",
                .why = "A sector is 32 bytes: 32 floats that are neighbours fill 4.",
            },
            BANDWIDTH_GOAL(.points = 1, .task = "two passes", .why = "Memory can deliver more in this time."),
        },
    .remarks =
        {
            {.verdict = "RACE",
             .task = "atomic",
             .say = "Reading, adding and writing are three steps: if another thread writes in between, its "
                    "addition "
                    "is lost.",
             .objects = "out"},
            {.verdict = "RACE",
             .task = "two passes",
             .say = "Each block needs its own place for its sum.",
             .objects = "partial",
             .is_between_blocks = true},
            REMARK_RACE,
            {.verdict = "WRONG",
             .task = "atomic",
             .say = "The result has the sum of each block once: one thread adds it, the one that has it, and "
                    "every "
                    "element is in the sum of one block."},
            {.verdict = "WRONG",
             .task = "two passes",
             .say = "Each pass is a sum like any other: the share of each thread, then the fold of the "
                    "block, then "
                    "the thread that has its sum stores it. The order may depend only on the launch shape, "
                    "so that "
                    "every run gives the same bits."},
        },
};
