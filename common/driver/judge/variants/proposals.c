// Which variants there are, and which of them are kept.
#include <stdlib.h>
#include <string.h>

#include "driver/judge/variants/proposer.h"

static int compare_ranks(const void *left, const void *right) {
    const Variant *a = left, *b = right;
    if (a->rank != b->rank) return a->rank - b->rank;
    if (a->edits[0].from != b->edits[0].from) return a->edits[0].from - b->edits[0].from;
    return strcmp(a->words, b->words);
}

static int compare_places(const void *left, const void *right) {
    const Variant *a = left, *b = right;
    const int places = source_edits_compare(&a->edits[0], &b->edits[0]);
    return places != 0 ? places : compare_ranks(left, right);
}

void variants_propose(const Code *code, const bool functions[], int finding, int most, Variants *variants) {
    Proposer proposer = {.code = code, .variants = variants};
    named_numbers_find(code->tokens.source, &proposer.named);
    for (int f = 0; f < code->function_count; f++) {
        const Function *function = &code->functions[f];
        if (!functions[f]) continue;
        for (int at = function->first; at < function->last; at++)
            if (code->is_open[at]) propose_expressions(&proposer, at);
        propose_terms_of_starts(&proposer, f);
        propose_statements(&proposer, f);
    }
    for (int v = 0; v < variants->count && finding > 0; v++)
        if (abs(variants->all[v].line - finding) <= 1 && variants->all[v].rank > LIKELY)
            variants->all[v].rank--;
    if (variants->count == 0) return;
    qsort(variants->all, (size_t)variants->count, sizeof *variants->all, compare_ranks);
    while (variants->count > most) {
        Variant *last = &variants->all[--variants->count];
        for (int e = 0; e < last->edit_count; e++) free(last->edits[e].text);
    }
    qsort(variants->all, (size_t)variants->count, sizeof *variants->all, compare_places);
}

void variants_free(Variants *variants) {
    for (int v = 0; v < variants->count; v++)
        for (int e = 0; e < variants->all[v].edit_count; e++) free(variants->all[v].edits[e].text);
    free(variants->all);
    *variants = (Variants){0};
}
