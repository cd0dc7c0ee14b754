// Chapter 12: predictions of a roofline, a kernel that shares what it loads, and one that keeps many loads
// under way.
//
// Some predictions are always asked for; the others are drawn for every run. tests/test_intensity_table.py
// works both kinds out in fractions, and runs the seven loops of kernel.cu on the emulator to count what they
// cost.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "driver/plan/chapter.h"
#include "driver/plan/inputs.h"

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

enum { COPY, SCALE, SCALE_ADD, SCALE_ADD_FLOAT4, DOT, MULTIPLY_COMPLEX, POLYNOMIAL };
enum { LOOPS = POLYNOMIAL + 1 };

// GPU, loop, terms, turns. Each GPU has a polynomial just below its ridge and one just above.
// clang-format off
#define TABLE(ROW)                                                                                           \
    ROW(T4, SCALE, 1, 1 << 20) ROW(T4, SCALE_ADD, 1, 123456789) ROW(T4, COPY, 1, 999983)                     \
    ROW(T4, POLYNOMIAL, 6, 1000000) ROW(T4, POLYNOMIAL, 102, 1 << 24) ROW(T4, POLYNOMIAL, 103, 1 << 24)      \
    ROW(T4, POLYNOMIAL, 200, 1 << 28) ROW(L4, SCALE_ADD, 1, 1000000) ROW(L4, SCALE_ADD_FLOAT4, 1, 1 << 28)   \
    ROW(L4, SCALE, 1, 1 << 26) ROW(L4, POLYNOMIAL, 8, 1 << 24) ROW(L4, POLYNOMIAL, 404, 123456789)           \
    ROW(L4, POLYNOMIAL, 405, 123456789) ROW(L4, POLYNOMIAL, 500, 999983) ROW(L4, SCALE_ADD, 1, 1)            \
    ROW(A100, SCALE_ADD_FLOAT4, 1, 1 << 24) ROW(A100, DOT, 1, 999983) ROW(A100, SCALE_ADD, 1, 1 << 25)       \
    ROW(A100, POLYNOMIAL, 12, 123456789) ROW(A100, POLYNOMIAL, 39, 1 << 28)                                  \
    ROW(A100, POLYNOMIAL, 40, 1 << 28) ROW(A100, POLYNOMIAL, 120, 1 << 26) ROW(H100, DOT, 1, 123456789)      \
    ROW(H100, MULTIPLY_COMPLEX, 1, 1 << 26) ROW(H100, SCALE_ADD_FLOAT4, 1, 1 << 20)                          \
    ROW(H100, POLYNOMIAL, 16, 1 << 28) ROW(H100, POLYNOMIAL, 80, 999983) ROW(H100, POLYNOMIAL, 81, 999983)   \
    ROW(H100, POLYNOMIAL, 100, 1 << 25) ROW(H200, COPY, 1, 1 << 28) ROW(H200, SCALE, 1, 1 << 28)             \
    ROW(H200, SCALE_ADD, 1, 1 << 28) ROW(H200, SCALE_ADD_FLOAT4, 1, 1 << 26) ROW(H200, DOT, 1, 1 << 28)      \
    ROW(H200, MULTIPLY_COMPLEX, 1, 1 << 27) ROW(H200, POLYNOMIAL, 4, 999983)                                 \
    ROW(H200, POLYNOMIAL, 56, 1 << 26) ROW(H200, POLYNOMIAL, 57, 1 << 26)                                    \
    ROW(H200, POLYNOMIAL, 64, 1 << 20) ROW(H200, POLYNOMIAL, 2, 1) ROW(RTX_5060, COPY, 1, 999983)            \
    ROW(RTX_5060, SCALE, 1, 1 << 20) ROW(RTX_5060, MULTIPLY_COMPLEX, 1, 1 << 24)                             \
    ROW(RTX_5060, POLYNOMIAL, 5, 1 << 26) ROW(RTX_5060, POLYNOMIAL, 172, 1 << 25)                            \
    ROW(RTX_5060, POLYNOMIAL, 173, 1 << 25) ROW(RTX_5060, POLYNOMIAL, 300, 1000000)                          \
    ROW(RTX_5070_Ti, SCALE, 1, 1 << 26) ROW(RTX_5070_Ti, SCALE_ADD, 1, 1000000)                              \
    ROW(RTX_5070_Ti, COPY, 1, 123456789) ROW(RTX_5070_Ti, POLYNOMIAL, 3, 1 << 25)                            \
    ROW(RTX_5070_Ti, POLYNOMIAL, 197, 1 << 20) ROW(RTX_5070_Ti, POLYNOMIAL, 198, 1 << 20)                    \
    ROW(RTX_5070_Ti, POLYNOMIAL, 1000, 1 << 24) ROW(RTX_5090, SCALE_ADD, 1, 1 << 25)                         \
    ROW(RTX_5090, SCALE_ADD_FLOAT4, 1, 1 << 24) ROW(RTX_5090, SCALE, 1, 1 << 28)                             \
    ROW(RTX_5090, POLYNOMIAL, 20, 1 << 20) ROW(RTX_5090, POLYNOMIAL, 234, 1000000)                           \
    ROW(RTX_5090, POLYNOMIAL, 235, 1000000) ROW(RTX_5090, POLYNOMIAL, 256, 123456789)
