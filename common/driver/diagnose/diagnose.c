#include "driver/diagnose/diagnose.h"

#include <math.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/text.h"
#include "driver/plan/elements.h"
#include "driver/diagnose/bank_facts.h"
#include "driver/diagnose/case_facts.h"
#include "driver/diagnose/idle_facts.h"
#include "driver/diagnose/load_facts.h"
#include "driver/diagnose/stripped_source.h"

const Mistake mistakes[] = {
#include "driver/diagnose/mistakes_program.def"
#include "driver/diagnose/mistakes_large.def"
#include "driver/diagnose/mistakes_stale.def"
#include "driver/diagnose/mistakes_by_task.def"
#include "driver/diagnose/mistakes_stopped.def"
#include "driver/diagnose/mistakes_result.def"
};
const int mistake_count = sizeof mistakes / sizeof mistakes[0];

typedef struct {
    const Chapter *of;
    const Judgement *judgement;
    const CaseReport *first; // NULL: no case tells
    const Finding *finding;  // NULL: none
    const CheckReport *check;
    int task;
    ShapeSet shapes;
    Facts facts;
    const char *message;
    Text source;      // without comments and spaces; one line for each of the file
    Text unchanged;   // of it, the lines that a repair does not change
    Text line, other; // of the finding
    Text loop;        // the head of the innermost loop around its line
    int loop_line;    // in which that loop begins; 0: there is none
    int local_line;   // local_line()
    int alone_line;   // line_of_one_thread()
    int unroll_line;  // of a #pragma unroll before the loop of WhatIfAnswer's unsigned test; 0: none
} Evidence;

// ---- Facts ------------------------------------------------------------------------------------------------

static const Buffer *named_buffer(const Evidence *evidence, const char *name) {
    const Task *task = &evidence->of->tasks[evidence->task];
    int index = task_find_buffer(task, name);
    return index < 0 ? NULL : &task->buffers[index];
}

// The place in the task of the kernel that the finding is in.
static int launch_of_finding(const Task *task, const CaseReport *report) {
    for (int l = 0; task && l < task_launch_count(task); l++)
        if (strcmp(task->launches[l].kernel, report->kernel) == 0) return l;
    return 0;
}

// In its block, whose threads are numbered along x first.
static unsigned warp_of(const ShapeOfLaunch *launch, const unsigned thread[3]) {
    return (thread[0] + launch->block[0] * (thread[1] + launch->block[1] * thread[2])) / 32;
}

static bool are_in_two_warps(const Evidence *evidence) {
    const CaseReport *report = evidence->first;
    const int which = launch_of_finding(&evidence->of->tasks[evidence->task], report);
    const ShapeOfLaunch *launch = &report->shape.launches[which];
    const Finding *finding = evidence->finding;
    return warp_of(launch, finding->thread) != warp_of(launch, finding->other_thread);
}

// Elements in a row of the buffer. Rows of a product's left matrix have `depth`.
static long long row_elements(const Evidence *evidence, const Buffer *buffer) {
    const Task *task = &evidence->of->tasks[evidence->task];
    const CaseSize *size = &evidence->first->settings.size;
    const bool is_left = task->expect == EXPECT_PRODUCT && buffer == &task->buffers[task_input(task)];
    return is_left ? size->depth : size->columns;
}

// Whether the access is at whole groups of 16 bytes from the beginning of its row, which is not at one.
static bool is_at_row_start(const Evidence *evidence, const Buffer *buffer) {
    const CaseSize *size = &evidence->first->settings.size;
    const long long row = row_elements(evidence, buffer) * (long long)element_bytes(buffer->type);
    const long long index = evidence->finding->index;
    return evidence->finding->kind == FINDING_MISALIGNED && !evidence->first->settings.misalignment &&
           size->rows > 1 && row > 0 && index >= 0 && index % row % 16 == 0 && index % 16 != 0;
}

// Whether a thread uses the element with its number in a buffer that has one for each warp or block.
static bool is_own_number(const Evidence *evidence, const Buffer *buffer) {
    const Finding *finding = evidence->finding;
    const ShapeOfLaunch *launch = &evidence->first->shape.launches[0];
    const QuantityKind kind = buffer->count.kind;
    const long long number = (long long)finding->block[0] * launch->block_threads + finding->thread[0];
    return (kind == QUANTITY_PER_WARP || kind == QUANTITY_PER_BLOCK) &&
           finding->index == number * (long long)element_bytes(buffer->type);
}

// How the place of the finding lies to the multiples of its size.
static Facts facts_of_alignment(const Evidence *evidence, const Buffer *buffer) {
    const Finding *finding = evidence->finding;
    const int64_t bytes = finding->bytes, index = finding->index, each = (int64_t)element_bytes(buffer->type);
    const int64_t row = each * evidence->first->settings.size.columns;
    if (index < 0 || bytes <= 0) return 0;
    const uint64_t base = finding->address - (uint64_t)index;
    Facts facts = index < (int64_t)((16 - base % 16) % 16) ? FACT_IN_HEAD : (Facts)0;
    if (index < (int64_t)finding->object_bytes) facts |= FACT_FROM_INSIDE;
    const int64_t rows = row > 0 ? index / row : 0;
    // An access past the end of its row lies in one of the next.
    for (int64_t r = rows > 16 ? rows - 16 : 0; r <= rows; r++) {
        const int64_t start = r * row, past = (int64_t)((base + (uint64_t)start) % (uint64_t)bytes);
        const int64_t head = past ? (bytes - past) / each : 0;
        if (head > 0 && index - start == head * bytes && finding->lane == 0) facts |= FACT_HEAD_IN_GROUPS;
    }
    return facts;
}

