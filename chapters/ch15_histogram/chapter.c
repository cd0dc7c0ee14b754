// Chapter 15: a histogram of bytes, by atomics in global memory, in one shared copy and in several.
#include "driver/plan/chapter.h"

// Every remainder modulo 16, borders of warps and blocks and of what each loads at once, and more than one
// round of a grid that fills the GPU.
static const CaseSize sizes[] = {
    {.n = 0},     {.n = 1},     {.n = 2},      {.n = 3},     {.n = 5},     {.n = 7},     {.n = 8},
    {.n = 15},    {.n = 16},    {.n = 17},     {.n = 31},    {.n = 32},    {.n = 33},    {.n = 63},
    {.n = 65},    {.n = 255},   {.n = 256},    {.n = 257},   {.n = 511},   {.n = 1023},  {.n = 1024},
    {.n = 1025},  {.n = 4095},  {.n = 4096},   {.n = 16383}, {.n = 16384}, {.n = 16385}, {.n = 65535},
    {.n = 65536}, {.n = 65537}, {.n = 300007},
};

// The same kernel on inputs of another family, which decide how fast it is.
static const CaseSize few_sizes[] = {{.n = 1}, {.n = 1025}, {.n = 1 << 18}};

#define HISTOGRAM(task_name, kernel_name, input_family, ...)                                                 \
    {                                                                                                        \
        .name = task_name,                                                                                   \
        .buffers = {{.name = "in", .role = INPUT, .type = U8, .family = input_family},                       \
                    {.name = "bins", .role = OUTPUT_ZEROED, .type = U32, .count = COUNT_FIXED(256)}},        \
        .launches = {{.kernel = kernel_name, .arguments = {BUFFER("in"), BUFFER("bins"), SIZE(COUNT_N)}}},   \
        .expect = EXPECT_HISTOGRAM, .counted = {.n = 1 << 18}, __VA_ARGS__                                   \
    }

#define EVERY_SIZE .sizes = sizes, .size_count = sizeof sizes / sizeof sizes[0]
#define FEW_SIZES                                                                                            \
    .sizes = few_sizes, .size_count = sizeof few_sizes / sizeof few_sizes[0], .schedules = 1,                \
    .large = NOT_LARGE

const Chapter chapter = {
    .number = 15,
    .name = "ch15",
    .title = "Histogram",
    .points = 10,
    .tasks = {HISTOGRAM("global", "histogram_global", FAMILY_INTEGERS, EVERY_SIZE),
              HISTOGRAM("shared", "histogram_shared", FAMILY_INTEGERS, EVERY_SIZE),
              HISTOGRAM("copies", "histogram_copies", FAMILY_INTEGERS, EVERY_SIZE),
              HISTOGRAM("copies, skewed", "histogram_copies", FAMILY_SKEWED, FEW_SIZES),
              HISTOGRAM("copies, constant", "histogram_copies", FAMILY_CONSTANTS, FEW_SIZES)},
    .goals =
        {
            {
                .words = "global atomics per element",
                .measure = "32 * (global_red_requests + global_atom_requests) / n",
                .bound = AT_MOST,
                .limit = 0.1,
                .needs = {{"bytes of shared memory per block", "shared", 256}},
                .points = 1,
                .task = "shared",
                .why = "Additions to one address are done one after the other for the whole GPU.",
            },
            {
                .words = "input bytes per request",
                .measure = "n / input_ld_requests",
                .bound = AT_LEAST,
                .limit = 512,
                .slack = 2, // the last group
                .points = 1,
                .task = "copies",
                .why = "32 lanes can load 16 bytes each with one request, and each byte once.",
            },
            {
                .words = "shared wavefronts per 32 bytes",
                .measure = "32 * shared_atom_wavefronts / n",
                .bound = AT_MOST,
                .limit = 1,
                .slack = 0.05,
                .needs = {{"bytes of shared memory per block", "shared", 256}},
                .points = 1,
                .task = "copies",
                .why = "Lanes whose counters are in one bank are served one after the other.",
            },
            {
                .words = "shared wavefronts per 32 equal bytes",
                .measure = "32 * shared_atom_wavefronts / n",
                .bound = AT_MOST,
                .limit = 1,
                .slack = 0.05,
                .needs = {{"bytes of shared memory per block", "shared", 256}},
                .points = 1,
                .task = "copies, constant",
                .why = "Lanes that add to one counter, or to counters of one bank, are served one after the "
                       "other.",
            },
            BANDWIDTH_GOAL(.points = 1, .task = "copies", .why = "Memory can deliver more in this time."),
            BANDWIDTH_GOAL(.points = 1, .task = "copies, skewed",
                           .why = "Memory can deliver more in this time, even if most bytes are equal."),
            BANDWIDTH_GOAL(.points = 1, .task = "copies, constant",
                           .why = "Memory can deliver more in this time, even if all bytes are equal."),
        },
    .remarks =
        {
            {.verdict = "RACE",
             .say = "Counters that several threads change need atomics, and a barrier between clearing, "
                    "counting "
                    "and adding up.",
             .objects = "shared"},
            {.verdict = "RACE",
             .say = "Loading, adding and storing are three steps: if another thread stores in between, its "
                    "addition "
                    "is lost.",
             .objects = "bins"},
            REMARK_SHARED_UNSET,
            {.verdict = "OOB",
             .say = "`in` has n bytes: a load of several needs all of them.",
             .objects = "in"},
            {.verdict = "OOB",
             .say = "There are 256 bins, and the number of each is a byte that is read without a sign.",
             .objects = "bins|shared"},
            {.verdict = "WRONG",
             .say = "Bin b counts the bytes of `in` that are b, each once: all bins together count n."},
        },
};
