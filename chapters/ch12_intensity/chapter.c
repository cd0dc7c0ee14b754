// Chapter 12: predictions of a roofline, a kernel that shares what it loads, and one that keeps many loads
// under way.
//
// tests/test_intensity_table.py works every line of TABLE out in fractions, and runs the seven loops of
// kernel.cu on the emulator to count what they cost.
#include <math.h>
#include <stdio.h>

#include "driver/plan/chapter.h"

// ---- Predictions ------------------------------------------------------------------------------------------

// What the GPUs have: SMs, float units per SM, clock in MHz, width of the memory bus in bits, memory clock in
// MHz. Sources: common/gpu/profiles.c; the float units of an SM are in the CUDA C++ Programming Guide, table
// "Throughput of Native Arithmetic Instructions".
#define T4 40, 64, 1590, 256, 5001
#define L4 58, 128, 2040, 192, 6251
#define A100 108, 64, 1410, 5120, 1593
#define H100 132, 128, 1980, 5120, 2619
#define H200 132, 128, 1980, 6016, 3201
#define RTX_5060 30, 128, 2497, 128, 14001
#define RTX_5070_Ti 70, 128, 2452, 256, 14001
#define RTX_5090 170, 128, 2407, 512, 14001

// What follows: millions of FLOPs a second, millions of bytes a second, and 1,000 times their quotient.
#define T4_FIGURES 8140800, 320064, 25434
#define L4_FIGURES 30289920, 300048, 100950
#define A100_FIGURES 19491840, 2039040, 9559
#define H100_FIGURES 66908160, 3352320, 19958
#define H200_FIGURES 66908160, 4814304, 13897
#define RTX_5060_FIGURES 19176960, 448032, 42802
#define RTX_5070_Ti_FIGURES 43939840, 896064, 49036
#define RTX_5090_FIGURES 104752640, 1792128, 58451

enum { COPY, SCALE, SCALE_ADD, SCALE_ADD_FLOAT4, DOT, MULTIPLY_COMPLEX, POLYNOMIAL };
enum { MEMORY, ARITHMETIC };

