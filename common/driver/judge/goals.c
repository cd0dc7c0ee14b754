#include "driver/judge/goals.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emulator/model/model.h"

int resident_blocks(const GpuInfo *info, int block_threads, int registers, long long static_shared,
                    long long dynamic_shared) {
    if (block_threads < 1 || block_threads > info->max_threads_per_block) return 0;
    const ModelDevice device = {.warps_per_sm = (double)info->max_threads_per_sm / 32,
                                .blocks_per_sm = info->max_blocks_per_sm,
                                .registers_per_sm = info->registers_per_sm,
                                .shared_per_sm = info->shared_per_sm,
                                .shared_reserved_per_block = info->shared_reserved_per_block};
    const ModelShape shape = {.block_threads = block_threads,
                              .registers = registers,
                              .shared_bytes = (double)(static_shared + dynamic_shared)};
    return (int)model_resident_blocks(&device, &shape);
}

Residence residence_of(const GpuInfo *info, int block_threads, int registers, long long shared) {
    Residence residence = {.blocks = resident_blocks(info, block_threads, registers, shared, 0)};
    GpuInfo more[4] = {*info, *info, *info, *info};
    more[0].max_threads_per_sm *= 2;
    more[1].max_blocks_per_sm *= 2;
    more[2].registers_per_sm *= 2;
    more[3].shared_per_sm *= 2;
    static const char *const names[] = {"places for warps", "places for blocks", "registers",
                                        "bytes of shared memory"};
    for (int i = 0; i < 4; i++)
        if (resident_blocks(&more[i], block_threads, registers, shared, 0) > residence.blocks)
            residence.first_used_up = names[i];
    return residence;
}

const char *goal_state_word(GoalState state) {
    static const char *const words[] = {
        [GOAL_MET] = "met",
        [GOAL_MISSED] = "missed",
        [GOAL_TOO_NOISY] = "too noisy to decide",
        [GOAL_NOT_COUNTED] = "not yet counted",
        [GOAL_NOT_JUDGED] = "not judged",
        [GOAL_BROKEN] = "broken",
    };
    return words[state];
}

// ---- Names -----------------------------------------------------------------------------------------------

typedef struct {
    const Measured *measured;
    const GpuInfo *info;
    int launch;   // of one kernel, or -1: all of the task together
    double ratio; // what bandwidth_ratio stands for
} Scope;

static double counter(const Scope *scope, int field, bool is_maximum) {
    double total = 0;
    for (int i = 0; i < scope->measured->shape.launch_count; i++) {
        if (scope->launch >= 0 && i != scope->launch) continue;
        const double value = (double)counter_value(&scope->measured->counters[i], field);
        total = is_maximum ? fmax(total, value) : total + value;
    }
    return total;
}

static double over_launches(const Scope *scope, size_t offset) {
    double total = 0;
    for (int i = 0; i < scope->measured->shape.launch_count; i++) {
        if (scope->launch >= 0 && i != scope->launch) continue;
        long long value;
        memcpy(&value, (const char *)&scope->measured->shape.launches[i] + offset, sizeof value);
        total += (double)value;
    }
    return total;
}