// clang-format on

enum { SM_COUNT, LANES_PER_SM, CLOCK_MHZ, BUS_BITS, MEMORY_MHZ, LOOP, LOOP_TERMS, TURNS, QUESTION_INTS };
enum { FLOPS, BYTES, PEAK, BANDWIDTH, RIDGE, INTENSITY, LIMITER, ATTAINABLE, TIME, ANSWER_LONGS };

#define QUESTION(gpu, loop, terms, turns) {gpu, loop, terms, turns},
#define NAME(gpu, ...) #gpu,
static const int asked[][QUESTION_INTS] = {TABLE(QUESTION)};
static const char *const asked_of[] = {TABLE(NAME)};

enum { ASKED = sizeof asked / sizeof asked[0], DRAWN = 67, ROWS = ASKED + DRAWN };

static int choose(uint64_t seed, int stream, int row, int least, int most) {
    return least + (int)(random_bits(seed, (uint64_t)stream, (uint64_t)row) % (uint64_t)(most - least + 1));
}

static void figures_of(const int q[QUESTION_INTS], long long a[ANSWER_LONGS]) {
    a[PEAK] = 2LL * q[SM_COUNT] * q[LANES_PER_SM] * q[CLOCK_MHZ];
    a[BANDWIDTH] = 2LL * q[MEMORY_MHZ] * q[BUS_BITS] / 8;
    a[RIDGE] = 1000 * a[PEAK] / a[BANDWIDTH];
}

// A polynomial whose intensity and ridge are the same once they are rounded down, but not before.
static void make_close(uint64_t seed, int row, int q[QUESTION_INTS]) {
    long long figures[ANSWER_LONGS];
    for (int k = 0; k < 4000; k++) {
        q[CLOCK_MHZ] = choose(seed, 13, 4000 * row + k, 800, 2600);
        q[MEMORY_MHZ] = choose(seed, 14, 4000 * row + k, 1200, 14000);
        figures_of(q, figures);
        if (figures[RIDGE] % 250 == 0 && 1000 * figures[PEAK] % figures[BANDWIDTH] != 0) break;
    }
    q[LOOP_TERMS] = (int)(figures[RIDGE] / 250) + 1;
}

// A time that is longer than whole microseconds by less than a float tells.
static void make_barely_longer(uint64_t seed, int row, int q[QUESTION_INTS]) {
    long long figures[ANSWER_LONGS];
    q[LOOP] = SCALE_ADD_FLOAT4;
    q[BUS_BITS] = 128;
    q[LOOP_TERMS] = 1;
    figures_of(q, figures);
    for (int k = 0; k < 4000; k++) {
        q[TURNS] = choose(seed, 16, 4000 * row + k, 1 << 27, 1 << 28);
        const long long rest = 48LL * q[TURNS] % figures[BANDWIDTH];
        if (rest > 0 && rest < 300) break;
    }
}

