// Chapter 3: a tree in global memory, from neighbouring pairs to contiguous active threads.
#include "driver/plan/chapter.h"

const Chapter chapter = {
    .number = 3,
    .name = "ch03",
    .title = "Tree reduction",
    .points = 10,
    .tasks = {{
        .name = "sum_tree",
        .buffers = {{.name = "in", .role = INPUT},
                    {.name = "scratch", .role = SCRATCH, .count = PER_THREAD},
                    {.name = "partial", .role = OUTPUT, .count = PER_BLOCK}},
        .launches = {{
            .kernel = "sum_tree",
            .arguments = {BUFFER("in"), BUFFER("scratch"), BUFFER("partial"), INT(COUNT_N)},
        }},
        .expect = EXPECT_SUM,
        .chain = CHAIN_BLOCK,
        .max_n_gpu = 1 << 30,
    }},
    .goals =
        {
            {
                // Strides 16, 8, 4, 2 and 1 split the first warp, and so does the choice of the writer.
                .words = "divergent branches per block",
                .measure = "branch_divergent / blocks",
                .bound = AT_MOST,
                .limit = 6,
                .slack = 1,
                // A tree keeps most lanes busy; one thread that adds all slots does not.
                .needs = {{"active lanes per instruction", "thread_instructions / instructions", 20}},
                .points = 3,
                .why = "A warp with a few active lanes takes as long as one in which all lanes are active.",
            },
            {
                // One before the tree, one a level.
                .words = "barriers per warp",
                .measure = "barriers / warps",
                .bound = AT_MOST,
                .limit = 9,
                .points = 1,
                .why = "At a barrier all warps of the block wait for the slowest.",
            },
            {
                // 256 slots: 32 sectors at the first level, half of that at the next, at least 2 a level.
                .words = "sectors per block loaded for the tree",
                .measure = "(global_ld_sectors - n / 8) / blocks",
                .bound = AT_MOST,
                .limit = 69,
                .slack = 11,
                .points = 1,
                .why = "Sectors for the tree, without the n / 8 of the input. A sector is 32 bytes: 8 slots "
                       "that "
                       "are neighbours.",
            },
            BANDWIDTH_GOAL(.points = 1, .why = "The reference takes little more time than reading the input "
                                               "needs; this kernel takes longer."),
        },
    .remarks =
        {
            REMARK_RACE,
            REMARK_SYNC,
            {.verdict = "UNINIT",
             .say = "A slot of scratch is undefined until a thread has written it.",
             .objects = "scratch"},
        },
};
