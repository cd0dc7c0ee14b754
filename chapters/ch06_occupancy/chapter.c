// Chapter 6: occupancy. A table of questions that a learner's formulas must answer exactly, and a launch that
// fills the GPU.
//
// Some questions are always asked; the others are drawn for every run. The answers are those of NVIDIA's
// occupancy calculator, cuda_occupancy.h of the CUDA toolkit; tests/test_occupancy_table.py compares both
// kinds with it.
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "driver/plan/chapter.h"
#include "driver/plan/inputs.h"

// What the GPUs have: SMs, threads per SM and per block, blocks per SM, registers per SM and per block,
// shared memory per SM and (opted in to) per block, reserved for the system per block, and allocation unit.
// Sources: CUDA C++ Programming Guide, "Compute Capabilities", for all but the number of SMs, which NVIDIA's
// data sheets give.
#define Jetson_TX2 2, 2048, 1024, 32, 65536, 32768, 65536, 49152, 0, 256
#define V100 80, 2048, 1024, 32, 65536, 65536, 98304, 98304, 0, 256
#define T4 40, 1024, 1024, 16, 65536, 65536, 65536, 65536, 0, 256
#define A100 108, 2048, 1024, 32, 65536, 65536, 167936, 166912, 1024, 128
#define RTX_3090 82, 1536, 1024, 16, 65536, 65536, 102400, 101376, 1024, 128
#define L4 58, 1536, 1024, 24, 65536, 65536, 102400, 101376, 1024, 128
#define RTX_4090 128, 1536, 1024, 24, 65536, 65536, 102400, 101376, 1024, 128
#define H100 132, 2048, 1024, 32, 65536, 65536, 233472, 232448, 1024, 128
#define H200 132, 2048, 1024, 32, 65536, 65536, 233472, 232448, 1024, 128
#define B200 148, 2048, 1024, 32, 65536, 65536, 233472, 232448, 1024, 128
#define RTX_5060 30, 1536, 1024, 24, 65536, 65536, 102400, 101376, 1024, 128
#define RTX_5070_Ti 70, 1536, 1024, 24, 65536, 65536, 102400, 101376, 1024, 128
#define RTX_5090 170, 1536, 1024, 24, 65536, 65536, 102400, 101376, 1024, 128

