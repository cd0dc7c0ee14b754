#include "driver/diagnose/bank_facts.h"

#include <string.h>

#include "driver/judge/goals.h"

// Equal bytes have equal banks in most layouts: only bytes that differ tell whether lanes share one.
static bool has_bytes_that_differ(const Task *task) {
    const int input = task_input(task);
    return task->expect == EXPECT_HISTOGRAM && input >= 0 && task->buffers[input].family == FAMILY_INTEGERS;
}

static bool misses_conflicts(const Judgement *judgement, int task) {
    for (int g = 0; g < judgement->goal_count; g++)
        if (judgement->goals[g].task == task && judgement->goals[g].state == GOAL_MISSED &&
            strstr(judgement->goals[g].goal->measure, "_conflicts"))
            return true;
    return false;
}

// Whether most conflicts of such tasks are in lines where each lane accesses one word, as far from the next
// lane's.
static bool are_lanes_apart(const Judgement *judgement) {
    double all = 0, apart = 0;
    for (int i = 0; i < judgement->line_count; i++) {
        const LineCounters *line = &judgement->lines[i].counters;
        if (!misses_conflicts(judgement, judgement->lines[i].task)) continue;
        const double here = (double)(line->counters.shared_ld_conflicts + line->counters.shared_st_conflicts);
        all += here;
        if (line->conflict.lane_words == 1 && line->conflict.words_apart > 1) apart += here;
    }
    return all > 0 && apart >= all / 2;
}

// Whether lanes go down a column of a tile whose shared memory has one row more than a row has words.
static bool is_padded_by_a_row(const Judgement *judgement) {
    for (int i = 0; i < judgement->line_count; i++) {
        const CountedLine *one = &judgement->lines[i];
        const long long words = one->counters.conflict.words_apart;
        const Measured *counted = &judgement->counted[0][one->task];
        if (misses_conflicts(judgement, one->task) && one->counters.conflict.lane_words == 1 && words >= 32 &&
            words % 32 == 0 && counted->static_shared[one->launch] == 4 * words * (words + 1))
            return true;
    }
    return false;
}

Facts facts_of_banks(const Chapter *of, const Judgement *judgement) {
    Facts facts = are_lanes_apart(judgement) ? FACT_LANES_APART : (Facts)0;
    if (is_padded_by_a_row(judgement)) facts |= FACT_PADDED_BY_A_ROW;
    // Of 32 random places in 32 banks, the fullest bank has some four; in two banks, it has about 18.
    enum { MOST_IN_TWO_BANKS = 24 };
    for (int t = 0; t < chapter_task_count(of); t++) {
        if (!has_bytes_that_differ(&of->tasks[t])) continue;
        const Goal goal = {.measure = "shared_atom_wavefronts / shared_atom",
                           .bound = AT_LEAST,
                           .limit = MOST_IN_TWO_BANKS,
                           .task = of->tasks[t].name};
        GoalResult result;
        goal_evaluate(of, &goal, judgement->counted[0], &judgement->device, &result);
        if (result.state == GOAL_MET) return facts | FACT_ONE_BANK;
    }
    return facts;
}