// A GPU that does not exist, and a loop; half of the polynomials are close to the ridge.
static void draw_question(uint64_t seed, int row, int q[QUESTION_INTS]) {
    long long figures[ANSWER_LONGS];
    q[SM_COUNT] = choose(seed, 1, row, 8, 200);
    q[LANES_PER_SM] = 64 * choose(seed, 2, row, 1, 2);
    q[CLOCK_MHZ] = choose(seed, 3, row, 800, 2600);
    q[BUS_BITS] = 64 * choose(seed, 4, row, 2, 96);
    q[MEMORY_MHZ] = choose(seed, 5, row, 1200, 14000);
    q[LOOP] = row % 2 ? POLYNOMIAL : choose(seed, 6, row, 0, LOOPS - 1);
    q[TURNS] = choose(seed, 7, row, 1, 1 << choose(seed, 8, row, 4, 28));
    figures_of(q, figures);
    const int at_ridge = (int)(4 * figures[RIDGE] / 1000) + 1; // (terms - 1) / 4 FLOPs per byte
    q[LOOP_TERMS] = q[LOOP] != POLYNOMIAL             ? 1
                    : choose(seed, 9, row, 0, 1) == 0 ? choose(seed, 10, row, 2, 1000)
                                                      : choose(seed, 11, row, at_ridge, at_ridge + 1);
    if (q[LOOP] == POLYNOMIAL && q[LOOP_TERMS] < 2) q[LOOP_TERMS] = 2;
    if (row % 8 == 1) { // long times, large numbers
        q[LOOP_TERMS] = choose(seed, 12, row, 1 << 20, 1 << 21);
        q[TURNS] = choose(seed, 15, row, 1 << 27, 1 << 28);
    }
    if (row % 8 == 3) make_close(seed, row, q);
    if (row % 8 == 2) make_barely_longer(seed, row, q);
}

static void make_questions(const TableView *view, void *array) {
    int(*questions)[QUESTION_INTS] = array;
    memcpy(questions, asked, sizeof asked);
    for (int row = 0; row < DRAWN; row++) draw_question(view->seed, row, questions[ASKED + row]);
}