// Whether the place is as far before the counters of bytes as half of them at most: as many are for the bytes
// from 128 on, which are the numbers from -128 on if they have a sign.
static bool is_of_signed_byte(const Evidence *evidence) {
    const Finding *finding = evidence->finding;
    const int64_t size = (int64_t)finding->object_bytes, counter = 4;
    return evidence->of->tasks[evidence->task].expect == EXPECT_HISTOGRAM && finding->index < 0 &&
           finding->index >= -size / 2 && finding->index % counter == 0 && finding->bytes == counter &&
           size % (HISTOGRAM_BINS * counter) == 0 && finding->is_store;
}

static Facts facts_of_finding(const Evidence *evidence) {
    const Finding *finding = evidence->finding;
    const int64_t far = 1 << 20, size = (int64_t)finding->object_bytes;
    Facts facts = 0;
    if (finding->is_store) facts |= FACT_STORE;
    if (is_of_signed_byte(evidence)) facts |= FACT_SIGNED_BYTE;
    if (finding->is_atomic) facts |= FACT_ATOMIC;
    if (finding->is_endless) facts |= FACT_ENDLESS;
    if (finding->is_endless && finding->object[0]) facts |= FACT_WAITS;
    const Buffer *buffer = named_buffer(evidence, finding->object);
    if (finding->bytes > (buffer ? element_bytes(buffer->type) : 4)) facts |= FACT_WIDE;
    if (evidence->first->finding_count > 1) facts |= FACT_OTHER_FINDINGS;
    if (finding->place.line > 0 && finding->place.line == finding->other_place.line) facts |= FACT_SAME_LINE;
    if (strncmp(finding->object, "shared ", 7) == 0) facts |= FACT_SHARED;
    if (finding->object[0] && finding->index < 0) facts |= FACT_BEFORE;
    if (finding->object[0] && (finding->index < -64 || finding->index > size + far)) facts |= FACT_FAR;
    if ((finding->kind == FINDING_RACE || finding->kind == FINDING_STALE_READ) &&
        memcmp(finding->block, finding->other_block, sizeof finding->block) != 0)
        facts |= FACT_OTHER_BLOCK;
    else if (finding->kind == FINDING_RACE && are_in_two_warps(evidence))
        facts |= FACT_OTHER_WARP;
    if (finding->object[0] && finding->object_bytes == 0) facts |= FACT_NO_ROOM;
    if (!buffer) return facts;
    facts |= facts_of_alignment(evidence, buffer);
    if (is_at_row_start(evidence, buffer)) facts |= FACT_ROW_START;
    if (is_own_number(evidence, buffer)) facts |= FACT_OWN_NUMBER;
    switch (buffer->role) {
    case INPUT: return facts | FACT_INPUT;
    case OUTPUT:
    case OUTPUT_ZEROED: return facts | FACT_OUTPUT;
    default: return facts | FACT_SCRATCH;
    }
}

// A few small numbers say nothing: the bits of 1 are those of the smallest float.
static bool has_integer_bits(float got, double expected) {
    const int32_t whole = (int32_t)(fabs(expected) < 1e9 ? expected : 0);
    int32_t bits;
    memcpy(&bits, &got, sizeof bits);
    return abs(whole) > 1000 && (double)whole == expected && bits == whole;
}

// Whether a single block never writes more than its first warp's result. With no more elements than a warp
// has lanes, the others have none.
static bool only_first_warp_writes(const Evidence *evidence) {
    bool has_more = false;
    for (int i = 0; i < evidence->judgement->case_count; i++) {
        const CaseReport *report = &evidence->judgement->cases[i];
        const ShapeOfLaunch *launch = &report->shape.launches[0];
        if (!report->was_run || report->settings.task != evidence->task || launch->blocks != 1 ||
            launch->warps < 2 || report->settings.size.n <= 32)
            continue;
        if (report->check.outcome != CHECK_NOT_WRITTEN || report->check.index != 1) return false;
        has_more = true;
    }
    return has_more;
}

static Facts facts_of_check(const Evidence *evidence) {
    const CheckReport *check = evidence->check;
    const CaseReport *first = evidence->first;
    Facts facts = 0;
    if (check->has_numbers) {
        const double got = fabs(check->got);
        if (got > 0 && got < 1e-30 && fabs(check->expected) > 1e-20) facts |= FACT_TINY;
        if (check->got == floor(check->got) && check->expected != floor(check->expected)) facts |= FACT_WHOLE;
        if (has_integer_bits((float)check->got, check->expected)) facts |= FACT_INTEGER_BITS;
        if (fabs(check->difference) < 1e-3 * fabs(check->expected)) facts |= FACT_CLOSE;
    }
    if (check->outcome == CHECK_VALUE && check->wrong > 0) {
        if (check->larger == check->wrong) facts |= FACT_LARGER;
        if (check->larger == 0) facts |= FACT_SMALLER;
        if (check->wrong * 20 < check->elements) facts |= FACT_FEW_WRONG;
        if (check->where_zero == check->wrong) facts |= FACT_WHERE_ZERO;
        if (check->off_by_one == check->wrong) facts |= FACT_OFF_BY_ONE;
        if (check->is_elsewhere) facts |= FACT_ELSEWHERE;
        if (check->is_copied) facts |= FACT_COPIED;
        if (check->is_formula) facts |= FACT_FORMULA;
        if (check->index == 3 && check->wrong == check->elements / 4) facts |= FACT_FOURTHS;
    }
    if (check->outcome != CHECK_NOT_WRITTEN) return facts;
    if (check->wrong == check->elements) facts |= FACT_ALL_UNWRITTEN;
    if (check->row_for_each_block) facts |= FACT_ROW_FOR_EACH_BLOCK;
    const ShapeOfLaunch *launch = &first->shape.launches[0];
    if (!check->is_rest || check->index <= 0 || launch->blocks <= 0) return facts;
    const bool is_rows = evidence->of->tasks[evidence->task].expect == EXPECT_ROW_SUMS;
    if (is_rows && (check->index == launch->blocks || check->index == launch->warps))
        return facts | FACT_FIRST_ROUND_WRITTEN;
    if (launch->blocks > 1 && check->index * launch->blocks == check->elements)
        return facts | FACT_FIRST_BLOCK_WRITTEN;
    if (launch->blocks == 1 && check->elements == launch->warps && check->index == 1 &&
        only_first_warp_writes(evidence))
        return facts | FACT_FIRST_WARP_WRITTEN;
    const long long behind_first = check->index - launch->block_threads;
    const bool lack_elements = check->index == first->settings.size.n; // the threads that write nothing
    if (check->elements == launch->threads && launch->blocks > 1 && behind_first > 0 && !lack_elements &&
        behind_first % (launch->blocks - 1) == 0)
        facts |= FACT_BLOCKS_OVERLAP;
    return check->index % launch->threads == 0 ? facts | FACT_FIRST_ROUND_WRITTEN : facts;
}

