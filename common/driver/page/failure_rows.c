#include "driver/page/failure_rows.h"

#include <stdio.h>
#include <string.h>

#include "support/command_words.h"
#include "gpu/profiles.h"
#include "driver/plan/elements.h"
#include "driver/plan/prepared.h"
#include "driver/plan/host_kind.h"
#include "driver/page/rows.h"
#include "driver/page/source_lines.h"

// If the compiler made one instruction of code in several lines, it names none of them.
static void add_joined_lines(Text *page, const Terminal *terminal, const Finding *finding) {
    const SourcePlace *here = &finding->place, *there = &finding->other_place;
    const bool is_here = here->line == 0 && here->ptx_line > 0;
    const bool is_there = there->line == 0 && there->ptx_line > 0;
    if (is_here || is_there)
        page_add_row(page, terminal, is_here ? "where" : "and",
                     "in several lines, of which the compiler made one access: look for lines that do the "
                     "same, such as in both branches of an if");
}

static void add_place(Text *page, const Terminal *terminal, const char *label, const SourcePlace *place) {
    if (!place->file[0] || place->line <= 0) return;
    Text words = {0}, line = {0};
    text_add_printable(&words, place->file, strlen(place->file));
    text_printf(&words, ":%d", place->line);
    if (place->column > 0) text_printf(&words, ":%d", place->column);
    if (place->call > 0) text_printf(&words, ", called in line %d", place->call);
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
    // A launch that is refused has no threads.
    if (finding->kind == FINDING_BAD_LAUNCH || finding->kind == FINDING_RESOURCE) return;
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
    // The size is that of all local memory of the warp, and the byte one of the thread's.
    const bool is_local = strcmp(finding->object, "local memory") == 0;
    const long long index = finding->index;
    if (is_local && used > 0 && (size_t)used < sizeof words)
        snprintf(words + used, sizeof words - (size_t)used, ", byte %lld of the thread's local memory",
                 index);
    else if (finding->object[0] && used > 0 && (size_t)used < sizeof words)
        snprintf(words + used, sizeof words - (size_t)used, ", %s%lld %s %.60s (%llu bytes)",
                 index < 0 ? "" : "byte ", index < 0 ? -index : index,
                 index < 0 ? index == -1 ? "byte before" : "bytes before" : "of", finding->object,
                 (unsigned long long)finding->object_bytes);
    page_add_row(page, terminal, "who", words);
}

static void add_cause(Text *page, const Terminal *terminal, const Finding *cause) {
    Text words = {0};
    text_printf(&words, "%s: ", verdict_word(verdict_of_finding(cause->kind)));
    text_add_printable(&words, cause->message, strlen(cause->message));
    if (cause->place.line > 0) text_printf(&words, " (line %d)", cause->place.line);
    page_add_row(page, terminal, "also", text_chars(&words));
    text_free(&words);
}

// "n = 4,096, integers, base 4 bytes past an aligned address".
void page_case_words(const Report *report, const Case *one, Text *words) {
    char n[32];
    count_text(one->size.n, n, sizeof n);
    const bool is_product = report->of->tasks[one->task].expect == EXPECT_PRODUCT;
    text_printf(words, is_product ? one->size.n == 1 ? "%s element" : "%s elements" : "n = %s", n);
    if (one->size.rows) {
        char rows[32];
        count_text(one->size.rows, rows, sizeof rows);
        if (is_product)
            text_printf(words, " (m = %s, n = %lld, k = %lld)", rows, one->size.columns, one->size.depth);
        else
            text_printf(words, " (%s row%s of %lld)", rows, one->size.rows == 1 ? "" : "s",
                        one->size.columns);
    }
    // A case without its own family has that of the input.
    const Task *task = &report->of->tasks[one->task];
    const bool is_default = one->family == FAMILY_INTEGERS && task_input(task) >= 0;
    text_printf(words, ", %s",
                family_words(is_default ? task->buffers[task_input(task)].family : one->family,
                             prepared_has_several(task, &one->size)));
    if (one->misalignment)
        text_printf(words, ", base %u bytes past an aligned address%s", one->misalignment,
                    one->is_staggered ? ", each buffer one element further" : "");
}

