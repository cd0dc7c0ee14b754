#include "driver/page/page.h"

#include <stdio.h>
#include <string.h>

#include "support/command_words.h"
#include "driver/build/compiler_report.h"
#include "driver/page/bandwidth_rows.h"
#include "driver/page/failure_rows.h"
#include "driver/page/goal_rows.h"
#include "driver/page/prediction_rows.h"
#include "driver/page/rows.h"
#include "driver/page/timeline_rows.h"

// Words at the left, others that end at the last column.
static void add_ends(Text *page, int at, const char *left, const char *right) {
    text_add(page, left);
    int used = at + columns_of(left), start = PAGE_COLUMNS - columns_of(right);
    add_spaces(page, used, start > used + 1 ? start : used + 2);
    text_add(page, right);
    text_add_char(page, '\n');
}

// ---- Head and build --------------------------------------------------------------------------------------

static void device_words(const Report *report, char *words, size_t bytes) {
    const GpuInfo *device = &report->judgement->device;
    if (!device->name[0])
        words[0] = '\0';
    else if (device->kind == GPU_NVIDIA)
        snprintf(words, bytes, "%.60s", device->name);
    else
        snprintf(words, bytes, "emulator, as %.60s", device->name);
}

static void add_head(Text *page, const Terminal *terminal, const Report *report) {
    char device[96], title[128];
    device_words(report, device, sizeof device);
    snprintf(title, sizeof title, "%s  %s", report->of->name, report->of->title);
    add_styled(page, terminal, STYLE_STRONG, title);
    add_ends(page, columns_of(title), "", device);
}

static void add_build(Text *page, const Terminal *terminal, const Report *report) {
    char words[1400], seconds[32] = "";
    const CompileResult *build = report->build;
    if (report->options->kernel_file) {
        snprintf(words, sizeof words, "%.900s", report->options->kernel_file);
    } else if (build && build->status == COMPILE_OK) {
        int least = 0, most = 0;
        for (int t = 0; report->image && t < chapter_task_count(report->of); t++) {
            for (int l = 0; l < task_launch_count(&report->of->tasks[t]); l++) {
                int registers = report->image->kernels[t][l].registers;
                if (registers <= 0) continue;
                if (least == 0 || registers < least) least = registers;
                if (registers > most) most = registers;
            }
        }
        const char *about = build->has_estimate ? "about " : "";
        char range[64] = "";
        if (most > 0 && least == most)
            snprintf(range, sizeof range, ", %s%d registers", about, most);
        else if (most > 0)
            snprintf(range, sizeof range, ", %s%d to %d registers", about, least, most);
        snprintf(words, sizeof words,
                 report->of->is_program ? "kernel.cu to a program" : "kernel.cu to PTX%s", range);
        if (build->was_reused)
            snprintf(seconds, sizeof seconds, "up to date");
        else
            snprintf(seconds, sizeof seconds, "%.2f s", build->seconds);
    } else {
        return;
    }
    page_add_label(page, terminal, STYLE_FAINT, "build");
    if (TEXT_COLUMN + columns_of(words) + columns_of(seconds) + 1 <= PAGE_COLUMNS && seconds[0]) {
        add_ends(page, TEXT_COLUMN, words, seconds);
    } else {
        page_add_words(page, TEXT_COLUMN, TEXT_COLUMN, words);
    }
}

// What the compiler warns about, in a few rows: facts, and no cause of anything.
static void add_warnings(Text *page, const Terminal *terminal, const Report *report) {
    enum { MOST_WARNINGS = 3 };
    if (!report->build || report->build->status != COMPILE_OK || !report->build->log) return;
    ReportedMessage warning;
    int count = 0;
    for (const char *at = report->build->log; compiler_next_reported(&at, &warning);) {
        if (++count > MOST_WARNINGS) continue;
        Text words = {0};
        text_printf(&words, "line %d: %s%s%s", warning.line, warning.words, warning.help[0] ? "; " : "",
                    warning.help);
        page_add_row(page, terminal, count == 1 ? "warning" : "", text_chars(&words));
        text_free(&words);
    }
    if (count <= MOST_WARNINGS) return;
    char more[80];
    snprintf(more, sizeof more, "and %d more: make %s", count - MOST_WARNINGS, report->of->name);
    page_add_row(page, terminal, "", more);
}

// ---- The page --------------------------------------------------------------------------------------------

static void add_printed(Text *page, const Terminal *terminal, const Report *report) {
    const Judgement *judgement = report->judgement;
    const char *at = judgement->printed;
    // Beside the failure of one case, what another one printed would be taken for its output.
    const bool is_of_another = judgement->first >= 0 && judgement->printed_case != judgement->first &&
                               judgement->cases[judgement->first].verdict != VERDICT_PASS;
    if (is_of_another) {
        Text words = {0};
        text_add(&words, "by another case: ");
        page_case_words(report, &judgement->cases[judgement->printed_case].settings, &words);
        page_add_row(page, terminal, "printed", text_chars(&words));
        text_free(&words);
    }
    for (int line = 0; line < 8 && *at; line++) {
        size_t length = strcspn(at, "\n"), shown = length < 66 ? length : 66;
        while (shown > 0 && ((unsigned char)at[shown] & 0xc0) == 0x80) shown--; // not half a character
        page_add_label(page, terminal, STYLE_FAINT, line == 0 && !is_of_another ? "printed" : "");
        text_add_bytes(page, at, shown);
        text_add_char(page, '\n');
        at += length + (at[length] == '\n');
    }
    if (*at) {
        add_spaces(page, 0, TEXT_COLUMN);
        text_add(page, "...\n");
    }
}

