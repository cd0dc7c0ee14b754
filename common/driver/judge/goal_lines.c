#include "driver/judge/goal_lines.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "driver/judge/counted_lines.h"
#include "driver/judge/goals.h"

typedef struct {
    const Chapter *of;
    const Judgement *judgement;
    const GoalResult *result;
    const Measured *counted;
    const char *file; // kernel.cu
    double sum;       // of the values of all lines
    GoalLine *all;
    int count;
} Search;

// Headers have fewer lines that are counted.
static const char *kernel_file(const Judgement *judgement, int task) {
    const char *best = "", *file = NULL;
    int most = 0, lines = 0;
    for (int i = 0; i < judgement->line_count; i++) { // sorted by task, file and line
        const CountedLine *one = &judgement->lines[i];
        if (one->task != task || one->counters.place.line <= 0) continue;
        lines = file && strcmp(file, one->counters.place.file) == 0 ? lines + 1 : 1;
        file = one->counters.place.file;
        if (lines <= most) continue;
        most = lines;
        best = file;
    }
    return best;
}

static double value_of(const Search *search, const Measured *measured) {
    return goal_value(search->of, search->result->goal, search->result->task, measured,
                      &search->judgement->device);
}

// What was counted in `count` entries, which are one line.
static Measured of_line(const Search *search, const CountedLine *entries, int count) {
    Measured measured = *search->counted;
    memset(measured.counters, 0, sizeof measured.counters);
    for (int i = 0; i < count; i++)
        counters_add(&measured.counters[entries[i].launch], &entries[i].counters.counters);
    return measured;
}

// Without the loads of memory that no kernel may write to.
static void leave_out_inputs(Measured *measured) {
    for (int l = 0; l < measured->shape.launch_count; l++) {
        Counters *counters = &measured->counters[l];
        counters->global_ld_requests -= counters->input_ld_requests;
        counters->global_ld_sectors -= counters->input_ld_sectors;
    }
}

// `base`: what is taken from the value of each line. Below 0, it stands for the loads of inputs, which are
// left out.
static void collect(Search *search, double base) {
    const Judgement *judgement = search->judgement;
    for (int i = 0, count; i < judgement->line_count; i += count) {
        const CountedLine *one = &judgement->lines[i];
        count = counted_lines_alike(judgement, i);
        if (one->task != search->result->task) continue;
        Measured measured = of_line(search, one, count);
        if (base < 0) leave_out_inputs(&measured);
        const double value = value_of(search, &measured) - base;
        search->sum += value;
        if (isfinite(value) && !(base < 0 && value == 0) && one->counters.place.line > 0 &&
            strcmp(one->counters.place.file, search->file) == 0)
            search->all[search->count++] = (GoalLine){one->counters.place.line, value};
    }
}

static int compare_values(const void *left, const void *right) {
    const GoalLine *a = left, *b = right;
    if (a->value != b->value) return a->value < b->value ? 1 : -1;
    return a->line - b->line;
}

static int compare_places(const void *left, const void *right) {
    return ((const GoalLine *)left)->line - ((const GoalLine *)right)->line;
}

// The lines that have most of a sum.
static void take_shares(const Search *search, GoalLines *lines) {
    const double most = 0.8, all = 1 - 1e-9;
    double sum = 0;
    for (int i = 0; i < search->count && lines->count < MOST_GOAL_LINES && sum < most * search->sum; i++) {
        lines->lines[lines->count++] = search->all[i];
        sum += search->all[i].value;
    }
    lines->is_rest = sum < all * search->sum;
}

// The lines that miss the goal alone, from the one that misses it by most.
static void take_missing(const Search *search, GoalLines *lines) {
    const Goal *goal = search->result->goal;
    const bool is_least = goal->bound == AT_LEAST;
    for (int i = 0; i < search->count && lines->count < MOST_GOAL_LINES; i++) {
        const GoalLine *one = &search->all[is_least ? search->count - 1 - i : i];
        if (is_least ? one->value > 0 && one->value < goal->limit : one->value > goal->limit)
            lines->lines[lines->count++] = *one;
    }
}

