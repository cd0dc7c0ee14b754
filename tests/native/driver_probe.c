// The driver's parts that need no device, one command each, for tests/test_driver_parts.py.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/judge/bandwidth.h"
#include "driver/judge/check.h"
#include "driver/plan/elements.h"
#include "driver/judge/goals.h"
#include "driver/plan/inputs.h"
#include "driver/plan/plan.h"
#include "driver/plan/expected.h"
#include "driver/run/statistics.h"
#include "driver/page/rows.h"

static const CaseSize shapes[] = {{.rows = 3, .columns = 5}};

const Chapter chapter = {
    .number = 9,
    .name = "ch09",
    .tasks =
        {{.name = "sum",
          .buffers = {{.name = "in", .role = INPUT},
                      {.name = "partial", .role = OUTPUT, .count = PER_BLOCK},
                      {.name = "out", .role = OUTPUT, .count = ELEMENTS_OF("partial")}},
          .launches = {{.kernel = "sum", .arguments = {BUFFER("in"), BUFFER("partial"), INT(COUNT_N)}}},
          .expect = EXPECT_SUM,
          .chain = CHAIN_BLOCK},
         {.name = "rows",
          .buffers = {{.name = "in", .role = INPUT}, {.name = "out", .role = OUTPUT, .count = COUNT_ROWS}},
          .launches = {{.kernel = "rows", .arguments = {BUFFER("in"), BUFFER("out"), INT(COUNT_ROWS)}}},
          .expect = EXPECT_ROW_SUMS,
          .sizes = shapes,
          .size_count = 1,
          .chain = CHAIN_ROW},
         {.name = "transpose",
          .buffers = {{.name = "in", .role = INPUT}, {.name = "out", .role = OUTPUT}},
          .launches = {{.kernel = "turn", .arguments = {BUFFER("in"), BUFFER("out")}}},
          .expect = EXPECT_TRANSPOSE,
          .sizes =
              shapes,
          .size_count = 1},
         {.name = "add",
          .buffers = {{.name = "a", .role = INPUT, .type = BF16, .misaligned = true},
                      {.name = "b", .role = INPUT, .type = BF16, .misaligned = true},
                      {.name = "c", .role = OUTPUT, .type = BF16, .misaligned = true}},
          .launches = {{.kernel = "add", .arguments = {BUFFER("a"), BUFFER("b"), BUFFER("c"), INT(COUNT_N)}}},
          .expect = EXPECT_ELEMENTWISE},
         {.name = "workspace",
          .buffers =
              {{.name = "in", .role = INPUT},
               {.name = "out", .role = OUTPUT, .count = COUNT_ONE},
               {.name = "ticket", .role = ZEROED, .type = U32, .count = COUNT_FIXED(2), .stays_zero = true}},
          .launches = {{.kernel = "sum", .arguments = {BUFFER("in"), BUFFER("out"), BUFFER("ticket")}}},
          .expect = EXPECT_SUM,
          .chain = CHAIN_SERIAL},
         {.name = "bfloat16",
          .buffers = {{.name = "in", .role = INPUT, .type = BF16},
                      {.name = "out", .role = OUTPUT, .type = BF16, .count = COUNT_ONE}},
          .launches = {{.kernel = "sum_bf16", .arguments = {BUFFER("in"), BUFFER("out"), INT(COUNT_N)}}},
          .expect = EXPECT_SUM,
          .chain = CHAIN_SERIAL},
         {.name = "histogram",
          .buffers = {{.name = "in", .role = INPUT, .type = U8},
                      {.name = "bins", .role = OUTPUT_ZEROED, .type = U32, .count = COUNT_FIXED(256)}},
          .launches = {{.kernel = "histogram", .arguments = {BUFFER("in"), BUFFER("bins"), SIZE(COUNT_N)}}},
          .expect = EXPECT_HISTOGRAM},
         {.name = "scan",
          .buffers = {{.name = "in", .role = INPUT}, {.name = "out", .role = OUTPUT}},
          .launches = {{.kernel = "scan", .arguments = {BUFFER("in"), BUFFER("out"), INT(COUNT_N)}}},
          .expect = EXPECT_SCAN,
          .chain = CHAIN_SCAN},
         {.name = "exclusive scan",
          .buffers = {{.name = "in", .role = INPUT, .type = I32},
                      {.name = "out", .role = OUTPUT, .type = I32}},
          .launches = {{.kernel = "scan", .arguments = {BUFFER("in"), BUFFER("out"), INT(COUNT_N)}}},
          .expect = EXPECT_SCAN,
          .is_exclusive = true}},
};

