// A chapter, described as data. Every chapters/chNN_name/chapter.c fills one `const Chapter chapter` with
// designated initialisers; the driver does the rest (inputs, audit, launches, checks, counting, page, JSON).
// Fields that are left out have useful defaults, so that a plain chapter is a page of facts:
//
//     #include "driver/plan/chapter.h"
//
//     const Chapter chapter = {
//         .number = 4, .name = "ch04", .title = "Warp shuffle", .points = 10,
//         .tasks = {{
//             .name = "sum_shuffle",
//             .buffers = {{.name = "in", .role = INPUT},
//                         {.name = "partial", .role = OUTPUT, .count = PER_WARP}},
//             .launches = {{.kernel = "sum_shuffle",
//                           .arguments = {BUFFER("in"), BUFFER("partial"), INT(COUNT_N)}}},
//             .expect = EXPECT_SUM, .output = "partial",
//             .chain = CHAIN_WARP,
//         }},
//         .goals = {{.words = "sectors per load request",
//                    .measure = "global_ld_sectors / global_ld_requests",
//                    .bound = AT_MOST, .limit = 4, .points = 2, .why = "..."}},
//     };
//
// Names of kernels are those in kernel.cu; how nvcc mangled them is the audit's business.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emulator/finding.h"

enum {
    MAX_TASKS = 12,
    MAX_BUFFERS = 8,
    MAX_LAUNCHES = 4,
    MAX_ARGUMENTS = 10,
    MAX_GOALS = 16,
    MAX_REMARKS = 16,
    MAX_SIZES = 48,
    HISTOGRAM_BINS = 256, // of EXPECT_HISTOGRAM: one for each value of a byte
};

// ---- Element types ---------------------------------------------------------------------------------------

typedef enum { F32, F64, BF16, I32, U32, I64, U64, U8, ELEMENT_TYPES } ElementType; // U8: INPUTs only

// Bytes of one element; "float", "int" ...: the word of CUDA C.
size_t element_bytes(ElementType type);
const char *element_word(ElementType type);

// ---- Families of inputs ----------------------------------------------------------------------------------

// Values that each reveal certain mistakes: inputs.h. Every case is of one family.
typedef enum {
    FAMILY_INTEGERS,  // integers, sum of magnitudes at most 2^24: every order of float additions is exact. Of
                      // bytes: each value as often as any other
    FAMILY_ONES,      // and one half in every sum
    FAMILY_CONSTANTS, // one value that is not a power of two, and one other in every sum
    FAMILY_UNIFORM,   // in [-1, 1)
    FAMILY_NORMAL,    // mean 4, standard deviation 1
    FAMILY_CANCELLING,     // large values that cancel with their neighbours, small ones between
    FAMILY_TEN_ORDERS,     // magnitudes from 1e-5 to 1e5, both signs
    FAMILY_NAN,            // uniform, with one NaN
    FAMILY_INFINITY,       // uniform, with +Inf first, last and at one place between
    FAMILY_INFINITIES,     // uniform, with one +Inf and one -Inf: their sum is a NaN
    FAMILY_NEGATIVE_ZEROS, // and one 1 in every sum
    FAMILY_SUBNORMALS,
    FAMILY_HUGE,   // uniform, with one value in every sum of which twice as much is infinite
    FAMILY_SKEWED, // bytes: three of four are one value, and the others mostly a few
    FAMILY_RUNS,   // bytes: runs of one value, up to some 300 long
    FAMILY_RAMP,   // bytes: each one more than the byte before
    // Rows of EXPECT_ROWS, whose elements matter together: `inputs.c` has the kinds of rows.
    FAMILY_LOGITS, // as a softmax gets them: far above and below 0, rising, with one or two peaks
    FAMILY_MASKED, // one value, and -Inf in place of some, most or all of them
    FAMILIES,
} Family;

// ---- One case --------------------------------------------------------------------------------------------

// The size of a case. Leave rows and columns 0 for one-dimensional work; otherwise, if n is 0, the driver
// sets n = rows * columns. A matrix product (EXPECT_PRODUCT) is of a matrix of rows x depth and one of depth
// x columns, and n counts the elements of the result.
typedef struct {
    long long n, rows, columns, depth;
} CaseSize;

