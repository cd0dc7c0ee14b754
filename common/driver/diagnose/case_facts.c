#include "driver/diagnose/case_facts.h"

#include <math.h>
#include <string.h>

#include "driver/diagnose/unwritten_facts.h"
#include "driver/plan/elements.h"

typedef struct {
    const Judgement *judgement;
    const CaseReport *first; // that failed
    const Task *task;        // its
} Cases;

static bool is_of_task(const Cases *cases, const CaseReport *report) {
    return report->was_run && report->settings.task == cases->first->settings.task;
}

// On the device, or beside it, as the first.
static bool is_like_first(const Cases *cases, const CaseReport *report) {
    return is_of_task(cases, report) && report->settings.is_beside == cases->first->settings.is_beside;
}

static bool is_special(Family family) {
    return family == FAMILY_NAN || family == FAMILY_INFINITY || family == FAMILY_INFINITIES;
}

// Whether the task has as many results as elements.
static bool has_result_for_each(const Task *task) {
    const int out = task_output(task);
    return task->expect == EXPECT_TRANSPOSE || (out >= 0 && task->buffers[out].count.kind == QUANTITY_N);
}

static Facts facts_of_all(const Cases *cases) {
    Facts facts = FACT_BY_SCHEDULE | FACT_ONLY_WEAK | FACT_INTEGERS_RIGHT | FACT_FINITE_RIGHT |
                  FACT_ONES_RIGHT | FACT_SAYS_N | FACT_NEVER_WRITTEN | FACT_ONE_ANSWER;
    const bool is_sum = cases->task->expect == EXPECT_SUM;
    // What is right has to have been run.
    const Facts of_right_cases =
        FACT_BY_SCHEDULE | FACT_ONLY_WEAK | FACT_INTEGERS_RIGHT | FACT_FINITE_RIGHT | FACT_ONES_RIGHT;
    Facts has_right = 0;
    double answer = 0;
    long long answered = 0; // the size of the first answer
    int answers = 0;
    bool has_sizes = false;
    for (int i = 0; i < cases->judgement->case_count; i++) {
        const CaseReport *report = &cases->judgement->cases[i];
        if (!is_like_first(cases, report) || report->settings.is_large != cases->first->settings.is_large)
            continue;
        const bool is_right = report->verdict == VERDICT_PASS;
        const Family family = report->settings.family;
        if (is_right && report->settings.size.n > 0) {
            if (report->settings.schedule == 0) has_right |= FACT_BY_SCHEDULE;
            if (!schedule_is_weak(report->settings.schedule)) has_right |= FACT_ONLY_WEAK;
            if (family == FAMILY_INTEGERS) has_right |= FACT_INTEGERS_RIGHT;
            if (family == FAMILY_ONES) has_right |= FACT_ONES_RIGHT;
            if (!is_special(family)) has_right |= FACT_FINITE_RIGHT;
        }
        if (!is_right && report->settings.schedule == 0) facts &= ~FACT_BY_SCHEDULE;
        if (!is_right && !schedule_is_weak(report->settings.schedule)) facts &= ~FACT_ONLY_WEAK;
        if (!is_right && family == FAMILY_INTEGERS) facts &= ~FACT_INTEGERS_RIGHT;
        if (!is_right && family == FAMILY_ONES) facts &= ~FACT_ONES_RIGHT;
        if (!is_right && !is_special(family)) facts &= ~FACT_FINITE_RIGHT;
        if (!is_right && report->check.outcome == CHECK_VALUE &&
            report->check.got != (double)report->settings.size.n)
            facts &= ~FACT_SAYS_N;
        if (!is_right && family == FAMILY_INTEGERS && report->check.outcome == CHECK_VALUE && is_sum) {
            if (answers++ == 0) {
                answer = report->check.got;
                answered = report->settings.size.n;
            }
            if (report->check.got != answer) facts &= ~FACT_ONE_ANSWER;
            if (report->settings.size.n != answered) has_sizes = true;
        }
        const bool is_unwritten =
            report->check.outcome == CHECK_NOT_WRITTEN && report->check.wrong == report->check.elements;
        const bool has_nothing_to_write =
            is_right && report->settings.size.n == 0 && has_result_for_each(cases->task);
        if (!is_unwritten && !has_nothing_to_write) facts &= ~FACT_NEVER_WRITTEN;
        if (report->verdict != VERDICT_TIMEOUT && report->settings.size.n > 0) facts |= FACT_ENDS_ELSEWHERE;
    }
    facts &= ~of_right_cases | has_right;
    // With the same elements, every wrong kernel gives the same answer: only another size can separate them.
    if (answers < 3 || answer == 0 || !has_sizes) facts &= ~FACT_ONE_ANSWER;
    return facts;
}