static Facts facts_of_places(const Evidence *evidence) {
    const Finding *finding = evidence->finding;
    const int line = finding->place.line, other = finding->other_place.line;
    const Surroundings around = stripped_surroundings(&evidence->source, line, other);
    return (around.in_loop ? FACT_IN_LOOP : 0) | (around.loop_has_barrier ? FACT_BARRIER_IN_LOOP : 0) |
           (around.barrier_between ? FACT_BARRIER_BETWEEN : 0) |
           (around.has_warp_barrier ? FACT_WARP_BARRIER : 0) | (around.has_fence ? FACT_FENCE : 0) |
           (around.waits_between ? FACT_WAITS_BETWEEN : 0) |
           (around.way_back_is_open ? FACT_WAY_BACK_OPEN : 0);
}

static Facts facts_of_timeline(const Timeline *timeline) {
    for (int i = 0; i < timeline->count && timeline->stream_count > 0; i++)
        if (timeline->work[i].stream == 0) return FACT_DEFAULT_STREAM;
    return 0;
}

static Facts facts_of_task(const Task *task) {
    Facts facts = 0;
    const int out = task_output(task);
    if (task->expect == EXPECT_ELEMENTWISE) facts |= FACT_ELEMENTWISE;
    if (task->expect == EXPECT_ROW_SUMS) facts |= FACT_ROW_SUMS;
    if (task->expect == EXPECT_TRANSPOSE) facts |= FACT_TRANSPOSE;
    if (task->expect == EXPECT_HISTOGRAM) facts |= FACT_HISTOGRAM;
    if (task->expect == EXPECT_SCAN) facts |= FACT_SCAN;
    if (task->expect == EXPECT_FILTER) facts |= FACT_FILTER;
    if (task->expect == EXPECT_ROWS) facts |= FACT_ROWS;
    if (task->expect == EXPECT_PRODUCT) facts |= FACT_PRODUCT;
    if (out >= 0 && task->buffers[out].type == F64) facts |= FACT_DOUBLES;
    const QuantityKind results = out >= 0 ? task->buffers[out].count.kind : QUANTITY_N;
    if (out >= 0 && results == QUANTITY_N) facts |= FACT_MAPS;
    if (results == QUANTITY_PER_THREAD || results == QUANTITY_PER_WARP || results == QUANTITY_PER_BLOCK)
        facts |= FACT_OWN_PLACES;
    if (task_has_workspace(task)) facts |= FACT_WORKSPACE;
    for (int b = 0; b < task_buffer_count(task); b++) {
        const BufferRole role = task->buffers[b].role;
        if (role != INPUT && role != OUTPUT && role != OUTPUT_ZEROED) facts |= FACT_HAS_SCRATCH;
    }
    if (task->is_bit_identical) facts |= FACT_SAME_BITS;
    if (task->memory_left) facts |= FACT_NO_MEMORY;
    return facts;
}

// If nothing at all was added, the missing elements need no further explanation.
static ShapeSet simplest(ShapeSet shapes) {
    for (int s = 0; s < error_shape_count(); s++)
        if (has_shape(&shapes, s) && strcmp(error_shape(s)->name, "nothing") == 0) return only_shape(s);
    return shapes;
}

static bool misses_counted(const Judgement *judgement, int task) {
    for (int g = 0; g < judgement->goal_count; g++) {
        const GoalResult *result = &judgement->goals[g];
        if (result->task == task && result->state == GOAL_MISSED && !goal_is_of_bandwidth(result->goal))
            return true;
    }
    return false;
}

// Whether goals that are counted are missed only with a base between two multiples of 16.
static bool misses_only_moved(const Judgement *judgement) {
    bool is_missed = false;
    for (int g = 0; g < judgement->goal_count; g++) {
        const GoalResult *result = &judgement->goals[g];
        if (result->state != GOAL_MISSED) continue;
        if (!result->misalignment) return false;
        is_missed = true;
    }
    return is_missed;
}

// Whether a goal of bandwidth is missed by what a few blocks do at the modelled size alone. What is counted
// at smaller sizes explains it first.
static bool takes_longer_there(const Judgement *judgement) {
    const GoalResult *missed = goals_missed_bandwidth(judgement->goals, judgement->goal_count);
    return missed && bandwidth_is_lost_by_size(&judgement->bandwidth[missed->task]) &&
           !misses_counted(judgement, missed->task);
}

static bool local_memory_costs(const WhatIfAnswer *answer) {
    return answer->change_count > 0 && !answer->reaches && answer->factor >= 1.25 &&
           strcmp(answer->changes[0].name, "no-local-memory") == 0;
}

static bool misses_waves_elsewhere(const Judgement *judgement) {
    for (int g = 0; g < judgement->goal_count; g++)
        if (judgement->goals[g].state == GOAL_MISSED && judgement->goals[g].device[0] &&
            strcmp(judgement->goals[g].goal->measure, "waves") == 0)
            return true;
    return false;
}

static bool has_nothing_to_add(const Evidence *evidence) {
    const CaseSize *size = &evidence->first->settings.size;
    const bool is_product = evidence->of->tasks[evidence->task].expect == EXPECT_PRODUCT;
    return size->n == 0 || (is_product && size->depth == 0);
}

