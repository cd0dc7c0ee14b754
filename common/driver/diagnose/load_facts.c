#include "driver/diagnose/load_facts.h"

#include <string.h>

#include "driver/judge/goal_lines.h"
#include "driver/judge/goals.h"

// Bytes that the loads of one run ask for if each row has each of its elements, and those of all other
// inputs, once.
static double bytes_of_one_load(const Task *task, const CaseShape *shape) {
    double bytes = 0;
    for (int b = 0; b < task_buffer_count(task); b++)
        if (task->buffers[b].role == INPUT)
            bytes += (double)shape->size.n * (double)element_bytes(task->buffers[b].type);
    return bytes;
}

static bool exceeds_sectors_of_loads(const GoalResult *result) {
    return result->goal->bound == AT_MOST && goal_exceeds_sectors(result, "global_ld_sectors");
}

// Whether a goal of the task is missed because of the sectors that are touched beyond what the bytes fill, or
// at least by more than because of the bytes.
static bool sectors_exceed(const Chapter *of, const Judgement *judgement, int task) {
    for (int g = 0; g < judgement->goal_count; g++) {
        const GoalResult *result = &judgement->goals[g];
        if (result->task != task || !exceeds_sectors_of_loads(result) ||
            !judgement->counted[0][task].is_counted)
            continue;
        const double by_bytes = goal_value_by_bytes(of, judgement, result);
        if (result->value - by_bytes > by_bytes - result->goal->limit) return true;
    }
    return false;
}

// Whether every goal that is missed because of sectors would be met if each access touched no more than its
// bytes fill.
static bool sectors_are_all(const Chapter *of, const Judgement *judgement) {
    const double rounding = 1.01; // of bytes to whole sectors
    bool is_missed = false;
    for (int g = 0; g < judgement->goal_count; g++) {
        const GoalResult *result = &judgement->goals[g];
        if (!goal_misses_by_sectors(judgement, result)) continue;
        is_missed = true;
        if (goal_value_by_bytes(of, judgement, result) > rounding * result->goal->limit) return false;
    }
    return is_missed;
}

static bool has_wide_between(const Judgement *judgement, const GoalResult *result) {
    if (result->state != GOAL_MISSED || !strstr(result->goal->measure, "ld_sectors")) return false;
    for (int i = 0; i < judgement->line_count; i++) {
        const LineCounters *one = &judgement->lines[i].counters;
        const Counters *counters = &one->counters;
        if (judgement->lines[i].task == result->task && counters->global_st_requests == 0 &&
            2 * one->scatter.between > counters->global_ld_requests &&
            requests_are_full((double)counters->global_ld_bytes, (double)counters->global_ld_requests))
            return true;
    }
    return false;
}

static bool exceeds_any_sectors_of_loads(const Judgement *judgement, int task) {
    for (int g = 0; g < judgement->goal_count; g++)
        if (judgement->goals[g].task == task && exceeds_sectors_of_loads(&judgement->goals[g])) return true;
    return false;
}

// Which requests have less than 16 bytes for each lane, if a goal of the task that counts them is missed.
static Facts narrow_requests(const Judgement *judgement, int task) {
    const Measured *counted = &judgement->counted[0][task];
    bool is_missed = false;
    for (int g = 0; g < judgement->goal_count; g++)
        is_missed |= judgement->goals[g].task == task && judgement->goals[g].state == GOAL_MISSED &&
                     strstr(judgement->goals[g].goal->measure, "_requests");
    Counters sum = {0};
    for (int l = 0; is_missed && l < counted->shape.launch_count; l++)
        counters_add(&sum, &counted->counters[l]);
    const bool is_full_ld = requests_are_full((double)sum.global_ld_bytes, (double)sum.global_ld_requests);
    const bool is_full_st = requests_are_full((double)sum.global_st_bytes, (double)sum.global_st_requests);
    return (is_full_ld ? 0 : FACT_NARROW_LOADS) | (is_full_st ? 0 : FACT_NARROW_STORES);
}