// Whether the sums of other numbers are right.
static Facts facts_of_subnormals(const Cases *cases) {
    bool has_others = false;
    for (int i = 0; i < cases->judgement->case_count; i++) {
        const CaseReport *report = &cases->judgement->cases[i];
        if (!is_of_task(cases, report)) continue;
        const bool is_subnormal = report->settings.family == FAMILY_SUBNORMALS;
        if (report->verdict != VERDICT_PASS && !is_subnormal) return 0;
        has_others |= report->verdict == VERDICT_PASS && !is_subnormal;
    }
    return has_others ? FACT_ONLY_SUBNORMALS_WRONG : 0;
}

// Whether counters of few bits explain every wrong histogram, and at least one of a count that is not a
// multiple of what is lost: whole blocks of equal elements are lost by other mistakes, too.
static Facts facts_of_counters(const Cases *cases) {
    int bits = 0, failed = 0;
    bool is_telling = false, carry = false;
    for (int i = 0; i < cases->judgement->case_count; i++) {
        const CaseReport *report = &cases->judgement->cases[i];
        const CheckReport *check = &report->check;
        if (!is_of_task(cases, report) || report->verdict == VERDICT_PASS) continue;
        if (check->counter_bits == 0 || (bits > 0 && check->counter_bits != bits)) return 0;
        bits = check->counter_bits;
        failed++;
        carry |= check->counters_carry;
        is_telling |= fmod(check->expected, 1 << bits) != 0 && 2 * check->wrong < check->elements;
    }
    if (failed < 2 || !is_telling) return 0;
    return FACT_NARROW_COUNTERS | (carry ? FACT_COUNTERS_CARRY : 0);
}

// Whether the own element explains every wrong sum, and not only by NaN, which 0 times an infinity is, too.
static Facts facts_of_own(const Cases *cases) {
    bool is_telling = false;
    for (int i = 0; i < cases->judgement->case_count; i++) {
        const CaseReport *report = &cases->judgement->cases[i];
        if (!is_of_task(cases, report) || report->verdict == VERDICT_PASS) continue;
        if (!report->check.own_cancels) return 0;
        is_telling |= report->check.outcome == CHECK_BUDGET;
    }
    return is_telling ? FACT_OWN_CANCELS : 0;
}

// Sums of whole numbers that are all off by the same number, or by one number for each block, warp or thread,
// including empty sums.
static Facts facts_of_offsets(const Cases *cases) {
    enum { UNITS = 4 };
    double each[UNITS] = {0};
    bool fits_unit[UNITS] = {true, true, true, true};
    int sums = 0;
    bool has_empty = false, has_others = false;
    const Expectation expect = cases->task->expect;
    if (expect != EXPECT_SUM && expect != EXPECT_ROW_SUMS) return 0;
    for (int i = 0; i < cases->judgement->case_count; i++) {
        const CaseReport *report = &cases->judgement->cases[i];
        if (!is_like_first(cases, report) || report->settings.family != FAMILY_INTEGERS) continue;
        if (report->check.outcome != CHECK_VALUE) {
            if (expect == EXPECT_ROW_SUMS && report->settings.size.rows == 0) continue;
            return 0;
        }
        const ShapeOfLaunch *launch = &report->shape.launches[0];
        const long long units[UNITS] = {1, launch->blocks, launch->warps, launch->threads};
        for (int u = 0; u < UNITS; u++) {
            const double offset = units[u] > 0 ? report->check.difference / (double)units[u] : 0;
            if (sums == 0) each[u] = offset;
            if (offset == 0 || offset != each[u]) fits_unit[u] = false;
        }
        sums++;
        if (report->settings.size.n == 0) has_empty = true;
        if (report->settings.size.n > 0) has_others = true;
    }
    const bool fits_one = fits_unit[0] || fits_unit[1] || fits_unit[2] || fits_unit[3];
    return fits_one && sums > 2 && has_empty && has_others ? FACT_OFF_BY_A_CONSTANT : 0;
}