// GPU; threads per block, registers per thread, bytes of shared memory per block.
// clang-format off
#define TABLE(ROW)                                                                                           \
    ROW(Jetson_TX2, 256, 12, 32) ROW(Jetson_TX2, 1024, 32, 4096) ROW(Jetson_TX2, 32, 16, 0)                  \
    ROW(Jetson_TX2, 1000, 65, 0) ROW(Jetson_TX2, 192, 88, 1000) ROW(Jetson_TX2, 256, 40, 49152)              \
    ROW(Jetson_TX2, 96, 88, 500) ROW(Jetson_TX2, 512, 64, 0) ROW(Jetson_TX2, 544, 64, 0)                     \
    ROW(Jetson_TX2, 416, 72, 2000) ROW(Jetson_TX2, 64, 24, 49153) ROW(Jetson_TX2, 160, 128, 257)             \
    ROW(V100, 256, 12, 32) ROW(V100, 1024, 32, 4096) ROW(V100, 32, 16, 0) ROW(V100, 1000, 65, 0)             \
    ROW(V100, 192, 88, 1000) ROW(V100, 256, 40, 49152) ROW(V100, 96, 88, 500) ROW(V100, 128, 32, 0)          \
    ROW(V100, 96, 72, 12000) ROW(V100, 1024, 64, 98304) ROW(V100, 64, 24, 98305) ROW(V100, 160, 255, 6144)   \
    ROW(T4, 256, 12, 32) ROW(T4, 1024, 32, 4096) ROW(T4, 32, 16, 0) ROW(T4, 1000, 65, 0)                     \
    ROW(T4, 192, 88, 1000) ROW(T4, 256, 40, 49152) ROW(T4, 96, 88, 500) ROW(T4, 64, 32, 0)                   \
    ROW(T4, 512, 64, 32768) ROW(T4, 1024, 65, 0) ROW(T4, 1, 1, 0) ROW(T4, 33, 40, 4000)                      \
    ROW(A100, 256, 12, 32) ROW(A100, 1024, 32, 4096) ROW(A100, 32, 16, 0) ROW(A100, 1000, 65, 0)             \
    ROW(A100, 192, 88, 1000) ROW(A100, 256, 40, 49152) ROW(A100, 96, 88, 500) ROW(A100, 1024, 33, 0)         \
    ROW(A100, 128, 128, 83000) ROW(A100, 512, 40, 166912) ROW(A100, 64, 32, 166913)                          \
    ROW(A100, 224, 48, 5000) ROW(RTX_3090, 256, 12, 32) ROW(RTX_3090, 1024, 32, 4096)                        \
    ROW(RTX_3090, 32, 16, 0) ROW(RTX_3090, 1000, 65, 0) ROW(RTX_3090, 192, 88, 1000)                         \
    ROW(RTX_3090, 256, 40, 49152) ROW(RTX_3090, 96, 88, 500) ROW(RTX_3090, 64, 24, 1)                        \
    ROW(RTX_3090, 384, 40, 20000) ROW(RTX_3090, 1025, 16, 0) ROW(RTX_3090, 768, 43, 1024)                    \
    ROW(L4, 256, 12, 32) ROW(L4, 1024, 32, 4096) ROW(L4, 32, 16, 0) ROW(L4, 1000, 65, 0)                     \
    ROW(L4, 192, 88, 1000) ROW(L4, 256, 40, 49152) ROW(L4, 96, 88, 500) ROW(L4, 256, 40, 0)                  \
    ROW(L4, 1024, 16, 32) ROW(L4, 64, 12, 3072) ROW(L4, 512, 42, 8192) ROW(L4, 96, 104, 101376)              \
    ROW(L4, 128, 32, 101377) ROW(RTX_4090, 256, 12, 32) ROW(RTX_4090, 1024, 32, 4096)                        \
    ROW(RTX_4090, 32, 16, 0) ROW(RTX_4090, 1000, 65, 0) ROW(RTX_4090, 192, 88, 1000)                         \
    ROW(RTX_4090, 256, 40, 49152) ROW(RTX_4090, 96, 88, 500) ROW(RTX_4090, 64, 33, 3073)                     \
    ROW(RTX_4090, 736, 24, 2048) ROW(RTX_4090, 320, 56, 11000) ROW(RTX_4090, 31, 255, 0)                     \
    ROW(H100, 256, 12, 32) ROW(H100, 1024, 32, 4096) ROW(H100, 32, 16, 0) ROW(H100, 1000, 65, 0)             \
    ROW(H100, 192, 88, 1000) ROW(H100, 256, 40, 49152) ROW(H100, 96, 88, 500) ROW(H100, 128, 168, 232448)    \
    ROW(H100, 384, 168, 100000) ROW(H100, 64, 16, 6144) ROW(H100, 1024, 64, 32768) ROW(H100, 288, 96, 127)   \
    ROW(H200, 256, 12, 32) ROW(H200, 1024, 32, 4096) ROW(H200, 32, 16, 0) ROW(H200, 1000, 65, 0)             \
    ROW(H200, 192, 88, 1000) ROW(H200, 256, 40, 49152) ROW(H200, 96, 88, 500) ROW(H200, 256, 33, 128)        \
    ROW(H200, 512, 128, 1024) ROW(H200, 32, 128, 7105) ROW(H200, 640, 48, 40000) ROW(B200, 256, 12, 32)      \
    ROW(B200, 1024, 32, 4096) ROW(B200, 32, 16, 0) ROW(B200, 1000, 65, 0) ROW(B200, 192, 88, 1000)           \
    ROW(B200, 256, 40, 49152) ROW(B200, 96, 88, 500) ROW(B200, 128, 255, 116224)                             \
    ROW(B200, 192, 128, 232449) ROW(B200, 1024, 48, 65536) ROW(B200, 65, 20, 896)                            \
    ROW(RTX_5060, 256, 12, 32) ROW(RTX_5060, 1024, 32, 4096) ROW(RTX_5060, 32, 16, 0)                        \
    ROW(RTX_5060, 1000, 65, 0) ROW(RTX_5060, 192, 88, 1000) ROW(RTX_5060, 256, 40, 49152)                    \
    ROW(RTX_5060, 96, 88, 500) ROW(RTX_5060, 64, 20, 0) ROW(RTX_5060, 192, 32, 15000)                        \
    ROW(RTX_5060, 1024, 64, 0) ROW(RTX_5060, 480, 80, 33000) ROW(RTX_5070_Ti, 256, 12, 32)                   \
    ROW(RTX_5070_Ti, 1024, 32, 4096) ROW(RTX_5070_Ti, 32, 16, 0) ROW(RTX_5070_Ti, 1000, 65, 0)               \
    ROW(RTX_5070_Ti, 192, 88, 1000) ROW(RTX_5070_Ti, 256, 40, 49152) ROW(RTX_5070_Ti, 96, 88, 500)           \
    ROW(RTX_5070_Ti, 128, 80, 24000) ROW(RTX_5070_Ti, 672, 40, 512) ROW(RTX_5070_Ti, 96, 168, 9000)          \
    ROW(RTX_5090, 256, 12, 32) ROW(RTX_5090, 1024, 32, 4096) ROW(RTX_5090, 32, 16, 0)                        \
    ROW(RTX_5090, 1000, 65, 0) ROW(RTX_5090, 192, 88, 1000) ROW(RTX_5090, 256, 40, 49152)                    \
    ROW(RTX_5090, 96, 88, 500) ROW(RTX_5090, 256, 65, 16000) ROW(RTX_5090, 1024, 33, 50000)                  \
    ROW(RTX_5090, 16, 24, 4097) ROW(RTX_5090, 544, 72, 0)
