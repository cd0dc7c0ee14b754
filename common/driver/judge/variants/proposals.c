// Which variants there are, and which of them are kept.
#include <stdlib.h>
#include <string.h>

#include "driver/judge/repair/linked_lines.h"
#include "driver/judge/variants/proposer.h"

int variants_compare(const Variant *a, const Variant *b) {
    if (a->rank != b->rank) return a->rank - b->rank;
    if (a->turn != b->turn) return a->turn - b->turn;
    if (a->edits[0].from != b->edits[0].from) return a->edits[0].from - b->edits[0].from;
    return strcmp(a->words, b->words);
}

static int compare_ranks(const void *left, const void *right) { return variants_compare(left, right); }

static int compare_places(const void *left, const void *right) {
    const Variant *a = left, *b = right;
    const int places = source_edits_compare(&a->edits[0], &b->edits[0]);
    if (places != 0) return places;
    return compare_ranks(a, b);
}

// ---- Likelihood -------------------------------------------------------------------------------------------

// Whether a line computes what the finding's line uses.
static bool is_near(const Code *code, int line, int finding) {
    return abs(line - finding) <= 1 || lines_are_linked(code->tokens.source, line, finding);
}

static void weigh(const Code *code, const VariantClues *clues, Variants *variants) {
    for (int v = 0; v < variants->count; v++) {
        Variant *variant = &variants->all[v];
        const bool orders = variant->kind == CHANGE_BARRIER || variant->kind == CHANGE_WARP_BARRIER ||
                            variant->kind == CHANGE_FENCE;
        if (orders)
            variant->rank = !clues->is_of_order ? LAST : variant->kind == CHANGE_BARRIER ? FIRST : LIKELY;
        if (clues->is_of_size && variant->kind == CHANGE_CONDITION && variant->rank == LIKELY)
            variant->rank = FIRST;
        if (variant->rank > FIRST && clues->line > 0 && is_near(code, variant->line, clues->line))
            variant->rank--;
    }
}

// Whether two texts differ in blanks and brackets only: "(SIDE + 1)" and "SIDE + 1".
static bool is_same_text(const char *a, const char *b) {
    for (;; a++, b++) {
        a += strspn(a, " ()");
        b += strspn(b, " ()");
        if (*a != *b) return false;
        if (!*a) return true;
    }
}

static bool is_same_edit(const SourceEdit *a, const SourceEdit *b) {
    if (source_edits_compare(a, b) != 0) return false;
    const bool needs_brackets = strpbrk(a->text, "*/%-<>&|^?") != NULL;
    return needs_brackets ? strcmp(a->text, b->text) == 0 : is_same_text(a->text, b->text);
}

// The same text is proposed once. In the order of places.
static void drop_repeated(Variants *variants) {
    int kept = 0, place = 0; // the first that is kept of a place
    qsort(variants->all, (size_t)variants->count, sizeof *variants->all, compare_places);
    for (int v = 0; v < variants->count; v++) {
        Variant *one = &variants->all[v];
        bool is_known = false;
        if (kept > 0 && source_edits_compare(&one->edits[0], &variants->all[kept - 1].edits[0]) != 0)
            place = kept;
        for (int k = place; k < kept && one->edit_count == 1 && !is_known; k++) {
            Variant *other = &variants->all[k];
            is_known = other->edit_count == 1 && is_same_edit(&one->edits[0], &other->edits[0]);
            if (is_known && one->rank < other->rank) other->rank = one->rank;
        }
        if (is_known)
            variant_drop(one);
        else
            variants->all[kept++] = *one;
    }
    variants->count = kept;
}

// In the order of places: how many of each rank its line has before it. Comparisons have turns of theirs: of
// several in a line, the last one is as likely as the first.
static void take_turns(Variants *variants) {
    int line = 0, turns[2][LAST + 1] = {0};
    for (int v = 0; v < variants->count; v++) {
        Variant *variant = &variants->all[v];
        if (variant->line != line) memset(turns, 0, sizeof turns);
        line = variant->line;
        variant->turn = turns[variant->kind == CHANGE_COMPARISON][variant->rank]++;
    }
}

void variants_propose(const Code *code, const bool functions[], const VariantClues *clues, int most,
                      Variants *variants) {
    bool *is_of_address = calloc((size_t)code->variable_count + 1, sizeof *is_of_address);
    Proposer proposer = {.code = code, .is_of_address = is_of_address, .variants = variants};
    variants->failed |= !is_of_address;
    if (variants->failed) {
        free(is_of_address);
        return;
    }
    named_numbers_find(code->tokens.source, &proposer.named);
    variables_of_address(code, is_of_address);
    for (int f = 0; f < code->function_count; f++) {
        const Function *function = &code->functions[f];
        // The compiler may need what that returns, which cannot be chosen when the kernel runs.
        if (!functions[f] || code_declares(code, function, "constexpr")) continue;
        for (int at = function->first; at < function->last; at++)
            if (code->is_open[at]) {
                propose_expressions(&proposer, at);
                propose_terms_at(&proposer, at);
                propose_heads_at(&proposer, at);
                propose_rests_at(&proposer, at);
                propose_sizes_at(&proposer, at);
                propose_alike_at(&proposer, at);
                propose_clamps_at(&proposer, at);
                propose_quotients_at(&proposer, at);
                propose_remainders_at(&proposer, at);
            }
        propose_terms(&proposer, f);
        propose_members_and_calls(&proposer, f);
        propose_calls(&proposer, f);
        propose_heads(&proposer, f);
        propose_warned(&proposer, f);
        propose_conditions(&proposer, f);
        propose_guards(&proposer, f);
        propose_sisters(&proposer, f);
        propose_statements(&proposer, f);
        propose_loops(&proposer, f);
        propose_places(&proposer, f);
        propose_parallel(&proposer, f);
    }
    propose_declared_values(&proposer, functions);
    free(is_of_address);
    if (variants->count == 0 || variants->failed) return;
    weigh(code, clues, variants);
    drop_repeated(variants);
    take_turns(variants);
    qsort(variants->all, (size_t)variants->count, sizeof *variants->all, compare_ranks);
    while (variants->count > most) variant_drop(&variants->all[--variants->count]);
    qsort(variants->all, (size_t)variants->count, sizeof *variants->all, compare_places);
}
