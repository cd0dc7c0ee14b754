#include "driver/page/bandwidth_rows.h"

#include <stdio.h>
#include <string.h>

#include "driver/plan/elements.h"
#include "driver/page/rows.h"

static void add_size(Text *words, const CaseSize *size) {
    char n[32];
    count_text(size->n, n, sizeof n);
    if (size->depth)
        text_printf(words, "m = %lld, n = %lld, k = %lld", size->rows, size->columns, size->depth);
    else if (size->rows)
        text_printf(words, "%lld rows of %lld", size->rows, size->columns);
    else
        text_printf(words, "n = %s", n);
}

static void add_gb_per_s(Text *words, double gb_per_s) {
    char whole[32];
    count_text((long long)(gb_per_s + 0.5), whole, sizeof whole);
    if (gb_per_s < 100)
        text_printf(words, "%.3g GB/s", gb_per_s);
    else
        text_printf(words, "%s GB/s", whole);
}

// In operations a second where the task counts them, else in bytes.
static void add_speed(Text *words, const Bandwidth *bandwidth) {
    if (bandwidth->operations > 0)
        text_printf(words, "%.1f TFLOP/s", bandwidth_tflop_per_s(bandwidth));
    else
        add_gb_per_s(words, bandwidth->gb_per_s);
}

static void add_share_of_float_peak(Text *words, const Bandwidth *bandwidth) {
    if (bandwidth->operations > 0 && bandwidth->peak_tflop_per_s > 0)
        text_printf(words, ": %.1f %% of the float units' peak of %.1f",
                    100 * bandwidth_peak_share(bandwidth), bandwidth->peak_tflop_per_s);
}

// "the reference 4,545, ratio 0.999 (0.997 to 1.001)"
static void add_reference(Text *words, const Bandwidth *bandwidth) {
    text_add(words, "the reference ");
    if (bandwidth->operations > 0)
        text_printf(words, "%.1f TFLOP/s", 1e-12 * bandwidth->operations / bandwidth->reference_seconds);
    else
        add_gb_per_s(words, bandwidth->reference_gb_per_s);
    if (bandwidth->kind == BANDWIDTH_MEASURED)
        text_printf(words, "; ratio %.3f (%.3f to %.3f, %d samples of each)", bandwidth->ratio,
                    bandwidth->ratio_low, bandwidth->ratio_high, bandwidth->samples);
    else
        text_printf(words, "; ratio %.2f", bandwidth->ratio);
}

static void add_measured(Text *words, const Bandwidth *bandwidth) {
    add_speed(words, bandwidth);
    text_add(words, " measured at ");
    add_size(words, &bandwidth->size);
    add_share_of_float_peak(words, bandwidth);
    if (bandwidth->operations > 0) return;
    if (bandwidth->peak_gb_per_s > 0)
        text_printf(words, ": %.0f %% of the memory's peak",
                    100 * bandwidth->gb_per_s / bandwidth->peak_gb_per_s);
    if (bandwidth->ceiling_gb_per_s > 0)
        text_printf(words, "%s %.0f %% of the most that this GPU reads",
                    bandwidth->peak_gb_per_s > 0 ? "," : ":",
                    100 * bandwidth->gb_per_s / bandwidth->ceiling_gb_per_s);
}

// Whether the model is faster with more warps or loads at a time, which move as many bytes: then it is not
// memory that limits the kernel, however long it is busy.
static bool leaves_memory_free(const WhatIfAnswer *answer, const Bandwidth *bandwidth) {
    static const char *const with_as_many_bytes[] = {"block", "registers", "shared-memory", "grid",
                                                     "loads-in-flight"};
    if (!answer->reaches || answer->task != bandwidth->task || strncmp(bandwidth->limiter, "memory:", 7) != 0)
        return false;
    for (size_t k = 0; k < sizeof with_as_many_bytes / sizeof with_as_many_bytes[0]; k++)
        if (strcmp(answer->changes[0].name, with_as_many_bytes[k]) == 0) return true;
    return false;
}

static void add_modelled(Text *words, const Bandwidth *bandwidth, const WhatIfAnswer *answer) {
    add_speed(words, bandwidth);
    text_printf(words, ", +/- %.0f %%, modelled for %.60s at ", 100 * bandwidth->error_band,
                bandwidth->device);
    add_size(words, &bandwidth->size);
    add_share_of_float_peak(words, bandwidth);
    if (bandwidth->limiter[0])
        text_printf(words,
                    leaves_memory_free(answer, bandwidth) ? "; the busiest part is %s" : "; limited by %s",
                    bandwidth->limiter);
}