static void add_case(Text *page, const Terminal *terminal, const Report *report, const CaseReport *failed) {
    const Case *one = &failed->settings;
    Text words = {0};
    page_case_words(report, one, &words);
    const GpuProfile *profile = one->figures ? &gpu_profiles[one->figures - 1] : NULL;
    if (profile) text_printf(&words, ", launched as on %s", profile->info.name);
    const bool is_gpu = report->judgement->device.kind == GPU_NVIDIA;
    if (!is_gpu || one->is_beside)
        text_printf(&words, ", schedule %llu%s", (unsigned long long)one->schedule,
                    schedule_is_weak(one->schedule) ? " (weak memory)" : "");
    if (one->is_large) text_add(&words, ", a few blocks of the grid");
    if (one->is_beside) text_add(&words, ", found by the emulator beside the GPU");
    if (failed->origin == CASE_AFTER_TIMING) text_add(&words, ", found after the timed runs");
    if (failed->origin == CASE_OF_MODEL) text_add(&words, ", found in the modelled run");
    text_printf(&words, "; to repeat: %s%s%s", command_run(), report->of->name,
                one->is_beside ? " --device emulator" : "");
    // Sizes beyond those of --n: other matrices than the chapter's, and what no emulator runs completely.
    if (failed->origin == CASE_OF_MODEL && one->size.rows)
        text_printf(&words, one->size.depth ? " --time %lldx%lldx%lld" : " --time %lldx%lld", one->size.rows,
                    one->size.columns, one->size.depth);
    else
        text_printf(&words, " --%s %lld",
                    failed->origin == CASE_OF_MODEL && failed->shape.launch_count == 0 ? "time" : "n",
                    one->size.n);
    if (profile) text_printf(&words, " --device emulator --gpu '%s'", profile->name);
    if (one->schedule) text_printf(&words, " --schedule %llu", (unsigned long long)one->schedule);
    text_printf(&words, " --seed %llu", (unsigned long long)failed->seed);
    page_add_row(page, terminal, "case", text_chars(&words));
    text_free(&words);
}

// "  WRONG      sum_shared computes a wrong result"; after a long verdict the sentence is on the next line.
static void add_verdict(Text *page, const Terminal *terminal, Verdict verdict, const char *whose) {
    const char *word = verdict_word(verdict);
    const int label = LABEL + columns_of(word);
    Text words = {0};
    text_printf(&words, "%s %s", whose, verdict_headline(verdict));
    page_add_label(page, terminal, STYLE_BAD, word);
    if (label >= TEXT_COLUMN) text_add_char(page, ' ');
    page_add_words(page, label < TEXT_COLUMN ? TEXT_COLUMN : label + 1, TEXT_COLUMN, text_chars(&words));
    text_free(&words);
}

// "  RESOURCE   LEAK: the program does not free what it allocates".
static void add_host_verdict(Text *page, const Terminal *terminal, Verdict verdict, const HostKind *kind) {
    Text words = {0};
    text_printf(&words, "%s: the program %s", kind->name, kind->headline);
    page_add_label(page, terminal, STYLE_BAD, verdict_word(verdict));
    page_add_words(page, TEXT_COLUMN, TEXT_COLUMN, text_chars(&words));
    text_free(&words);
}

// Whether `object`, as a finding names it, is one of "in|out|shared".
static bool is_object_of(const char *objects, const char *object) {
    const char *name = strncmp(object, "shared ", 7) == 0 ? "shared" : object;
    const size_t length = strlen(name);
    for (const char *at = objects; at && length > 0; at = strchr(at, '|')) {
        at += *at == '|';
        if (strncmp(at, name, length) == 0 && (at[length] == '|' || !at[length])) return true;
    }
    return false;
}

// A remark that asks for a finding suits none without.
static bool suits_finding(const Remark *remark, const Finding *finding) {
    if (!remark->objects && !remark->findings && !remark->is_between_blocks && !remark->is_waiting)
        return true;
    if (!finding) return false;
    if (remark->objects && !is_object_of(remark->objects, finding->object)) return false;
    if (remark->findings && !(remark->findings >> finding->kind & 1)) return false;
    if (remark->is_waiting && !(finding->is_endless && finding->object[0])) return false;
    return !remark->is_between_blocks ||
           memcmp(finding->block, finding->other_block, sizeof finding->block) != 0;
}