// The value of a name; NaN where there is none here. False for a name that means nothing.
static bool look_up(const Scope *scope, const char *name, double *value) {
    const Measured *measured = scope->measured;
    const GpuInfo *info = scope->info;
    const int first = scope->launch < 0 ? 0 : scope->launch;
    const ShapeOfLaunch *shape = &measured->shape.launches[first];
    for (int i = 0; i < counter_field_count; i++) {
        if (strcmp(counter_fields[i].name, name) != 0) continue;
        bool is_maximum = strcmp(name, "atomic_max_lanes") == 0;
        *value = measured->is_counted ? counter(scope, i, is_maximum) : (double)NAN;
        return true;
    }
    const double registers = measured->registers[first] > 0 ? measured->registers[first] : (double)NAN;
    const long long warps_per_block = (shape->block_threads + 31) / 32;
    const double max_warps = info->max_threads_per_sm / 32.0;
    double resident = NAN; // blocks on an SM
    if (measured->registers[first] > 0 && shape->block_threads > 0)
        resident = resident_blocks(info, shape->block_threads, measured->registers[first],
                                   measured->static_shared[first], shape->shared);
    const struct {
        const char *name;
        double value;
    } names[] = {
        {"n", (double)measured->shape.size.n},
        {"rows", (double)measured->shape.size.rows},
        {"columns", (double)measured->shape.size.columns},
        {"depth", (double)measured->shape.size.depth},
        {"grid", over_launches(scope, offsetof(ShapeOfLaunch, blocks))},
        {"blocks", over_launches(scope, offsetof(ShapeOfLaunch, blocks))},
        {"warps", over_launches(scope, offsetof(ShapeOfLaunch, warps))},
        {"threads", over_launches(scope, offsetof(ShapeOfLaunch, threads))},
        {"block", shape->block_threads},
        {"shared", (double)measured->static_shared[first] + shape->shared},
        {"registers", registers},
        {"sm_count", info->sm_count},
        {"blocks_per_sm", resident},
        {"warps_per_sm", resident * (double)warps_per_block},
        {"max_warps_per_sm", max_warps},
        {"occupancy", resident * (double)warps_per_block / max_warps},
        {"waves", resident > 0 ? (double)shape->blocks / (info->sm_count * resident) : (double)NAN},
        {"partials", (double)measured->partials},
        {"output_bytes", (double)measured->output_bytes},
        {"bandwidth", measured->bandwidth && bandwidth_is_known(measured->bandwidth)
                          ? measured->bandwidth->gb_per_s
                          : (double)NAN},
        {"peak_share", measured->bandwidth ? bandwidth_peak_share(measured->bandwidth) : (double)NAN},
        {"bandwidth_ratio", scope->ratio},
        {"overlap", measured->timeline ? measured->timeline->overlap : (double)NAN},
        {"copy_in_us", measured->timeline ? 1e6 * measured->timeline->busy[ENGINE_IN] : (double)NAN},
        {"kernels_us", measured->timeline ? 1e6 * measured->timeline->busy[ENGINE_KERNELS] : (double)NAN},
        {"timed", measured->timeline ? measured->timeline->timed : (double)NAN},
        {"shared_total", measured->timeline ? measured->timeline->shared : (double)NAN},
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(names[i].name, name) != 0) continue;
        *value = names[i].value;
        return true;
    }
    return false;
}

// ---- Expressions -----------------------------------------------------------------------------------------

typedef struct {
    const Scope *scope;
    const char *at;
    bool is_broken, has_ratio; // it names bandwidth_ratio
    int depth;
    char words[96];   // what is wrong
    char unknown[64]; // the first name without a value
} Expression;

static double parse_sum(Expression *expression);

static void skip_spaces(Expression *expression) {
    while (*expression->at == ' ') expression->at++;
}

static void break_off(Expression *expression, const char *words, const char *at) {
    if (expression->is_broken) return;
    expression->is_broken = true;
    snprintf(expression->words, sizeof expression->words, "%s at \"%.40s\"", words, at);
}

static double parse_atom(Expression *expression) {
    skip_spaces(expression);
    const char *start = expression->at;
    if (*start == '(') {
        expression->at++;
        if (++expression->depth > 32) break_off(expression, "too many parentheses", start);
        double inner = expression->is_broken ? 0 : parse_sum(expression);
        expression->depth--;
        skip_spaces(expression);
        if (*expression->at == ')')
            expression->at++;
        else
            break_off(expression, "no closing parenthesis", start);
        return inner;
    }
    if (isdigit((unsigned char)*start)) {
        char *end;
        double number = strtod(start, &end);
        expression->at = end;
        return number;
    }
    char name[64];
    size_t length = 0;
    while ((isalnum((unsigned char)*expression->at) || *expression->at == '_') && length + 1 < sizeof name)
        name[length++] = *expression->at++;
    name[length] = '\0';
    double value = NAN;
    if (length == 0 || !look_up(expression->scope, name, &value)) {
        break_off(expression, "unknown name", start);
        return 0;
    }
    if (strcmp(name, "bandwidth_ratio") == 0) expression->has_ratio = true;
    if (isnan(value) && !expression->unknown[0]) memcpy(expression->unknown, name, sizeof name);
    return value;
}

