// Chapter 16: scan, by a warp, by a block, in three launches and in one.
#include "driver/plan/chapter.h"

// Borders of groups, warps, blocks and tiles, and several tiles.
static const CaseSize sizes[] = {
    {.n = 0},    {.n = 1},    {.n = 2},    {.n = 3},    {.n = 4},     {.n = 5},     {.n = 7},
    {.n = 31},   {.n = 32},   {.n = 33},   {.n = 65},   {.n = 127},   {.n = 128},   {.n = 129},
    {.n = 255},  {.n = 257},  {.n = 1023}, {.n = 1024}, {.n = 1025},  {.n = 2049},  {.n = 4096},
    {.n = 4097}, {.n = 8191}, {.n = 8192}, {.n = 8193}, {.n = 16385}, {.n = 65537}, {.n = 300007},
};

// One warp or block does everything.
static const CaseSize few_sizes[] = {
    {.n = 0},  {.n = 1},  {.n = 2},   {.n = 3},    {.n = 5},    {.n = 31},   {.n = 32},   {.n = 33},
    {.n = 63}, {.n = 65}, {.n = 257}, {.n = 1023}, {.n = 1024}, {.n = 1025}, {.n = 2049}, {.n = 16385},
};

// The number of tiles taken, and what each tile has published.
static long long words_of_state(const CaseShape *shape) { return 1 + shape->launches[0].blocks; }

#define FEW_SIZES                                                                                            \
    .sizes = few_sizes, .size_count = sizeof few_sizes / sizeof few_sizes[0], .max_n = 1 << 17,              \
    .max_n_gpu = 1 << 17, .counted = {.n = 1 << 15}, .timed = NOT_TIMED, .large = NOT_LARGE

#define EVERY_SIZE .sizes = sizes, .size_count = sizeof sizes / sizeof sizes[0]