// Whether a case with several blocks finished, and only the plain schedule has one that did not.
static bool blocks_ended(const Cases *cases) {
    bool has_ended = false;
    for (int i = 0; i < cases->judgement->case_count; i++) {
        const CaseReport *report = &cases->judgement->cases[i];
        if (!is_of_task(cases, report)) continue;
        if (report->verdict == VERDICT_TIMEOUT && report->settings.schedule != 0) return false;
        // Neither a loop that does more than wait nor more blocks than the device holds depend on the sums.
        if (report->verdict == VERDICT_TIMEOUT && report->has_finding &&
            (!report->finding.is_endless || !report->finding.object[0] ||
             strstr(report->finding.message, "holds no more at a time")))
            return false;
        if (report->verdict == VERDICT_PASS && report->shape.launches[0].blocks > 1) has_ended = true;
    }
    return has_ended;
}

// Whether the case that was stopped had done far more for each element than to read it, or several times as
// many steps as the largest that came to its end. In a small one, what is done once counts for few elements:
// it only makes that harder. An instruction of a warp is 16 steps, and 1 for each lane.
static bool takes_many_more(const Cases *cases) {
    const CaseReport *largest = NULL;
    for (int i = 0; i < cases->judgement->case_count; i++) {
        const CaseReport *report = &cases->judgement->cases[i];
        if (!is_of_task(cases, report) || report->verdict == VERDICT_TIMEOUT ||
            report->settings.size.n <= 0 || report->steps == 0)
            continue;
        if (!largest || report->settings.size.n > largest->settings.size.n) largest = report;
    }
    const double n = (double)cases->first->settings.size.n, far_more = 2000;
    const double each = n > 0 ? (double)cases->first->steps / n : 0;
    return each > far_more ||
           (largest && each > 4 * (double)largest->steps / (double)largest->settings.size.n);
}

// Whether every launch is one thread, so that nothing can be said of threads that share the work.
static bool has_one_thread(const Cases *cases) {
    for (int i = 0; i < cases->judgement->case_count; i++) {
        const CaseShape *shape = &cases->judgement->cases[i].shape;
        for (int l = 0; l < shape->launch_count && is_of_task(cases, &cases->judgement->cases[i]); l++)
            if (shape->launches[l].threads != 1) return false;
    }
    return cases->first->shape.launch_count > 0;
}

#define LARGER FACT(126) // a matrix of whole numbers with more than 32 rows or columns: no such fact either
#define EDGE                                                                                                 \
    FACT(125) // one of more tiles along one side than along the other, some of them at an edge: likewise
#define OBLONG FACT(127) // a matrix that is not square, even in tiles: not a fact of the catalogue

// Facts about shapes that `one` supports if it is right, or contradicts if it is wrong.
static Facts kind_of_case(const CaseReport *one) {
    const CaseSize *size = &one->settings.size;
    const ShapeOfLaunch *launch = &one->shape.launches[0];
    Facts facts = 0;
    if (size->rows > 1 && size->rows == size->columns) facts |= FACT_SQUARES_RIGHT;
    if (size->rows > 1 && size->columns > 1 && (size->rows + 31) / 32 != (size->columns + 31) / 32)
        facts |= OBLONG;
    if (size->rows > 1 && size->columns > 1 && size->rows <= 32 && size->columns <= 32)
        facts |= FACT_ONE_TILE_RIGHT;
    if (size->rows > 1 && size->columns > 1 && (size->rows > 32 || size->columns > 32) &&
        one->settings.family == FAMILY_INTEGERS)
        facts |= LARGER;
    if (size->n > 0 && size->rows % 32 == 0 && size->columns % 32 == 0 && size->rows > 0)
        facts |= FACT_WHOLE_TILES_RIGHT;
    else if (facts & OBLONG)
        facts |= EDGE;
    if (launch->blocks > 1 && launch->blocks <= launch->block_threads) facts |= FACT_FEW_BLOCKS_RIGHT;
    return facts;
}