// The shape of one launch, as its LAUNCH kernel gave it. `blocks`, `warps` and `threads` are of the whole
// grid (a block of 40 threads has 2 warps); all are 0 if LAUNCH has not run yet.
typedef struct {
    uint32_t grid[3], block[3], shared;
    long long blocks, warps, threads;
    int block_threads;
} ShapeOfLaunch;

typedef struct {
    CaseSize size;
    int launch_count;
    ShapeOfLaunch launches[MAX_LAUNCHES]; // in the order of the task
} CaseShape;

// ---- Quantities: numbers that depend on the case ---------------------------------------------------------

typedef enum {
    QUANTITY_N, // the default
    QUANTITY_ROWS,
    QUANTITY_COLUMNS,
    QUANTITY_DEPTH,            // of a matrix product
    QUANTITY_ROWS_BY_DEPTH,    // elements of its left matrix
    QUANTITY_DEPTH_BY_COLUMNS, // and of its right one
    QUANTITY_FIXED,            // .value
    QUANTITY_PER_THREAD,  // threads of the grid of the launch of kernel .of (NULL: the task's first launch)
    QUANTITY_PER_WARP,    // warps of it
    QUANTITY_PER_BLOCK,   // blocks of it
    QUANTITY_ELEMENTS_OF, // elements of buffer .of: the number of partials of an earlier launch
    QUANTITY_FUNCTION,    // .function(shape)
} QuantityKind;

typedef struct {
    QuantityKind kind;
    const char *of;
    long long value;
    long long (*function)(const CaseShape *shape);
} Quantity;

// For buffers' .count and launches' .n
#define COUNT_N                                                                                              \
    { .kind = QUANTITY_N }
#define COUNT_ROWS                                                                                           \
    { .kind = QUANTITY_ROWS }
#define COUNT_COLUMNS                                                                                        \
    { .kind = QUANTITY_COLUMNS }
#define COUNT_DEPTH                                                                                          \
    { .kind = QUANTITY_DEPTH }
#define COUNT_ROWS_BY_DEPTH                                                                                  \
    { .kind = QUANTITY_ROWS_BY_DEPTH }
#define COUNT_DEPTH_BY_COLUMNS                                                                               \
    { .kind = QUANTITY_DEPTH_BY_COLUMNS }
#define COUNT_FIXED(number)                                                                                  \
    { .kind = QUANTITY_FIXED, .value = (number) }
#define COUNT_ONE COUNT_FIXED(1)
#define PER_THREAD                                                                                           \
    { .kind = QUANTITY_PER_THREAD }
#define PER_WARP                                                                                             \
    { .kind = QUANTITY_PER_WARP }
#define PER_BLOCK                                                                                            \
    { .kind = QUANTITY_PER_BLOCK }
#define PER_THREAD_OF(kernel_name)                                                                           \
    { .kind = QUANTITY_PER_THREAD, .of = (kernel_name) }
#define PER_WARP_OF(kernel_name)                                                                             \
    { .kind = QUANTITY_PER_WARP, .of = (kernel_name) }
#define PER_BLOCK_OF(kernel_name)                                                                            \
    { .kind = QUANTITY_PER_BLOCK, .of = (kernel_name) }
#define ELEMENTS_OF(buffer_name)                                                                             \
    { .kind = QUANTITY_ELEMENTS_OF, .of = (buffer_name) }
#define COUNT_BY(f)                                                                                          \
    { .kind = QUANTITY_FUNCTION, .function = (f) }

// ---- Buffers ---------------------------------------------------------------------------------------------

typedef enum {
    NO_ROLE,
    INPUT,  // filled by the driver from the case's family (or .data); read-only; compared after the run
    OUTPUT, // poisoned with NaN bits; every element must be written
    OUTPUT_ZEROED, // an output that starts as zeros: the target of atomics
    SCRATCH,       // poisoned; not checked
    ZEROED,        // zeros before every run: tickets, counters; checked only if it .stays_zero
} BufferRole;

// What a table is made from. `inputs` are the task's buffers by index, as far as they are INPUT and made.
typedef struct {
    uint64_t seed; // of the case: what is drawn from it, no submission can know
    long long count;
    const void *const *inputs;
    uint64_t deviations; // bit i: the formulas deviate from the right ones by .deviations[i]
} TableView;