const Chapter chapter =
    {
        .number = 16,
        .name = "ch16",
        .title = "Scan",
        .points = 10,
        .tasks =
            {
                {
                    .name = "warp",
                    .buffers = {{.name = "in", .role = INPUT, .type = I32},
                                {.name = "out", .role = OUTPUT, .type = I32}},
                    .launches = {{.kernel = "scan_warp",
                                  .arguments = {BUFFER("in"), BUFFER("out"), INT(COUNT_N)}}},
                    .expect = EXPECT_SCAN,
                    FEW_SIZES,
                },
                {
                    .name = "block",
                    .buffers = {{.name = "in", .role = INPUT}, {.name = "out", .role = OUTPUT}},
                    .launches = {{.kernel = "scan_block",
                                  .arguments = {BUFFER("in"), BUFFER("out"), INT(COUNT_N)}}},
                    .expect = EXPECT_SCAN,
                    .is_exclusive = true,
                    .chain = CHAIN_SCAN,
                    FEW_SIZES,
                },
                {
                    .name = "three launches",
                    .buffers =
                        {{.name = "in", .role = INPUT, .type = I32},
                         {.name = "out", .role = OUTPUT, .type = I32},
                         {.name = "sums", .role = SCRATCH, .type = I32, .count = PER_BLOCK_OF("sum_tiles")}},
                    .launches = {{.kernel = "sum_tiles",
                                  .arguments = {BUFFER("in"), BUFFER("sums"), INT(COUNT_N)}},
                                 {.kernel = "scan_sums",
                                  .arguments = {BUFFER("sums"), INT(ELEMENTS_OF("sums"))},
                                  .n = ELEMENTS_OF("sums"),
                                  .max_blocks = 1},
                                 {.kernel = "scan_tiles",
                                  .arguments = {BUFFER("in"), BUFFER("out"), BUFFER("sums"), INT(COUNT_N)}}},
                    .expect = EXPECT_SCAN,
                    .is_exclusive = true,
                    .counted = {.n = 1 << 18},
                    EVERY_SIZE,
                },
                {
                    .name = "one launch",
                    .buffers =
                        {{.name = "in", .role = INPUT},
                         {.name = "out", .role = OUTPUT},
                         {.name = "state", .role = ZEROED, .type = U64, .count = COUNT_BY(words_of_state)}},
                    .launches = {{.kernel = "scan_once",
                                  .arguments = {BUFFER("in"), BUFFER("out"), BUFFER("state"), INT(COUNT_N)}}},
                    .expect = EXPECT_SCAN,
                    .chain = CHAIN_SCAN,
                    .counted = {.n = 1 << 20}, // several times as many tiles as a warp looks at
                    .large = NOT_LARGE,        // a tile needs all tiles before it
                    .weak_schedules = 8,
                    .most_resident = 4,
                    EVERY_SIZE,
                },
            },
        .goals =
            {
                {
                    .words = "shuffles per 32 elements",
                    .measure = "32 * shuffles / n",
                    .bound = AT_MOST,
                    .limit = 6,
                    .slack = 0.01, // the last lanes
                    .points = 1,
                    .task = "warp",
                    .why = "Five steps are enough for 32 lanes, and one for what is handed on.",
                },
                {
                    .words = "barriers per 1,024 elements",
                    .measure = "1024 * barriers / (n * block / 32)",
                    .bound = AT_MOST,
                    .limit = 3,
                    .slack = 0.15, // the last round
                    .needs = {{"threads per block", "block", 512}},
                    .points = 1,
                    .task = "block",
                    .why = "At each barrier all warps wait for the slowest.",
                },
                {
                    .words = "bytes moved per element",
                    .measure = "32 * (global_ld_sectors + global_st_sectors) / n",
                    .bound = AT_MOST,
                    .limit = 12.2,
                    .points = 1,
                    .task = "three launches",
                    .why = "Reading twice and writing once are 12 bytes, if no sector is requested again.",
                },
                {
                    .words = "bytes moved per element",
                    .measure = "32 * (global_ld_sectors + global_st_sectors) / n",
                    .bound = AT_MOST,
                    .limit = 8.2,
                    // A tile looks at few others: 32 states are 8 sectors.
                    .needs = {{"tiles per 8 sectors read from the state",
                               "8 * blocks / (global_ld_sectors - input_ld_sectors)", 0.6}},
                    .points = 1,
                    .task = "one launch",
                    .why = "Reading once and writing once are 8 bytes, if no sector is requested again; the "
                           "nearest prefix ends the look-back.",
                },
                {
                    .words = "input bytes per request",
                    .measure = "4 * n / input_ld_requests",
                    .bound = AT_LEAST,
                    .limit = 500, // what is short of 512 is the end
                    .points = 1,
                    .task = "one launch",
                    .why = "32 lanes can load 16 bytes each with one request, and each byte once.",
                },
                BANDWIDTH_GOAL(.points = 1, .task = "three launches",
                               .why = "Memory can deliver more in this time."),
                {
                    .words = "% of the reference's bandwidth",
                    .measure = "100 * bandwidth_ratio",
                    .bound = AT_LEAST,
                    .limit = 82, // a little faster than CUB on an H200: docs/benchmarks.md
                    .points = 1,
                    .task = "one launch",
                    .why = "Memory can deliver more in this time.",
                },
            },
        .remarks =
            {
                {.verdict = "RACE",
                 .task = "one launch",
                 .say =
                     "A flag shows that the value is there only if one store writes both, or if fences order "
                     "them.",
                 .objects = "state",
                 .is_between_blocks = true},
                REMARK_RACE,
                REMARK_WAIT,
                REMARK_SYNC,
                {.verdict = "WRONG",
                 .task = "block",
                 .say = "out[i] is the sum of the elements before i, without element i: 0 for the first."},
                {.verdict = "WRONG",
                 .say = "out[i] is the sum of the elements from 0 to i, element i included."},
            },
};