static int number(const char *text) { return atoi(text); }

// inputs FAMILY COUNT TERMS SEED STREAM TYPE: the bytes on standard output
static int write_inputs(char **a) {
    long long count = atoll(a[1]);
    ElementType type = (ElementType)number(a[5]);
    size_t bytes = (size_t)count * element_bytes(type);
    void *array = malloc(bytes + 1);
    if (!array) return 3;
    fill_inputs(array, type, count, atoll(a[2]), (Family)number(a[0]), strtoull(a[3], NULL, 10),
                (unsigned)number(a[4]));
    fwrite(array, 1, bytes, stdout);
    free(array);
    return 0;
}

// sum COUNT: floats on standard input; "sum magnitude"
static int sum_floats(char **a) {
    size_t count = (size_t)atoll(a[0]);
    float *array = calloc(count + 1, sizeof *array);
    if (!array || fread(array, sizeof *array, count, stdin) != count) return 3;
    ExactSum sum = exact_sum(array, F32, 0, (long long)count);
    printf("%.17g %.17g\n", sum.sum, sum.magnitude);
    free(array);
    return 0;
}

// check TASK FAMILY N|ROWSxCOLUMNS BLOCKS THREADS: inputs, then outputs, on standard input; what the check
// says
static int check(char **a) {
    const Task *task = &chapter.tasks[number(a[0])];
    CaseShape shape = {.launch_count = 1};
    if (strchr(a[2], 'x')) {
        shape.size = (CaseSize){.rows = atoll(a[2]), .columns = atoll(strchr(a[2], 'x') + 1)};
        shape.size.n = shape.size.rows * shape.size.columns;
    } else {
        shape.size.n = atoll(a[2]);
    }
    ShapeOfLaunch *launch = &shape.launches[0];
    launch->blocks = atoll(a[3]);
    launch->block_threads = number(a[4]);
    launch->threads = launch->blocks * launch->block_threads;
    launch->warps = launch->blocks * ((launch->block_threads + 31) / 32);
    long long counts[MAX_BUFFERS] = {0};
    const void *pristine[MAX_BUFFERS] = {0}, *after[MAX_BUFFERS] = {0};
    for (int pass = 0; pass < 2; pass++) {
        for (int b = 0; b < task_buffer_count(task); b++) {
            const Buffer *buffer = &task->buffers[b];
            if ((buffer->role == INPUT) != (pass == 0)) continue;
            counts[b] = quantity_value(task, &buffer->count, &shape);
            size_t bytes = (size_t)counts[b] * element_bytes(buffer->type);
            void *content = malloc(bytes + 1);
            if (!content || fread(content, 1, bytes, stdin) != bytes) return 3;
            after[b] = content;
            if (pass == 0) pristine[b] = content;
        }
    }
    Expected expected;
    expected_make(task, &shape, pristine, counts, 0, &expected);
    CheckedCase finished = {.task = task,
                            .shape = &shape,
                            .family = (Family)number(a[1]),
                            .counts = counts,
                            .pristine = pristine,
                            .after = after,
                            .expected = &expected};
    CheckReport report;
    bool right = check_case(&finished, &report);
    printf("%s\n%s\n%s\n%.17g\n%lld %lld %s\n", check_outcome_name(report.outcome), report.what, report.why,
           report.budget_share, report.index, report.wrong, report.buffer);
    expected_free(&expected);
    for (int b = 0; b < MAX_BUFFERS; b++) free((void *)(uintptr_t)after[b]);
    return right ? 0 : 1;
}