static void keep_unchanged(const Repair *repair, const Text *source, Text *unchanged) {
    text_add_bytes(unchanged, text_chars(source), strlen(text_chars(source)));
    for (int c = 0; c < repair->change_count; c++) {
        Text rest = {0};
        stripped_without_line(unchanged, repair->changes[c].line, &rest);
        text_free(unchanged);
        *unchanged = rest;
    }
    stripped_join_lines(unchanged);
}

// The line of a #pragma unroll right before that line; 0: there is none.
static int unroll_before(const Text *source, int line) {
    Text before = {0};
    if (line > 1) stripped_line(source, line - 1, &before);
    const bool is_there = before.bytes > 0 && strstr(text_chars(&before), "#pragmaunroll");
    text_free(&before);
    return is_there ? line - 1 : 0;
}

static void gather(Evidence *evidence, const char *source) {
    const Judgement *judgement = evidence->judgement;
    enum { MAX_SOURCE = 256 * 1024 }; // a larger text is not a kernel, and expressions would take long
    evidence->message = judgement->message;
    if (source && strlen(source) <= MAX_SOURCE) stripped_text(source, &evidence->source);
    if (judgement->first >= 0) {
        const CaseReport *first = evidence->first = &judgement->cases[judgement->first];
        evidence->task = first->settings.task;
        evidence->shapes = simplest(judgement->shapes[evidence->task]);
        evidence->message = first->words;
        if (first->has_check) {
            evidence->check = &first->check;
            if (first->check.what[0]) evidence->message = first->check.what;
            evidence->facts |= facts_of_check(evidence);
        }
        if (first->has_finding) {
            evidence->finding = &first->finding;
            evidence->message = first->finding.message;
            evidence->facts |= facts_of_finding(evidence) | facts_of_places(evidence);
        }
        if (first->settings.size.n == 0) evidence->facts |= FACT_N_IS_0;
        if (has_nothing_to_add(evidence)) evidence->facts |= FACT_NOTHING_TO_ADD;
        if (first->settings.size.n > 1 << 24) evidence->facts |= FACT_BEYOND_FLOATS;
        if (first->settings.misalignment) evidence->facts |= FACT_OFFSET_BASE;
        if (first->settings.is_large) evidence->facts |= FACT_LARGE;
        evidence->facts |= facts_of_cases(evidence->of, judgement);
    }
    evidence->facts |= facts_of_task(&evidence->of->tasks[evidence->task]);
    if (takes_longer_there(judgement)) evidence->facts |= FACT_LONGER;
    if (judgement->what_if.waves > 1) evidence->facts |= FACT_MORE_THAN_A_WAVE;
    if (judgement->what_if.waves > 0 && judgement->what_if.waves < 1)
        evidence->facts |= FACT_LESS_THAN_A_WAVE;
    evidence->facts |= facts_of_residence(evidence->of, judgement);
    if (misses_waves_elsewhere(judgement)) evidence->facts |= FACT_WAVES_ELSEWHERE;
    if (misses_only_moved(judgement)) evidence->facts |= FACT_ONLY_MOVED;
    if (local_memory_costs(&judgement->what_if)) evidence->facts |= FACT_LOCAL_MEMORY_COSTS;
    evidence->facts |= facts_of_banks(evidence->of, judgement) | facts_of_idle_threads(judgement) |
                       facts_of_loads(evidence->of, judgement);
    evidence->local_line = local_line(judgement);
    evidence->alone_line = line_of_one_thread(judgement);
    if (evidence->alone_line > 0) evidence->facts |= FACT_ONE_LANE_WORKS;
    evidence->unroll_line = unroll_before(&evidence->source, judgement->what_if.unsigned_test);
    if (evidence->of->is_program) evidence->facts |= FACT_PROGRAM | facts_of_timeline(&judgement->timeline);
    if (evidence->finding) {
        stripped_line(&evidence->source, evidence->finding->place.line, &evidence->line);
        stripped_line(&evidence->source, evidence->finding->other_place.line, &evidence->other);
        evidence->loop_line =
            stripped_loop(&evidence->source, evidence->finding->place.line, &evidence->loop);
    }
    keep_unchanged(&judgement->repair, &evidence->source, &evidence->unchanged);
    stripped_join_lines(&evidence->source);
}

// ---- Clues ------------------------------------------------------------------------------------------------

static bool fits(const char *expression, const char *text) {
    regex_t compiled;
    if (regcomp(&compiled, expression, REG_EXTENDED | REG_NOSUB) != 0) return false;
    bool found = regexec(&compiled, text, 0, NULL, 0) == 0;
    regfree(&compiled);
    return found;
}

// Whether `name` is one of "a|b|c".
static bool is_one_of(const char *name, const char *names) {
    const size_t length = strlen(name);
    for (const char *at = names; at; at = strchr(at, '|')) {
        at += *at == '|';
        if (strncmp(at, name, length) == 0 && (at[length] == '|' || !at[length])) return true;
    }
    return false;
}

// What a shape says of warps, blocks or several threads says nothing of a single one.
static bool is_of_one_thread(const ErrorShape *shape) {
    return !strstr(shape->words, "warp") && !strstr(shape->words, "block") &&
           !strstr(shape->words, "threads");
}

static int fitting_shape(const Evidence *evidence, const char *names) {
    for (int s = 0; s < error_shape_count(); s++)
        if (has_shape(&evidence->shapes, s) && is_one_of(error_shape(s)->name, names) &&
            (!(evidence->facts & FACT_ONE_THREAD) || is_of_one_thread(error_shape(s))))
            return s;
    return -1;
}