// The ways in which the formulas are often wrong.
enum {
    FUSED_ONCE,
    FUSED_ONCE_IN_POLYNOMIAL,
    TERMS_NOT_LESS_ONE,
    FLOAT4_IS_ONE_FLOAT,
    ONLY_LOADS,
    ONLY_STORES,
    UPDATED_ARRAY_ONCE,
    DOT_STORES,
    FLOAT4_AS_FLOAT,
    TERMS_FROM_MEMORY,
    FLOAT_IN_EACH_TURN,
    FLOATS_AS_BYTES,
    PEAK_WITHOUT_FUSED,
    LANES_128,
    ONE_TRANSFER_A_CLOCK,
    BITS_AS_BYTES,
    RIDGE_WITHOUT_1000,
    INTENSITY_WITHOUT_1000,
    LIMITER_OF_WHOLE_FLOPS,
    LIMITER_OF_ANSWERS,
    UPSIDE_DOWN,
    ATTAINABLE_OF_ANSWER,
    NO_ROOF,
    ALWAYS_PEAK,
    TIME_DOWN,
    TIME_TO_NEAREST,
    TIME_OF_MEMORY_DOWN,
    TIME_OF_ARITHMETIC_DOWN,
    TIMES_ADDED,
    SHORTER_TIME,
    ALWAYS_TIME_OF_MEMORY,
    ALWAYS_TIME_OF_ARITHMETIC,
    TIME_BY_ATTAINABLE,
    TIME_BY_ATTAINABLE_OR_0,
};
static const Deviation deviations[] = {
    [FUSED_ONCE] = {"an addition that is fused with a multiplication is not counted, except in "
                    "multiply_complex",
                    "flops-miscounted"},
    [FUSED_ONCE_IN_POLYNOMIAL] = {"a fused multiply-add of the polynomial counts as one operation",
                                  "flops-miscounted"},
    [TERMS_NOT_LESS_ONE] = {"the polynomial has as many multiplications and additions as terms",
                            "flops-miscounted"},
    [FLOAT4_IS_ONE_FLOAT] =
        {"scale_add_float4 has the operations of scale_add, although it works on four floats",
         "float4-counted-as-one"},
    [ONLY_LOADS] = {"only the bytes that are read count, except in copy", "bytes-miscounted"},
    [ONLY_STORES] = {"only the bytes that are written count, except in copy", "bytes-miscounted"},
    [UPDATED_ARRAY_ONCE] = {"y of scale_add counts once, although it is read and written",
                            "bytes-miscounted"},
    [DOT_STORES] = {"dot writes a float in each iteration", "register-counted-as-traffic"},
    [FLOAT4_AS_FLOAT] = {"scale_add_float4 moves the bytes of scale_add", "wide-loads-raise-intensity"},
    [TERMS_FROM_MEMORY] = {"the terms of the polynomial are read from memory for every element",
                           "cached-bytes-counted"},
    [FLOAT_IN_EACH_TURN] = {"x[i] or y[i] of the polynomial moves in every turn of the loop over the terms",
                            "register-counted-as-traffic"},
    [FLOATS_AS_BYTES] = {"a float has one byte, except in copy", "bytes-miscounted"},
    [PEAK_WITHOUT_FUSED] = {"a lane makes one operation in a clock", "peak-miscounted"},
    [LANES_128] = {"every SM has 128 lanes", "peak-miscounted"},
    [ONE_TRANSFER_A_CLOCK] = {"the memory makes one transfer in a clock", "bandwidth-miscounted"},
    [BITS_AS_BYTES] = {"the width of the bus is not divided by 8", "bandwidth-miscounted"},
    [RIDGE_WITHOUT_1000] = {"the ridge is in FLOPs per byte", NULL},
    [INTENSITY_WITHOUT_1000] = {"the intensity is in FLOPs per byte", NULL},
    [LIMITER_OF_WHOLE_FLOPS] =
        {"flops / bytes and peak / bandwidth are compared as whole numbers, and memory "
         "is the limit where they are equal",
         "compared-after-rounding"},
    [LIMITER_OF_ANSWERS] = {"intensity and ridge are compared after they are rounded down, and arithmetic is "
                            "the limit where they are equal",
                            "compared-after-rounding"},
    [UPSIDE_DOWN] = {"memory is named as the limit instead of arithmetic, and the reverse",
                     "roofline-upside-down"},
    [ATTAINABLE_OF_ANSWER] = {"what is attainable is computed from the intensity that was rounded down",
                              "rounded-on-the-way"},
    [NO_ROOF] = {"what is attainable is intensity times bandwidth above the ridge too", "roof-forgotten"},
    [ALWAYS_PEAK] = {"what is attainable is the peak below the ridge too", NULL},
    [TIME_DOWN] = {"the time is rounded down", "rounded-the-other-way"},
    [TIME_TO_NEAREST] = {"the time is rounded to nearest", "rounded-the-other-way"},
    [TIME_OF_MEMORY_DOWN] = {"the time is rounded down if memory is the limit", "rounded-the-other-way"},
    [TIME_OF_ARITHMETIC_DOWN] = {"the time is rounded down if arithmetic is the limit",
                                 "rounded-the-other-way"},
    [TIMES_ADDED] = {"the time is that of memory and that of arithmetic together", "times-of-both"},
    [SHORTER_TIME] = {"the time is the shorter of those of memory and arithmetic", "times-of-both"},
    [ALWAYS_TIME_OF_MEMORY] = {"the time is that of memory where arithmetic is the limit, too",
                               "times-of-both"},
    [ALWAYS_TIME_OF_ARITHMETIC] = {"the time is that of arithmetic where memory is the limit, too",
                                   "times-of-both"},
    [TIME_BY_ATTAINABLE] =
        {"the time is flops divided by attainable: 0 / 0 for copy, which has no operations",
         "time-without-operations"},
    [TIME_BY_ATTAINABLE_OR_0] =
        {"the time is flops divided by attainable, and 0 where that is 0, as for copy",
         "time-without-operations"},
    {NULL, NULL},
};

static bool has(uint64_t chosen, int deviation) { return chosen >> deviation & 1; }