static double cost_of(const Counters *c, Cost cost) {
    const double moved = (double)(c->global_ld_bytes + c->global_st_bytes) / 32;
    switch (cost) {
    case COST_SECTORS: return fmax(0, (double)(c->global_ld_sectors + c->global_st_sectors) - moved);
    case COST_CONFLICTS: return (double)(c->shared_ld_conflicts + c->shared_st_conflicts);
    case COST_DIVERGENCE: return (double)c->branch_divergent;
    case COST_LOCAL: return (double)(c->local_ld_requests + c->local_st_requests);
    default: return 0;
    }
}

GoalLines goal_cost_lines(const Judgement *judgement, int task, Cost cost) {
    const double stands_out = 15; // percent
    GoalLines lines = {0};
    Search search = {.file = kernel_file(judgement, task),
                     .all = calloc((size_t)judgement->line_count + 1, sizeof *search.all)};
    for (int i = 0, count; search.all && i < judgement->line_count; i += count) {
        const CountedLine *one = &judgement->lines[i];
        count = counted_lines_alike(judgement, i);
        double sum = 0;
        for (int k = 0; k < count; k++) sum += cost_of(&one[k].counters.counters, cost);
        if (one->task != task || !(sum > 0)) continue;
        search.sum += sum;
        if (one->counters.place.line > 0 && strcmp(one->counters.place.file, search.file) == 0)
            search.all[search.count++] = (GoalLine){one->counters.place.line, sum};
    }
    if (search.all) qsort(search.all, (size_t)search.count, sizeof *search.all, compare_values);
    for (int i = 0; i < search.count && lines.count < MOST_GOAL_LINES; i++) {
        const double share = 100 * search.all[i].value / search.sum;
        if (share >= stands_out) lines.lines[lines.count++] = (GoalLine){search.all[i].line, share};
    }
    free(search.all);
    return lines;
}

bool goal_residence(const Chapter *of, const Judgement *judgement, const GoalResult *result, int *launch,
                    Residence *residence) {
    const bool is_wave = strcmp(result->goal->measure, "waves") == 0;
    if ((!is_wave && !strstr(result->goal->measure, "occupancy")) || result->device[0]) return false;
    const Measured *counted = &judgement->counted[0][result->task];
    *launch = result->goal->kernel ? task_find_launch(&of->tasks[result->task], result->goal->kernel) : 0;
    if (*launch < 0 || counted->registers[*launch] <= 0 || result->size.n != counted->shape.size.n)
        return false;
    const ShapeOfLaunch *shape = &counted->shape.launches[*launch];
    const long long shared = (long long)counted->static_shared[*launch] + (long long)shape->shared;
    *residence = residence_of(&judgement->device, shape->block_threads, counted->registers[*launch], shared);
    return true;
}

static bool is_counted_there(const Judgement *judgement, const GoalResult *result) {
    const Measured *counted = &judgement->counted[0][result->task];
    return result->state == GOAL_MISSED && !result->lacks && !(result->partial > 0) && counted->is_counted &&
           result->size.n == counted->shape.size.n && result->misalignment == counted->misalignment &&
           !result->device[0];
}

bool goal_exceeds_sectors(const GoalResult *result, const char *sectors) {
    return result->state == GOAL_MISSED && result->goal->bound != AT_LEAST &&
           result->value > result->goal->limit && strstr(result->goal->measure, sectors);
}

bool goal_misses_by_sectors(const Judgement *judgement, const GoalResult *result) {
    return goal_exceeds_sectors(result, "_sectors") && !result->lacks &&
           judgement->counted[0][result->task].is_counted;
}