// At the size for which the goal is set, on another GPU, or by far: a size that the run draws may just miss
// it by its remainder.
static bool is_missed_for_a_cause(const Evidence *evidence, const GoalResult *result) {
    const double limit = fabs(result->goal->limit), by_far = 0.1;
    GoalResult there;
    goal_evaluate(evidence->of, result->goal, evidence->judgement->counted[0], &evidence->judgement->device,
                  &there);
    return there.state == GOAL_MISSED || result->device[0] ||
           fabs(result->value - result->goal->limit) > by_far * limit;
}

// `task`: only its goals; -1: those of all. `is_more`: only those whose value is above the limit.
static bool misses(const Evidence *evidence, int task, const char *measure, bool is_more) {
    for (int g = 0; g < evidence->judgement->goal_count; g++) {
        const GoalResult *result = &evidence->judgement->goals[g];
        if (task >= 0 && result->task != task) continue;
        if (is_more && result->value <= result->goal->limit) continue;
        // If the value is within its limit, the page says beside it what else is missing.
        const bool is_missed = result->state == GOAL_MISSED && !result->lacks && !result->is_within;
        if (is_missed && fits(measure, result->goal->measure) && is_missed_for_a_cause(evidence, result))
            return true;
    }
    return false;
}

// Whether what a goal needs besides is missing. It is missing wherever it is counted: the limit is far away.
static bool lacks(const Evidence *evidence, const char *words) {
    for (int g = 0; g < evidence->judgement->goal_count; g++) {
        const GoalResult *result = &evidence->judgement->goals[g];
        if (result->state == GOAL_MISSED && result->lacks && fits(words, result->lacks->words)) return true;
    }
    return false;
}

// In the task that failed, or in one that misses the goal `missed`.
static bool comes_to(const Evidence *evidence, const char *missed, const char *measure, double at_least) {
    for (int t = 0; t < chapter_task_count(evidence->of); t++) {
        if (evidence->first && t != evidence->task) continue;
        if (missed && !misses(evidence, t, missed, false)) continue;
        const Goal goal = {
            .measure = measure, .bound = AT_LEAST, .limit = at_least, .task = evidence->of->tasks[t].name};
        for (int k = 0; k < COUNTS; k++) { // a kernel may do otherwise at the size that is shown
            GoalResult result;
            goal_evaluate(evidence->of, &goal, evidence->judgement->counted[k], &evidence->judgement->device,
                          &result);
            if (result.state == GOAL_MET) return true;
        }
    }
    return false;
}

// Whether the model reaches the goal with a change that undoes this mistake. Of two, it is the one that helps
// more; the page shows both.
static bool is_supposed(const Mistake *mistake, const WhatIfAnswer *answer) {
    return answer->reaches && is_one_of(answer->changes[0].name, mistake->what_if);
}

// Sums of rows, of all elements and the like have their own words, which say nothing true of a wrong row of
// EXPECT_ROWS. What a repair proves holds for both.
static bool is_of_rows(const Mistake *mistake, const Evidence *evidence) {
    const unsigned numbers = BIT(CHECK_VALUE) | BIT(CHECK_BUDGET) | BIT(CHECK_SPECIAL);
    const bool is_wrong_row =
        evidence->facts & FACT_ROWS && evidence->check && numbers & BIT(evidence->check->outcome);
    return !is_wrong_row || mistake->facts & FACT_ROWS || mistake->repairs;
}

// The other mistakes are of kernels: a program can only have made them if a kernel of it was caught.
static bool is_of_program(const Mistake *mistake, const Evidence *evidence) {
    return !evidence->of->is_program || mistake->facts & FACT_PROGRAM || evidence->finding;
}

// A rule about every stretch of a scan, found in a case that may have no more than two, is contradicted by
// one with several of which most elements are right. Under another schedule, blocks may find other values.
static bool is_true_of_longer_scans(const Evidence *evidence) {
    if (!(evidence->facts & FACT_SCAN) || evidence->check->index <= 0) return true;
    for (int i = 0; i < evidence->judgement->case_count; i++) {
        const CaseReport *report = &evidence->judgement->cases[i];
        if (!report->was_run || report->settings.task != evidence->task || report->verdict != VERDICT_WRONG ||
            !report->has_check || report->check.outcome != CHECK_VALUE || report->settings.is_large ||
            report->settings.family != FAMILY_INTEGERS ||
            report->settings.schedule != evidence->first->settings.schedule)
            continue;
        const long long n = report->settings.size.n;
        if (n >= 4 * (long long)evidence->check->index && 2 * (long long)report->check.wrong < n)
            return false;
    }
    return true;
}

// In the message, or in what was found out about all wrong elements together.
static bool is_said(const Evidence *evidence, const char *expression) {
    const Accounting *accounting = &evidence->judgement->accounting;
    return fits(expression, evidence->message) ||
           (evidence->check && fits(expression, evidence->check->why) && is_true_of_longer_scans(evidence)) ||
           (accounting->deviation_count > 0 && fits(expression, accounting->words));
}

// Whether the account shows it: one of its rules, or a formula by which every value was computed.
static bool is_accounted(const Mistake *mistake, const Accounting *accounting) {
    if (mistake->accounts & accounting->rules) return true;
    for (int d = 0; d < accounting->deviation_count; d++) {
        if (accounting->is_one_shown && d != accounting->shown) continue;
        const char *slug = accounting->deviations[d]->mistake;
        if (slug && strcmp(mistake->slug, slug) == 0) return true;
    }
    return false;
}

// Whether each change that repairs the kernel is one that only this mistake needs.
static bool is_repaired(const Mistake *mistake, const Repair *repair) {
    for (int c = 0; c < repair->change_count; c++)
        if (!mistake->repairs || !is_one_of(repair->changes[c].name, mistake->repairs)) return false;
    return repair->change_count > 0;
}

// Whether one of the changes shows another cause.
static bool is_refuted(const Mistake *mistake, const Repair *repair) {
    for (int c = 0; mistake->no_repairs && c < repair->change_count; c++)
        if (is_one_of(repair->changes[c].name, mistake->no_repairs)) return true;
    return false;
}