// clang-format on

// clang-format off
#define GPUS(ROW)                                                                                            \
    ROW(Jetson_TX2) ROW(V100) ROW(T4) ROW(A100) ROW(RTX_3090) ROW(L4) ROW(RTX_4090) ROW(H100) ROW(H200)      \
    ROW(B200) ROW(RTX_5060) ROW(RTX_5070_Ti) ROW(RTX_5090)
// clang-format on

enum {
    SM_COUNT,
    THREADS_PER_SM,
    THREADS_PER_BLOCK,
    BLOCKS_PER_SM,
    REGISTERS_PER_SM,
    REGISTERS_PER_BLOCK,
    SHARED_PER_SM,
    SHARED_PER_BLOCK,
    SHARED_RESERVED,
    SHARED_UNIT,
    THREADS, // what the kernel asks for
    REGISTERS,
    SHARED,
    QUESTION_INTS,
};
enum { BY_THREADS, BY_REGISTERS, BY_SHARED, BY_BLOCKS, BLOCKS, WARPS, PERCENT, GRID, ANSWER_INTS };

#define QUESTION(gpu, threads, registers, shared) {gpu, threads, registers, shared},
#define NAME(gpu, ...) #gpu,
#define FIGURES(gpu) {gpu},
static const int asked[][QUESTION_INTS] = {TABLE(QUESTION)};
static const char *const asked_of[] = {TABLE(NAME)};
static const int gpus[][QUESTION_INTS] = {GPUS(FIGURES)};
static const char *const gpu_names[] = {GPUS(NAME)};

// So many that the last block is not full, whatever its size.
enum { ASKED = sizeof asked / sizeof asked[0], DRAWN = 108, ROWS = ASKED + DRAWN };

// ---- Questions --------------------------------------------------------------------------------------------

// Which GPU's relative a drawn question is about.
static int drawn_gpu(uint64_t seed, int row) {
    return (int)(random_bits(seed, 1, (uint64_t)row) % (sizeof gpus / sizeof gpus[0]));
}

static int choose(uint64_t seed, int stream, int row, int least, int most) {
    return least + (int)(random_bits(seed, (uint64_t)stream, (uint64_t)row) % (uint64_t)(most - least + 1));
}

// A GPU like one that exists, with other numbers of SMs and registers, and a kernel.
static void draw_question(uint64_t seed, int row, int question[QUESTION_INTS]) {
    memcpy(question, gpus[drawn_gpu(seed, row)], QUESTION_INTS * sizeof *question);
    question[SM_COUNT] = choose(seed, 2, row, 1, 255);
    question[REGISTERS_PER_SM] = 32768 * choose(seed, 3, row, 1, 4);
    question[REGISTERS_PER_BLOCK] = question[REGISTERS_PER_SM] < 65536 ? question[REGISTERS_PER_SM] : 65536;
    if (choose(seed, 13, row, 0, 2) == 0) { // figures that no GPU has together
        question[SHARED_UNIT] <<= choose(seed, 15, row, 0, 2);
        if (question[SHARED_RESERVED] > 0)
            question[SHARED_RESERVED] = question[SHARED_UNIT] * choose(seed, 14, row, 1, 8);
        const int left = question[SHARED_PER_SM] - question[SHARED_RESERVED];
        if (question[SHARED_PER_BLOCK] > left) question[SHARED_PER_BLOCK] = left;
    }
    const int warps = choose(seed, 4, row, 1, 32);
    question[THREADS] = choose(seed, 5, row, 0, 3) ? 32 * warps : choose(seed, 6, row, 1, 1100);
    question[REGISTERS] = choose(seed, 7, row, 1, choose(seed, 8, row, 0, 1) ? 64 : 255);
    // Often few bytes, sometimes about as many as a block may have.
    const int most = question[SHARED_PER_BLOCK];
    question[SHARED] = choose(seed, 9, row, 0, most / choose(seed, 10, row, 1, 40) + 200);
    const int kind = choose(seed, 11, row, 0, 7);
    if (kind == 0) question[SHARED] = 0;
    if (kind == 1) question[SHARED] = most + choose(seed, 12, row, -300, 300);
}

static void make_questions(const TableView *view, void *array) {
    int(*questions)[QUESTION_INTS] = array;
    memcpy(questions, asked, sizeof asked);
    for (int row = 0; row < DRAWN; row++) draw_question(view->seed, row, questions[ASKED + row]);
}

