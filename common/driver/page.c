#include "page.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "elements.h"
#include "page_parts.h"
#include "predicted.h"
#include "shape.h"

void page_add_label(Text *page, const Terminal *terminal, Style style, const char *label) {
    text_add(page, "  ");
    add_styled(page, terminal, style, label);
    add_spaces(page, LABEL + columns_of(label), TEXT_COLUMN);
}

void page_add_row(Text *page, const Terminal *terminal, const char *label, const char *words) {
    page_add_label(page, terminal, STYLE_FAINT, label);
    add_wrapped(page, TEXT_COLUMN, TEXT_COLUMN, words);
    text_add_char(page, '\n');
}

// Words at the left, others that end at the last column.
static void add_ends(Text *page, int at, const char *left, const char *right) {
    text_add(page, left);
    int used = at + columns_of(left), start = PAGE_COLUMNS - columns_of(right);
    add_spaces(page, used, start > used + 1 ? start : used + 2);
    text_add(page, right);
    text_add_char(page, '\n');
}

static const char *plural(long long count) { return count == 1 ? "" : "s"; }

// ---- Head and build
// -------------------------------------------------------------------------------------------------

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
        char range[64] = "";
        if (most > 0 && least == most)
            snprintf(range, sizeof range, ", %d registers", most);
        else if (most > 0)
            snprintf(range, sizeof range, ", %d to %d registers", least, most);
        snprintf(words, sizeof words, "kernel.cu to PTX%s", range);
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
        add_wrapped(page, TEXT_COLUMN, TEXT_COLUMN, words);
        text_add_char(page, '\n');
    }
}

// ---- A right result
// ---------------------------------------------------------------------------------------------------

