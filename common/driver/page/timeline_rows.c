#include "driver/page/timeline_rows.h"

#include <stdio.h>
#include <string.h>

#include "gpu/profiles.h"
#include "driver/page/rows.h"
#include "driver/plan/elements.h"

enum { WIDTH = PAGE_COLUMNS - VALUE_COLUMN - 10, MOST_ROWS = 8 };

// By EngineKind.
static const char marks[] = "#><";

// Each column is the work that fills most of it; a kernel that fills little of any still shows.
static void draw_stream(const Timeline *t, int stream, char line[WIDTH + 1]) {
    double filled[WIDTH][ENGINES] = {{0}};
    const double column = t->seconds / WIDTH;
    memset(line, '.', WIDTH);
    line[WIDTH] = '\0';
    for (int i = 0; i < t->count; i++) {
        const TimelineWork *w = &t->work[i];
        if (w->stream != stream) continue;
        for (int c = (int)(w->start / column); c < WIDTH && c * column < w->end; c++) {
            const double from = w->start > c * column ? w->start : c * column,
                         to = w->end < (c + 1) * column ? w->end : (c + 1) * column;
            if (to > from) filled[c][w->engine] += to - from;
        }
    }
    for (int c = 0; c < WIDTH; c++)
        for (int e = 0; e < ENGINES; e++) {
            const double best = line[c] == '.' ? 0 : filled[c][strchr(marks, line[c]) - marks];
            if (filled[c][e] > best) line[c] = marks[e];
        }
}

void page_add_timeline(Text *page, const Terminal *terminal, const Report *report) {
    const Timeline *t = &report->judgement->timeline;
    if (t->n == 0 || t->count == 0 || !(t->seconds > 0)) return;
    char n[32], words[160], line[WIDTH + 1], name[32];
    count_text(t->n, n, sizeof n);
    snprintf(words, sizeof words, "at n = %s: %.1f microseconds, +/- %.0f %%, modelled", n, t->seconds * 1e6,
             100 * gpu_error_band(NULL));
    page_add_row(page, terminal, "timeline", words);
    for (int s = 0, rows = 0; s <= t->stream_count && rows < MOST_ROWS; s++) {
        draw_stream(t, s, line);
        if (strspn(line, ".") == WIDTH) continue;
        snprintf(name, sizeof name, s ? "stream %d" : "default", s);
        add_spaces(page, 0, VALUE_COLUMN);
        text_printf(page, "%-10s%s\n", name, line);
        rows++;
    }
    add_spaces(page, 0, VALUE_COLUMN);
    text_add(page, "> copy to the device   # kernel   < copy to the host\n");
}