// ---- Answers ----------------------------------------------------------------------------------------------

// The ways in which the formulas are often wrong.
enum {
    THREADS_OF_BLOCK_ACCEPTED,
    REGISTERS_OF_BLOCK_ACCEPTED,
    SHARED_OF_BLOCK_ACCEPTED,
    THREADS_BY_THREADS,
    WARPS_ROUNDED_DOWN,
    WARPS_OF_ANSWER_ROUNDED_DOWN,
    REGISTERS_NOT_ROUNDED,
    REGISTERS_BY_BLOCK,
    ONE_REGISTER_FILE,
    BLOCK_WITHOUT_QUARTERS,
    WARPS_IN_QUARTERS,
    REGISTERS_OF_ONE_GPU,
    NOTHING_RESERVED,
    SHARED_NOT_ROUNDED,
    SHARED_OF_ONE_GPU,
    SHARED_BY_ZERO,
    ROUNDED_DOWN,
    H200_ONLY,
    WITHOUT_THREADS,
    WITHOUT_REGISTERS,
    WITHOUT_SHARED,
    WITHOUT_BLOCKS,
    NO_BY_THREADS,
    NO_BY_REGISTERS,
    NO_BY_SHARED,
    NO_BLOCKS,
    NO_WARPS,
    NO_PERCENT,
    NO_GRID,
    PERCENT_DIVIDED_FIRST,
    PERCENT_OF_64,
    PERCENT_OF_THREADS,
    PERCENT_TO_NEAREST,
    PERCENT_UP,
    PERCENT_BY_FACTOR,
    PERCENT_BY_WHOLE_FACTOR,
    GRID_OF_WARPS,
    GRID_OF_ONE_SM,
    SHARED_OF_NONE_IS_0,
    NO_LIMIT_IF_NONE_ASKED,
    REMAINDER_ADDED,
    RESERVED_OF_BLOCK,
    THREADS_OF_BLOCK_REACHED,
    REGISTERS_OF_BLOCK_REACHED,
    SHARED_OF_BLOCK_REACHED,
    UNIT_OF_64,
    UNIT_OF_128,
    UNIT_OF_512,
    WARPS_OF_ALL_THREADS,
    WARPS_OF_ALL_THREADS_UP,
    WARPS_OF_THREADS_ROUNDED_DOWN,
    WARPS_OF_REGISTERS_ROUNDED_DOWN,
    REGISTERS_ROUNDED_DOWN,
    SHARED_ROUNDED_DOWN,
    RESERVED_ONCE,
    PERCENT_BY_THREADS,
    PERCENT_INVERSE,
    PERCENT_WITHOUT_100,
    BY_THREADS_WITHOUT_32,
    REGISTERS_OF_ONE_THREAD,
    REGISTERS_IN_WARPS,
    WARPS_ARE_THREADS,
};
static const Deviation deviations[] = {
    [THREADS_OF_BLOCK_ACCEPTED] = {"a block of more than threads_per_block threads counts as one that fits",
                                   "limit-of-a-block-forgotten"},
    [REGISTERS_OF_BLOCK_ACCEPTED] =
        {"a block that takes more than registers_per_block registers counts as one that fits",
         "limit-of-a-block-forgotten"},
    [SHARED_OF_BLOCK_ACCEPTED] =
        {"a block that asks for more than shared_per_block bytes counts as one that fits",
         "limit-of-a-block-forgotten"},
    [THREADS_BY_THREADS] = {"by_threads is the threads of an SM divided by those of a block, not by warps",
                            "parts-of-a-warp"},
    [WARPS_ROUNDED_DOWN] = {"the warps of a block are rounded down, in the limits and in the answer",
                            "parts-of-a-warp"},
    [WARPS_OF_ANSWER_ROUNDED_DOWN] = {"the warps of a block are rounded down in the answer's warps",
                                      "parts-of-a-warp"},
    [REGISTERS_NOT_ROUNDED] = {"the registers of a warp are not rounded up to a multiple of 256",
                               "units-not-rounded"},
    [REGISTERS_BY_BLOCK] = {"the registers of a whole block are rounded up to a multiple of 256, not those "
                            "of each warp",
                            "units-not-rounded"},
    [ONE_REGISTER_FILE] = {"the registers of an SM are not divided into quarters", "units-not-rounded"},
    [BLOCK_WITHOUT_QUARTERS] =
        {"the warps of a block are not rounded up to a multiple of 4 for registers_per_block", NULL},
    [WARPS_IN_QUARTERS] = {"the warps of a block are rounded up to a multiple of 4 where blocks are counted",
                           "rounded-up-once-too-often"},
    [REGISTERS_OF_ONE_GPU] = {"every SM has 65,536 registers", NULL},
    [NOTHING_RESERVED] = {"shared_reserved is not added to the shared memory of a block",
                          "units-not-rounded"},
    [SHARED_NOT_ROUNDED] = {"the shared memory of a block is not rounded up to a multiple of shared_unit",
                            "units-not-rounded"},
    [SHARED_OF_ONE_GPU] = {"every GPU reserves 1,024 bytes for each block, and has units of 128 bytes", NULL},
    [SHARED_BY_ZERO] = {"a block that takes no shared memory divides by 0", "division-by-zero"},
    [ROUNDED_DOWN] = {"whatever should be rounded up to a multiple is rounded down", "rounded-too-late"},
    [H200_ONLY] = {"every row has the figures of an H200", NULL},
    [WITHOUT_THREADS] = {"blocks is the least of the limits without by_threads", "a-limit-forgotten"},
    [WITHOUT_REGISTERS] = {"blocks is the least of the limits without by_registers", "a-limit-forgotten"},
    [WITHOUT_SHARED] = {"blocks is the least of the limits without by_shared", "a-limit-forgotten"},
    [WITHOUT_BLOCKS] = {"blocks is the least of the limits without by_blocks", "a-limit-forgotten"},
    [NO_BY_THREADS] = {"by_threads is 0", "not-filled-in"},
    [NO_BY_REGISTERS] = {"by_registers is 0", "not-filled-in"},
    [NO_BY_SHARED] = {"by_shared is 0", "not-filled-in"},
    [NO_BLOCKS] = {"blocks is 0", "not-filled-in"},
    [NO_WARPS] = {"warps is 0", "not-filled-in"},
    [NO_PERCENT] = {"percent is 0", "not-filled-in"},
    [NO_GRID] = {"grid is 0", "not-filled-in"},
    [PERCENT_DIVIDED_FIRST] = {"the percentage is divided before it is multiplied by 100", "percent-cut-off"},
    [PERCENT_OF_64] = {"every SM has places for 64 warps where the percentage is computed",
                       "places-of-another-gpu"},
    [PERCENT_OF_THREADS] = {"the percentage is that of threads, not of warps", "parts-of-a-warp"},
    [PERCENT_TO_NEAREST] = {"the percentage is rounded to nearest", "rounded-the-other-way"},
    [PERCENT_UP] = {"the percentage is rounded up", "rounded-the-other-way"},
    [PERCENT_BY_FACTOR] = {"the percentage is a product with 100 / places, a float that is rounded down",
                           "rounded-the-other-way"},
    [PERCENT_BY_WHOLE_FACTOR] = {"100 / places is a whole number before it is multiplied by the warps",
                                 "factor-cut-off"},
    [GRID_OF_WARPS] = {"the grid has as many blocks as fit warps", "grid-miscounted"},
    [GRID_OF_ONE_SM] = {"the grid is that of one SM", "grid-miscounted"},
    [SHARED_OF_NONE_IS_0] = {"by_shared is 0 for a block that takes no shared memory",
                             "no-limit-taken-for-zero"},
    [NO_LIMIT_IF_NONE_ASKED] =
        {"by_shared is NO_LIMIT for every block that asks for no shared memory, whatever shared_reserved is",
         "nothing-asked-is-no-limit"},
    [REMAINDER_ADDED] = {"the shared memory of a block is increased by its remainder, not by what it lacks "
                         "of a multiple of shared_unit",
                         NULL},
    [RESERVED_OF_BLOCK] = {"shared_reserved is added before the comparison with shared_per_block", NULL},
    [THREADS_OF_BLOCK_REACHED] = {"a block of exactly threads_per_block threads counts as one that does not "
                                  "fit",
                                  "limit-taken-for-too-much"},
    [REGISTERS_OF_BLOCK_REACHED] =
        {"a block that takes exactly registers_per_block registers counts as one that does not fit",
         "limit-taken-for-too-much"},
    [SHARED_OF_BLOCK_REACHED] =
        {"a block that asks for exactly shared_per_block bytes counts as one that does not fit",
         "limit-taken-for-too-much"},
    [UNIT_OF_64] = {"the registers of a warp are rounded up to a multiple of 64, not of 256",
                    "units-not-rounded"},
    [UNIT_OF_128] =
        {"the registers of a warp are rounded up to a multiple of 128, 4 for each thread, not of 256",
         "units-not-rounded"},
    [UNIT_OF_512] = {"the registers of a warp are rounded up to a multiple of 512, not of 256", NULL},
    [WARPS_OF_ALL_THREADS] =
        {"warps is blocks * threads / 32: the last warp of each block does not count as a "
         "whole one if it has fewer than 32 threads",
         "parts-of-a-warp"},
    [WARPS_OF_ALL_THREADS_UP] =
        {"warps is blocks * threads / 32, rounded up once for all blocks, and not for "
         "each block",
         "parts-of-a-warp"},
    [WARPS_OF_THREADS_ROUNDED_DOWN] = {"the warps of a block are rounded down in by_threads",
                                       "parts-of-a-warp"},
    [WARPS_OF_REGISTERS_ROUNDED_DOWN] = {"the warps of a block are rounded down in by_registers",
                                         "parts-of-a-warp"},
    [REGISTERS_ROUNDED_DOWN] = {"the registers of a warp are rounded down to a multiple of 256, not up",
                                "units-not-rounded"},
    [SHARED_ROUNDED_DOWN] = {"the shared memory of a block is rounded down to a multiple of shared_unit, not "
                             "up",
                             "units-not-rounded"},
    [RESERVED_ONCE] = {"shared_reserved is taken from shared_per_sm once, and not added to the shared memory "
                       "of each block",
                       NULL},
    [PERCENT_BY_THREADS] = {"percent is 100 * warps / threads_per_sm, not divided by threads_per_sm / 32",
                            "not-the-percentage"},
    [PERCENT_INVERSE] = {"percent is 100 times the places for warps, divided by the warps",
                         "not-the-percentage"},
    [PERCENT_WITHOUT_100] = {"percent is warps divided by places, without the factor 100",
                             "not-the-percentage"},
    [BY_THREADS_WITHOUT_32] = {"by_threads is threads_per_sm, not threads_per_sm / 32, divided by the warps "
                               "of a block",
                               NULL},
    [REGISTERS_OF_ONE_THREAD] = {"the registers of a warp are those of one thread, without the factor 32",
                                 NULL},
    [REGISTERS_IN_WARPS] = {"by_registers counts the warps that fit, not the blocks", NULL},
    [WARPS_ARE_THREADS] = {"warps is blocks * threads: it counts threads", NULL},
    {NULL, NULL},
};

