// Chapter 20: a whole program, which allocates, copies, launches and waits itself.
#include "driver/plan/chapter.h"

// Whole blocks of any usual size.
static const CaseSize even[] = {{.n = 4096}, {.n = 65536}};
// What is left over, and nothing at all.
static const CaseSize odd[] = {{.n = 0}, {.n = 1}, {.n = 255}, {.n = 1000}, {.n = 65537}};
static const CaseSize one[] = {{.n = 1000}};

#define PROGRAM(task_name, task_sizes, ...)                                                                  \
    {                                                                                                        \
        .name = task_name, .sizes = task_sizes, .size_count = sizeof task_sizes / sizeof task_sizes[0],      \
        .buffers = {{.name = "a", .role = INPUT},                                                            \
                    {.name = "b", .role = INPUT},                                                            \
                    {.name = "c", .role = OUTPUT}},                                                          \
        .expect = EXPECT_ELEMENTWISE, .timed = NOT_TIMED, .large = NOT_LARGE, __VA_ARGS__                    \
    }

const Chapter chapter = {
    .number = 20,
    .name = "ch20",
    .title = "A program of your own",
    .points = 10,
    .is_program = true,
    .tasks = {PROGRAM("multiples", even, .schedules = 1, .counted = {.n = 1 << 20}),
              PROGRAM("remainders", odd, .schedules = 1),
              PROGRAM("errors", one, .memory_left = 1000, .failing_calls = 40)},
    .goals =
        {
            {
                .words = "% of the possible overlap",
                .measure = "overlap",
                .bound = AT_LEAST,
                .limit = 65,
                .points = 2,
                .task = "multiples",
                .why =
                    "Copies to the device, kernels and copies back can run at the same time, if they are in "
                    "different streams and use different parts of the vectors.",
            },
            {
                .words = "% of the work between the two events",
                .measure = "timed",
                .bound = AT_LEAST,
                .limit = 99,
                .points = 1,
                .task = "multiples",
                .why = "A time is that of all copies and kernels only if the first event is before all of "
                       "them and "
                       "the second after all of them.",
            },
            {
                .words = "totals left in memory that both sides reach",
                .measure = "shared_total",
                .bound = EXACTLY,
                .limit = 1,
                .points = 1,
                .task = "multiples",
                .why = "A number that a kernel leaves in managed or mapped memory needs no copy.",
            },
        },
};
