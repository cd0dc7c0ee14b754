#include "driver/page/goal_rows.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "support/command_words.h"
#include "driver/judge/goal_lines.h"
#include "driver/judge/goals.h"
#include "driver/plan/elements.h"
#include "driver/page/bandwidth_rows.h"
#include "driver/page/rows.h"
#include "driver/plan/plan.h"

static const char *plural(long long count) { return count == 1 ? "" : "s"; }

// "53 of 53 cases: 0 to 1,048,577 elements, 12 input families, 4 schedules", and perhaps "8 of them weak", of
// the device or beside it.
static int count_right(const Judgement *judgement, bool is_beside, char *words, size_t bytes) {
    long long least = -1, most = 0;
    bool families[FAMILIES] = {0};
    int family_count = 0, schedule_count = 0, weak_count = 0, count = 0, passed = 0;
    for (int i = 0; i < judgement->case_count; i++) {
        const Case *one = &judgement->cases[i].settings;
        if (one->is_beside != is_beside || one->is_large || one->is_drawn) continue;
        count++;
        passed += judgement->cases[i].was_run && judgement->cases[i].verdict == VERDICT_PASS;
        if (least < 0 || one->size.n < least) least = one->size.n;
        if (one->size.n > most) most = one->size.n;
        if (!families[one->family]) family_count++;
        families[one->family] = true;
        bool is_new = true;
        for (int k = 0; k < i && is_new; k++)
            is_new = judgement->cases[k].settings.is_beside != is_beside ||
                     judgement->cases[k].settings.schedule != one->schedule;
        schedule_count += is_new;
        weak_count += is_new && schedule_is_weak(one->schedule);
    }
    char from[32], to[32], range[80];
    count_text(least < 0 ? 0 : least, from, sizeof from);
    count_text(most, to, sizeof to);
    if (least == most)
        snprintf(range, sizeof range, "%s element%s", to, plural(most));
    else
        snprintf(range, sizeof range, "%s to %s elements", from, to);
    const bool is_gpu = judgement->device.kind == GPU_NVIDIA;
    snprintf(words, bytes, "%d of %d cases%s: %s, %d input famil%s, %d %s%s", passed, count,
             !is_gpu     ? ""
             : is_beside ? " on the emulator beside it"
                         : " on the GPU",
             range, family_count, family_count == 1 ? "y" : "ies", schedule_count,
             is_gpu && !is_beside ? "run" : "schedule", plural(schedule_count));
    const size_t used = strlen(words);
    if (weak_count > 0) snprintf(words + used, bytes - used, ", %d of them weak", weak_count);
    return count;
}

// "2,113,001 elements, drawn for this run; a few blocks out of many: 1,140,850,688 elements", or why these do
// not tell.
static void add_large(Text *page, const Terminal *terminal, const Report *report, bool is_alone) {
    const Judgement *judgement = report->judgement;
    long long most = 0, drawn = 0;
    const CaseReport *silent = NULL;
    for (int i = 0; i < judgement->case_count; i++) {
        const CaseReport *one = &judgement->cases[i];
        if (one->settings.is_drawn) drawn = one->settings.size.n;
        if (!one->settings.is_large) continue;
        if (one->is_inconclusive)
            silent = one;
        else if (one->was_run && one->settings.size.n > most)
            most = one->settings.size.n;
    }
    char words[640] = "", number[32], own[32];
    count_text(most > 0 || !silent ? most : silent->settings.size.n, number, sizeof number);
    count_text(drawn, own, sizeof own);
    if (drawn > 0) snprintf(words, sizeof words, "%s elements, drawn for this run; ", own);
    const size_t used = strlen(words);
    if (most > 0) {
        const int more =
            snprintf(words + used, sizeof words - used, "a few blocks out of many: %s elements", number);
        if (silent) {
            count_text(silent->settings.size.n, number, sizeof number);
            snprintf(words + used + more, sizeof words - used - (size_t)more, "; %s: not at %s elements: %s",
                     report->of->tasks[silent->settings.task].name, number, silent->words);
        }
    } else if (silent)
        snprintf(words + used, sizeof words - used, "not at %s elements: %s", number, silent->words);
    else
        return;
    page_add_row(page, terminal, is_alone ? "correct" : "", words);
}