static double parse_product(Expression *expression) {
    double left = parse_atom(expression);
    for (;;) {
        skip_spaces(expression);
        char sign = *expression->at;
        if (expression->is_broken || (sign != '*' && sign != '/')) return left;
        expression->at++;
        double right = parse_atom(expression);
        if (sign == '*')
            left *= right;
        else
            left = left == 0 && right == 0 ? 0 : left / right; // 0 / 0 counts as 0
    }
}

static double parse_sum(Expression *expression) {
    double left = parse_product(expression);
    for (;;) {
        skip_spaces(expression);
        char sign = *expression->at;
        if (expression->is_broken || (sign != '+' && sign != '-')) return left;
        expression->at++;
        double right = parse_product(expression);
        left = sign == '+' ? left + right : left - right;
    }
}

// ---- Goals -----------------------------------------------------------------------------------------------

static void set_broken(GoalResult *result, const char *words, const char *name) {
    result->state = GOAL_BROKEN;
    snprintf(result->words, sizeof result->words, "%s %.60s", words, name);
}

// The measure with bandwidth_ratio standing for `ratio`.
static double measure(const Goal *goal, Scope *scope, double ratio, Expression *expression) {
    scope->ratio = ratio;
    *expression = (Expression){.scope = scope, .at = goal->measure ? goal->measure : ""};
    double value = parse_sum(expression);
    skip_spaces(expression);
    if (*expression->at) break_off(expression, "no sense", expression->at);
    return value;
}

static double tolerance_of(const Goal *goal, const Measured *measured) {
    // If the run draws the size, the last round of a loop may have a warp that is divided.
    return goal->slack + (measured->is_moved ? goal->slack_moved + 2e-3 * fabs(goal->limit) : 0);
}

static bool is_within(const Goal *goal, const Measured *measured, double value) {
    // The quotients are of whole numbers below 2^53: a billionth is far above their rounding.
    const double slack = tolerance_of(goal, measured) + 1e-9 * fabs(goal->limit);
    switch (goal->bound) {
    case AT_MOST: return value <= goal->limit + slack;
    case AT_LEAST: return value >= goal->limit - slack;
    case EXACTLY: return fabs(value - goal->limit) <= slack;
    }
    return false;
}

// What a measure of bandwidth earns: nothing at half the reference, all at the limit, a straight line
// between; by the lower end of the interval, which is what is certain.
static double share_of(const Goal *goal, double low, double at_half) {
    const double share = (low - at_half) / (goal->limit - at_half);
    return goal->bound != AT_LEAST || !(share > 0) || goal->limit <= at_half ? 0 : fmin(share, 1);
}

static void judge_bandwidth(const Goal *goal, Scope *scope, const Bandwidth *bandwidth, GoalResult *result) {
    Expression expression;
    const double one_end = measure(goal, scope, bandwidth->ratio_low, &expression);
    const double other_end = measure(goal, scope, bandwidth->ratio_high, &expression);
    const double at_half = measure(goal, scope, 0.5, &expression);
    result->low = fmin(one_end, other_end);
    result->high = fmax(one_end, other_end);
    const bool is_low = is_within(goal, scope->measured, result->low);
    const bool is_high = is_within(goal, scope->measured, result->high);
    const bool is_met = is_low && is_high, may_be = is_low || is_high;
    result->state = is_met ? GOAL_MET : may_be ? GOAL_TOO_NOISY : GOAL_MISSED;
    result->share = is_met ? 1 : share_of(goal, result->low, at_half);
}

bool goal_is_of_bandwidth(const Goal *goal) { return strstr(goal->measure, "bandwidth_ratio") != NULL; }