// GPU, loop, terms, turns; FLOPs, bytes, FLOPs per 1,000 bytes, limiter, millions of FLOPs a second,
// microseconds. Each GPU has a polynomial just below its ridge and one just above.
#define TABLE(ROW)                                                                                           \
    ROW(T4, SCALE, 1, 1 << 20, 1048576, 8388608, 125, MEMORY, 40008, 27)                                     \
    ROW(T4, SCALE_ADD, 1, 123456789, 246913578, 1481481468, 166, MEMORY, 53344, 4629)                        \
    ROW(T4, COPY, 1, 999983, 0, 7999864, 0, MEMORY, 0, 25)                                                   \
    ROW(T4, POLYNOMIAL, 6, 1000000, 10000000, 8000000, 1250, MEMORY, 400080, 25)                             \
    ROW(T4, POLYNOMIAL, 102, 1 << 24, 3388997632, 134217728, 25250, MEMORY, 8081616, 420)                    \
    ROW(T4, POLYNOMIAL, 103, 1 << 24, 3422552064, 134217728, 25500, ARITHMETIC, 8140800, 421)                \
    ROW(T4, POLYNOMIAL, 200, 1 << 28, 106837311488, 2147483648, 49750, ARITHMETIC, 8140800, 13124)           \
    ROW(L4, SCALE_ADD, 1, 1000000, 2000000, 12000000, 166, MEMORY, 50008, 40)                                \
    ROW(L4, SCALE_ADD_FLOAT4, 1, 1 << 28, 2147483648, 12884901888, 166, MEMORY, 50008, 42943)                \
    ROW(L4, SCALE, 1, 1 << 26, 67108864, 536870912, 125, MEMORY, 37506, 1790)                                \
    ROW(L4, POLYNOMIAL, 8, 1 << 24, 234881024, 134217728, 1750, MEMORY, 525084, 448)                         \
    ROW(L4, POLYNOMIAL, 404, 123456789, 99506171934, 987654312, 100750, MEMORY, 30229836, 3292)              \
    ROW(L4, POLYNOMIAL, 405, 123456789, 99753085512, 987654312, 101000, ARITHMETIC, 30289920, 3294)          \
    ROW(L4, POLYNOMIAL, 500, 999983, 997983034, 7999864, 124750, ARITHMETIC, 30289920, 33)                   \
    ROW(L4, SCALE_ADD, 1, 1, 2, 12, 166, MEMORY, 50008, 1)                                                   \
    ROW(A100, SCALE_ADD_FLOAT4, 1, 1 << 24, 134217728, 805306368, 166, MEMORY, 339840, 395)                  \
    ROW(A100, DOT, 1, 999983, 1999966, 7999864, 250, MEMORY, 509760, 4)                                      \
    ROW(A100, SCALE_ADD, 1, 1 << 25, 67108864, 402653184, 166, MEMORY, 339840, 198)                          \
    ROW(A100, POLYNOMIAL, 12, 123456789, 2716049358, 987654312, 2750, MEMORY, 5607360, 485)                  \
    ROW(A100, POLYNOMIAL, 39, 1 << 28, 20401094656, 2147483648, 9500, MEMORY, 19370880, 1054)                \
    ROW(A100, POLYNOMIAL, 40, 1 << 28, 20937965568, 2147483648, 9750, ARITHMETIC, 19491840, 1075)            \
    ROW(A100, POLYNOMIAL, 120, 1 << 26, 15971909632, 536870912, 29750, ARITHMETIC, 19491840, 820)            \
    ROW(H100, DOT, 1, 123456789, 246913578, 987654312, 250, MEMORY, 838080, 295)                             \
    ROW(H100, MULTIPLY_COMPLEX, 1, 1 << 26, 402653184, 1610612736, 250, MEMORY, 838080, 481)                 \
    ROW(H100, SCALE_ADD_FLOAT4, 1, 1 << 20, 8388608, 50331648, 166, MEMORY, 558720, 16)                      \
    ROW(H100, POLYNOMIAL, 16, 1 << 28, 8053063680, 2147483648, 3750, MEMORY, 12571200, 641)                  \
    ROW(H100, POLYNOMIAL, 80, 999983, 157997314, 7999864, 19750, MEMORY, 66208320, 3)                        \
    ROW(H100, POLYNOMIAL, 81, 999983, 159997280, 7999864, 20000, ARITHMETIC, 66908160, 3)                    \
    ROW(H100, POLYNOMIAL, 100, 1 << 25, 6643777536, 268435456, 24750, ARITHMETIC, 66908160, 100)             \
    ROW(H200, COPY, 1, 1 << 28, 0, 2147483648, 0, MEMORY, 0, 447)                                            \
    ROW(H200, SCALE, 1, 1 << 28, 268435456, 2147483648, 125, MEMORY, 601788, 447)                            \
    ROW(H200, SCALE_ADD, 1, 1 << 28, 536870912, 3221225472, 166, MEMORY, 802384, 670)                        \
    ROW(H200, SCALE_ADD_FLOAT4, 1, 1 << 26, 536870912, 3221225472, 166, MEMORY, 802384, 670)                 \
    ROW(H200, DOT, 1, 1 << 28, 536870912, 2147483648, 250, MEMORY, 1203576, 447)                             \
    ROW(H200, MULTIPLY_COMPLEX, 1, 1 << 27, 805306368, 3221225472, 250, MEMORY, 1203576, 670)                \
    ROW(H200, POLYNOMIAL, 4, 999983, 5999898, 7999864, 750, MEMORY, 3610728, 2)                              \
    ROW(H200, POLYNOMIAL, 56, 1 << 26, 7381975040, 536870912, 13750, MEMORY, 66196680, 112)                  \
    ROW(H200, POLYNOMIAL, 57, 1 << 26, 7516192768, 536870912, 14000, ARITHMETIC, 66908160, 113)              \
    ROW(H200, POLYNOMIAL, 64, 1 << 20, 132120576, 8388608, 15750, ARITHMETIC, 66908160, 2)                   \
    ROW(H200, POLYNOMIAL, 2, 1, 2, 8, 250, MEMORY, 1203576, 1)                                               \
    ROW(RTX_5060, COPY, 1, 999983, 0, 7999864, 0, MEMORY, 0, 18)                                             \
    ROW(RTX_5060, SCALE, 1, 1 << 20, 1048576, 8388608, 125, MEMORY, 56004, 19)                               \
    ROW(RTX_5060, MULTIPLY_COMPLEX, 1, 1 << 24, 100663296, 402653184, 250, MEMORY, 112008, 899)              \
    ROW(RTX_5060, POLYNOMIAL, 5, 1 << 26, 536870912, 536870912, 1000, MEMORY, 448032, 1199)                  \
    ROW(RTX_5060, POLYNOMIAL, 172, 1 << 25, 11475615744, 268435456, 42750, MEMORY, 19153368, 600)            \
    ROW(RTX_5060, POLYNOMIAL, 173, 1 << 25, 11542724608, 268435456, 43000, ARITHMETIC, 19176960, 602)        \
    ROW(RTX_5060, POLYNOMIAL, 300, 1000000, 598000000, 8000000, 74750, ARITHMETIC, 19176960, 32)             \
    ROW(RTX_5070_Ti, SCALE, 1, 1 << 26, 67108864, 536870912, 125, MEMORY, 112008, 600)                       \
    ROW(RTX_5070_Ti, SCALE_ADD, 1, 1000000, 2000000, 12000000, 166, MEMORY, 149344, 14)                      \
    ROW(RTX_5070_Ti, COPY, 1, 123456789, 0, 987654312, 0, MEMORY, 0, 1103)                                   \
    ROW(RTX_5070_Ti, POLYNOMIAL, 3, 1 << 25, 134217728, 268435456, 500, MEMORY, 448032, 300)                 \
    ROW(RTX_5070_Ti, POLYNOMIAL, 197, 1 << 20, 411041792, 8388608, 49000, MEMORY, 43907136, 10)              \
    ROW(RTX_5070_Ti, POLYNOMIAL, 198, 1 << 20, 413138944, 8388608, 49250, ARITHMETIC, 43939840, 10)          \
    ROW(RTX_5070_Ti, POLYNOMIAL, 1000, 1 << 24, 33520877568, 134217728, 249750, ARITHMETIC, 43939840, 763)   \
    ROW(RTX_5090, SCALE_ADD, 1, 1 << 25, 67108864, 402653184, 166, MEMORY, 298688, 225)                      \
    ROW(RTX_5090, SCALE_ADD_FLOAT4, 1, 1 << 24, 134217728, 805306368, 166, MEMORY, 298688, 450)              \
    ROW(RTX_5090, SCALE, 1, 1 << 28, 268435456, 2147483648, 125, MEMORY, 224016, 1199)                       \
    ROW(RTX_5090, POLYNOMIAL, 20, 1 << 20, 39845888, 8388608, 4750, MEMORY, 8512608, 5)                      \
    ROW(RTX_5090, POLYNOMIAL, 234, 1000000, 466000000, 8000000, 58250, MEMORY, 104391456, 5)                 \
    ROW(RTX_5090, POLYNOMIAL, 235, 1000000, 468000000, 8000000, 58500, ARITHMETIC, 104752640, 5)             \
    ROW(RTX_5090, POLYNOMIAL, 256, 123456789, 62962962390, 987654312, 63750, ARITHMETIC, 104752640, 602)