static void add_task(Text *page, const Terminal *terminal, const Report *report, const Bandwidth *bandwidth) {
    Text words = {0};
    if (chapter_task_count(report->of) > 1)
        text_printf(&words, "%s: ", report->of->tasks[bandwidth->task].name);
    if (!bandwidth_is_known(bandwidth)) {
        text_printf(&words, "%s", bandwidth->words);
    } else {
        if (bandwidth->kind == BANDWIDTH_MEASURED)
            add_measured(&words, bandwidth);
        else
            add_modelled(&words, bandwidth, &report->judgement->what_if);
        if (bandwidth->ratio > 0) {
            text_add(&words, "; ");
            add_reference(&words, bandwidth);
        }
        if (bandwidth->words[0]) text_printf(&words, "; %s", bandwidth->words);
        if (bandwidth->state == BANDWIDTH_TOO_NOISY)
            text_printf(&words, ". Too noisy to decide whether it reaches %.0f %%: run it again",
                        100 * full_bandwidth_ratio);
    }
    page_add_row(page, terminal, bandwidth->operations > 0 ? "speed" : "bandwidth", text_chars(&words));
    text_free(&words);
}

void page_add_bandwidth(Text *page, const Terminal *terminal, const Report *report) {
    for (int t = 0; t < chapter_task_count(report->of); t++) {
        const Bandwidth *bandwidth = &report->judgement->bandwidth[t];
        if (bandwidth_is_known(bandwidth) || bandwidth->words[0]) add_task(page, terminal, report, bandwidth);
    }
}

void page_add_conflict(Text *words, const Judgement *judgement, int task, int line) {
    const LineCounters requests = goal_line_requests(judgement, task, line);
    const BankConflict *conflict = &requests.conflict;
    if (conflict->extra == 0) return;
    text_printf(words, " In a request of line %d ", line);
    if (conflict->words_apart > 0)
        text_printf(words, "neighbouring lanes are %u words apart", conflict->words_apart);
    else
        text_printf(words, "lanes %u and %u access words %u apart, which are in one bank", conflict->pair[0],
                    conflict->pair[1], conflict->pair_apart);
    text_printf(words, ": the words of %u lanes are in %u of 32 banks, up to %u in a bank.", conflict->lanes,
                conflict->banks, conflict->most);
}

static void add_between(Text *words, const LineCounters *requests, int line) {
    const Counters *counters = &requests->counters;
    const uint64_t count = counters->global_ld_requests + counters->global_st_requests;
    char all[32], between[32];
    count_text((long long)count, all, sizeof all);
    count_text((long long)requests->scatter.between, between, sizeof between);
    text_printf(
        words,
        " Of %s requests of line %d, %s are of lanes side by side that begin between two sectors: each "
        "of these touches a sector more than its bytes fill.",
        all, line, between);
}

void page_add_scatter(Text *words, const Judgement *judgement, int task, int line) {
    const LineCounters requests = goal_line_requests(judgement, task, line);
    const Scatter *scatter = &requests.scatter;
    if (scatter->extra == 0) return;
    if (scatter->extra == 1 && scatter->between > 0) {
        add_between(words, &requests, line);
        return;
    }
    text_printf(words, " In a request of line %d ", line);
    if (scatter->bytes_apart > 0)
        text_printf(words,
                    "neighbouring lanes are %llu bytes apart: ", (unsigned long long)scatter->bytes_apart);
    text_printf(words, "%u lane%s of %u bytes touch%s %u sectors.", scatter->lanes,
                scatter->lanes == 1 ? "" : "s", scatter->lane_bytes, scatter->lanes == 1 ? "es" : "",
                scatter->sectors);
}

// The lines of kernel.cu with most of a cost, as a sentence with a blank before it; or nothing.
static void add_cost_lines(Text *words, const Judgement *judgement, int task, Cost cost) {
    static const char *const names[] = {[COST_SECTORS] = "sectors beyond what the bytes fill",
                                        [COST_CONFLICTS] = "bank conflicts",
                                        [COST_DIVERGENCE] = "divergent branches",
                                        [COST_LOCAL] = "accesses to arrays of threads"};
    const GoalLines lines = goal_cost_lines(judgement, task, cost);
    for (int i = 0; i < lines.count; i++) {
        const GoalLine *one = &lines.lines[i];
        if (i == 0)
            text_printf(words, " Of the %s, %.0f %% are in line %d", names[cost], one->value, one->line);
        else
            text_printf(words, "%s %.0f %% in line %d", i + 1 == lines.count ? " and" : ",", one->value,
                        one->line);
    }
    if (lines.count > 0) text_add(words, ".");
    if (lines.count > 0 && cost == COST_CONFLICTS)
        page_add_conflict(words, judgement, task, lines.lines[0].line);
    if (lines.count > 0 && cost == COST_SECTORS)
        page_add_scatter(words, judgement, task, lines.lines[0].line);
}

// What a change of the model takes away.
static Cost cost_undone(const char *change) {
    return strcmp(change, "coalesced") == 0         ? COST_SECTORS
           : strcmp(change, "no-conflicts") == 0    ? COST_CONFLICTS
           : strcmp(change, "no-divergence") == 0   ? COST_DIVERGENCE
           : strcmp(change, "no-local-memory") == 0 ? COST_LOCAL
                                                    : COST_NONE;
}