typedef struct {
    const int *q; // the question
    uint64_t deviations;
} Formulas;

static bool has(const Formulas *by, int deviation) { return by->deviations >> deviation & 1; }

static int least_of(int a, int b) { return a < b ? a : b; }
static int divided(int a, int b) { return b ? a / b : -1; } // as on a GPU
static int up_to_multiple(const Formulas *by, int amount, int unit) {
    return (has(by, ROUNDED_DOWN) ? amount : amount + unit - 1) / unit * unit;
}

// `down`: the deviation that rounds them down only where they are asked for.
static int warps_of_block(const Formulas *by, int down) {
    return has(by, WARPS_ROUNDED_DOWN) || has(by, down) ? by->q[THREADS] / 32
                                                        : up_to_multiple(by, by->q[THREADS], 32) / 32;
}

static int by_threads(const Formulas *by) {
    const int *q = by->q;
    if (q[THREADS] > q[THREADS_PER_BLOCK] && !has(by, THREADS_OF_BLOCK_ACCEPTED)) return 0;
    if (q[THREADS] == q[THREADS_PER_BLOCK] && has(by, THREADS_OF_BLOCK_REACHED)) return 0;
    return has(by, THREADS_BY_THREADS)
               ? q[THREADS_PER_SM] / q[THREADS]
               : divided(q[THREADS_PER_SM] / (has(by, BY_THREADS_WITHOUT_32) ? 1 : 32),
                         warps_of_block(by, WARPS_OF_THREADS_ROUNDED_DOWN));
}