// One way in which the formulas of a table or a row are often wrong. A submission is said to have it only if
// every value that it wrote is the one that the formulas give with it.
typedef struct {
    const char *words;   // behind "a formula in which", as "the time is rounded down"; NULL ends the list
    const char *mistake; // its entry of the catalogue; NULL: none
} Deviation;
enum { MAX_DEVIATIONS = 64 };

typedef struct {
    const char *name; // as the kernel's parameter; NULL ends the list
    BufferRole role;
    ElementType type; // F32 unless given
    Quantity count;   // elements; n unless given
    bool misaligned;  // also run with the base past a 256-byte boundary, by every multiple of an element's
                      // size below 16 bytes
    // INPUT: not an argument, but the variable of that name, which kernel.cu declares `__constant__ float
    // name[count]`. The driver fills it before the launches, as cudaMemcpyToSymbol() does; `count` is fixed.
    bool is_constant;
    bool stays_zero; // ZEROED: the run must leave it at zero, and runs twice to prove that; timed runs do not
                     // clear it
    Family family; // INPUT: what it holds if the case does not ask for a family, which the counted, timed and
                   // large ones do not; FAMILY_INTEGERS unless given
    const void *data; // INPUT: its content in place of a family; EXPECT_TABLE: the right content of an
                      // output. `count` elements of `type`
    // The same where the content depends on the case: questions are drawn, answers computed from them.
    void (*make)(const TableView *view, void *array);
    const Deviation *deviations; // EXPECT_TABLE: those that .make knows; EXPECT_ROWS: .row; NULL: none
    // What element `index` of a table is, for the page: "RTX 5090, 256 threads, 40 registers". May be NULL.
    void (*describe)(const TableView *view, long long index, char *text, size_t bytes);
    // EXPECT_TABLE: the learner has to find the right answers. The page shows neither them nor the names of
    // the mistakes in the chapter's kernels, only what happened. The table's own failures are shown last.
    bool hides_answer;
} Buffer;

// ---- Launches --------------------------------------------------------------------------------------------

// An argument: a buffer's address, or a number of type I32, U32, I64, U64, F32 or F64.
typedef struct {
    const char *buffer;
    ElementType type;
    Quantity value;
} Argument;

#define BUFFER(buffer_name)                                                                                  \
    { .buffer = (buffer_name) }
#define INT(...)                                                                                             \
    { .type = I32, .value = __VA_ARGS__ }
#define LONG(...)                                                                                            \
    { .type = I64, .value = __VA_ARGS__ }
#define SIZE(...)                                                                                            \
    { .type = U64, .value = __VA_ARGS__ }
#define FLOAT(number)                                                                                        \
    {                                                                                                        \
        .type = F32, .value = {.kind = QUANTITY_FIXED, .value = (number) }                                   \
    }

// One launch of a kernel; its shape comes from `launch_<kernel>` in the same file, which is given `n`.
// If n of the case is 0 and LAUNCH asks for a grid of 0 blocks, nothing is launched (and a PER_* buffer has
// no elements).
typedef struct {
    const char *kernel; // NULL ends the list
    Argument arguments[MAX_ARGUMENTS];
    Quantity n; // what LAUNCH receives; the case's n unless given
    // Rules for the shape, each off if 0. A shape that breaks one gets the verdict LAUNCH.
    long long max_blocks, max_block_threads, max_threads;
    int block_multiple_of; // threads
} Launch;

// ---- Correct results -------------------------------------------------------------------------------------

typedef enum {
    EXPECT_SUM,         // the elements of .output add up to the sum of .input (one element: it is the sum)
    EXPECT_ROW_SUMS,    // element r of .output is the sum of row r of .input
    EXPECT_ELEMENTWISE, // element i of .output is .element() of element i of every INPUT, rounded once; exact
    EXPECT_HISTOGRAM,   // element v of .output counts the elements of .input that are v; exact
    EXPECT_SCAN,        // element i of .output is the sum of elements 0 to i of .input, or of those before i
    EXPECT_FILTER,    // element (row, column) of .output is a weighted sum of the elements around it: .filter
    EXPECT_PRODUCT,   // .output is the matrix product of the first INPUT and the second
    EXPECT_TRANSPOSE, // .output[column * rows + row] = .input[row * columns + column]; exact
    EXPECT_ROWS,      // row r of .output is .row() of row r of .input, each element within its own bound
    EXPECT_TABLE,     // every output equals its .data; exact
    EXPECT_REFERENCE, // .reference() fills in what .output should hold
} Expectation;

