// The rows of chapter 18: their inputs, what they should be, and what a check says, for tests/test_rows.py.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../chapters/ch18_softmax/chapter.c"
#include "driver/judge/check.h"
#include "driver/plan/elements.h"
#include "driver/plan/expected.h"
#include "driver/plan/expected_rows.h"
#include "driver/plan/inputs.h"

// fill FAMILY COUNT COLUMNS SEED TYPE: the bytes on standard output
static int write_inputs(char **a) {
    const long long count = atoll(a[1]);
    const ElementType type = (ElementType)atoi(a[4]);
    void *array = malloc((size_t)count * element_bytes(type) + 1);
    if (!array) return 3;
    fill_inputs(array, type, count, atoll(a[2]), (Family)atoi(a[0]), strtoull(a[3], NULL, 10), 0);
    fwrite(array, element_bytes(type), (size_t)count, stdout);
    free(array);
    return 0;
}

// near TYPE VALUE BOUND GOT: 1 or 0
static int say_near(char **a) {
    printf("%d\n",
           is_near((ElementType)atoi(a[0]), strtod(a[1], NULL), strtod(a[2], NULL), strtod(a[3], NULL)));
    return 0;
}

// check TASK ROWS COLUMNS THREADS: inputs, then the output, on standard input. The outcome, what and why, one
// a line; then the expected values and the bounds, as doubles.
static int check(char **a) {
    const Task *task = chapter.tasks;
    while (task->name && strcmp(task->name, a[0]) != 0) task++;
    if (!task->name) return 3;
    CaseShape shape = {.launch_count = 1, .size = {.rows = atoll(a[1]), .columns = atoll(a[2])}};
    shape.size.n = shape.size.rows * shape.size.columns;
    shape.launches[0].blocks = shape.size.rows;
    shape.launches[0].block_threads = atoi(a[3]);
    shape.launches[0].threads = shape.launches[0].blocks * shape.launches[0].block_threads;
    long long counts[MAX_BUFFERS] = {0};
    const void *pristine[MAX_BUFFERS] = {0}, *after[MAX_BUFFERS] = {0};
    for (int b = 0; b < task_buffer_count(task); b++) {
        const Buffer *buffer = &task->buffers[b];
        counts[b] = quantity_value(task, &buffer->count, &shape);
        const size_t bytes = (size_t)counts[b] * element_bytes(buffer->type);
        void *array = malloc(bytes + 1);
        if (!array || fread(array, 1, bytes, stdin) != bytes) return 3;
        after[b] = array;
        if (buffer->role == INPUT) pristine[b] = array;
    }
    Expected expected;
    if (!expected_make(task, &shape, pristine, counts, 0, &expected)) {
        puts(expected.error);
        return 3;
    }
    const CheckedCase finished = {.task = task,
                                  .shape = &shape,
                                  .family = FAMILY_INTEGERS,
                                  .counts = counts,
                                  .pristine = pristine,
                                  .after = after,
                                  .expected = &expected};
    CheckReport report;
    check_case(&finished, &report);
    printf("%s\n%s\n%s\n", check_outcome_name(report.outcome), report.what, report.why);
    fwrite(expected.values, sizeof(double), (size_t)expected.count, stdout);
    fwrite(expected.bounds, sizeof(double), (size_t)expected.count, stdout);
    expected_free(&expected);
    for (int b = 0; b < MAX_BUFFERS; b++) free((void *)after[b]);
    return 0;
}

int main(int count, char **arguments) {
    static const struct {
        const char *name;
        int (*run)(char **);
        int arguments;
    } commands[] = {{"fill", write_inputs, 5}, {"near", say_near, 4}, {"check", check, 4}};
    for (size_t c = 0; c < sizeof commands / sizeof commands[0]; c++)
        if (count == commands[c].arguments + 2 && strcmp(arguments[1], commands[c].name) == 0)
            return commands[c].run(arguments + 2);
    return 2;
}