// CUDA C++ Programming Guide, "Hardware Multithreading", with the units of cuda_occupancy.h: an SM has four
// schedulers with a quarter of the registers each, and a warp gets registers in multiples of 256.
static int by_registers(const Formulas *by) {
    const int *q = by->q, warps = warps_of_block(by, WARPS_OF_REGISTERS_ROUNDED_DOWN);
    const int unit = has(by, UNIT_OF_64) ? 64 : has(by, UNIT_OF_128) ? 128 : has(by, UNIT_OF_512) ? 512 : 256;
    const int exact = (has(by, REGISTERS_OF_ONE_THREAD) ? 1 : 32) * q[REGISTERS];
    const int a_warp = has(by, REGISTERS_NOT_ROUNDED)    ? exact
                       : has(by, REGISTERS_ROUNDED_DOWN) ? exact / 256 * 256
                                                         : up_to_multiple(by, exact, unit);
    const int in_quarters = up_to_multiple(by, warps, 4);
    const int a_block = a_warp * (has(by, BLOCK_WITHOUT_QUARTERS) ? warps : in_quarters);
    if (a_block > q[REGISTERS_PER_BLOCK] && !has(by, REGISTERS_OF_BLOCK_ACCEPTED)) return 0;
    if (a_block == q[REGISTERS_PER_BLOCK] && has(by, REGISTERS_OF_BLOCK_REACHED)) return 0;
    const int registers = has(by, REGISTERS_OF_ONE_GPU) ? 65536 : q[REGISTERS_PER_SM];
    if (has(by, REGISTERS_BY_BLOCK))
        return divided(registers, up_to_multiple(by, q[REGISTERS] * q[THREADS], 256));
    const int warps_that_fit =
        has(by, ONE_REGISTER_FILE) ? divided(registers, a_warp) : divided(registers / 4, a_warp) * 4;
    if (has(by, REGISTERS_IN_WARPS)) return warps_that_fit;
    return divided(warps_that_fit, has(by, WARPS_IN_QUARTERS) ? in_quarters : warps);
}