// Whether the finding has the lines that the words are about.
static bool has_lines(const char *words, const Evidence *evidence) {
    const Finding *finding = evidence->finding;
    if (!strchr(words, '{')) return true;
    if (strstr(words, "{loop}") && evidence->loop_line <= 0) return false;
    if (strstr(words, "{rolled}") && evidence->judgement->what_if.rolled <= 0) return false;
    if (strstr(words, "{local}")) return evidence->local_line > 0;
    if (strstr(words, "{unroll}") && evidence->unroll_line == 0) return false;
    if (strstr(words, "{alone}")) return evidence->alone_line > 0;
    if (strstr(words, "{blocks}")) return evidence->judgement->what_if.least_blocks > 0;
    if (strstr(words, "{test}")) return evidence->judgement->what_if.unsigned_test > 0;
    if (strstr(words, "{meeting}")) return evidence->judgement->what_if.meeting > 0;
    if (!finding || finding->place.line <= 0) return false;
    const bool needs_both = strstr(words, "{other}") || strstr(words, "{upper}") || strstr(words, "{lower}");
    return !needs_both || finding->other_place.line > 0;
}

// Whether its clue is in what a repair leaves as it is: a kernel that passes with it has not made the
// mistake.
static bool is_in_unchanged(const Mistake *mistake, const Evidence *evidence) {
    const Repair *repair = &evidence->judgement->repair;
    return mistake->source && repair->changes[0].line > 0 &&
           fits(mistake->source, text_chars(&evidence->unchanged));
}

static bool matches(const Mistake *mistake, const Evidence *evidence) {
    if (!has_lines(mistake->why, evidence)) return false;
    if (mistake->verdicts && !(mistake->verdicts & BIT(evidence->judgement->verdict))) return false;
    if (mistake->findings && !(evidence->finding && mistake->findings & BIT(evidence->finding->kind)))
        return false;
    if (mistake->checks && !(evidence->check && mistake->checks & BIT(evidence->check->outcome)))
        return false;
    if (!is_of_rows(mistake, evidence) || !is_of_program(mistake, evidence)) return false;
    if (mistake->host &&
        !(evidence->first && evidence->first->host && is_one_of(evidence->first->host, mistake->host)))
        return false;
    // What the account of single values proves needs no clue from those of a whole case.
    const bool is_proved = is_accounted(mistake, &evidence->judgement->accounting);
    if (mistake->is_account && !is_proved) return false;
    if (mistake->is_repair && !is_repaired(mistake, &evidence->judgement->repair)) return false;
    if (is_refuted(mistake, &evidence->judgement->repair)) return false;
    if (mistake->is_in_change && evidence->judgement->repair.is_of_source &&
        is_in_unchanged(mistake, evidence))
        return false;
    const Facts of_values =
        is_proved ? FACT_INTEGERS_RIGHT | FACT_FINITE_RIGHT | FACT_CLOSE | FACT_OFF_BY_A_CONSTANT : (Facts)0;
    if (~evidence->facts & mistake->facts & ~of_values) return false;
    if (evidence->facts & mistake->no_facts & ~of_values) return false;
    if (mistake->shape && fitting_shape(evidence, mistake->shape) < 0) return false;
    if (mistake->says && !is_said(evidence, mistake->says)) return false;
    if (mistake->line && !fits(mistake->line, text_chars(&evidence->line))) return false;
    if (mistake->other && !fits(mistake->other, text_chars(&evidence->other))) return false;
    if (mistake->loop && !(evidence->loop_line > 0 && fits(mistake->loop, text_chars(&evidence->loop))))
        return false;
    // What an account proves may be written in any way.
    if (mistake->source && !is_proved && !fits(mistake->source, text_chars(&evidence->source))) return false;
    if (mistake->absent &&
        (evidence->source.bytes == 0 || fits(mistake->absent, text_chars(&evidence->source))))
        return false;
    if (mistake->missed && !misses(evidence, -1, mistake->missed, mistake->is_more)) return false;
    if (mistake->lacks && !lacks(evidence, mistake->lacks)) return false;
    if (mistake->what_if && mistake->missed && strcmp(mistake->missed, "bandwidth_ratio") == 0 &&
        !is_supposed(mistake, &evidence->judgement->what_if))
        return false;
    return !mistake->measured || comes_to(evidence, mistake->missed, mistake->measured, mistake->at_least);
}

// ---- What to say ------------------------------------------------------------------------------------------

static void fill_in(const Evidence *evidence, const char *words, char *text, size_t bytes) {
    const SourcePlace none = {0};
    const Finding *finding = evidence->finding;
    const int line = (finding ? &finding->place : &none)->line;
    const int other = (finding ? &finding->other_place : &none)->line;
    const Buffer *buffer = finding ? named_buffer(evidence, finding->object) : NULL;
    const int columns = buffer ? (int)row_elements(evidence, buffer) : 0;
    const struct {
        const char *name;
        int value;
    } blanks[] = {{"{line}", line},
                  {"{other}", other},
                  {"{upper}", line < other ? line : other},
                  {"{lower}", line < other ? other : line},
                  {"{columns}", columns},
                  {"{row}", buffer ? columns * (int)element_bytes(buffer->type) : 0},
                  {"{loop}", evidence->loop_line},
                  {"{local}", evidence->local_line},
                  {"{meeting}", evidence->judgement->what_if.meeting},
                  {"{rolled}", evidence->judgement->what_if.rolled},
                  {"{test}", evidence->judgement->what_if.unsigned_test},
                  {"{alone}", evidence->alone_line},
                  {"{blocks}", evidence->judgement->what_if.least_blocks},
                  {"{unroll}", evidence->unroll_line}};
    size_t used = 0;
    text[0] = '\0';
    while (*words && used + 16 < bytes) {
        bool is_blank = false;
        for (size_t b = 0; b < sizeof blanks / sizeof blanks[0] && !is_blank; b++) {
            const size_t length = strlen(blanks[b].name);
            if (strncmp(words, blanks[b].name, length) != 0) continue;
            used += (size_t)snprintf(text + used, bytes - used, "%d", blanks[b].value);
            words += length;
            is_blank = true;
        }
        if (!is_blank) text[used++] = *words++;
    }
    text[used] = '\0';
}