enum { QUESTION_INTS = 8, ANSWER_LONGS = 9 };

#define QUESTION(gpu, loop, terms, n, ...) {gpu, loop, terms, n},
#define ANSWER(gpu, loop, terms, n, flops, bytes, ...) {flops, bytes, gpu##_FIGURES, __VA_ARGS__},
#define NAME(gpu, loop, ...) #loop " on " #gpu,
static const int questions[][QUESTION_INTS] = {TABLE(QUESTION)};
static const long long answers[][ANSWER_LONGS] = {TABLE(ANSWER)};
static const char *const row_names[] = {TABLE(NAME)};

enum { ROWS = sizeof questions / sizeof questions[0] };

// "intensity of polynomial on RTX 5090, 20 terms, 1048576 turns"
static void describe_answer(long long index, char *text, size_t bytes) {
    static const char *const fields[ANSWER_LONGS] = {
        "flops", "bytes", "peak", "bandwidth", "ridge", "intensity", "limiter", "attainable", "time"};
    const long long row = index / ANSWER_LONGS;
    const int loop = questions[row][QUESTION_INTS - 3], terms = questions[row][QUESTION_INTS - 2];
    char name[64];
    size_t used = 0;
    bool is_gpu = false; // the loop's name in lower case, the GPU's as it is
    for (const char *c = row_names[row]; *c && used + 1 < sizeof name; c++) {
        is_gpu = is_gpu || *c == ' ';
        name[used++] = !is_gpu && *c >= 'A' && *c <= 'Z' ? (char)(*c - 'A' + 'a')
                       : is_gpu && *c == '_'             ? ' '
                                                         : *c;
    }
    name[used] = '\0';
    const int length = snprintf(text, bytes, "%s of %s", fields[index % ANSWER_LONGS], name);
    if (length < 0 || (size_t)length >= bytes) return;
    if (loop == POLYNOMIAL)
        snprintf(text + length, bytes - (size_t)length, ", %d terms, %d turns", terms,
                 questions[row][QUESTION_INTS - 1]);
    else
        snprintf(text + length, bytes - (size_t)length, ", %d turns", questions[row][QUESTION_INTS - 1]);
}