// The longest chain of additions that any one input element goes through on the device: h of the error budget
// gamma_h = h u / (1 - h u) (N. Higham, Accuracy and Stability of Numerical Algorithms, section 4.2).
// t = ceil(n / threads of the first launch) is what one thread adds.
typedef enum {
    CHAIN_SERIAL,     // n: also the loosest
    CHAIN_PER_THREAD, // t
    CHAIN_WARP,       // t + 5: a warp's tree after the threads' own sums
    CHAIN_BLOCK,      // t + log2(threads of a block), up to one more for a tail: a tree over the block, in
                      // memory or by warps
    CHAIN_ATOMIC,     // CHAIN_BLOCK + blocks: one addition per block to one address
    CHAIN_TWO_PASS,   // CHAIN_BLOCK of the first launch + CHAIN_BLOCK of the second over the first's partials
    CHAIN_SCAN,       // CHAIN_BLOCK + one addition for every piece of .input as long as a block has threads
                      // + up to 64 neighbours in a thread
    CHAIN_ROW,        // CHAIN_BLOCK of one block over `columns` elements, whether a warp or a block a row
    CHAIN_FILTER,     // a product and an addition for each coefficient of .filter
    CHAIN_PRODUCT,    // a product and an addition for each of `depth` pairs
    CHAIN_FUNCTION,   // .chain_function(shape)
} Chain;

typedef struct {
    CaseShape shape;
    int input_count;
    const void *inputs[MAX_BUFFERS]; // host copies of the task's INPUT buffers, in order
    ElementType types[MAX_BUFFERS];
    long long counts[MAX_BUFFERS];
} ReferenceView;

// The coefficients of EXPECT_FILTER: 2 radius + 1 rows of as many, the middle one for the element itself.
// Those that fall on no element of the image add nothing.
typedef struct {
    int radius;
    const float *fixed;       // known to everybody; where one is 0, that neighbour does not count at all. Or
    const char *coefficients; // the INPUT that holds them; its values are finite
} Filter;
enum { MAX_FILTER_RADIUS = 7 };
// One row, for EXPECT_ROWS. All numbers are those that the kernel gets, without rounding.
enum { MAX_ROW_OTHERS = 4 };
typedef struct {
    long long columns;
    const double *in;                     // the row of .input
    const double *others[MAX_ROW_OTHERS]; // the other INPUTs, whole, in order: what all rows share
    double chain;                         // as .chain says
    uint64_t deviations; // bit i: the formula deviates from the right one by .deviations[i] of the output
    int threads;         // of the first launch's blocks along x; 0 unless there are deviations
} RowView;

typedef struct {
    const char *name; // shown when a chapter has several tasks; NULL ends the list
    Buffer buffers[MAX_BUFFERS];
    Launch launches[MAX_LAUNCHES];

    Expectation expect;
    const char *input;                                  // NULL: the first INPUT
    const char *output;                                 // NULL: the first OUTPUT or OUTPUT_ZEROED
    double (*element)(const double *inputs, int count); // EXPECT_ELEMENTWISE; NULL: their sum
    // EXPECT_REFERENCE: the value of every element of .output, and the sum of magnitudes that its error
    // budget scales with (0: exact). Both arrays have `count` elements, zeroed before.
    void (*reference)(const ReferenceView *view, double *expected, double *magnitude, long long count);
    // EXPECT_ROWS: the value of every element of a row of .output, and by how much the number that a kernel
    // rounds to the output's type may differ from it. 0: exact; INFINITY: anything will do.
    void (*row)(const RowView *view, double *expected, double *bound);
    bool is_by_element; // and element i depends on element i of the inputs with as many, and on all of others
    bool is_exclusive;  // EXPECT_SCAN: element i is not part of its sum
    Filter filter;      // EXPECT_FILTER
    Chain chain;
    double (*chain_function)(const CaseShape *shape);
    bool is_bit_identical; // .output must have the same bits under every schedule (and on a GPU in every run)
    bool flushes_subnormals; // a global float atomic does: the family of subnormals is left out

    // Cases. NULL: those of plan.c (0 to 2^20 + 1); of a table: .counted alone. Sizes above max_n are left
    // out on the emulator, those above max_n_gpu on a GPU (0: no limit on either).
    const CaseSize *sizes;
    int size_count;
    long long max_n, max_n_gpu;
    // Of which a few blocks are run: large.c chooses by the types of n, unless given. NOT_LARGE: none.
    CaseSize large;
    CaseSize counted; // where goals are counted; n = 2^20 (or the largest size up to max_n) unless given
    int schedules;    // seeds besides schedule 0; 3 unless given
    // Where blocks can exchange values while they run: weak schedules (launch.h) in addition, 0 unless given.
    int weak_schedules;
    // Blocks that run at a time, as on a GPU that others use too: a block that waits for one that has not
    // started then waits for ever. As many as the device holds unless given.
    int most_resident;

    // In a program (Chapter.is_program): the device has that many bytes left, which are too few, and the
    // program must notice. 0: as many as there are.
    long long memory_left;
    // And so many cases more, in each of which the first call at another place in the program fails.
    int failing_calls;

    // Bandwidth: at this size; n = 2^28, or the largest of .sizes where they have rows, unless given. Cut to
    // max_n_gpu and to what the device has room for. NOT_TIMED: never (tables never are).
    CaseSize timed;
    // The bytes that must move in one run, whatever the kernel does. NULL: every INPUT once and every OUTPUT
    // and OUTPUT_ZEROED once, which for a sum is (n + number of partials) * 4.
    double (*bytes)(const CaseShape *shape);
    // The float operations of one run, whatever the kernel does: then its speed is told in operations a
    // second and compared with what the device's float units do. NULL: of EXPECT_PRODUCT 2 * n * depth, else
    // none.
    double (*operations)(const CaseShape *shape);
} Task;