static int by_shared(const Formulas *by) {
    const int *q = by->q;
    if (q[SHARED] == 0 && has(by, NO_LIMIT_IF_NONE_ASKED)) return INT_MAX;
    const int asked = q[SHARED] + (has(by, RESERVED_OF_BLOCK) ? q[SHARED_RESERVED] : 0);
    if (asked > q[SHARED_PER_BLOCK] && !has(by, SHARED_OF_BLOCK_ACCEPTED)) return 0;
    if (asked == q[SHARED_PER_BLOCK] && has(by, SHARED_OF_BLOCK_REACHED)) return 0;
    const int reserved = has(by, NOTHING_RESERVED) || has(by, RESERVED_ONCE) ? 0
                         : has(by, SHARED_OF_ONE_GPU)                        ? 1024
                                                                             : q[SHARED_RESERVED];
    const int unit = has(by, SHARED_NOT_ROUNDED) ? 1 : has(by, SHARED_OF_ONE_GPU) ? 128 : q[SHARED_UNIT];
    const int in_all = q[SHARED] + reserved;
    const int of_sm = q[SHARED_PER_SM] - (has(by, RESERVED_ONCE) ? q[SHARED_RESERVED] : 0);
    const int shared = has(by, REMAINDER_ADDED)       ? in_all + in_all % unit
                       : has(by, SHARED_ROUNDED_DOWN) ? in_all / unit * unit
                                                      : up_to_multiple(by, in_all, unit);
    if (shared == 0 && has(by, SHARED_OF_NONE_IS_0)) return 0;
    return shared == 0 && !has(by, SHARED_BY_ZERO) ? INT_MAX : divided(of_sm, shared);
}

static int warps_of_answer(const Formulas *by, int blocks) {
    if (has(by, WARPS_ARE_THREADS)) return blocks * by->q[THREADS];
    if (has(by, WARPS_OF_ALL_THREADS)) return blocks * by->q[THREADS] / 32;
    if (has(by, WARPS_OF_ALL_THREADS_UP)) return (blocks * by->q[THREADS] + 31) / 32;
    return blocks * warps_of_block(by, WARPS_OF_ANSWER_ROUNDED_DOWN);
}

static int percent_of(const Formulas *by, const int a[ANSWER_INTS]) {
    const int *q = by->q, places = has(by, PERCENT_OF_64) ? 64 : q[THREADS_PER_SM] / 32, warps = a[WARPS];
    if (has(by, PERCENT_BY_THREADS)) return 100 * warps / q[THREADS_PER_SM];
    if (has(by, PERCENT_INVERSE)) return divided(100 * places, warps);
    if (has(by, PERCENT_WITHOUT_100)) return warps / places;
    if (has(by, PERCENT_DIVIDED_FIRST)) return warps / places * 100;
    if (has(by, PERCENT_OF_THREADS)) return 100 * a[BLOCKS] * q[THREADS] / q[THREADS_PER_SM];
    if (has(by, PERCENT_TO_NEAREST)) return (200 * warps + places) / (2 * places);
    if (has(by, PERCENT_UP)) return (100 * warps + places - 1) / places;
    if (has(by, PERCENT_BY_FACTOR)) // any factor that is a little less gives the same
        return (int)((100LL << 24) / places * warps >> 24);
    if (has(by, PERCENT_BY_WHOLE_FACTOR)) return 100 / places * warps;
    return 100 * warps / places;
}