// ---- A polynomial -----------------------------------------------------------------------------------------

// The largest whole number of the inputs, 2^24, to the fifth power is a float.
static const float terms[] = {0.5f, -0.75f, 1.25f, 2.0f, -3.0f, 1.5f};
enum { TERMS = sizeof terms / sizeof terms[0] };

// By Horner's rule in double. The error that floats may make scales with the sum of the magnitudes of the
// terms at x (N. Higham, Accuracy and Stability of Numerical Algorithms, section 5.1).
static void polynomial(const ReferenceView *view, double *expected, double *magnitude, long long count) {
    const float *x = view->inputs[0];
    for (long long i = 0; i < count; i++) {
        double value = terms[0], size = fabs((double)terms[0]);
        for (int k = 1; k < TERMS; k++) {
            value = value * x[i] + terms[k];
            size = size * fabs((double)x[i]) + fabs((double)terms[k]);
        }
        expected[i] = value;
        magnitude[i] = size;
    }
}

// A multiplication and an addition for each term behind the first.
static double polynomial_chain(const CaseShape *shape) {
    (void)shape;
    return 2.0 * (TERMS - 1);
}

const Chapter chapter =
    {
        .number = 12,
        .name = "ch12",
        .title = "Intensity and unrolling",
        .points = 10,
        .tasks =
            {
                {
                    .name = "predict",
                    .buffers = {{.name = "question",
                                 .role = INPUT,
                                 .type = I32,
                                 .count = COUNT_FIXED(ROWS * QUESTION_INTS),
                                 .data = questions},
                                {.name = "answer",
                                 .role = OUTPUT,
                                 .type = I64,
                                 .count = COUNT_FIXED(ROWS * ANSWER_LONGS),
                                 .data = answers,
                                 .describe = describe_answer}},
                    .launches = {{
                        .kernel = "predict",
                        .arguments = {BUFFER("question"), BUFFER("answer"), INT(COUNT_N)},
                    }},
                    .expect = EXPECT_TABLE,
                    .counted = {.n = ROWS},
                },
                {
                    .name = "evaluate",
                    .buffers = {{.name = "x", .role = INPUT},
                                {.name = "term", .role = INPUT, .count = COUNT_FIXED(TERMS), .data = terms},
                                {.name = "y", .role = OUTPUT}},
                    .launches = {{
                        .kernel = "evaluate",
                        .arguments = {BUFFER("x"), BUFFER("term"), BUFFER("y"), INT(COUNT_FIXED(TERMS)),
                                      INT(COUNT_N)},
                    }},
                    .expect = EXPECT_REFERENCE,
                    .reference = polynomial,
                    .chain = CHAIN_FUNCTION,
                    .chain_function = polynomial_chain,
                    .max_n_gpu = 1 << 26, // every value is compared on the host
                },
                {
                    .name = "sum_in_flight",
                    .buffers = {{.name = "in", .role = INPUT},
                                {.name = "partial", .role = OUTPUT, .count = PER_THREAD}},
                    .launches = {{
                        .kernel = "sum_in_flight",
                        .arguments = {BUFFER("in"), BUFFER("partial"), INT(COUNT_N)},
                        .max_block_threads = 256,
                    }},
                    .expect = EXPECT_SUM,
                    .chain = CHAIN_PER_THREAD,
                    .max_n_gpu = 1 << 30,
                    .counted = {.n = 1 << 21},
                },
            },
        .goals =
            {
                {
                    .words = "load requests per 32 elements",
                    .measure = "32 * global_ld_requests / n",
                    .bound = AT_MOST,
                    .limit = 3,
                    .slack = 0.5, // groups of four that are not full
                    .points = 2,
                    .task = "evaluate",
                    .why = "Each element needs one load, and the terms are loaded once for several elements.",
                },
                {
                    .words = "sectors per store request",
                    .measure = "global_st_sectors / global_st_requests",
                    .bound = AT_MOST,
                    .limit = 4,
                    .points = 1,
                    .task = "evaluate",
                    .why = "The elements of each thread are arranged so that neighbouring lanes are not "
                           "neighbours in memory.",
                },
                {
                    .words = "branches per load request",
                    .measure = "branches / global_ld_requests",
                    .bound = AT_MOST,
                    .limit = 0.5,
                    .points = 1,
                    .task = "sum_in_flight",
                    .why = "Each round of the loop waits for its loads and has too few of them at a time.",
                },
                {
                    .words = "local-memory requests",
                    .measure = "local_ld_requests + local_st_requests",
                    .bound = EXACTLY,
                    .limit = 0,
                    .points = 1,
                    .task = "sum_in_flight",
                    .why = "An array whose index the compiler does not know is in memory, not in registers.",
                },
                {
                    .words = "additions that can run at a time",
                    .measure = "float_distance / float_ops",
                    .bound = AT_LEAST,
                    .limit = 4,
                    .points = 1,
                    .task = "sum_in_flight",
                    .why = "An addition that needs the one before it has to wait for it.",
                },
                {
                    .words = "blocks per SM",
                    .measure = "blocks / sm_count",
                    .bound = AT_MOST,
                    .limit = 1,
                    .task = "sum_in_flight",
                    .why = "More threads would hide the effect that this exercise is about.",
                },
                BANDWIDTH_GOAL(.points = 1, .task = "sum_in_flight",
                               .why = "More bytes must be in flight at a time."),
            },
        .remarks =
            {
                {"WRONG", "predict",
                 "Count for one iteration: every addition and multiplication, and every float read from "
                 "memory or written to it. Then check the units, and multiply before you divide: an integer "
                 "division drops the remainder."},
                {"WRONG", "evaluate",
                 "Each of a thread's elements has its own value, but all use the same term."},
                {"WRONG", "sum_in_flight",
                 "The sum consists of the elements of whole rounds, those after them, and all accumulators."},
            },
};