const GoalResult *goals_missed_bandwidth(const GoalResult *results, int count) {
    const GoalResult *worst = NULL;
    for (int r = 0; r < count; r++) {
        if (results[r].state != GOAL_MISSED || !goal_is_of_bandwidth(results[r].goal)) continue;
        if (!worst || results[r].value * worst->goal->limit < worst->value * results[r].goal->limit)
            worst = &results[r];
    }
    return worst;
}

bool goal_is_of_shape(const Goal *goal) {
    static const char *const names[] = {"occupancy",     "waves",        "sm_count",
                                        "blocks_per_sm", "warps_per_sm", "max_warps_per_sm"};
    for (int i = 0; i < counter_field_count; i++)
        if (strstr(goal->measure, counter_fields[i].name)) return false;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strstr(goal->measure, names[i])) return true;
    return false;
}

double goal_value(const Chapter *of, const Goal *goal, int task, const Measured *measured,
                  const GpuInfo *info) {
    Scope scope = {.measured = measured,
                   .info = info,
                   .launch = goal->kernel ? task_find_launch(&of->tasks[task], goal->kernel) : -1};
    Expression expression;
    const double value = measure(goal, &scope, NAN, &expression);
    return expression.is_broken ? (double)NAN : value;
}

void goal_evaluate(const Chapter *of, const Goal *goal, const Measured *measured, const GpuInfo *info,
                   GoalResult *result) {
    *result = (GoalResult){.goal = goal, .value = NAN, .low = NAN, .high = NAN};
    const int tasks = chapter_task_count(of);
    while (goal->task && result->task < tasks && strcmp(of->tasks[result->task].name, goal->task) != 0)
        result->task++;
    if (result->task >= tasks) {
        result->task = 0;
        set_broken(result, "no task", goal->task ? goal->task : "at all");
        return;
    }
    const Bandwidth *bandwidth = measured[result->task].bandwidth;
    const bool has_ratio = bandwidth && bandwidth->ratio > 0 && bandwidth->state != BANDWIDTH_UNTRUSTED_TIME;
    Scope scope = {.measured = &measured[result->task], .info = info, .launch = -1};
    if (goal->kernel) {
        scope.launch = task_find_launch(&of->tasks[result->task], goal->kernel);
        if (scope.launch < 0) {
            set_broken(result, "no kernel", goal->kernel);
            return;
        }
    }
    Expression expression;
    const double value = measure(goal, &scope, has_ratio ? bandwidth->ratio : (double)NAN, &expression);
    if (expression.is_broken) {
        result->state = GOAL_BROKEN;
        memcpy(result->words, expression.words, sizeof result->words);
        return;
    }
    if (isnan(value)) {
        result->state = GOAL_NOT_COUNTED;
        snprintf(result->words, sizeof result->words, "%s", expression.unknown);
        return;
    }
    result->value = result->low = result->high = value;
    result->size = measured[result->task].shape.size;
    result->misalignment = measured[result->task].misalignment;
    if (has_ratio && expression.has_ratio) {
        result->size = bandwidth->size;
        result->misalignment = 0;
        judge_bandwidth(goal, &scope, bandwidth, result);
        return;
    }
    for (int i = 0; i < MAX_NEEDS && goal->needs[i].words && !result->lacks; i++) {
        const Goal needs = {.measure = goal->needs[i].measure};
        result->used = measure(&needs, &scope, NAN, &expression);
        if (expression.is_broken || !(result->used >= goal->needs[i].least)) result->lacks = &goal->needs[i];
    }
    // A barrier that some threads never execute is none of the block.
    const Goal partial = {.measure = "partial_barriers"};
    const bool is_of_barriers = strncmp(goal->measure, "barriers", 8) == 0;
    result->partial = is_of_barriers ? measure(&partial, &scope, NAN, &expression) : 0;
    result->is_within = is_within(goal, scope.measured, value);
    result->tolerance = tolerance_of(goal, scope.measured);
    const bool is_met = result->is_within && !result->lacks && !(result->partial > 0);
    result->state = is_met ? GOAL_MET : scope.measured->is_small ? GOAL_NOT_JUDGED : GOAL_MISSED;
    result->share = is_met;
}