// Which sizes come out right while others do not.
static Facts facts_of_sizes(const Cases *cases) {
    Facts right = 0, wrong = 0;
    long long rests[] = {2, 4, 8};
    int unwritten = 0;
    bool has_large_square = false; // that goes wrong
    bool only_empty = true;        // go wrong
    long long many_blocks = -1;    // the first size with more blocks than a block has threads that goes wrong
    bool has_other_size = false;   // and another one does
    for (int i = 0; i < cases->judgement->case_count; i++) {
        const CaseReport *report = &cases->judgement->cases[i];
        const long long n = report->settings.size.n;
        if (!is_of_task(cases, report)) continue;
        if (report->verdict == VERDICT_PASS) {
            right |= kind_of_case(report);
            continue;
        }
        wrong |= kind_of_case(report);
        const CaseSize *size = &report->settings.size;
        has_large_square |= size->rows == size->columns && size->rows > 32;
        only_empty = only_empty && n == 0;
        const ShapeOfLaunch *launch = &report->shape.launches[0];
        if (launch->blocks > launch->block_threads) {
            has_other_size |= many_blocks >= 0 && many_blocks != n;
            if (many_blocks < 0) many_blocks = n;
        }
        const CheckReport *check = &report->check;
        const bool is_rest = check->outcome == CHECK_NOT_WRITTEN && check->is_rest && check->elements == n;
        unwritten += is_rest;
        for (int r = 0; r < 3; r++)
            if (!is_rest || check->wrong != n % rests[r]) rests[r] = 1;
    }
    if (right & OBLONG) right &= ~FACT_SQUARES_RIGHT;
    // An oblong matrix may go wrong for what its sides are and not for its size.
    if (right & LARGER || !has_large_square) right &= ~FACT_ONE_TILE_RIGHT;
    if (right & EDGE) right &= ~FACT_WHOLE_TILES_RIGHT;
    // One size alone may go wrong for any reason that large sizes have.
    if (!has_other_size) right &= ~FACT_FEW_BLOCKS_RIGHT;
    const bool has_rest = rests[0] > 1 || rests[1] > 1 || rests[2] > 1;
    return (right & ~wrong & ~OBLONG & ~LARGER & ~EDGE) |
           (unwritten > 1 && has_rest ? FACT_REST_UNWRITTEN : 0) | (only_empty ? FACT_ONLY_EMPTY_WRONG : 0);
}

// Whether every misaligned wide access would have been aligned if the base had been. One case alone cannot
// show this, because a wrong rule for the head sometimes gives 0 floats.
static bool only_base_is_misaligned(const Cases *cases) {
    for (int i = 0; i < cases->judgement->case_count; i++) {
        const CaseReport *report = &cases->judgement->cases[i];
        const Finding *finding = &report->finding;
        if (report->has_finding && finding->kind == FINDING_MISALIGNED && finding->bytes > 0 &&
            finding->index % (int64_t)finding->bytes != 0)
            return false;
    }
    return true;
}

// Whether every misaligned access is the first multiple of 16, counted from the base, after what lies between
// the base and the last multiple before it. For one base, another wrong length can do the same.
static bool head_is_past(const Cases *cases) {
    uint64_t one = 0;
    bool has_two = false;
    for (int i = 0; i < cases->judgement->case_count; i++) {
        const CaseReport *report = &cases->judgement->cases[i];
        const Finding *finding = &report->finding;
        if (!report->has_finding || finding->kind != FINDING_MISALIGNED || finding->bytes <= 0) continue;
        const uint64_t size = (uint64_t)finding->bytes, index = (uint64_t)finding->index % size;
        if (finding->index < 0 || index == 0 || (finding->address - (uint64_t)finding->index) % size != index)
            return false;
        has_two |= one > 0 && index != one;
        one = index;
    }
    return has_two;
}