#define NOT_LARGE                                                                                            \
    { .n = -1 }
#define NOT_TIMED                                                                                            \
    { .n = -1 }

// ---- Goals -----------------------------------------------------------------------------------------------

typedef enum { AT_MOST, AT_LEAST, EXACTLY } Bound;

// `measure` is an expression over numbers, + - * / ( ) and these names:
//   every field of Counters (common/emulator/emulator.h), counted in the goal's kernels at the task's counted
//   size; n, rows, columns, depth, grid, block (threads of one), blocks, warps, threads, shared (bytes a
//   block, static and dynamic), registers (a thread), sm_count, warps_per_sm, max_warps_per_sm, blocks_per_sm
//   (resident), occupancy (0 to 1), waves (blocks / (sm_count * blocks_per_sm)), partials (elements of
//   .output), output_bytes (of all outputs), bandwidth (GB/s), peak_share (of the float operations that the
//   device does at its highest clock), bandwidth_ratio (against the reference's on the same device in the
//   same run); of a program overlap, timed and shared_total (judge/timeline.h), and the microseconds of
//   copies to the device, copy_in_us, and of kernels, kernels_us.
// A quotient of 0 by 0 is 0. A name without a value on this device makes the goal "not yet counted": it earns
// nothing and fails nothing.
//
// A measure that names bandwidth_ratio earns all its points at the limit (0.95 of the reference is the
// house's), none at half the reference and below, and in a straight line between. It is met when the whole
// interval of the measured ratio is on the right side of the limit; where the limit lies within, the run was
// too noisy to decide: the goal then earns what is certain, and fails nothing.
//
// A goal is met only if it is met at every size and address at which the run counts (plan.h), and, where its
// measure consists of the launch shape and the device alone, on every GPU of gpu/profiles.h.

// What a kernel must do for a goal to mean anything: no bank conflicts without shared memory earn nothing,
// and no average over loads is worth anything if most of them are of no use.
enum { MAX_NEEDS = 3 };
typedef struct {
    const char *words;   // "shared stores per block"; NULL: nothing is needed
    const char *measure; // as a goal's
    double least;
} Technique;

typedef struct {
    const char *words; // "sectors per load request"; NULL ends the list
    const char *measure;
    Technique needs[MAX_NEEDS];
    Bound bound;
    double limit;
    double slack; // additional tolerance, for measures that rounding at the edges of a grid changes; 0 unless
                  // given
    double slack_moved; // more of it, for counts at sizes and bases of the run's own
    int points;
    const char *task;   // NULL: the first task
    const char *kernel; // NULL: all launches of the task together (shape names: its first launch)
    const char *why;    // one sentence shown if it is missed: what it costs, never how to fix it
} Goal;