// "53 of 53 cases: 0 to 1,048,577 elements, 12 input families, 4 schedules", of the device or beside it.
static int count_right(const Judgement *judgement, bool is_beside, char *words, size_t bytes) {
    long long least = -1, most = 0;
    bool families[FAMILIES] = {0};
    int family_count = 0, schedule_count = 0, count = 0, passed = 0;
    for (int i = 0; i < judgement->case_count; i++) {
        const Case *one = &judgement->cases[i].settings;
        if (one->is_beside != is_beside) continue;
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
    return count;
}

static void add_correct(Text *page, const Terminal *terminal, const Report *report) {
    const Judgement *judgement = report->judgement;
    char words[480];
    count_right(judgement, false, words, sizeof words);
    page_add_row(page, terminal, "correct", words);
    if (count_right(judgement, true, words, sizeof words) > 0) page_add_row(page, terminal, "", words);
    if (judgement->beside_words[0]) {
        snprintf(words, sizeof words, "by the GPU alone, since the emulator could not run it beside: %s",
                 judgement->beside_words);
        page_add_row(page, terminal, "", words);
    }
    double share = 0;
    for (int i = 0; i < judgement->case_count; i++)
        if (judgement->cases[i].has_check) share = fmax(share, judgement->cases[i].check.budget_share);
    if (share > 0) {
        snprintf(words, sizeof words, "rounding used at most %.1f %% of its budget", share * 100);
        add_spaces(page, 0, TEXT_COLUMN);
        add_wrapped(page, TEXT_COLUMN, TEXT_COLUMN, words);
        text_add_char(page, '\n');
    }
}

static void measure_text(double value, char *words, size_t bytes) {
    if (value == floor(value) && fabs(value) < 1e9) {
        count_text((long long)value, words, bytes);
    } else {
        snprintf(words, bytes, fabs(value) < 1000 ? "%.2f" : "%.4g", value);
    }
}

// What is counted, as it reads behind the number 1: "barrier per warp" of "barriers per warp". A ratio
// ("times the sectors") and a share ("% of the warps") read alike for every number.
static void words_for_one(const char *words, char *singular, size_t bytes) {
    snprintf(singular, bytes, "%s", words);
    if (strncmp(words, "times ", 6) == 0 || words[0] == '%') return;
    for (size_t at = 1; words[at - 1]; at++) {
        if (words[at] != ' ' && words[at] != ',' && words[at] != '\0') continue;
        if (words[at - 1] != 's') continue;
        bool has_e =
            at > 4 && (strncmp(&words[at - 4], "ches", 4) == 0 || strncmp(&words[at - 4], "sses", 4) == 0);
        snprintf(singular, bytes, "%.*s%s", (int)(at - (has_e ? 2 : 1)), words, &words[at]);
        return;
    }
}

static void add_goal(Text *page, const Terminal *terminal, const GoalResult *result, bool is_gpu) {
    static const char *const bounds[] = {[AT_MOST] = "at most ", [AT_LEAST] = "at least ", [EXACTLY] = ""};
    const Goal *goal = result->goal;
    char value[32] = "-", limit[32], left[160], right[80];
    if (result->state != GOAL_NOT_COUNTED && result->state != GOAL_BROKEN)
        measure_text(result->value, value, sizeof value);
    measure_text(goal->limit, limit, sizeof limit);
    const char *state = goal_state_word(result->state);
    if (result->state == GOAL_NOT_COUNTED && strncmp(result->words, "bandwidth", 9) == 0)
        state = is_gpu ? "not measured" : "not yet modelled";
    Style style = result->state == GOAL_MET      ? STYLE_GOOD
                  : result->state == GOAL_MISSED ? STYLE_BAD
                                                 : STYLE_WARNING;
    char singular[120];
    words_for_one(goal->words, singular, sizeof singular);
    snprintf(left, sizeof left, "%s %s", value, strcmp(value, "1") == 0 ? singular : goal->words);
    snprintf(right, sizeof right, "goal %s%s", bounds[goal->bound], limit);
    add_spaces(page, 0, VALUE_COLUMN);
    int at = VALUE_COLUMN + columns_of(left);
    const int goal_column = 46, state_column = PAGE_COLUMNS - columns_of(state);
    text_add(page, left);
    if (at + 1 > goal_column) { // long words: the goal stands on a line of its own
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
    const char *more = result->state == GOAL_MISSED   ? goal->why
                       : result->state == GOAL_BROKEN ? result->words
                                                      : NULL;
    if (more) {
        add_spaces(page, 0, VALUE_COLUMN + 2);
        add_wrapped(page, VALUE_COLUMN + 2, VALUE_COLUMN + 2, more);
        text_add_char(page, '\n');
    }
}

static void add_goals(Text *page, const Terminal *terminal, const Report *report) {
    const Judgement *judgement = report->judgement;
    const bool is_several = chapter_task_count(report->of) > 1;
    int task = -1;
    for (int g = 0; g < judgement->goal_count; g++) {
        const GoalResult *result = &judgement->goals[g];
        if (result->task != task) {
            task = result->task;
            char n[32], words[160];
            count_text(judgement->measured[task].shape.size.n, n, sizeof n);
            if (is_several)
                snprintf(words, sizeof words, "%.60s, at n = %s", report->of->tasks[task].name, n);
            else
                snprintf(words, sizeof words, "at n = %s", n);
            page_add_row(page, terminal, "counted", words);
        }
        add_goal(page, terminal, result, judgement->device.kind == GPU_NVIDIA);
    }
}

// ---- A failure
// ---------------------------------------------------------------------------------------------------------------

static void add_place(Text *page, const Terminal *terminal, const char *label, const SourcePlace *place) {
    if (!place->file[0] || place->line <= 0) return;
    Text words = {0}, line = {0};
    text_add_printable(&words, place->file, strlen(place->file));
    text_printf(&words, ":%d", place->line);
    if (place->column > 0) text_printf(&words, ":%d", place->column);
    page_add_row(page, terminal, label, text_chars(&words));
    if (source_line(place->file, place->line, &line)) {
        // Drop the indentation and cut what is too long; the caret keeps its place.
        const char *from = text_chars(&line);
        int dropped = 0;
        while (*from == ' ') {
            from++;
            dropped++;
        }
        const int room = PAGE_COLUMNS - VALUE_COLUMN;
        size_t bytes = 0;
        for (int columns = 0; from[bytes]; bytes++)
            if (((unsigned char)from[bytes] & 0xc0) != 0x80 && ++columns > room) break;
        add_spaces(page, 0, VALUE_COLUMN);
        text_add_bytes(page, from, bytes);
        text_add_char(page, '\n');
        int caret = place->column - 1 - dropped;
        if (place->column > 0 && caret >= 0 && caret < room) {
            add_spaces(page, 0, VALUE_COLUMN + caret);
            add_styled(page, terminal, STYLE_BAD, "^");
            text_add_char(page, '\n');
        }
    }
    text_free(&words);
    text_free(&line);
}

static void add_thread(Text *page, const Terminal *terminal, const Finding *finding) {
    char words[320];
    int used = snprintf(words, sizeof words, "block (%u,%u,%u), thread (%u,%u,%u)", finding->block[0],
                        finding->block[1], finding->block[2], finding->thread[0], finding->thread[1],
                        finding->thread[2]);
    if (finding->warp >= 0 && finding->lane >= 0 && used > 0)
        used += snprintf(words + used, sizeof words - (size_t)used, ": warp %d, lane %d", finding->warp,
                         finding->lane);
    if (finding->address != 0 && used > 0 && (size_t)used < sizeof words)
        used += snprintf(words + used, sizeof words - (size_t)used, "; address 0x%llx, %u bytes",
                         (unsigned long long)finding->address, finding->bytes);
    if (finding->object[0] && used > 0 && (size_t)used < sizeof words)
        snprintf(words + used, sizeof words - (size_t)used, ", byte %lld of %.60s (%llu bytes)",
                 (long long)finding->index, finding->object, (unsigned long long)finding->object_bytes);
    page_add_row(page, terminal, "who", words);
}

static void add_case(Text *page, const Terminal *terminal, const Report *report, const CaseReport *failed) {
    const Case *one = &failed->settings;
    char n[32];
    count_text(one->size.n, n, sizeof n);
    Text words = {0};
    text_printf(&words, "n = %s", n);
    if (one->size.rows) text_printf(&words, " (%lld rows of %lld)", one->size.rows, one->size.columns);
    text_printf(&words, ", %s", family_words(one->family));
    if (one->misalignment)
        text_printf(&words, ", base %u bytes past an aligned address%s", one->misalignment,
                    one->is_staggered ? ", each buffer 4 further" : "");
    const bool is_gpu = report->judgement->device.kind == GPU_NVIDIA;
    if (!is_gpu || one->is_beside) text_printf(&words, ", schedule %llu", (unsigned long long)one->schedule);
    if (one->is_beside) text_add(&words, ", found by the emulator beside the GPU");
    if (failed->is_after_timing) text_add(&words, ", found after the timed runs");
    text_printf(&words, "; again with: ./%s%s --n %lld", report->of->name,
                one->is_beside ? " --device emulator" : "", one->size.n);
    if (one->schedule) text_printf(&words, " --schedule %llu", (unsigned long long)one->schedule);
    if (report->options->seed) text_printf(&words, " --seed %llu", (unsigned long long)report->options->seed);
    page_add_row(page, terminal, "case", text_chars(&words));
    text_free(&words);
}

static const char *remark_for(const Report *report, Verdict verdict, int task) {
    for (int i = 0; i < MAX_REMARKS && report->of->remarks[i].verdict; i++) {
        const Remark *remark = &report->of->remarks[i];
        if (strcmp(remark->verdict, verdict_word(verdict)) != 0) continue;
        if (!remark->task || (task >= 0 && strcmp(remark->task, report->of->tasks[task].name) == 0))
            return remark->say;
    }
    return NULL;
}

// A chapter that asks for the names of mistakes keeps them to itself: it shows what happened, and no more.
static bool leaves_the_name_open(const Report *report, int task) {
    if (report->judgement->first < 0 && report->judgement->verdict != VERDICT_SLOW) return false;
    for (int t = 0; t < chapter_task_count(report->of); t++)
        if (task_hides_answers(&report->of->tasks[t])) return t != task;
    return false;
}

// The mistake by its name where it is known, else what the verdict usually comes from. What the numbers say
// is shown in either case.
static void add_why(Text *page, const Terminal *terminal, const Report *report, const char *why,
                    bool is_evidence, int task) {
    const Diagnosis *diagnosis = report->diagnosis;
    if (diagnosis->mistake && !leaves_the_name_open(report, task)) {
        Text words = {0};
        if (is_evidence) text_printf(&words, "%s ", why);
        text_printf(&words, "%s. %s", diagnosis->mistake->title, diagnosis->why);
        page_add_row(page, terminal, "why", text_chars(&words));
        text_free(&words);
        return;
    }
    const char *remark = remark_for(report, report->judgement->verdict, task);
    if (remark && diagnosis->mistake && !is_evidence) why = ""; // it asks where the general sentence guesses
    if (why[0]) page_add_row(page, terminal, "why", why);
    if (remark) page_add_row(page, terminal, why[0] ? "" : "why", remark);
}

static void add_failed_case(Text *page, const Terminal *terminal, const Report *report,
                            const CaseReport *failed) {
    const Task *task = &report->of->tasks[failed->settings.task];
    Text words = {0};
    text_printf(&words, "%s %s", failed->kernel[0] ? failed->kernel : task->name,
                verdict_headline(failed->verdict));
    page_add_label(page, terminal, STYLE_BAD, verdict_word(failed->verdict));
    int label = LABEL + columns_of(verdict_word(failed->verdict));
    if (label >= TEXT_COLUMN)
        text_add_char(page, ' '); // a long verdict leaves no room: the sentence follows it
    add_wrapped(page, label < TEXT_COLUMN ? TEXT_COLUMN : label + 1, TEXT_COLUMN, text_chars(&words));
    text_add_char(page, '\n');
    text_free(&words);

    Text what = {0};
    const char *why = failed->has_finding ? finding_why(failed->finding.kind) : verdict_why(failed->verdict);
    if (failed->has_finding)
        text_add_printable(&what, failed->finding.message, strlen(failed->finding.message));
    else if (failed->has_check && failed->check.what[0])
        text_add_printable(&what, failed->check.what, strlen(failed->check.what));
    else
        text_add_printable(&what, failed->words, strlen(failed->words));
    page_add_row(page, terminal, "what", text_chars(&what));
    text_free(&what);
    const char *numbers_say = failed->has_check ? failed->check.why : "";
    add_why(page, terminal, report, numbers_say[0] ? numbers_say : why, numbers_say[0] != '\0',
            failed->settings.task);
    if (failed->has_finding) {
        add_place(page, terminal, "where", &failed->finding.place);
        add_place(page, terminal, "and", &failed->finding.other_place);
        add_thread(page, terminal, &failed->finding);
    }
    if (failed->has_check && failed->check.has_numbers) {
        char numbers[480], difference[64], budget[64];
        value_text(failed->check.difference, difference, sizeof difference);
        value_text(failed->check.budget, budget, sizeof budget);
        snprintf(numbers, sizeof numbers, "expected %s, got %s, difference %s, allowed %s",
                 failed->check.expected_words, failed->check.got_words, difference, budget);
        if (failed->check.wrong > 1) {
            size_t used = strlen(numbers);
            snprintf(numbers + used, sizeof numbers - used, "; %lld of %lld elements are wrong",
                     failed->check.wrong, failed->check.elements);
        }
        page_add_row(page, terminal, "numbers", numbers);
    }
    add_case(page, terminal, report, failed);
    if (report->judgement->has_replay) page_add_row(page, terminal, "shown by", report->judgement->replay);
}

// Where one failure is shown of a chapter of many tasks: which of them are right already.
static void add_tasks(Text *page, const Terminal *terminal, const Report *report) {
    const int tasks = chapter_task_count(report->of);
    int right = 0;
    for (int t = 0; t < tasks; t++) right += report->judgement->task_is_right[t];
    if (tasks < 3) return;
    Text words = {0};
    text_printf(&words, "%d of %d right; not yet", right, tasks);
    for (int t = 0, named = 0; t < tasks; t++)
        if (!report->judgement->task_is_right[t])
            text_printf(&words, "%s %s", named++ ? "," : "", report->of->tasks[t].name);
    page_add_row(page, terminal, "tasks", text_chars(&words));
    text_free(&words);
}

static void add_failure(Text *page, const Terminal *terminal, const Report *report) {
    const Judgement *judgement = report->judgement;
    if (judgement->first >= 0) {
        add_failed_case(page, terminal, report, &judgement->cases[judgement->first]);
        char words[160];
        int left = judgement->case_count - judgement->run_count;
        int used = snprintf(words, sizeof words, "%d of %d cases; %d passed", judgement->failed_count,
                            judgement->case_count, judgement->passed_count);
        if (left > 0 && used > 0)
            snprintf(words + used, sizeof words - (size_t)used, ", %d not run after that", left);
        page_add_row(page, terminal, "failed", words);
        add_tasks(page, terminal, report);
        return;
    }
    page_add_label(page, terminal, STYLE_BAD, verdict_word(judgement->verdict));
    int label = LABEL + columns_of(verdict_word(judgement->verdict));
    Text words = {0};
    text_printf(&words, "kernel.cu %s", verdict_headline(judgement->verdict));
    if (label >= TEXT_COLUMN) text_add_char(page, ' ');
    add_wrapped(page, label < TEXT_COLUMN ? TEXT_COLUMN : label + 1, TEXT_COLUMN, text_chars(&words));
    text_free(&words);
    text_add_char(page, '\n');
    // A compiler's or parser's message comes as lines, with carets whose columns matter: not wrapped.
    if (strchr(judgement->message, '\n')) {
        text_add(page, judgement->message);
        if (judgement->message[strlen(judgement->message) - 1] != '\n') text_add_char(page, '\n');
    } else if (judgement->message[0]) {
        page_add_row(page, terminal, "what", judgement->message);
    }
    add_why(page, terminal, report, verdict_why(judgement->verdict), false, -1);
    SourcePlace place = {.line = judgement->line};
    snprintf(place.file, sizeof place.file, "%s", judgement->file);
    add_place(page, terminal, "where", &place);
}

// ---- The page
// --------------------------------------------------------------------------------------------------------------------

static void add_printed(Text *page, const Terminal *terminal, const char *printed) {
    const char *at = printed;
    for (int line = 0; line < 8 && *at; line++) {
        size_t length = strcspn(at, "\n"), shown = length < 66 ? length : 66;
        while (shown > 0 && ((unsigned char)at[shown] & 0xc0) == 0x80) shown--; // no half character
        page_add_label(page, terminal, STYLE_FAINT, line == 0 ? "printed" : "");
        text_add_bytes(page, at, shown);
        text_add_char(page, '\n');
        at += length + (at[length] == '\n');
    }
    if (*at) {
        add_spaces(page, 0, TEXT_COLUMN);
        text_add(page, "...\n");
    }
}

static int uncounted_points(const Judgement *judgement) {
    int points = 0;
    for (int g = 0; g < judgement->goal_count; g++)
        if (judgement->goals[g].state == GOAL_NOT_COUNTED) points += judgement->goals[g].goal->points;
    return points;
}

static void add_last_line(Text *page, const Terminal *terminal, const Report *report) {
    const Judgement *judgement = report->judgement;
    char points[200], words[400], step[16] = "";
    if (report->diagnosis->hint) snprintf(step, sizeof step, " STEP=%d", report->diagnosis->hint);
    const bool is_passed = judgement->verdict == VERDICT_PASS;
    if (is_passed && report->options->time_count > 0) return; // times are no points
    int used = snprintf(points, sizeof points, "%g of %d points", judgement->earned, judgement->possible);
    int waiting = uncounted_points(judgement);
    if (waiting > 0 && is_passed && used > 0)
        snprintf(points + used, sizeof points - (size_t)used, "; %d %s for what is not yet counted", waiting,
                 waiting == 1 ? "is" : "are");
    if (is_passed && (report->options->n >= 0 || report->options->has_schedule)) // no pass of the chapter
        snprintf(words, sizeof words, "Right in these cases. All of them: ./%s", report->of->name);
    else if (is_passed && report->next_chapter)
        snprintf(words, sizeof words, "%s. Next: make %s && ./%s", points, report->next_chapter,
                 report->next_chapter);
    else if (is_passed)
        snprintf(words, sizeof words, "%s. That was the last chapter.%s%.200s", points,
                 report->of->when_passed ? " " : "", report->of->when_passed ? report->of->when_passed : "");
    else if (judgement->verdict == VERDICT_INFRA)
        snprintf(words, sizeof words, "Not judged. What is missing here: make doctor");
    else
        snprintf(words, sizeof words, "%s. A hint: make hint-%s%s", points, report->of->name, step);
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
    if (is_right) {
        add_correct(page, terminal, report);
        if (judgement->verdict == VERDICT_SLOW) {
            page_add_label(page, terminal, STYLE_WARNING, "SLOW");
            add_wrapped(page, TEXT_COLUMN, TEXT_COLUMN, "right, but a goal is missed");
            text_add_char(page, '\n');
        }
        add_goals(page, terminal, report);
        if (report->diagnosis->mistake) add_why(page, terminal, report, "", false, -1);
        page_add_bandwidth(page, terminal, report);
        page_add_predictions(page, terminal, report);
        page_add_timings(page, terminal, report);
    } else {
        add_failure(page, terminal, report);
    }
    if (judgement->printed) add_printed(page, terminal, judgement->printed);
    add_last_line(page, terminal, report);
}

void page_add_quiet(Text *page, const Report *report) {
    const Judgement *judgement = report->judgement;
    text_printf(page, "%s %s %g/%d\n", report->of->name, verdict_word(judgement->verdict), judgement->earned,
                judgement->possible);
}