static void answer_question(const int question[QUESTION_INTS], uint64_t chosen, int a[ANSWER_INTS]) {
    static const int h200[] = {H200};
    int q[QUESTION_INTS];
    memcpy(q, question, sizeof q);
    const Formulas formulas = {q, chosen}, *by = &formulas;
    if (has(by, H200_ONLY)) memcpy(q, h200, sizeof h200);
    a[BY_THREADS] = has(by, NO_BY_THREADS) ? 0 : by_threads(by);
    a[BY_REGISTERS] = has(by, NO_BY_REGISTERS) ? 0 : by_registers(by);
    a[BY_SHARED] = has(by, NO_BY_SHARED) ? 0 : by_shared(by);
    a[BY_BLOCKS] = q[BLOCKS_PER_SM];
    a[BLOCKS] = has(by, NO_BLOCKS) ? 0 : INT_MAX;
    for (int limit = BY_THREADS; limit <= BY_BLOCKS; limit++)
        if (!has(by, WITHOUT_THREADS + limit)) a[BLOCKS] = least_of(a[BLOCKS], a[limit]);
    a[WARPS] = has(by, NO_WARPS) ? 0 : warps_of_answer(by, a[BLOCKS]);
    a[PERCENT] = has(by, NO_PERCENT) ? 0 : percent_of(by, a);
    a[GRID] = has(by, NO_GRID) ? 0
                               : (has(by, GRID_OF_WARPS) ? a[WARPS] : a[BLOCKS]) *
                                     (has(by, GRID_OF_ONE_SM) ? 1 : q[SM_COUNT]);
}

static void make_answers(const TableView *view, void *array) {
    const int(*questions)[QUESTION_INTS] = view->inputs[0];
    int(*answers)[ANSWER_INTS] = array;
    for (int row = 0; row < view->count / ANSWER_INTS; row++)
        answer_question(questions[row], view->deviations, answers[row]);
}

static void describe_answer(const TableView *view, long long index, char *text, size_t bytes) {
    static const char *const fields[ANSWER_INTS] = {"by_threads", "by_registers", "by_shared", "by_blocks",
                                                    "blocks",     "warps",        "percent",   "grid"};
    const int row = (int)(index / ANSWER_INTS);
    const int *q = ((const int(*)[QUESTION_INTS])view->inputs[0])[row];
    char gpu[80];
    if (row < ASKED)
        snprintf(gpu, sizeof gpu, "%s", asked_of[row]);
    else
        snprintf(gpu, sizeof gpu, "the %s with %d SMs and %d registers",
                 gpu_names[drawn_gpu(view->seed, row - ASKED)], q[SM_COUNT], q[REGISTERS_PER_SM]);
    for (char *c = gpu; *c; c++)
        if (*c == '_') *c = ' ';
    snprintf(text, bytes, "%s of %s, %d thread%s, %d register%s, %d bytes shared",
             fields[index % ANSWER_INTS], gpu, q[THREADS], q[THREADS] == 1 ? "" : "s", q[REGISTERS],
             q[REGISTERS] == 1 ? "" : "s", q[SHARED]);
}

const Chapter chapter = {
    .number = 6,
    .name = "ch06",
    .title = "Occupancy",
    .points = 10,
    .tasks =
        {
            {
                .name = "table",
                .buffers = {{.name = "question",
                             .role = INPUT,
                             .type = I32,
                             .count = COUNT_FIXED(ROWS * QUESTION_INTS),
                             .make = make_questions},
                            {.name = "answer",
                             .role = OUTPUT,
                             .type = I32,
                             .count = COUNT_FIXED(ROWS * ANSWER_INTS),
                             .make = make_answers,
                             .deviations = deviations,
                             .describe = describe_answer}},
                .launches = {{
                    .kernel = "occupancy",
                    .arguments = {BUFFER("question"), BUFFER("answer"), INT(COUNT_N)},
                }},
                .expect = EXPECT_TABLE,
                .counted = {.n = ROWS},
            },
            {
                .name = "launch",
                .buffers = {{.name = "in", .role = INPUT},
                            {.name = "partial", .role = OUTPUT, .count = PER_BLOCK}},
                .launches = {{
                    .kernel = "sum_full",
                    .arguments = {BUFFER("in"), BUFFER("partial"), INT(COUNT_N)},
                    .block_multiple_of = 32,
                }},
                .expect = EXPECT_SUM,
                .chain = CHAIN_BLOCK,
                .max_n_gpu = 1 << 30,
            },
        },
    .goals =
        {
            {
                .words = "% of the places for warps can be taken",
                .measure = "100 * occupancy",
                .bound = AT_LEAST,
                .limit = 100,
                .points = 2,
                .task = "launch",
                .why = "The warps that an SM can hold of this launch, of all for which it has places.",
            },
            {
                .words = "waves of blocks",
                .measure = "waves",
                .bound = EXACTLY,
                .limit = 1,
                .points = 2,
                .task = "launch",
                .why = "One wave is as many blocks as all SMs together can hold at a time.",
            },
        },
    .remarks =
        {
            {.verdict = "WRONG",
             .task = "table",
             .say = "The answers are those of NVIDIA's occupancy calculator: each follows from the figures "
                    "of its "
                    "own row, some of them rounded up to a unit."},
            {.verdict = "LAUNCH",
             .task = "launch",
             .say = "Launch at least one block, of whole warps, with no more threads than a block may have."},
        },
};
