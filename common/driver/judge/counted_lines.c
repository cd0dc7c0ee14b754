#include "driver/judge/counted_lines.h"

#include <stdlib.h>
#include <string.h>

static int compare_places(const CountedLine *a, const CountedLine *b) {
    if (a->task != b->task) return a->task - b->task;
    const int files = strcmp(a->counters.place.file, b->counters.place.file);
    return files != 0 ? files : a->counters.place.line - b->counters.place.line;
}

static int compare_lines(const void *left, const void *right) {
    const CountedLine *a = left, *b = right;
    const int places = compare_places(a, b);
    return places != 0 ? places : a->launch - b->launch;
}

void counted_lines_sort(Judgement *judgement) {
    if (judgement->line_count > 0)
        qsort(judgement->lines, (size_t)judgement->line_count, sizeof *judgement->lines, compare_lines);
}

int counted_lines_alike(const Judgement *judgement, int first) {
    int count = 1;
    while (first + count < judgement->line_count &&
           compare_places(&judgement->lines[first], &judgement->lines[first + count]) == 0)
        count++;
    return count;
}