static const char *remark_for(const Report *report, Verdict verdict, int task) {
    const Judgement *judgement = report->judgement;
    const CaseReport *first = judgement->first >= 0 ? &judgement->cases[judgement->first] : NULL;
    const Finding *finding = first && first->has_finding ? &first->finding : NULL;
    for (int i = 0; i < MAX_REMARKS && report->of->remarks[i].verdict; i++) {
        const Remark *remark = &report->of->remarks[i];
        if (strcmp(remark->verdict, verdict_word(verdict)) != 0 || !suits_finding(remark, finding)) continue;
        if (!remark->task || (task >= 0 && strcmp(remark->task, report->of->tasks[task].name) == 0))
            return remark->say;
    }
    return NULL;
}

// A chapter that asks for the names of mistakes does not show them: it shows only what happened.
static bool leaves_the_name_open(const Report *report, int task) {
    if (report->judgement->first < 0 && report->judgement->verdict != VERDICT_SLOW) return false;
    for (int t = 0; t < chapter_task_count(report->of); t++)
        if (task_hides_answers(&report->of->tasks[t])) return t != task;
    return false;
}

static int failed_task(const Report *report) {
    const Judgement *judgement = report->judgement;
    return judgement->first >= 0 ? judgement->cases[judgement->first].settings.task : -1;
}

// Whether a value is used that a copy has not delivered yet: what a chapter says of values that are never set
// does not suit it.
static bool is_under_way(const Report *report) {
    const Judgement *judgement = report->judgement;
    const CaseReport *first = judgement->first >= 0 ? &judgement->cases[judgement->first] : NULL;
    return first && first->has_finding && strstr(first->finding.message, "has not delivered");
}

void page_add_why(Text *page, const Terminal *terminal, const Report *report, const char *why,
                  bool is_evidence, int task) {
    const Diagnosis *diagnosis = report->diagnosis;
    if (diagnosis->mistake && !leaves_the_name_open(report, task)) {
        Text words = {0};
        if (is_evidence) text_printf(&words, "%s ", why);
        if (diagnosis->task >= 0) text_printf(&words, "Of %s: ", report->of->tasks[diagnosis->task].name);
        text_printf(&words, "%s%s. %s", diagnosis->proof ? "" : "Possibly: ", diagnosis->mistake->title,
                    diagnosis->why);
        page_add_row(page, terminal, "why", text_chars(&words));
        text_free(&words);
        return;
    }
    // What the chapter says of the verdict in general may not suit a kernel whose repair is known.
    const bool is_shown = (page_shows_repair(report) && !leaves_the_name_open(report, task)) ||
                          report->judgement->accounting.deviation_count > 0;
    const bool is_open = !is_shown && !is_under_way(report);
    const char *remark = is_open ? remark_for(report, report->judgement->verdict, task) : NULL;
    if (is_under_way(report)) why = ""; // nor does what is said of the verdict in general
    if (remark && diagnosis->mistake && !is_evidence) why = ""; // the general sentence would only guess
    if (why[0]) page_add_row(page, terminal, "why", why);
    if (remark) page_add_row(page, terminal, "check", remark);
}

// A change of the names in a list of mistakes is the answer, not what the kernel lacks.
bool page_shows_repair(const Report *report) {
    const int task = failed_task(report);
    return report->judgement->repair.change_count > 0 &&
           !(task >= 0 && task_hides_answers(&report->of->tasks[task]));
}

bool page_names_changes(const Report *report) { return !leaves_the_name_open(report, failed_task(report)); }

void page_repair_words(const Report *report, Text *words) {
    const Repair *repair = &report->judgement->repair;
    char largest[32], large[32];
    count_text(repair->largest, largest, sizeof largest);
    count_text(repair->large, large, sizeof large);
    if (page_names_changes(report)) {
        text_printf(words, "with %s", repair->changes[0].words);
        if (repair->change_count > 1) text_printf(words, " and %s", repair->changes[1].words);
        if (strstr(text_chars(words), "2147483647 instead of "))
            text_add(words, " (a limit that no int is above)");
    } else {
        text_printf(words, "%s: with %s",
                    repair->change_count > 1 ? "two small changes are enough" : "one small change is enough",
                    repair->change_count > 1 ? "them" : "it");
    }
    text_printf(words, ", all %d cases of up to %s elements%s%s pass", repair->cases, largest,
                repair->large ? " and of at least " : "", repair->large ? large : "");
    if (repair->shown) {
        count_text(repair->shown, large, sizeof large);
        text_printf(words, ", and so does that of %s", large);
    }
}