// Nearly as fast as the reference, which most chapters require. The rest of the goal follows, at least its
// .points and .why.
#define BANDWIDTH_GOAL(...)                                                                                  \
    {                                                                                                        \
        .words = "% of the reference's bandwidth", .measure = "100 * bandwidth_ratio", .bound = AT_LEAST,    \
        .limit = 95, __VA_ARGS__                                                                             \
    }

// One sentence of this chapter's own for a verdict, shown after the general one: the first that suits what
// was found. It must be true of every kernel for which its conditions hold: say what the task is, not what
// this kernel may have done.
typedef struct {
    const char *verdict; // NULL ends the list
    const char *task;    // NULL: any
    const char *say;
    // Of the finding; NULL, 0 and false: any, or none.
    const char *objects;    // where: names of buffers as "in|out", or "shared" for any array in shared memory
    unsigned findings;      // bits of FindingKind: one of them
    bool is_between_blocks; // the other side of a race is in another block
    bool is_waiting;        // proved that the thread waits for memory that nobody changes
} Remark;

// Those that hold in every chapter.
#define REMARK_RACE                                                                                          \
    {                                                                                                        \
        .verdict = "RACE",                                                                                   \
        .say =                                                                                               \
            "Two threads of one block need different places, or between their accesses a barrier that both " \
            "reach. No barrier is for different blocks: they need different places, or atomics, with which " \
            "fences order other accesses, too."                                                              \
    }
#define REMARK_SYNC                                                                                          \
    {                                                                                                        \
        .verdict = "SYNC",                                                                                   \
        .say =                                                                                               \
            "__syncthreads() is for the whole block: all its threads must reach it, also those without an "  \
            "element.",                                                                                      \
        .findings = 1u << FINDING_DIVERGENT_BARRIER                                                          \
    }
#define REMARK_SHARED_UNSET                                                                                  \
    {                                                                                                        \
        .verdict = "UNINIT",                                                                                 \
        .say =                                                                                               \
            "Shared memory is not 0 when a block starts: a place is undefined until a thread of the block "  \
            "has written it.",                                                                               \
        .objects = "shared"                                                                                  \
    }
#define REMARK_WAIT                                                                                          \
    {                                                                                                        \
        .verdict = "TIMEOUT",                                                                                \
        .say = "What a block waits for must come from a thread that is sure to run, whatever the order in "  \
               "which blocks start, and must differ from what the place holds before.",                      \
        .is_waiting = true                                                                                   \
    }
#define SHUFFLE_FINDINGS (1u << FINDING_BAD_MASK | 1u << FINDING_SHUFFLE_INACTIVE)

typedef struct {
    int number;
    const char *name;  // "ch04"
    const char *title; // "Warp shuffle"
    int points;        // of the whole chapter; points that are not for goals are for correctness
    Task tasks[MAX_TASKS];
    Goal goals[MAX_GOALS];
    Remark remarks[MAX_REMARKS];
    // kernel.cu is a whole program with a main(), which runs on the host: program/judge_program.h. Its tasks
    // have sizes and buffers, and no launches: the program makes those itself.
    bool is_program;
    // A sentence shown once everything is correct and fast: what to do next. NULL: none.
    const char *when_passed;
} Chapter;

// ---- Reading a description ----

// The value of a quantity of the task, once the shapes of its launches are known. Negative if it names a
// buffer, kernel or function that does not exist.
long long quantity_value(const Task *task, const Quantity *quantity, const CaseShape *shape);

int task_buffer_count(const Task *task);
// Whether it has a buffer that is 0 before the launch, in which blocks exchange values.
bool task_has_workspace(const Task *task);
int task_launch_count(const Task *task);
int task_find_buffer(const Task *task, const char *name); // -1: no such buffer
int task_find_launch(const Task *task, const char *kernel);
// Whether it is a table whose right answers are not shown.
bool task_hides_answers(const Task *task);
// Whether one of its tasks does: then what went wrong is for the learner to find out.
bool chapter_hides_answers(const Chapter *chapter);
int task_input(const Task *task);  // the index of .input, or of the first INPUT; -1: none
int task_output(const Task *task); // the index of .output, or of the first output; -1: none
int chapter_task_count(const Chapter *of);
int chapter_goal_count(const Chapter *of);

// Defined by chapters/chNN_name/chapter.c.
extern const Chapter chapter;