// What a turn of a loop of kernel.cu does: floating-point operations, and bytes loaded and stored. The cost
// of a copy is given, and cannot be wrong.
static void cost_of(const int q[QUESTION_INTS], uint64_t chosen, long long *flops, long long *bytes) {
    static const struct {
        int adds, multiplications, loads, stores;
    } turn[LOOPS] = {
        [COPY] = {0, 0, 1, 1},       [SCALE] = {0, 1, 1, 1},
        [SCALE_ADD] = {1, 1, 2, 1},  [SCALE_ADD_FLOAT4] = {4, 4, 8, 4},
        [DOT] = {1, 1, 2, 0},        [MULTIPLY_COMPLEX] = {2, 4, 4, 2},
        [POLYNOMIAL] = {1, 1, 1, 1}, // for each term behind the first
    };
    const int loop = q[LOOP], first = has(chosen, TERMS_NOT_LESS_ONE) ? 0 : 1;
    const int times = loop == POLYNOMIAL ? q[LOOP_TERMS] - first : 1;
    const bool is_fused_once = (has(chosen, FUSED_ONCE) && loop != MULTIPLY_COMPLEX) ||
                               (has(chosen, FUSED_ONCE_IN_POLYNOMIAL) && loop == POLYNOMIAL);
    const bool is_float4 = loop == SCALE_ADD_FLOAT4;
    const int counted = has(chosen, FLOAT4_IS_ONE_FLOAT) && is_float4 ? SCALE_ADD : loop;
    *flops = (long long)times * (turn[counted].multiplications + (is_fused_once ? 0 : turn[counted].adds));
    const int moved = has(chosen, FLOAT4_AS_FLOAT) && is_float4 ? SCALE_ADD : loop;
    long long loads = turn[moved].loads, stores = turn[moved].stores;
    if (has(chosen, UPDATED_ARRAY_ONCE) && loop == SCALE_ADD) loads--;
    if (has(chosen, DOT_STORES) && loop == DOT) stores++;
    if (has(chosen, TERMS_FROM_MEMORY) && loop == POLYNOMIAL) loads += q[LOOP_TERMS];
    if (has(chosen, FLOAT_IN_EACH_TURN) && loop == POLYNOMIAL) loads += q[LOOP_TERMS] - 2;
    if (has(chosen, ONLY_LOADS) && loop != COPY) stores = 0;
    if (has(chosen, ONLY_STORES) && loop != COPY) loads = 0;
    *bytes = (has(chosen, FLOATS_AS_BYTES) && loop != COPY ? 1 : 4) * (loads + stores);
}

static long long divided(long long a, long long b) { return b ? a / b : -1; } // as on a GPU

static bool is_limited_by_arithmetic(uint64_t chosen, long long flops, long long bytes,
                                     const long long a[ANSWER_LONGS]) {
    if (has(chosen, LIMITER_OF_WHOLE_FLOPS)) return divided(flops, bytes) > divided(a[PEAK], a[BANDWIDTH]);
    if (has(chosen, LIMITER_OF_ANSWERS)) return a[INTENSITY] >= a[RIDGE];
    return flops * a[BANDWIDTH] >= bytes * a[PEAK];
}

static long long time_of(uint64_t chosen, int down, long long amount, long long rate) {
    const long long more = has(chosen, TIME_DOWN) || has(chosen, down) ? 0
                           : has(chosen, TIME_TO_NEAREST)              ? rate / 2
                                                                       : rate - 1;
    return divided(amount + more, rate);
}