void page_add_correct(Text *page, const Terminal *terminal, const Report *report) {
    const Judgement *judgement = report->judgement;
    char words[480];
    const int whole = count_right(judgement, false, words, sizeof words);
    if (whole > 0) page_add_row(page, terminal, "correct", words);
    if (count_right(judgement, true, words, sizeof words) > 0) page_add_row(page, terminal, "", words);
    add_large(page, terminal, report, whole == 0);
    if (judgement->beside_words[0]) {
        snprintf(words, sizeof words, "only by the GPU, because the emulator could not run it: %s",
                 judgement->beside_words);
        page_add_row(page, terminal, "", words);
    }
    double share = 0;
    for (int i = 0; i < judgement->case_count; i++)
        if (judgement->cases[i].has_check) share = fmax(share, judgement->cases[i].check.budget_share);
    if (share > 0) {
        snprintf(words, sizeof words, "rounding used at most %.1f %% of its budget", share * 100);
        add_spaces(page, 0, TEXT_COLUMN);
        page_add_words(page, TEXT_COLUMN, TEXT_COLUMN, words);
    }
}

static void measure_text(double value, char *words, size_t bytes) {
    if (value == floor(value) && fabs(value) < 1e9) {
        count_text((long long)value, words, bytes);
    } else {
        snprintf(words, bytes, fabs(value) < 1000 ? "%.2f" : "%.4g", value);
    }
}

// The name of a count after the number 1: "barrier per warp" for "barriers per warp". A ratio
// ("times the sectors"), a share ("% of the warps") and two things together read alike for every number.
static void words_for_one(const char *words, char *singular, size_t bytes) {
    snprintf(singular, bytes, "%s", words);
    if (strncmp(words, "times ", 6) == 0 || words[0] == '%' || strstr(words, " and ")) return;
    for (size_t at = 1; words[at - 1]; at++) {
        if (words[at] != ' ' && words[at] != ',' && words[at] != '\0') continue;
        if (words[at - 1] != 's') continue;
        bool has_e =
            at > 4 && (strncmp(&words[at - 4], "ches", 4) == 0 || strncmp(&words[at - 4], "sses", 4) == 0);
        snprintf(singular, bytes, "%.*s%s", (int)(at - (has_e ? 2 : 1)), words, &words[at]);
        return;
    }
}

// Whether the value, as the page shows it, is on the other side of the limit.
static bool passes_limit(const Goal *goal, double value) {
    const double shown = round(value * 100) / 100;
    return goal->bound == AT_MOST    ? shown > goal->limit
           : goal->bound == AT_LEAST ? shown < goal->limit
                                     : shown != goal->limit;
}

static void add_tolerance(Text *page, const GoalResult *result) {
    char words[160], tolerance[32];
    if (result->state != GOAL_MET || !(result->tolerance > 0) || !passes_limit(result->goal, result->value))
        return;
    measure_text(result->tolerance, tolerance, sizeof tolerance);
    snprintf(words, sizeof words,
             "Up to %s past the goal still count: the ends of blocks and of the array change this number.",
             tolerance);
    add_spaces(page, 0, VALUE_COLUMN + 2);
    page_add_words(page, VALUE_COLUMN + 2, VALUE_COLUMN + 2, words);
}

// In which case a goal was missed that is met at the size that the page names above, or "".
static void elsewhere_words(const GoalResult *result, CaseSize shown, char *words, size_t bytes) {
    char n[32];
    words[0] = '\0';
    if (result->state != GOAL_MISSED || result->size.n == shown.n || goal_is_of_bandwidth(result->goal))
        return;
    count_text(result->size.n, n, sizeof n);
    if (result->misalignment)
        snprintf(words, bytes,
                 "This was counted at n = %s, with a base %u bytes past a multiple of 16; at the size above, "
                 "with an aligned base, the goal is met. ",
                 n, result->misalignment);
    else
        snprintf(words, bytes, "This was counted at n = %s; at the size above the goal is met. ", n);
}

// How the lanes lie in banks or sectors in the line that has most.
static void add_request(Text *words, const Report *report, const GoalResult *result,
                        const GoalLines *by_line) {
    if (by_line->count == 0) return;
    const GoalLine *most = &by_line->lines[0];
    for (int i = 1; i < by_line->count; i++)
        if (by_line->lines[i].value > most->value) most = &by_line->lines[i];
    if (strstr(result->goal->measure, "_conflicts"))
        page_add_conflict(words, report->judgement, result->task, most->line);
    if (strstr(result->goal->measure, "d_sectors") || strstr(result->goal->measure, "st_sectors"))
        page_add_scatter(words, report->judgement, result->task, most->line);
}