double goal_value_by_bytes(const Chapter *of, const Judgement *judgement, const GoalResult *result) {
    Measured filled = judgement->counted[0][result->task];
    for (int l = 0; l < filled.shape.launch_count; l++) {
        Counters *counters = &filled.counters[l];
        const uint64_t full = (counters->global_ld_bytes + 31) / 32;
        const uint64_t beyond = counters->global_ld_sectors > full ? counters->global_ld_sectors - full : 0;
        // Which of the sectors beyond those that are filled are inputs is not counted: at most all.
        counters->input_ld_sectors -=
            beyond < counters->input_ld_sectors ? beyond : counters->input_ld_sectors;
        counters->global_ld_sectors -= beyond;
        counters->global_st_sectors = (counters->global_st_bytes + 31) / 32;
    }
    return goal_value(of, result->goal, result->task, &filled, &judgement->device);
}

bool requests_are_full(double bytes, double requests) {
    const double full = 512, fewer_lanes = 1.05;
    return bytes >= full / fewer_lanes * requests;
}

GoalLines goal_narrow_lines(const Judgement *judgement, const GoalResult *result) {
    const char *file = kernel_file(judgement, result->task), *measure = result->goal->measure;
    const bool has_loads = strstr(measure, "ld_requests"), has_stores = strstr(measure, "st_requests");
    const bool is_of_them = result->goal->bound == AT_LEAST && is_counted_there(judgement, result);
    GoalLines lines = {0};
    for (int i = 0, count; is_of_them && i < judgement->line_count; i += count) {
        const CountedLine *one = &judgement->lines[i];
        double bytes = 0, requests = 0;
        count = counted_lines_alike(judgement, i);
        for (int k = 0; k < count; k++) {
            const Counters *c = &one[k].counters.counters;
            bytes += (double)(has_loads * c->global_ld_bytes + has_stores * c->global_st_bytes);
            requests += (double)(has_loads * c->global_ld_requests + has_stores * c->global_st_requests);
        }
        if (one->task != result->task || strcmp(one->counters.place.file, file) != 0 ||
            one->counters.place.line <= 0 || requests_are_full(bytes, requests))
            continue;
        if (lines.count == MOST_GOAL_LINES)
            lines.is_rest = true;
        else
            lines.lines[lines.count++] = (GoalLine){one->counters.place.line, bytes / requests};
    }
    return lines;
}

LineCounters goal_line_requests(const Judgement *judgement, int task, int line) {
    const char *file = kernel_file(judgement, task);
    LineCounters sum = {0};
    for (int i = 0; i < judgement->line_count; i++) {
        const CountedLine *one = &judgement->lines[i];
        if (one->task == task && one->counters.place.line == line &&
            strcmp(one->counters.place.file, file) == 0)
            line_counters_add(&sum, &one->counters);
    }
    return sum;
}

GoalLines goal_lines(const Chapter *of, const Judgement *judgement, const GoalResult *result) {
    GoalLines lines = {0};
    const Measured *counted = &judgement->counted[0][result->task];
    if (!is_counted_there(judgement, result)) return lines;
    Search search = {.of = of,
                     .judgement = judgement,
                     .result = result,
                     .counted = counted,
                     .file = kernel_file(judgement, result->task),
                     .all = calloc((size_t)judgement->line_count + 1, sizeof *search.all)};
    if (!search.all) return lines;
    const Measured nothing = of_line(&search, NULL, 0);
    const double without_any = value_of(&search, &nothing);
    // A part that is taken away is for the inputs, if all other lines add up to the value.
    const double base = without_any < 0 ? without_any : 0;
    collect(&search, base);
    qsort(search.all, (size_t)search.count, sizeof *search.all, compare_values);
    const bool is_sum = fabs(search.sum - result->value) <= 1e-6 * fabs(result->value);
    const bool is_too_much = result->value > result->goal->limit;
    // A measure that has a value without any line is not of lines, or of more than them.
    if (without_any == base && is_sum && is_too_much)
        take_shares(&search, &lines);
    else if (without_any == 0 || isinf(without_any))
        take_missing(&search, &lines);
    free(search.all);
    qsort(lines.lines, (size_t)lines.count, sizeof *lines.lines, compare_places);
    return lines;
}