// Whether every access before the first byte of its buffer begins at the last multiple of its size, in cases
// with several bases.
static bool is_rounded_down(const Cases *cases) {
    uint64_t one = 0;
    bool has_two = false;
    for (int i = 0; i < cases->judgement->case_count; i++) {
        const CaseReport *report = &cases->judgement->cases[i];
        const Finding *finding = &report->finding;
        if (!is_of_task(cases, report) || report->verdict == VERDICT_PASS) continue;
        if (!report->has_finding || finding->index >= 0 || finding->bytes < 8) return false;
        const uint64_t before = (uint64_t)-finding->index;
        if (before >= (uint64_t)finding->bytes || finding->address % (uint64_t)finding->bytes != 0)
            return false;
        has_two |= one > 0 && before != one;
        one = before;
    }
    return has_two;
}

// Whether every access out of bounds begins where its buffer ends.
static bool all_are_just_past(const Cases *cases) {
    int accesses = 0;
    for (int i = 0; i < cases->judgement->case_count; i++) {
        const CaseReport *report = &cases->judgement->cases[i];
        const Finding *finding = &report->finding;
        if (!is_of_task(cases, report) || !report->has_finding || finding->kind != FINDING_OUT_OF_BOUNDS)
            continue;
        if (finding->index != (int64_t)finding->object_bytes) return false;
        accesses++;
    }
    return accesses > 0;
}

// Whether exactly those cases go wrong that have fewer elements than come before the first multiple of 16.
static bool only_in_head_is_wrong(const Cases *cases) {
    const CaseReport *first = cases->first;
    const int index = first->has_finding ? task_find_buffer(cases->task, first->finding.object) : -1;
    if (index < 0 || cases->task->expect == EXPECT_ROW_SUMS) return false;
    const Buffer *buffer = &cases->task->buffers[index];
    if (buffer->role != INPUT) return false;
    for (int i = 0; i < cases->judgement->case_count; i++) {
        const CaseReport *report = &cases->judgement->cases[i];
        if (!is_of_task(cases, report)) continue;
        const long long before =
            (16 - report->settings.misalignment % 16) % 16 / (long long)element_bytes(buffer->type);
        if ((report->verdict != VERDICT_PASS) != (report->settings.size.n < before)) return false;
    }
    return true;
}

// Whether no mistake was seen in a case with more elements.
static bool is_larger_right(const Cases *cases) {
    for (int i = 0; i < cases->judgement->case_count; i++) {
        const CaseReport *report = &cases->judgement->cases[i];
        if (is_of_task(cases, report) && report->verdict == VERDICT_PASS && !report->is_inconclusive &&
            report->settings.size.n > cases->first->settings.size.n)
            return true;
    }
    return false;
}

Facts facts_of_cases(const Chapter *of, const Judgement *judgement) {
    const CaseReport *first = &judgement->cases[judgement->first];
    const Cases cases = {.judgement = judgement, .first = first, .task = &of->tasks[first->settings.task]};
    Facts facts = facts_of_all(&cases) | facts_of_sizes(&cases) | facts_of_offsets(&cases) |
                  facts_of_counters(&cases) | facts_of_own(&cases) | facts_of_subnormals(&cases) |
                  facts_of_unwritten(judgement, first->settings.task);
    const bool is_at_start = first->has_finding && first->finding.object[0] && first->finding.index == 0;
    if (is_at_start && only_base_is_misaligned(&cases)) facts |= FACT_AT_START;
    if (is_rounded_down(&cases)) facts |= FACT_ROUNDED_DOWN;
    if (all_are_just_past(&cases)) facts |= FACT_ALL_JUST_PAST;
    if (head_is_past(&cases)) facts |= FACT_HEAD_IS_PAST;
    if (is_larger_right(&cases)) facts |= FACT_LARGER_RIGHT;
    if (only_in_head_is_wrong(&cases)) facts |= FACT_ONLY_IN_HEAD_WRONG;
    if (blocks_ended(&cases)) facts |= FACT_BLOCKS_ENDED;
    if (has_one_thread(&cases)) facts |= FACT_ONE_THREAD;
    if (takes_many_more(&cases)) facts |= FACT_MANY_MORE;
    return facts;
}