// ": a block has 50,176 of them, 49,152 of these by launch->shared", ": a thread has 48", or nothing.
static void add_used_up(Text *words, const Measured *counted, int launch, const char *what) {
    const long long asked = (long long)counted->shape.launches[launch].shared;
    char all[32], dynamic[32];
    count_text(counted->static_shared[launch] + asked, all, sizeof all);
    count_text(asked, dynamic, sizeof dynamic);
    if (strcmp(what, "registers") == 0) text_printf(words, ": a thread has %d", counted->registers[launch]);
    if (!strstr(what, "shared memory")) return;
    text_printf(words, ": a block has %s of them", all);
    if (asked > 0 && counted->static_shared[launch] == 0)
        text_add(words, ", all by launch->shared");
    else if (asked > 0)
        text_printf(words, ", %s of these by launch->shared", dynamic);
}

// "8 blocks of 256 threads fit on an SM, where places for warps run out first: one wave is 1,056 blocks, and
// the launch has 4,096."
static void add_residence(Text *words, const Report *report, const GoalResult *result) {
    const bool is_wave = strcmp(result->goal->measure, "waves") == 0;
    int launch;
    Residence residence;
    if (!goal_residence(report->of, report->judgement, result, &launch, &residence)) return;
    const Measured *counted = &report->judgement->counted[0][result->task];
    const ShapeOfLaunch *shape = &counted->shape.launches[launch];
    char fit[32], has[32];
    count_text((long long)residence.blocks * report->judgement->device.sm_count, fit, sizeof fit);
    count_text(shape->blocks, has, sizeof has);
    text_printf(words, " %d block%s of %d threads fit%s on an SM", residence.blocks, plural(residence.blocks),
                shape->block_threads, residence.blocks == 1 ? "s" : "");
    if (residence.first_used_up) text_printf(words, ", where the %s run out first", residence.first_used_up);
    if (residence.first_used_up && !is_wave) add_used_up(words, counted, launch, residence.first_used_up);
    if (is_wave) text_printf(words, ": one wave is %s blocks, and the launch has %s", fit, has);
    text_add(words, ".");
}

// "On average, a request has 128 bytes in line 40, 128 in line 41." or nothing.
static void add_narrow_lines(Text *words, const Report *report, const GoalResult *result) {
    const GoalLines narrow = goal_narrow_lines(report->judgement, result);
    for (int i = 0; i < narrow.count; i++) {
        char bytes[32];
        measure_text(narrow.lines[i].value, bytes, sizeof bytes);
        text_printf(words, i == 0 ? " On average, a request has %s bytes in line %d" : ", %s in line %d",
                    bytes, narrow.lines[i].line);
    }
    if (narrow.count > 0) text_add(words, narrow.is_rest ? ", and less than 512 in others." : ".");
}

// "ptxas spills: its code of matmul_vectors has 5,536 bytes of stores ..." or nothing.
static void add_spilled(Text *words, const Report *report, const GoalResult *result) {
    const Task *task = &report->of->tasks[result->task];
    const Measured *counted = &report->judgement->counted[0][result->task];
    for (int l = 0; goal_is_of_bandwidth(result->goal) && l < task_launch_count(task); l++) {
        if (counted->spilled[l] == 0) continue;
        char bytes[32];
        count_text(counted->spilled[l], bytes, sizeof bytes);
        text_printf(
            words,
            " ptxas gives a thread of %s %d registers and spills: values for %s bytes of stores in its "
            "code find no register, which the model leaves out.",
            task->launches[l].kernel, counted->registers[l], bytes);
    }
}

// What would remain of a goal of bytes if all accesses were coalesced, where that is still too much; and the
// bytes that the lanes of its lines ask for.
static void add_remaining(Text *words, const Report *report, const GoalResult *result,
                          const GoalLines *by_line) {
    const Judgement *judgement = report->judgement;
    if (by_line->count == 0 || !goal_misses_by_sectors(judgement, result) ||
        !strstr(result->goal->measure, " / n"))
        return;
    const double by_bytes = goal_value_by_bytes(report->of, judgement, result), little = 1.01;
    if (by_bytes <= little * result->goal->limit || result->value <= little * by_bytes) return;
    char value[32];
    measure_text(by_bytes, value, sizeof value);
    text_printf(words, " If no access touched more sectors than its bytes fill, %s would remain", value);
    for (int i = 0; i < by_line->count; i++) {
        const LineCounters line = goal_line_requests(judgement, result->task, by_line->lines[i].line);
        const double bytes = (double)(line.counters.global_ld_bytes + line.counters.global_st_bytes);
        measure_text(bytes / (double)result->size.n, value, sizeof value);
        text_printf(words, "%s%s bytes per element in line %d", i == 0 ? ": " : ", ", value,
                    by_line->lines[i].line);
    }
    text_add(words, by_line->is_rest ? ", the rest elsewhere." : ".");
}

