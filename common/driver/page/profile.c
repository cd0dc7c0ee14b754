#include "driver/page/profile.h"

#include <stdio.h>
#include <string.h>

#include "driver/judge/counted_lines.h"
#include "driver/plan/elements.h"
#include "driver/page/rows.h"
#include "driver/page/source_lines.h"

static void add_number(Text *page, uint64_t number, int columns) {
    char words[32] = "";
    if (number > 0) count_text((long long)number, words, sizeof words);
    text_printf(page, "%*s", columns, words);
}

enum { SOURCE_AT = 55 }; // the column of the source

static void add_row(Text *whole, const Terminal *terminal, const CountedLine *row, const Text *source) {
    Text made = {0}, *page = &made;
    const Counters *counters = &row->counters.counters;
    char number[16] = "-";
    if (row->counters.place.line > 0) snprintf(number, sizeof number, "%d", row->counters.place.line);
    text_printf(page, "%6s", number);
    add_number(page, counters->instructions, 12);
    add_number(page,
               counters->global_ld_sectors + counters->global_st_sectors + counters->global_red_sectors +
                   counters->global_atom_sectors,
               10);
    add_number(page,
               counters->shared_ld_wavefronts + counters->shared_st_wavefronts +
                   counters->shared_atom_wavefronts,
               9);
    add_number(page, counters->shared_ld_conflicts + counters->shared_st_conflicts, 8);
    add_number(page, counters->branch_divergent, 8);
    Text line = {0};
    if (source && source_pick(source, row->counters.place.line, &line)) {
        const char *words = text_chars(&line);
        while (*words == ' ') words++;
        text_add(page, "  ");
        add_cut(page, terminal->columns - SOURCE_AT, words);
    }
    text_free(&line);
    while (made.bytes > 0 && made.data[made.bytes - 1] == ' ') text_cut(&made, made.bytes - 1);
    text_add(whole, text_chars(&made));
    text_add_char(whole, '\n');
    text_free(&made);
}

static void add_baselines(Text *page, const Baselines *baselines) {
    text_printf(page, "\n  CPU, for comparison (measured here): %s\n", baselines->work);
    text_printf(page, "    one thread %19.1f GB/s\n", baselines->one_thread_gb_per_s);
    if (baselines->all_threads_gb_per_s > 0)
        text_printf(page, "    OpenMP, %3d threads %10.1f GB/s\n", baselines->threads,
                    baselines->all_threads_gb_per_s);
}

void profile_add(Text *page, const Terminal *terminal, const Report *report) {
    const Judgement *judgement = report->judgement;
    text_add_char(page, '\n');
    if (judgement->line_count == 0) {
        text_add(page, "  profile    nothing was counted in this run\n");
    }
    const char *file = NULL;
    int task = -1;
    Text source = {0};
    bool has_source = false;
    for (int i = 0, used = 0; i < judgement->line_count; i += used) {
        CountedLine row = judgement->lines[i];
        used = counted_lines_alike(judgement, i);
        for (int k = 1; k < used; k++)
            counters_add(&row.counters.counters, &judgement->lines[i + k].counters.counters);
        if (row.task != task || !file || strcmp(file, row.counters.place.file) != 0) {
            task = row.task;
            file = judgement->lines[i].counters.place.file;
            char n[32];
            count_text(row.n, n, sizeof n);
            Text title = {0};
            text_printf(&title, "  %s: ", report->of->tasks[task].name);
            text_add_printable(&title, file[0] ? file : "(no source)",
                               strlen(file[0] ? file : "(no source)"));
            text_printf(&title, ", at n = %s%s", n, row.is_partial ? ", until it was stopped" : "");
            add_wrapped(page, 0, 4, text_chars(&title) + 2);
            text_free(&title);
            text_add(page, "\n");
            has_source = source_read(file, &source);
            add_styled(page, terminal, STYLE_FAINT,
                       "  line      warp    global   shared    bank  branch  source\n"
                       "    instructions   sectors    waves  confl.  diverg.\n");
        }
        add_row(page, terminal, &row, has_source ? &source : NULL);
    }
    text_free(&source);
    if (report->baselines && report->baselines->is_measured) add_baselines(page, report->baselines);
}
