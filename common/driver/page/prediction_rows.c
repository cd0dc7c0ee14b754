#include "driver/page/prediction_rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/file.h"
#include "driver/page/rows.h"
#include "driver/plan/elements.h"

enum { MAX_FILE_BYTES = 8192, MAX_ROWS = 8 };
enum { SAID_COLUMN = 44, SHOWN_COLUMN = 60 }; // where numbers end

static void number_text(double value, char *words, size_t bytes) {
    if (isnan(value))
        snprintf(words, bytes, "-");
    else if (value == floor(value) && fabs(value) < 1e15)
        count_text((long long)value, words, bytes);
    else
        snprintf(words, bytes, "%.4g", value);
}

// A row whose two numbers end at the columns above, followed by a remark.
static void add_columns(Text *page, const char *words, const char *said, const char *shown,
                        const char *remark) {
    Text line = {0};
    text_add_printable(&line, words, strlen(words));
    add_spaces(page, 0, TEXT_COLUMN);
    text_add(page, text_chars(&line));
    int at = TEXT_COLUMN + columns_of(text_chars(&line));
    const char *const numbers[] = {said, shown};
    const int ends[] = {SAID_COLUMN, SHOWN_COLUMN};
    for (int i = 0; i < 2; i++) {
        int start = ends[i] - columns_of(numbers[i]);
        if (start <= at) start = at + 1;
        add_spaces(page, at, start);
        text_add(page, numbers[i]);
        at = start + columns_of(numbers[i]);
    }
    if (remark[0]) text_printf(page, "  %s", remark);
    text_add_char(page, '\n');
    text_free(&line);
}

static const char *remark_for(const Report *report, const GoalResult *result, const char *measure) {
    if (isnan(result->value)) return "not known here";
    if (strncmp(measure, "bandwidth", strlen("bandwidth")) != 0) return "";
    const Bandwidth *bandwidth = report->judgement->counted[0][result->task].bandwidth;
    return bandwidth && bandwidth->kind == BANDWIDTH_MEASURED ? "measured" : "modelled";
}

// One line of the file; false if it does not have the form above.
static bool add_prediction(Text *page, const Report *report, char *line) {
    char *fields[4] = {line};
    for (int f = 1; f < 4; f++) {
        char *tab = strchr(fields[f - 1], '\t');
        if (!tab) return false;
        *tab = '\0';
        fields[f] = tab + 1;
    }
    char *end, said[32], shown[32];
    const double number = strtod(fields[3], &end);
    if (end == fields[3] || *end != '\0' || columns_of(fields[2]) > SAID_COLUMN - TEXT_COLUMN) return false;
    const Goal goal = {.words = fields[2],
                       .measure = fields[0],
                       .task = fields[1][0] ? fields[1] : NULL,
                       .bound = AT_LEAST,
                       .limit = -HUGE_VAL};
    GoalResult result;
    goal_evaluate(report->of, &goal, report->judgement->counted[0], &report->judgement->device, &result);
    if (result.state == GOAL_BROKEN) return false;
    if (result.state == GOAL_NOT_COUNTED) result.value = NAN;
    number_text(number, said, sizeof said);
    number_text(result.value, shown, sizeof shown);
    add_columns(page, fields[2], said, shown, remark_for(report, &result, fields[0]));
    return true;
}

void page_add_predictions(Text *page, const Terminal *terminal, const Report *report) {
    char path[64];
    snprintf(path, sizeof path, "progress/predictions/%.8s.txt", report->of->name);
    Text text = {0}, rows = {0};
    FileError ignored;
    if (read_regular_file(path, MAX_FILE_BYTES, &text, &ignored)) {
        char *next = text_take(&text), *all = next;
        int count = 0;
        for (char *line = strsep(&next, "\n"); line && count < MAX_ROWS; line = strsep(&next, "\n"))
            count += add_prediction(&rows, report, line);
        free(all);
        if (count > 0) {
            page_add_label(page, terminal, STYLE_FAINT, "predicted");
            Text head = {0};
            add_columns(&head, "", "you said", "it is", "");
            text_add(page, text_chars(&head) + TEXT_COLUMN);
            text_add(page, text_chars(&rows));
            text_free(&head);
        }
    }
    text_free(&text);
    text_free(&rows);
}