// What the kernel was shown to lack.
static void add_repair(Text *page, const Terminal *terminal, const Report *report) {
    Text words = {0};
    if (!page_shows_repair(report)) return;
    page_repair_words(report, &words);
    page_add_row(page, terminal, "shown", text_chars(&words));
    text_free(&words);
}

static void add_account(Text *page, const Terminal *terminal, const Judgement *judgement) {
    const Accounting *account = &judgement->accounting;
    if (account->n > 0)
        page_add_row(page, terminal, account->deviation_count ? "shown" : "elements", account->words);
}

static void add_failed_case(Text *page, const Terminal *terminal, const Report *report,
                            const CaseReport *failed) {
    const Task *task = &report->of->tasks[failed->settings.task];
    const HostKind *host = failed->host ? host_kind(failed->host) : NULL;
    if (host)
        add_host_verdict(page, terminal, failed->verdict, host);
    else
        add_verdict(page, terminal, failed->verdict,
                    failed->kernel[0]        ? failed->kernel
                    : report->of->is_program ? "the program"
                                             : task->name);

    Text what = {0};
    const bool is_stale = failed->has_finding && failed->finding.kind == FINDING_STALE_READ;
    const char *why = failed->has_finding      ? finding_why(failed->finding.kind)
                      : host                   ? host->why
                      : report->of->is_program ? ""
                                               : verdict_why(failed->verdict);
    if (failed->has_finding && !is_stale)
        text_add_printable(&what, failed->finding.message, strlen(failed->finding.message));
    else if (failed->has_check && failed->check.what[0])
        text_add_printable(&what, failed->check.what, strlen(failed->check.what));
    else
        text_add_printable(&what, failed->words, strlen(failed->words));
    page_add_row(page, terminal, "what", text_chars(&what));
    if (is_stale) page_add_row(page, terminal, "stale read", failed->finding.message);
    text_free(&what);
    const char *numbers_say = failed->has_check ? failed->check.why : "";
    page_add_why(page, terminal, report, numbers_say[0] ? numbers_say : why, numbers_say[0] != '\0',
                 failed->settings.task);
    add_account(page, terminal, report->judgement);
    add_repair(page, terminal, report);
    if (host) add_place(page, terminal, "where", &failed->place);
    if (failed->has_finding) {
        add_place(page, terminal, "where", &failed->finding.place);
        add_place(page, terminal, "and", &failed->finding.other_place);
        add_joined_lines(page, terminal, &failed->finding);
        add_thread(page, terminal, &failed->finding);
        if (failed->has_cause) add_cause(page, terminal, &failed->cause);
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

static bool has_failed(const Judgement *judgement, int task) {
    for (int i = 0; i < judgement->case_count; i++) {
        const CaseReport *report = &judgement->cases[i];
        if (report->settings.task == task && report->was_run && report->verdict != VERDICT_PASS) return true;
    }
    return false;
}

// ", not yet sum_tree, transpose_tiles": the tasks that are not right, and have failed or not.
static void add_names(Text *words, const Report *report, const char *before, bool have_failed) {
    const Judgement *judgement = report->judgement;
    for (int t = 0, named = 0; t < chapter_task_count(report->of); t++)
        if (!judgement->task_is_right[t] && has_failed(judgement, t) == have_failed)
            text_printf(words, "%s %s", named++ ? "," : before, report->of->tasks[t].name);
}

// If one failure of a chapter with many tasks is shown: which tasks are correct already.
static void add_tasks(Text *page, const Terminal *terminal, const Report *report) {
    const int tasks = chapter_task_count(report->of);
    int right = 0;
    for (int t = 0; t < tasks; t++) right += report->judgement->task_is_right[t];
    if (tasks < 2) return;
    Text words = {0};
    text_printf(&words, "%d of %d right", right, tasks);
    add_names(&words, report, "; not yet", true);
    add_names(&words, report, "; not run to the end:", false);
    page_add_row(page, terminal, "tasks", text_chars(&words));
    text_free(&words);
}

static const char *what_happened(const CaseReport *failed) {
    return failed->has_finding                          ? failed->finding.message
           : failed->has_check && failed->check.what[0] ? failed->check.what
                                                        : failed->words;
}

// Whether the page has explained a failure in this way already: the first one, or one of the other tasks
// before number `before`.
static bool is_said(const Report *shown, const Diagnosis *diagnosis, int before) {
    bool is_said = strcmp(shown->diagnosis->why, diagnosis->why) == 0;
    for (int o = 0; o < before; o++) is_said |= strcmp(shown->others[o].why, diagnosis->why) == 0;
    return is_said;
}

static bool is_same_account(const Accounting *a, const Accounting *b) {
    return a->n > 0 && b->n > 0 && strcmp(a->words, b->words) == 0;
}

static bool is_account_said(const Report *shown, const Accounting *account, int before) {
    bool is_said = is_same_account(&shown->judgement->accounting, account);
    for (int o = 0; o < before; o++)
        is_said |= is_same_account(&shown->judgement->others[o].accounting, account);
    return is_said;
}

// What is known of the failure of another task, as `report` has it. `shown`: as the page has the first one;
// the failure is number `which` of its others.
static void add_other(Text *page, const Terminal *terminal, const Report *report, const Report *shown,
                      int which) {
    const Judgement *judgement = report->judgement;
    const CaseReport *failed = &judgement->cases[judgement->first];
    const char *name = report->of->tasks[failed->settings.task].name;
    const Repair *repair = &judgement->repair, *known = &shown->judgement->repair;
    const bool is_repaired = repair->change_count > 0;
    const bool is_named = report->diagnosis->mistake && !is_said(shown, report->diagnosis, which);
    const bool is_accounted =
        judgement->accounting.n > 0 && !is_account_said(shown, &judgement->accounting, which);
    Text words = {0};
    if (is_repaired && repair->change_count == known->change_count &&
        strcmp(repair->changes[0].words, known->changes[0].words) == 0) {
        text_printf(&words, "%s: %s, too; with the same change, all %d cases pass", name,
                    verdict_word(judgement->verdict), repair->cases);
        page_add_row(page, terminal, "also", text_chars(&words));
    } else if (judgement->accounting.deviation_count > 0 && !is_accounted && !is_repaired) {
        text_printf(&words, "%s: %s, too, with the same formula", name, verdict_word(judgement->verdict));
        page_add_row(page, terminal, "also", text_chars(&words));
    } else if (is_repaired || is_named || is_accounted) {
        text_printf(&words, "%s: %s, ", name, verdict_word(judgement->verdict));
        text_add_printable(&words, what_happened(failed), strlen(what_happened(failed)));
        if (failed->has_finding && failed->finding.place.line > 0)
            text_printf(&words, " (line %d)", failed->finding.place.line);
        page_add_row(page, terminal, "also", text_chars(&words));
        if (is_named) page_add_why(page, terminal, report, "", false, failed->settings.task);
        if (is_accounted) add_account(page, terminal, judgement);
        add_repair(page, terminal, report);
    }
    text_free(&words);
}

static void add_others(Text *page, const Terminal *terminal, const Report *report) {
    static Judgement judgement;
    judgement = *report->judgement;
    Report other = *report;
    other.judgement = &judgement;
    for (int o = 0; o < judgement.other_count; o++) {
        judgement_exchange(&judgement, &judgement.others[o]);
        other.diagnosis = &report->others[o];
        add_other(page, terminal, &other, report, o);
        judgement_exchange(&judgement, &judgement.others[o]);
    }
}

const char *page_message(const Report *report) {
    const bool is_of_build = report->build && report->build->status != COMPILE_OK && report->build->message;
    return is_of_build ? report->build->message : report->judgement->message;
}

void page_add_failure(Text *page, const Terminal *terminal, const Report *report) {
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
        add_others(page, terminal, report);
        return;
    }
    add_verdict(page, terminal, judgement->verdict, "kernel.cu");
    const char *message = page_message(report);
    // A compiler's or parser's message comes as lines, with carets whose columns matter: not wrapped. Its
    // first paragraph, that kernel.cu does not compile, is the verdict's.
    if (strchr(message, '\n')) {
        const char *rest = strstr(message, "does not compile:\n\n");
        text_add(page, rest ? strchr(rest, '\n') + 2 : message);
        if (message[strlen(message) - 1] != '\n') text_add_char(page, '\n');
    } else if (message[0]) {
        page_add_row(page, terminal, "what", message);
    }
    // A line of help beside the error says more than the name of the mistake.
    if (!strstr(message, "\n  help: "))
        page_add_why(page, terminal, report, verdict_why(judgement->verdict), false, -1);
    SourcePlace place = {.line = judgement->line};
    snprintf(place.file, sizeof place.file, "%s", judgement->file);
    add_place(page, terminal, "where", &place);
}