// "Counted in line 40." or "By line: 8 in line 21, 8 in line 25." or nothing.
static void add_lines(Text *words, const Report *report, const GoalResult *result) {
    const GoalLines by_line = goal_lines(report->of, report->judgement, result);
    if (by_line.count == 1 && by_line.lines[0].value == result->value) {
        text_printf(words, " Counted in line %d.", by_line.lines[0].line);
        add_request(words, report, result, &by_line);
        add_remaining(words, report, result, &by_line);
        return;
    }
    for (int i = 0; i < by_line.count; i++) {
        char value[32];
        measure_text(by_line.lines[i].value, value, sizeof value);
        text_printf(words, "%s%s in line %d", i == 0 ? " By line: " : ", ", value, by_line.lines[i].line);
    }
    if (by_line.count > 0) text_add(words, by_line.is_rest ? ", the rest elsewhere." : ".");
    if (by_line.count == 0) add_narrow_lines(words, report, result);
    add_request(words, report, result, &by_line);
    add_remaining(words, report, result, &by_line);
    if (result->state == GOAL_MISSED) add_spilled(words, report, result);
    if (result->state == GOAL_MISSED) add_residence(words, report, result);
}

static void add_goal(Text *page, const Terminal *terminal, const Report *report, const GoalResult *result) {
    // The size that the page names above the goals.
    const CaseSize shown = report->judgement->counted[0][result->task].shape.size;
    const bool is_gpu = report->judgement->device.kind == GPU_NVIDIA;
    static const char *const bounds[] = {[AT_MOST] = "at most ", [AT_LEAST] = "at least ", [EXACTLY] = ""};
    const Goal *goal = result->goal;
    // If the kernel lacks what the goal needs besides, that is what is missed: its figure is shown.
    const Technique *lacks = result->lacks;
    const Bound bound = lacks ? AT_LEAST : goal->bound;
    char value[32] = "-", own[32] = "-", limit[32], least[32] = "", left[160], right[80];
    if (result->state != GOAL_NOT_COUNTED && result->state != GOAL_BROKEN)
        measure_text(result->value, own, sizeof own);
    measure_text(goal->limit, limit, sizeof limit);
    if (lacks) measure_text(result->used, value, sizeof value);
    if (lacks) measure_text(lacks->least, least, sizeof least);
    const char *state = goal_state_word(result->state);
    if (result->state == GOAL_NOT_COUNTED && strncmp(result->words, "bandwidth", 9) == 0)
        state = is_gpu ? "not measured" : "not yet modelled";
    Style style = result->state == GOAL_MET      ? STYLE_GOOD
                  : result->state == GOAL_MISSED ? STYLE_BAD
                                                 : STYLE_WARNING;
    const char *counted = lacks ? value : own, *words_of = lacks ? lacks->words : goal->words;
    char singular[120];
    words_for_one(words_of, singular, sizeof singular);
    int used = snprintf(left, sizeof left, "%s %s", counted, strcmp(counted, "1") == 0 ? singular : words_of);
    // The bandwidth is stated for another size.
    if (goal_is_of_bandwidth(goal) && result->size.n > 0 && result->size.n != shown.n) {
        char n[32];
        count_text(result->size.n, n, sizeof n);
        snprintf(left + used, sizeof left - (size_t)used, " at n = %s", n);
    }
    snprintf(right, sizeof right, "goal %s%s", bounds[bound], lacks ? least : limit);
    add_spaces(page, 0, VALUE_COLUMN);
    int at = VALUE_COLUMN + columns_of(left);
    const int goal_column = 46, state_column = PAGE_COLUMNS - columns_of(state);
    text_add(page, left);
    if (at + 1 > goal_column) { // long words: the goal goes on a separate line
        text_add_char(page, '\n');
        at = 0;
    }
    if (goal_column + columns_of(right) < state_column) { // else the goal waits until there is a value
        add_spaces(page, at, goal_column);
        text_add(page, right);
        at = goal_column + columns_of(right);
    }
    add_spaces(page, at, at < state_column ? state_column : at + 1);
    add_styled(page, terminal, style, state);
    text_add_char(page, '\n');
    add_tolerance(page, result);
    const char *more = result->state == GOAL_MISSED   ? goal->why
                       : result->state == GOAL_BROKEN ? result->words
                                                      : NULL;
    if (!more) return;
    char elsewhere[320] = "";
    if (lacks)
        snprintf(elsewhere, sizeof elsewhere, "With fewer, %s %s do not count for the goal of %s%s. ", own,
                 goal->words, bounds[goal->bound], limit);
    else if (result->partial > 0)
        snprintf(elsewhere, sizeof elsewhere, "%.0f of these barriers were not executed by all threads. ",
                 result->partial);
    else if (result->device[0])
        snprintf(elsewhere, sizeof elsewhere, "This is the launch on the %s; here the goal is met. ",
                 result->device);
    else
        elsewhere_words(result, shown, elsewhere, sizeof elsewhere);
    Text words = {0};
    text_printf(&words, "%s%s", elsewhere, lacks ? "" : more); // the goal itself may be met
    add_lines(&words, report, result);
    add_spaces(page, 0, VALUE_COLUMN + 2);
    page_add_words(page, VALUE_COLUMN + 2, VALUE_COLUMN + 2, text_chars(&words));
    text_free(&words);
}