static void answer_question(const int q[QUESTION_INTS], uint64_t chosen, long long a[ANSWER_LONGS]) {
    long long flops, bytes;
    cost_of(q, chosen, &flops, &bytes);
    a[PEAK] = (has(chosen, PEAK_WITHOUT_FUSED) ? 1LL : 2LL) * q[SM_COUNT] *
              (has(chosen, LANES_128) ? 128 : q[LANES_PER_SM]) * q[CLOCK_MHZ];
    a[BANDWIDTH] = (has(chosen, ONE_TRANSFER_A_CLOCK) ? 1LL : 2LL) * q[MEMORY_MHZ] * q[BUS_BITS] /
                   (has(chosen, BITS_AS_BYTES) ? 1 : 8);
    a[RIDGE] = (has(chosen, RIDGE_WITHOUT_1000) ? 1 : 1000) * a[PEAK] / a[BANDWIDTH];
    a[FLOPS] = flops * q[TURNS];
    a[BYTES] = bytes * q[TURNS];
    a[INTENSITY] = divided((has(chosen, INTENSITY_WITHOUT_1000) ? 1 : 1000) * flops, bytes);
    const bool is_arithmetic = is_limited_by_arithmetic(chosen, flops, bytes, a);
    a[LIMITER] = is_arithmetic != has(chosen, UPSIDE_DOWN);
    const long long by_memory = has(chosen, ATTAINABLE_OF_ANSWER) ? a[INTENSITY] * a[BANDWIDTH] / 1000
                                                                  : divided(flops * a[BANDWIDTH], bytes);
    a[ATTAINABLE] =
        has(chosen, ALWAYS_PEAK) || (is_arithmetic && !has(chosen, NO_ROOF)) ? a[PEAK] : by_memory;
    const long long of_memory = time_of(chosen, TIME_OF_MEMORY_DOWN, a[BYTES], a[BANDWIDTH]),
                    of_arithmetic = time_of(chosen, TIME_OF_ARITHMETIC_DOWN, a[FLOPS], a[PEAK]);
    const bool is_or_0 = has(chosen, TIME_BY_ATTAINABLE_OR_0);
    a[TIME] = is_or_0 && a[ATTAINABLE] == 0 ? 0
              : is_or_0 || has(chosen, TIME_BY_ATTAINABLE)
                  ? time_of(chosen, TIME_DOWN, a[FLOPS], a[ATTAINABLE])
              : has(chosen, TIMES_ADDED)           ? of_memory + of_arithmetic
              : has(chosen, SHORTER_TIME)          ? (of_memory < of_arithmetic ? of_memory : of_arithmetic)
              : has(chosen, ALWAYS_TIME_OF_MEMORY) ? of_memory
              : has(chosen, ALWAYS_TIME_OF_ARITHMETIC) ? of_arithmetic
              : is_arithmetic                          ? of_arithmetic
                                                       : of_memory;
}

static void make_answers(const TableView *view, void *array) {
    const int(*questions)[QUESTION_INTS] = view->inputs[0];
    long long(*answers)[ANSWER_LONGS] = array;
    for (int row = 0; row < view->count / ANSWER_LONGS; row++)
        answer_question(questions[row], view->deviations, answers[row]);
}

// "intensity of polynomial on RTX 5090, 20 terms, 1048576 turns"
static void describe_answer(const TableView *view, long long index, char *text, size_t bytes) {
    static const char *const fields[ANSWER_LONGS] = {
        "flops", "bytes", "peak", "bandwidth", "ridge", "intensity", "limiter", "attainable", "time"};
    static const char *const loops[LOOPS] = {
        "copy", "scale", "scale_add", "scale_add_float4", "dot", "multiply_complex", "polynomial"};
    const int row = (int)(index / ANSWER_LONGS);
    const int *q = ((const int(*)[QUESTION_INTS])view->inputs[0])[row];
    char gpu[96], terms[32] = "";
    if (row < ASKED)
        snprintf(gpu, sizeof gpu, "%s", asked_of[row]);
    else
        snprintf(gpu, sizeof gpu, "a GPU with %d SMs of %d lanes at %d MHz, %d bits at %d MHz", q[SM_COUNT],
                 q[LANES_PER_SM], q[CLOCK_MHZ], q[BUS_BITS], q[MEMORY_MHZ]);
    for (char *c = gpu; *c; c++)
        if (*c == '_') *c = ' ';
    if (q[LOOP] == POLYNOMIAL) snprintf(terms, sizeof terms, ", %d terms", q[LOOP_TERMS]);
    snprintf(text, bytes, "%s of %s on %s%s, %d turns", fields[index % ANSWER_LONGS], loops[q[LOOP]], gpu,
             terms, q[TURNS]);
}

// ---- A polynomial -----------------------------------------------------------------------------------------

// Six where goals are counted; at other sizes as many as leave every power of the largest input a float.
static long long term_count(const CaseShape *shape) {
    const long long n = shape->size.n;
    if (n % 2 == 0 || n > 100000) return 6;
    return n > 60000 ? 12 : 2 + n / 2 % 4;
}

static void make_terms(const TableView *view, void *array) {
    float *terms = array;
    for (long long k = 0; k < view->count; k++) {
        const int quarters = choose(view->seed, 20, (int)k, 1, 12);
        terms[k] = (float)quarters / (choose(view->seed, 21, (int)k, 0, 1) ? 4.0f : -4.0f);
    }
}