// Whether a counted goal of the task names lines already.
static bool goal_says_lines(const Report *report, int task) {
    const Judgement *judgement = report->judgement;
    for (int g = 0; g < judgement->goal_count; g++)
        if (judgement->goals[g].task == task &&
            goal_lines(report->of, judgement, &judgement->goals[g]).count > 0)
            return true;
    return false;
}

// With what the model reaches the goal, or how far it comes.
void page_add_what_if(Text *page, const Terminal *terminal, const Report *report) {
    const WhatIfAnswer *answer = &report->judgement->what_if;
    Text words = {0};
    if (answer->change_count == 0) return;
    if (chapter_task_count(report->of) > 1) text_printf(&words, "%s: ", report->of->tasks[answer->task].name);
    text_printf(&words, "%s", answer->changes[0].words);
    if (answer->change_count > 1) text_printf(&words, " and %s", answer->changes[1].words);
    text_printf(&words, " the model gives %.*f %% of the reference", answer->ratio < 0.1 ? 2 : 1,
                100 * answer->ratio);
    if (answer->factor < 1.1)
        text_printf(&words, ", %.0f %% faster", 100 * (answer->factor - 1));
    else
        text_printf(&words, answer->factor < 10 ? ", %.1f times faster" : ", %.0f times faster",
                    answer->factor);
    if (!answer->reaches)
        text_printf(&words, "; no change that was tried reaches the goal%s",
                    answer->lacks_shapes ? ", and none was of the grid or the blocks" : "");
    Text lines = {0};
    const Cost cost = cost_undone(answer->changes[0].name);
    if (!goal_says_lines(report, answer->task)) add_cost_lines(&lines, report->judgement, answer->task, cost);
    if (lines.bytes > 0) text_printf(&words, ".%s", text_chars(&lines));
    text_free(&lines);
    page_add_row(page, terminal, answer->reaches ? "shown" : "what if", text_chars(&words));
    text_free(&words);
}

// ---- --time ----------------------------------------------------------------------------------------------

static void add_timing(Text *page, const Bandwidth *bandwidth) {
    char size[48];
    if (bandwidth->size.depth)
        snprintf(size, sizeof size, "%lldx%lldx%lld", bandwidth->size.rows, bandwidth->size.columns,
                 bandwidth->size.depth);
    else if (bandwidth->size.rows)
        snprintf(size, sizeof size, "%lldx%lld", bandwidth->size.rows, bandwidth->size.columns);
    else
        count_text(bandwidth->size.n, size, sizeof size);
    text_printf(page, "  %15s ", size);
    if (!bandwidth_is_known(bandwidth)) {
        page_add_words(page, 18, 18, bandwidth->words);
        return;
    }
    text_printf(page, " %11.2f %9.1f", 1e6 * bandwidth->seconds, bandwidth->gb_per_s);
    if (bandwidth->ratio > 0) text_printf(page, "  %6.3f", bandwidth->ratio);
    if (bandwidth->ratio > 0 && bandwidth->kind == BANDWIDTH_MEASURED)
        text_printf(page, "  %6.3f to %6.3f", bandwidth->ratio_low, bandwidth->ratio_high);
    text_add_char(page, '\n');
    if (bandwidth->words[0]) {
        add_spaces(page, 0, 19);
        page_add_words(page, 19, 19, bandwidth->words);
    }
}

static void add_timings_head(Text *page, const Terminal *terminal, const Report *report,
                             const Bandwidth *first) {
    const char *name = report->of->tasks[first->task].name;
    char words[200];
    const bool is_modelled = first->kind == BANDWIDTH_MODELLED;
    snprintf(words, sizeof words, "%.60s%s%.100s", name, is_modelled ? ", for " : "",
             is_modelled ? first->device : "");
    if (is_modelled)
        snprintf(words + strlen(words), sizeof words - strlen(words), ", +/- %.0f %%",
                 100 * first->error_band);
    page_add_row(page, terminal, is_modelled ? "modelled" : "timed", words);
    text_printf(page, "  %15s  %11s %9s  %6s%s\n", "size", "microsec.", "GB/s", "ratio",
                is_modelled ? "" : "  between");
}

void page_add_timings(Text *page, const Terminal *terminal, const Report *report) {
    const Judgement *judgement = report->judgement;
    for (int t = 0; t < chapter_task_count(report->of); t++) {
        bool is_first = true;
        for (int i = 0; i < judgement->timing_count; i++) {
            const Bandwidth *bandwidth = &judgement->timings[i];
            if (bandwidth->task != t) continue;
            if (is_first) add_timings_head(page, terminal, report, bandwidth);
            is_first = false;
            add_timing(page, bandwidth);
        }
    }
}