void page_add_goals(Text *page, const Terminal *terminal, const Report *report) {
    const Judgement *judgement = report->judgement;
    const bool is_several = chapter_task_count(report->of) > 1;
    int task = -1, not_judged = -1;
    for (int g = 0; g < judgement->goal_count; g++) {
        const GoalResult *result = &judgement->goals[g];
        const bool was_run = judgement->counted[0][result->task].shape.size.n == report->options->n;
        if (report->options->n >= 0 && result->state == GOAL_NOT_COUNTED && !was_run) continue;
        if (result->state == GOAL_NOT_JUDGED && not_judged < 0) not_judged = result->task;
        if (result->task != task) {
            task = result->task;
            char n[32], words[160];
            count_text(judgement->counted[0][task].shape.size.n, n, sizeof n);
            if (is_several)
                snprintf(words, sizeof words, "%.60s, at n = %s", report->of->tasks[task].name, n);
            else
                snprintf(words, sizeof words, "at n = %s", n);
            page_add_row(page, terminal, "counted", words);
        }
        add_goal(page, terminal, report, result);
    }
    if (not_judged >= 0) {
        char n[32], words[160];
        count_text(plan_goal_size(&report->of->tasks[not_judged]).n, n, sizeof n);
        snprintf(words, sizeof words, "are for n = %s, and this run has too few elements: %s%s", n,
                 command_run(), report->of->name);
        page_add_row(page, terminal, "goals", words);
    }
}

void page_add_needless_barriers(Text *page, const Terminal *terminal, const Report *report) {
    const NeedlessBarriers *needless = &report->judgement->needless;
    if (needless->count == 0) return;
    Text words = {0};
    char left[32];
    measure_text(needless->left, left, sizeof left);
    text_printf(&words, "without the barrier%s in line%s", plural(needless->count), plural(needless->count));
    for (int i = 0; i < needless->count; i++)
        text_printf(&words, "%s %d",
                    i == 0                     ? ""
                    : i + 1 == needless->count ? " and"
                                               : ",",
                    needless->lines[i]);
    text_printf(&words, ", all %d cases that were tried pass, with %s %s", needless->cases, left,
                needless->goal->words);
    page_add_row(page, terminal, "shown", text_chars(&words));
    text_free(&words);
}

void page_add_missed_goals(Text *page, const Terminal *terminal, const Report *report) {
    const Judgement *judgement = report->judgement;
    int task = -1;
    for (int g = 0; g < judgement->goal_count; g++) {
        const GoalResult *result = &judgement->goals[g];
        if (result->state != GOAL_MISSED || !judgement->task_is_right[result->task]) continue;
        const CaseSize size = judgement->counted[0][result->task].shape.size;
        if (result->task != task) {
            task = result->task;
            char n[32], words[160];
            count_text(size.n, n, sizeof n);
            snprintf(words, sizeof words,
                     "%.60s, which is right, misses a goal at n = %s:", report->of->tasks[task].name, n);
            page_add_row(page, terminal, "also", words);
        }
        add_goal(page, terminal, report, result);
    }
}