// "ch03#barriers:2 ch05#what-it-is": the section for this chapter, and the step of its hints.
static void choose_lesson(const Chapter *of, const char *lessons, Diagnosis *diagnosis) {
    const char *chosen = lessons;
    bool is_own = false;
    for (const char *at = lessons; at && *at && !is_own; at = strchr(at, ' ')) {
        at += *at == ' ';
        is_own = strncmp(at, of->name, strlen(of->name)) == 0 && at[strlen(of->name)] == '#';
        if (is_own) chosen = at;
    }
    if (!chosen) return;
    const size_t length = strcspn(chosen, ": ");
    snprintf(diagnosis->lesson, sizeof diagnosis->lesson, "%.*s", (int)length, chosen);
    if (is_own && chosen[length] == ':') diagnosis->hint = chosen[length + 1] - '0';
}

// The shape holds for every size, but the case that is shown holds for one.
static void tell_shape(const Evidence *evidence, Judgement *judgement, const Mistake *mistake,
                       const char *proof) {
    // What every sum shows is true, also beside a cause that is only possible.
    const char *shapes = !mistake ? NULL : mistake->shape ? mistake->shape : proof ? NULL : "nothing";
    const int shape = shapes ? fitting_shape(evidence, shapes) : -1;
    if (judgement->first < 0) return;
    CheckReport *check = &judgement->cases[judgement->first].check;
    // One sum may be off by the same as if other elements were wrong: the account of all knows better. What
    // the mistake is recognised by stays.
    const Accounting *accounting = &judgement->accounting;
    const bool is_meant = mistake && mistake->says && fits(mistake->says, check->why);
    if (shape < 0 && accounting->n > 0 && !is_meant) check->why[0] = '\0';
    if (shape < 0) return;
    snprintf(check->why, sizeof check->why, "%s", error_shape(shape)->words);
}

// Whether every sentence follows from what was found or checked in the run.
static bool is_shown(const Mistake *mistake, const Evidence *evidence) {
    return mistake->is_shown || (mistake->shown_by && fits(mistake->shown_by, evidence->message));
}

// What shows that the run went wrong for this reason; NULL: the clues only suit it.
static const char *proof_of(const Mistake *mistake, const Evidence *evidence) {
    const Judgement *judgement = evidence->judgement;
    if (is_repaired(mistake, &judgement->repair)) return "repair";
    if (is_shown(mistake, evidence)) return "finding";
    if (is_accounted(mistake, &judgement->accounting)) return "accounting";
    const bool reads_text =
        mistake->source || mistake->line || mistake->other || mistake->loop || mistake->absent;
    if (mistake->what_if && is_supposed(mistake, &judgement->what_if)) return "what-if";
    if (mistake->lacks && !reads_text) return "counter";
    // Only the time itself may be missed for any reason.
    if (mistake->missed && !strstr(mistake->missed, "bandwidth") && (mistake->measured || !reads_text))
        return "counter";
    // If a kernel or its launch was refused, the message says why; the entry only explains it.
    const unsigned refusals = BIT(VERDICT_LAUNCH) | BIT(VERDICT_RESOURCE) | BIT(VERDICT_OUTPUT_LIMIT);
    const bool was_refused =
        (judgement->first < 0 && judgement->verdict != VERDICT_SLOW) || refusals & BIT(judgement->verdict);
    const bool has_words = mistake->says || mistake->verdicts == BIT(VERDICT_OUTPUT_LIMIT);
    if (was_refused && has_words && !mistake->source && !mistake->line && !mistake->absent) return "message";
    return NULL;
}

// Whether one of the changes is of a kind that says why, such as one more barrier.
static bool says_why(const Repair *repair) {
    static const char kinds_with_a_cause[] =
        "barrier|warp-barrier|moved-barrier|async-wait|fence|scope|volatile|store-first|one-load|full-mask|"
        "no-partner|zero|zero-shared|zero-output|atomic|one-lane|one-thread|zero-product|zero-"
        "difference|guard|single-accesses|stay|unsigned|more-shared|more-blocks|wide";
    for (int c = 0; c < repair->change_count; c++)
        if (is_one_of(repair->changes[c].name, kinds_with_a_cause)) return true;
    return false;
}

// Whether the changes are another text or another size of blocks.
static bool is_only_text(const Repair *repair) {
    bool is_of_blocks = true;
    for (int c = 0; c < repair->change_count; c++)
        is_of_blocks = is_of_blocks && strcmp(repair->changes[c].name, "block-size") == 0;
    return !says_why(repair) && (repair->is_of_source || is_of_blocks);
}

// Whether what is known for certain leaves room for it: once a change is known that repairs the kernel or
// lets the model reach the goal, or the formulas that it computes, a mistake that has nothing to do with them
// is not the one. A text in place of another leaves room for the one that would be named without it
// (`is_first`): it says what to write, and not why.
static bool is_open(const Mistake *mistake, const Evidence *evidence, bool is_first) {
    const Judgement *judgement = evidence->judgement;
    if (judgement->repair.change_count > 0)
        return is_repaired(mistake, &judgement->repair) ||
               (is_first && is_only_text(&judgement->repair) && !is_in_unchanged(mistake, evidence));
    if (judgement->what_if.reaches && mistake->missed && strstr(mistake->missed, "bandwidth"))
        return mistake->what_if && is_supposed(mistake, &judgement->what_if);
    if (judgement->accounting.deviation_count > 0) return is_accounted(mistake, &judgement->accounting);
    // Elements that are listed one by one: a name that merely fits may contradict the list. If they depend on
    // the schedule, they do not contradict one for what comes too early.
    const bool is_listed = judgement->accounting.n > 0 && !(mistake->facts & FACT_BY_SCHEDULE);
    return !is_listed || proof_of(mistake, evidence);
}