static bool loads_rows_again(const Chapter *of, const Judgement *judgement, int task) {
    const double some = 0.5; // of the rows themselves, whatever else there is for each
    const Measured *counted = &judgement->counted[0][task];
    if (of->tasks[task].expect != EXPECT_ROWS || !counted->is_counted ||
        !exceeds_any_sectors_of_loads(judgement, task))
        return false;
    double loaded = 0;
    for (int l = 0; l < counted->shape.launch_count; l++)
        loaded += (double)counted->counters[l].global_ld_bytes;
    const double once = bytes_of_one_load(&of->tasks[task], &counted->shape);
    const Buffer *rows = &of->tasks[task].buffers[task_input(&of->tasks[task])];
    const double again = some * (double)counted->shape.size.n * (double)element_bytes(rows->type);
    return once > 0 && loaded >= once + again;
}

int local_line(const Judgement *judgement) {
    const double good_share = 1.0 / 32;
    const GoalResult *missed = goals_missed_bandwidth(judgement->goals, judgement->goal_count);
    if (!missed || strncmp(judgement->bandwidth[missed->task].limiter, "instructions:", 13) != 0) return 0;
    double local = 0, all = 0;
    for (int i = 0; i < judgement->line_count; i++) {
        const Counters *counters = &judgement->lines[i].counters.counters;
        if (judgement->lines[i].task != missed->task) continue;
        local += (double)(counters->local_ld_requests + counters->local_st_requests);
        all += (double)counters->instructions;
    }
    const GoalLines lines = goal_cost_lines(judgement, missed->task, COST_LOCAL);
    return lines.count > 0 && local >= good_share * all ? lines.lines[0].line : 0;
}

static bool has_doubles(const Task *task) {
    for (int b = 0; b < task_buffer_count(task); b++)
        if (task->buffers[b].type == F64) return true;
    return false;
}

static bool needs_units_for_doubles(const Chapter *of, const Judgement *judgement) {
    const GoalResult *missed = goals_missed_bandwidth(judgement->goals, judgement->goal_count);
    return missed && strstr(judgement->bandwidth[missed->task].limiter, "units for doubles") &&
           !has_doubles(&of->tasks[missed->task]);
}

Facts facts_of_residence(const Chapter *of, const Judgement *judgement) {
    static const struct {
        const char *words;
        Facts fact;
    } kinds[] = {{"places for warps", FACT_WARPS_RUN_OUT},
                 {"places for blocks", FACT_BLOCKS_RUN_OUT},
                 {"registers", FACT_REGISTERS_RUN_OUT},
                 {"bytes of shared memory", FACT_SHARED_RUNS_OUT}};
    for (int g = 0; g < judgement->goal_count; g++) {
        const GoalResult *result = &judgement->goals[g];
        Residence residence;
        int launch;
        if (result->state != GOAL_MISSED || !strstr(result->goal->measure, "occupancy") ||
            !goal_residence(of, judgement, result, &launch, &residence) || !residence.first_used_up)
            continue;
        for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
            if (strcmp(residence.first_used_up, kinds[k].words) == 0) return kinds[k].fact;
    }
    return 0;
}

Facts facts_of_loads(const Chapter *of, const Judgement *judgement) {
    Facts facts = sectors_are_all(of, judgement) ? FACT_SECTORS_ALONE : 0;
    if (judgement->what_if.loads == LOADS_BESIDE_EXCHANGE) facts |= FACT_LOADS_BESIDE_EXCHANGE;
    if (judgement->what_if.loads == LOADS_IN_NO_LOOP) facts |= FACT_LOADS_IN_NO_LOOP;
    if (needs_units_for_doubles(of, judgement)) facts |= FACT_DOUBLE_UNITS;
    for (int g = 0; g < judgement->goal_count; g++)
        if (has_wide_between(judgement, &judgement->goals[g])) facts |= FACT_WIDE_BETWEEN;
    for (int t = 0; t < chapter_task_count(of); t++) {
        facts |= narrow_requests(judgement, t);
        if (loads_rows_again(of, judgement, t)) facts |= FACT_LOADED_AGAIN;
        if (sectors_exceed(of, judgement, t)) facts |= FACT_SECTORS_EXCEED;
    }
    return facts;
}
