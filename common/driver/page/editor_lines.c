#include "driver/page/editor_lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/build/compiler_report.h"
#include "driver/judge/goal_lines.h"
#include "driver/page/failure_rows.h"

enum { MOST = 32 };

// In one line: editors take a line break for the end of the message.
static void add(Text *page, const char *file, int line, int column, const char *kind, const char *what,
                const char *words) {
    text_printf(page, "%s:%d:%d: %s: %s", file, line > 0 ? line : 1, column > 0 ? column : 1, kind, what);
    Text safe = {0};
    text_add_printable(&safe, words, strlen(words));
    for (const char *at = text_chars(&safe); *at; at++) text_add_char(page, *at == '\n' ? ' ' : *at);
    text_free(&safe);
    text_add_char(page, '\n');
}

// kernel.cu as the findings name it.
static const char *file_of(const Report *report) {
    const Judgement *judgement = report->judgement;
    const bool has_place = judgement->first >= 0 && judgement->cases[judgement->first].has_finding &&
                           judgement->cases[judgement->first].finding.place.line > 0;
    return has_place ? judgement->cases[judgement->first].finding.place.file : report->source;
}

static void add_place(Text *page, const Report *report, const SourcePlace *place, const char *kind,
                      const char *what, const char *words) {
    const bool is_known = place->line > 0;
    add(page, is_known ? place->file : report->source, is_known ? place->line : 1, place->column, kind, what,
        words);
}

// Findings of one kind in one line are the same mistake.
static void add_findings(Text *page, const Report *report) {
    const Judgement *judgement = report->judgement;
    const Finding *shown[MOST];
    int count = 0;
    for (int i = -1; i < judgement->case_count && count < MOST; i++) {
        const int index = i < 0 ? judgement->first : i; // the one that the page shows comes first
        if (index < 0 || !judgement->cases[index].has_finding) continue;
        const CaseReport *failed = &judgement->cases[index];
        const Finding *finding = &failed->finding;
        bool is_known = false;
        for (int k = 0; k < count; k++)
            is_known |= shown[k]->kind == finding->kind && shown[k]->place.line == finding->place.line;
        if (is_known) continue;
        shown[count++] = finding;
        char what[64];
        snprintf(what, sizeof what, "%s: ", verdict_word(failed->verdict));
        add_place(page, report, &finding->place, "error", what, finding->message);
        if (finding->other_place.line > 0)
            add_place(page, report, &finding->other_place, "note", "", "the other access");
    }
    if (count > 0 || judgement->first < 0) return;
    const CaseReport *failed = &judgement->cases[judgement->first];
    char what[64];
    snprintf(what, sizeof what, "%s: ", verdict_word(failed->verdict));
    add(page, report->source, 1, 1, "error", what,
        failed->has_check && failed->check.what[0] ? failed->check.what : failed->words);
}

// The errors or warnings of the compiler; false if there is none.
static bool add_compilers(Text *page, const char *messages) {
    ReportedMessage message;
    bool has_any = false;
    for (; compiler_next_reported(&messages, &message); has_any = true) {
        add(page, message.file, message.line, message.column, message.kind, "", message.words);
        if (message.help[0]) add(page, message.file, message.line, message.column, "note", "", message.help);
    }
    return has_any;
}

static void add_message(Text *page, const Report *report) {
    const Judgement *judgement = report->judgement;
    if (judgement->verdict == VERDICT_BUILD && add_compilers(page, page_message(report))) return;
    char what[64];
    snprintf(what, sizeof what, "%s: ", verdict_word(judgement->verdict));
    add(page, judgement->file[0] ? judgement->file : report->source, judgement->line, 1, "error", what,
        judgement->message);
}

static void add_goals(Text *page, const Report *report) {
    for (int g = 0; g < report->judgement->goal_count; g++) {
        const GoalResult *result = &report->judgement->goals[g];
        if (result->state != GOAL_MISSED) continue;
        char words[640];
        snprintf(words, sizeof words, "%g %s: the goal is %s%g. %s", result->value, result->goal->words,
                 result->goal->bound == AT_MOST    ? "at most "
                 : result->goal->bound == AT_LEAST ? "at least "
                                                   : "",
                 result->goal->limit, result->goal->why ? result->goal->why : "");
        const GoalLines by_line = goal_lines(report->of, report->judgement, result);
        if (by_line.count == 0) add(page, report->source, 1, 1, "warning", "SLOW: ", words);
        for (int i = 0; i < by_line.count; i++)
            add(page, report->source, by_line.lines[i].line, 1, "warning", "SLOW: ", words);
    }
}

void page_add_editor_lines(Text *page, const Report *report) {
    const Judgement *judgement = report->judgement;
    if (judgement->verdict == VERDICT_SLOW)
        add_goals(page, report);
    else if (judgement->first >= 0)
        add_findings(page, report);
    else if (judgement->verdict != VERDICT_PASS)
        add_message(page, report);
    if (page_shows_repair(report)) { // of two changes, neither is enough alone
        Text words = {0};
        page_repair_words(report, &words);
        const int line = page_names_changes(report) ? judgement->repair.changes[0].line : 1;
        add(page, file_of(report), line, 1, "note", "", text_chars(&words));
        text_free(&words);
    }
    if (judgement->note_case >= 0 && judgement->first < 0)
        add_place(page, report, &judgement->note.place, "note", "", judgement->note.message);
    if (report->build && report->build->status == COMPILE_OK && report->build->log)
        add_compilers(page, report->build->log);
}