// goal MEASURE BOUND LIMIT: over counters that are 1, 2, 3 ... in order, 8 blocks of 256 threads, 32
// registers
static int evaluate(char **a) {
    Measured measured[MAX_TASKS] = {{.is_counted = true}};
    for (int i = 0; i < counter_field_count; i++) {
        uint64_t value = (uint64_t)i + 1;
        memcpy((char *)&measured[0].counters[0] + counter_fields[i].offset, &value, sizeof value);
    }
    measured[0].shape = (CaseShape){.size = {.n = 2048}, .launch_count = 1};
    measured[0].shape.launches[0] =
        (ShapeOfLaunch){.blocks = 8, .warps = 64, .threads = 2048, .block_threads = 256};
    measured[0].registers[0] = 32;
    const GpuInfo info = {.sm_count = 132,
                          .max_threads_per_block = 1024,
                          .max_threads_per_sm = 2048,
                          .max_blocks_per_sm = 32,
                          .registers_per_sm = 65536,
                          .shared_per_sm = 233472,
                          .shared_reserved_per_block = 1024};
    Goal goal = {.words = "x", .measure = a[0], .bound = (Bound)number(a[1]), .limit = atof(a[2])};
    GoalResult result;
    goal_evaluate(&chapter, &goal, measured, &info, &result);
    printf("%s\n%.17g\n%s\n", goal_state_word(result.state), result.value, result.words);
    return 0;
}

// score LIMIT RATIO LOW HIGH STATE: what a goal of that share of the reference's bandwidth earns
static int score(char **a) {
    const Bandwidth bandwidth = {.kind = BANDWIDTH_MEASURED,
                                 .state = (BandwidthState)number(a[4]),
                                 .gb_per_s = 1,
                                 .ratio = atof(a[1]),
                                 .ratio_low = atof(a[2]),
                                 .ratio_high = atof(a[3])};
    const Measured measured[MAX_TASKS] = {{.bandwidth = &bandwidth}};
    const GpuInfo info = {.sm_count = 132};
    const Goal goal = {
        .words = "x", .measure = "100 * bandwidth_ratio", .bound = AT_LEAST, .limit = atof(a[0])};
    GoalResult result;
    goal_evaluate(&chapter, &goal, measured, &info, &result);
    printf("%s\n%.17g\n%.17g\n", goal_state_word(result.state), result.value, result.share);
    return 0;
}

// timed TASK MEMORY N ROWS COLUMNS MAX_N: the size at which the task is timed, its .timed being N, ROWS,
// COLUMNS
static int timed(char **a) {
    Task task = chapter.tasks[number(a[0])];
    task.timed = (CaseSize){.n = atoll(a[2]), .rows = atoll(a[3]), .columns = atoll(a[4])};
    task.max_n_gpu = atoll(a[5]);
    const CaseSize size = timed_size(&task, strtoull(a[1], NULL, 10));
    printf("%lld %lld %lld %d\n", size.n, size.rows, size.columns, task_has_bandwidth(&task));
    return 0;
}

static double seven(const CaseShape *shape) { return (double)shape->size.n * 7; }

// bytes TASK N ROWS BLOCKS HAS_FUNCTION
static int bytes(char **a) {
    Task task = chapter.tasks[number(a[0])];
    const CaseShape shape = {.size = {.n = atoll(a[1]), .rows = atoll(a[2])},
                             .launch_count = 1,
                             .launches = {{.blocks = atoll(a[3])}}};
    if (number(a[4])) task.bytes = seven;
    printf("%.17g\n", bytes_that_must_move(&task, &shape));
    return 0;
}

// compare COUNT: sets of COUNT times and COUNT of the reference, doubles on standard input; a line a set
static int compare(char **a) {
    const size_t count = (size_t)atoll(a[0]);
    double *values = calloc(2 * count + 1, sizeof *values);
    if (!values) return 3;
    while (fread(values, sizeof *values, 2 * count, stdin) == 2 * count) {
        Comparison comparison;
        if (!compare_times(values, values + count, (int)count, &comparison)) return 3;
        printf("%.17g %.17g %.17g %.17g %.17g\n", comparison.ratio, comparison.low, comparison.high,
               median_of(values, (int)count), relative_error(values, (int)count));
    }
    free(values);
    return 0;
}