// By Horner's rule in double. The error that floats may make scales with the sum of the magnitudes of the
// terms at x (N. Higham, Accuracy and Stability of Numerical Algorithms, section 5.1).
static void polynomial(const ReferenceView *view, double *expected, double *magnitude, long long count) {
    const float *x = view->inputs[0], *terms = view->inputs[1];
    for (long long i = 0; i < count; i++) {
        double value = terms[0], size = fabs((double)terms[0]);
        for (long long k = 1; k < view->counts[1]; k++) {
            value = value * x[i] + terms[k];
            size = size * fabs((double)x[i]) + fabs((double)terms[k]);
        }
        expected[i] = value;
        magnitude[i] = size;
    }
}

// A multiplication and an addition for each term behind the first.
static double polynomial_chain(const CaseShape *shape) { return 2.0 * (double)(term_count(shape) - 1); }

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
                                 .make = make_questions},
                                {.name = "answer",
                                 .role = OUTPUT,
                                 .type = I64,
                                 .count = COUNT_FIXED(ROWS * ANSWER_LONGS),
                                 .make = make_answers,
                                 .deviations = deviations,
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
                    .buffers =
                        {{.name = "x", .role = INPUT},
                         {.name = "term", .role = INPUT, .count = COUNT_BY(term_count), .make = make_terms},
                         {.name = "y", .role = OUTPUT}},
                    .launches = {{
                        .kernel = "evaluate",
                        .arguments = {BUFFER("x"), BUFFER("term"), BUFFER("y"), INT(COUNT_BY(term_count)),
                                      INT(COUNT_N)},
                    }},
                    .expect = EXPECT_REFERENCE,
                    .reference = polynomial,
                    .is_by_element = true,
                    .chain = CHAIN_FUNCTION,
                    .chain_function = polynomial_chain,
                    .max_n_gpu = 1 << 26,                       // every value is compared on the host
                    .large = {.n = (1 << 29) + (1 << 20) + 77}, // bytes beyond 2^31
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
                    .large = {.n =
                                  (1 << 26) + 77}, // as few blocks as SMs would have too much to do with more
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
                    .points = 1,
                    .task = "evaluate",
                    .why = "The loads of the elements count, and those of the terms.",
                },
                {
                    .words = "sectors per store request",
                    .measure = "global_st_sectors / global_st_requests",
                    .bound = AT_MOST,
                    .limit = 4,
                    .needs = {{"results per store request", "n / global_st_requests", 24}},
                    .points = 1,
                    .task = "evaluate",
                    .why = "A sector is 32 bytes: 32 floats that are neighbours fill 4.",
                },
                {
                    .words = "local-memory requests",
                    .measure = "local_ld_requests + local_st_requests",
                    .bound = EXACTLY,
                    .limit = 0,
                    .points = 1,
                    .task = "evaluate",
                    .why = "Local memory holds what a thread has for itself, but not in registers.",
                },
                {
                    .words = "branches per load request",
                    .measure = "branches / global_ld_requests",
                    .bound = AT_MOST,
                    .limit = 0.5,
                    .needs = {{"different floats per load request", "n / global_ld_requests", 24}},
                    .points = 1,
                    .task = "sum_in_flight",
                    .why = "All branches of a warp count, and all requests of its loads.",
                },
                {
                    .words = "local-memory requests",
                    .measure = "local_ld_requests + local_st_requests",
                    .bound = EXACTLY,
                    .limit = 0,
                    .points = 1,
                    .task = "sum_in_flight",
                    .why = "Local memory holds what a thread has for itself, but not in registers.",
                },
                {
                    .words = "float operations from one to the next that needs it",
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
                               .why = "Memory can deliver more in this time."),
            },
        .remarks =
            {
                {.verdict = "WRONG",
                 .task = "predict",
                 .say = "flops and bytes are those of all iterations. ridge, intensity and attainable are "
                        "rounded "
                        "down, and time is rounded up; nothing is rounded before the last step."},
                {.verdict = "WRONG",
                 .task = "evaluate",
                 .say = "Each element of y has its own value, at its own x, but all use the same term at the "
                        "same "
                        "step."},
                {.verdict = "WRONG",
                 .task = "sum_in_flight",
                 .say = "Each of the n elements belongs into the sum of one thread, once, and each thread "
                        "stores "
                        "all that it has added."},
            },
};