static void add_note(Text *page, const Terminal *terminal, const Finding *note) {
    Text words = {0};
    text_printf(&words,
                "line %d: %s. A barrier does not wait for threads that have ended, so the results are "
                "right; but a barrier is meant for all threads of the block.",
                note->place.line, note->message);
    page_add_row(page, terminal, "note", text_chars(&words));
    text_free(&words);
}

static int uncounted_points(const Judgement *judgement) {
    int points = 0;
    for (int g = 0; g < judgement->goal_count; g++)
        if (judgement->goals[g].state == GOAL_NOT_COUNTED) points += judgement->goals[g].goal->points;
    return points;
}

static void add_last_line(Text *page, const Terminal *terminal, const Report *report) {
    const Judgement *judgement = report->judgement;
    const char *advice = report->of->when_passed ? report->of->when_passed : "",
               *chapter = report->next_chapter;
    char points[200], words[500], next[64] = "That was the last chapter.", command[64] = "";
    if (chapter) {
        command_judge(chapter, command, sizeof command);
        snprintf(next, sizeof next, "Next: %.50s", command);
    }
    const bool is_passed = judgement->verdict == VERDICT_PASS;
    if (is_passed && report->options->time_count > 0) return; // times give no points
    int used = snprintf(points, sizeof points, "%g of %d points", judgement->earned, judgement->possible);
    int waiting = uncounted_points(judgement);
    if (waiting > 0 && is_passed && used > 0)
        snprintf(points + used, sizeof points - (size_t)used, "; %d %s for goals not yet counted", waiting,
                 waiting == 1 ? "is" : "are");
    if (is_passed && (report->options->n >= 0 || report->options->has_schedule)) // not a pass of the chapter
        snprintf(words, sizeof words, "Correct in these cases. To run all of them: %s%s", command_run(),
                 report->of->name);
    else if (is_passed)
        snprintf(words, sizeof words, "%s. %.200s%s%s", points, advice, advice[0] ? ". " : "", next);
    else if (judgement->verdict == VERDICT_INFRA)
        snprintf(words, sizeof words, "Not judged. To see what is missing: %sdoctor", command_make());
    else {
        command_hint(report->of->name, report->diagnosis->hint, command, sizeof command);
        snprintf(words, sizeof words, "%s. For a hint: %s", points, command);
    }
    text_add(page, "  ");
    Text wrapped = {0};
    add_wrapped(&wrapped, LABEL, LABEL, words);
    add_styled(page, terminal, is_passed ? STYLE_GOOD : STYLE_STRONG, text_chars(&wrapped));
    text_free(&wrapped);
    text_add_char(page, '\n');
}

void page_add(Text *page, const Terminal *terminal, const Report *report) {
    const Judgement *judgement = report->judgement;
    const bool is_right = judgement->verdict == VERDICT_PASS || judgement->verdict == VERDICT_SLOW;
    add_head(page, terminal, report);
    add_build(page, terminal, report);
    add_warnings(page, terminal, report);
    if (is_right) {
        page_add_correct(page, terminal, report);
        if (judgement->verdict == VERDICT_SLOW) {
            page_add_label(page, terminal, STYLE_WARNING, "SLOW");
            page_add_words(page, TEXT_COLUMN, TEXT_COLUMN, "correct, but a goal is missed");
        }
        if (judgement->note_case >= 0) add_note(page, terminal, &judgement->note);
        page_add_goals(page, terminal, report);
        page_add_timeline(page, terminal, report);
        if (report->diagnosis->mistake) page_add_why(page, terminal, report, "", false, -1);
        Report other = *report;
        other.diagnosis = report->second;
        if (report->second->mistake && page_names_changes(report))
            page_add_why(page, terminal, &other, "", false, -1);
        page_add_bandwidth(page, terminal, report);
        page_add_what_if(page, terminal, report);
        page_add_needless_barriers(page, terminal, report);
        page_add_predictions(page, terminal, report);
        page_add_timings(page, terminal, report);
    } else {
        page_add_failure(page, terminal, report);
        page_add_missed_goals(page, terminal, report);
    }
    if (judgement->printed) add_printed(page, terminal, report);
    add_last_line(page, terminal, report);
}

void page_add_quiet(Text *page, const Report *report) {
    const Judgement *judgement = report->judgement;
    text_printf(page, "%s %s %g/%d\n", report->of->name, verdict_word(judgement->verdict), judgement->earned,
                judgement->possible);
}