// enough COUNT ELAPSED: whether the usual rule stops; COUNT times and COUNT of a reference on standard input
static int enough(char **a) {
    const size_t count = (size_t)atoll(a[0]);
    double *values = calloc(2 * count + 1, sizeof *values);
    if (!values || fread(values, sizeof *values, 2 * count, stdin) != 2 * count) return 3;
    printf("%d %d\n", is_enough(&usual_stop_rule, values, values + count, (int)count, atof(a[1])),
           is_enough(&usual_stop_rule, values, NULL, (int)count, atof(a[1])));
    free(values);
    return 0;
}

static const Seeds seeds;

// beside TASK N: what the emulator looks at beside a GPU, one case a line; "N" counted on the GPU on the last
static int print_beside(char **a) {
    PlanOptions options = {.is_gpu = true, .n = atoll(a[1]), .schedules = -1, .seeds = &seeds};
    Plan plan;
    if (!plan_make(&chapter, &options, &plan) || !plan_add_beside(&chapter, &options, &plan)) return 3;
    int counted_on_gpu = 0;
    for (int i = 0; i < plan.count; i++) {
        const Case *one = &plan.cases[i];
        if (one->task != number(a[0])) continue;
        counted_on_gpu += !one->is_beside && one->is_counted;
        if (one->is_beside)
            printf("%lld %llu %d\n", one->size.n, (unsigned long long)one->schedule, one->is_counted);
    }
    printf("%d\n", counted_on_gpu);
    plan_free(&plan);
    return 0;
}

// plan TASK IS_GPU N: the cases, one a line
static int print_plan(char **a) {
    PlanOptions options = {.is_gpu = number(a[1]) != 0, .n = atoll(a[2]), .schedules = -1, .seeds = &seeds};
    Plan plan;
    if (!plan_make(&chapter, &options, &plan)) return 3;
    for (int i = 0; i < plan.count; i++) {
        const Case *one = &plan.cases[i];
        if (one->task != number(a[0])) continue;
        printf("%lld %s %u %d %llu %d %d %u %d\n", one->size.n, family_name(one->family), one->misalignment,
               one->is_staggered, (unsigned long long)one->schedule, one->is_counted, one->recount,
               one->shift, one->figures);
    }
    plan_free(&plan);
    return 0;
}

// wrap AT INDENT TEXT
static int wrap(char **a) {
    Text text = {0};
    add_wrapped(&text, number(a[0]), number(a[1]), a[2]);
    puts(text_chars(&text));
    text_free(&text);
    return 0;
}

// resident THREADS REGISTERS SHARED: blocks on an SM of an H200
static int resident(char **a) {
    const GpuInfo info = {.max_threads_per_block = 1024,
                          .max_threads_per_sm = 2048,
                          .max_blocks_per_sm = 32,
                          .registers_per_sm = 65536,
                          .shared_per_sm = 233472,
                          .shared_reserved_per_block = 1024};
    printf("%d\n", resident_blocks(&info, number(a[0]), number(a[1]), number(a[2]), 0));
    return 0;
}

int main(int count, char **arguments) {
    static const struct {
        const char *name;
        int arguments;
        int (*run)(char **arguments);
    } commands[] = {{"inputs", 6, write_inputs}, {"sum", 1, sum_floats},  {"check", 5, check},
                    {"goal", 3, evaluate},       {"plan", 3, print_plan}, {"wrap", 3, wrap},
                    {"resident", 3, resident},   {"score", 5, score},     {"timed", 6, timed},
                    {"bytes", 5, bytes},         {"compare", 1, compare}, {"enough", 2, enough},
                    {"beside", 2, print_beside}};
    for (size_t i = 0; count > 1 && i < sizeof commands / sizeof commands[0]; i++)
        if (strcmp(arguments[1], commands[i].name) == 0 && count == commands[i].arguments + 2)
            return commands[i].run(arguments + 2);
    return 2;
}