// A wrong access that follows from an undefined value can look like any mistake with indices: only those that
// expect other findings, or are proved, are named.
static bool is_hidden_by_cause(const Mistake *mistake, const Evidence *evidence) {
    return evidence->first && evidence->first->has_cause &&
           evidence->first->cause.kind == FINDING_UNINITIALISED && !(mistake->facts & FACT_OTHER_FINDINGS) &&
           !proof_of(mistake, evidence);
}

// Bytes that an asynchronous copy has not delivered yet are written by it, later: only what names that, or is
// proved by a repair, is said.
static bool is_under_way(const Mistake *mistake, const Evidence *evidence) {
    return strstr(evidence->message, "has not delivered") && !mistake->says &&
           !is_repaired(mistake, &evidence->judgement->repair);
}

// The task whose goal is explained, if goals of several are missed; -1: there is one, or it is unknown.
static int task_of_goal(const Mistake *mistake, const Evidence *evidence) {
    const Judgement *judgement = evidence->judgement;
    const GoalResult *bandwidth = goals_missed_bandwidth(judgement->goals, judgement->goal_count);
    int first = -1, explained = -1;
    bool has_several = false;
    for (int g = 0; g < judgement->goal_count; g++) {
        const GoalResult *result = &judgement->goals[g];
        if (result->state != GOAL_MISSED) continue;
        has_several |= first >= 0 && first != result->task;
        if (first < 0) first = result->task;
        if (explained < 0 && mistake->missed &&
            misses(evidence, result->task, mistake->missed, mistake->is_more))
            explained = result->task;
    }
    if (judgement->verdict != VERDICT_SLOW || !has_several) return -1;
    return mistake->missed && strcmp(mistake->missed, "bandwidth_ratio") == 0 && bandwidth ? bandwidth->task
                                                                                           : explained;
}

// What is said of the mistake that was found, if there is one.
static void explain(const Evidence *evidence, Diagnosis *diagnosis) {
    if (!diagnosis->mistake) return;
    fill_in(evidence, diagnosis->mistake->why, diagnosis->why, sizeof diagnosis->why);
    diagnosis->proof = proof_of(diagnosis->mistake, evidence);
    diagnosis->task = task_of_goal(diagnosis->mistake, evidence);
    choose_lesson(evidence->of, diagnosis->mistake->lessons, diagnosis);
}

static void evidence_free(Evidence *evidence) {
    text_free(&evidence->source);
    text_free(&evidence->unchanged);
    text_free(&evidence->line);
    text_free(&evidence->other);
    text_free(&evidence->loop);
}

void diagnose(const Chapter *of, const char *source, Judgement *judgement, Diagnosis *diagnosis) {
    *diagnosis = (Diagnosis){.task = -1};
    // A correct result needs no explanation, and a failure of the machine gets none.
    if (judgement->verdict == VERDICT_PASS || judgement->verdict == VERDICT_INFRA) return;
    Evidence evidence = {.of = of, .judgement = judgement};
    gather(&evidence, source);
    const Mistake *first = NULL, *shown = NULL;
    for (int m = 0; m < mistake_count && !diagnosis->mistake; m++) {
        const Mistake *mistake = &mistakes[m];
        if (!matches(mistake, &evidence) || is_hidden_by_cause(mistake, &evidence) ||
            is_under_way(mistake, &evidence))
            continue;
        if (is_open(mistake, &evidence, !first)) diagnosis->mistake = mistake;
        if (!first) first = mistake;
        if (!shown && (is_shown(mistake, &evidence) || is_accounted(mistake, &judgement->accounting)))
            shown = mistake;
    }
    // A repair that does not say why may be a way round the mistake; what the run itself shows is true.
    if (!diagnosis->mistake && judgement->repair.change_count > 0 && !says_why(&judgement->repair))
        diagnosis->mistake = shown;
    explain(&evidence, diagnosis);
    // What the sums lack holds of all of them, whatever may be named.
    tell_shape(&evidence, judgement, diagnosis->mistake ? diagnosis->mistake : first, diagnosis->proof);
    evidence_free(&evidence);
}

void diagnose_what_if(const Chapter *of, const char *source, const Judgement *judgement,
                      const Diagnosis *shown, Diagnosis *second) {
    *second = (Diagnosis){.task = -1};
    if (judgement->verdict != VERDICT_SLOW || !judgement->what_if.reaches || !shown->mistake ||
        (shown->mistake->what_if && is_supposed(shown->mistake, &judgement->what_if)))
        return;
    // As long as its array is in local memory, a thread may wait for that.
    if (shown->mistake->missed && strstr(shown->mistake->missed, "local_")) return;
    Evidence evidence = {.of = of, .judgement = judgement};
    gather(&evidence, source);
    for (int m = 0; m < mistake_count && !second->mistake; m++)
        if (mistakes[m].missed && strstr(mistakes[m].missed, "bandwidth") &&
            is_open(&mistakes[m], &evidence, false) && matches(&mistakes[m], &evidence))
            second->mistake = &mistakes[m];
    explain(&evidence, second);
    evidence_free(&evidence);
}

void diagnose_others(const Chapter *of, const char *source, Judgement *judgement, const Diagnosis *shown,
                     Diagnosis others[MOST_OTHERS]) {
    bool is_guessed = shown->mistake && !shown->proof;
    for (int o = 0; o < judgement->other_count; o++) {
        judgement_exchange(judgement, &judgement->others[o]);
        diagnose(of, source, judgement, &others[o]);
        judgement_exchange(judgement, &judgement->others[o]);
        const bool is_guess = others[o].mistake && !others[o].proof;
        if (is_guess && is_guessed) others[o] = (Diagnosis){.task = -1};
        is_guessed |= is_guess;
    }
}
