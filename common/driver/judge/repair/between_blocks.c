// Accesses through which blocks communicate: their scope, their strength, and their order.
#include <stdio.h>
#include <string.h>

#include "driver/judge/repair/kernel.h"

// ---- Scopes ----------------------------------------------------------------------------------------------

static bool has_scope_of_block(const PtxInstruction *in) {
    const bool has_scope = opcode_is(in, "ld") || opcode_is(in, "st") || opcode_is(in, "atom") ||
                           opcode_is(in, "red") || opcode_is(in, "fence") || opcode_is(in, "membar");
    return has_scope && opcode_has(in, "cta") && !opcode_has(in, "shared");
}

static void widen_scope(const Kernel *kernel, Change *change, int at, const PtxInstruction *in) {
    PtxInstruction wide = *in;
    const char *scope = strstr(in->opcode, ".cta");
    if (!scope) return;
    snprintf(wide.opcode, sizeof wide.opcode, "%.*s%s%s", (int)(scope - in->opcode), in->opcode,
             opcode_is(in, "membar") ? ".gl" : ".gpu", scope + strlen(".cta"));
    char text[480];
    with_operand(&wide, -1, "", text, sizeof text);
    change_replace(kernel->changes, change, at, "%s", text);
}

void propose_scopes(const Kernel *kernel) {
    int lines[MOST];
    const int count = list_lines(kernel, has_scope_of_block, lines);
    for (int l = 0; l <= count && count > 0; l++) { // the last time all of them
        if (l == count && count == 1) break;
        Change *change = changes_add(kernel->changes, CHANGE_SCOPE, l < count ? lines[l] : 0);
        if (l < count)
            say_at(change, "the scope of the GPU instead of the block", "in");
        else
            say(change, "the scope of the GPU instead of the block everywhere");
        for (int i = kernel->first; i < kernel->end; i++) {
            PtxInstruction in;
            if (ptx_instruction(&kernel->lines->lines[i], &in) && has_scope_of_block(&in) &&
                (l == count || kernel->lines->lines[i].source == lines[l]))
                widen_scope(kernel, change, i, &in);
        }
    }
}

// ---- Strength --------------------------------------------------------------------------------------------

static bool is_weak_access(const PtxInstruction *in) {
    return (is_access(in, "ld") || is_access(in, "st")) && !opcode_has(in, "shared") &&
           !opcode_has(in, "volatile") && !opcode_has(in, "relaxed") && !opcode_has(in, "acquire") &&
           !opcode_has(in, "release") && !opcode_has(in, "nc") && !opcode_has(in, "v2") &&
           !opcode_has(in, "v4");
}

// The accesses of both lines of the finding go through a pointer to volatile.
void propose_volatile(const Kernel *kernel) {
    const Finding *finding = kernel->symptoms->finding;
    if (!finding || !finding->place.line || !finding->other_place.line) return;
    Change *change = NULL;
    for (int i = kernel->first; i < kernel->end; i++) {
        PtxInstruction in;
        const int source = kernel->lines->lines[i].source;
        if ((source != finding->place.line && source != finding->other_place.line) ||
            !ptx_instruction(&kernel->lines->lines[i], &in) || !is_weak_access(&in))
            continue;
        if (!change) {
            change = changes_add(kernel->changes, CHANGE_VOLATILE, finding->place.line);
            if (change)
                snprintf(change->words, sizeof change->words,
                         finding->place.line == finding->other_place.line
                             ? "a pointer to volatile in line %d"
                             : "a pointer to volatile in lines %d and %d",
                         finding->place.line, finding->other_place.line);
        }
        PtxInstruction strong = in;
        // Behind "ld" or "st"; a cache operator does not go with it.
        const char *space = opcode_has(&in, "global") ? ".global" : "";
        snprintf(strong.opcode, sizeof strong.opcode, "%.2s.volatile%s%s", in.opcode, space,
                 strrchr(in.opcode, '.'));
        char text[480];
        with_operand(&strong, -1, "", text, sizeof text);
        change_replace(kernel->changes, change, i, "%s", text);
    }
}

// ---- Order -----------------------------------------------------------------------------------------------

static bool is_published(const PtxInstruction *in) {
    return !opcode_has(in, "shared") &&
           (is_access(in, "st") || opcode_is(in, "atom") || opcode_is(in, "red"));
}

// Whether an instruction writes a register that occurs in the operands of `user`.
static bool writes_for(const PtxInstruction *in, const PtxInstruction *user) {
    if (in->operand_count == 0 || in->operands[0][0] == '[' || opcode_is(in, "st")) return false;
    char written[PTX_OPERAND_BYTES];
    snprintf(written, sizeof written, "%s", in->operands[0]);
    for (char *rest = written, *name; (name = strsep(&rest, "{},|")) != NULL;) {
        const size_t length = strlen(name);
        for (int i = 0; i < user->operand_count && length > 0; i++)
            for (const char *at = user->operands[i]; (at = strstr(at, name)) != NULL; at += length)
                if (at[length] < '0' || at[length] > '9') return true;
    }
    return false;
}

enum { MOVED = 24 }; // instructions at most: a store and what computes its operands

// What has to move with the store at `late` to come before `early`, the store first; 0: it cannot.
static int list_moved(const Kernel *kernel, int early, int late, int moved[MOVED]) {
    int count = 0;
    moved[count++] = late;
    for (int at = late - 1; at >= early; at--) {
        PtxInstruction in, user;
        if (!ptx_instruction(&kernel->lines->lines[at], &in)) continue;
        bool is_needed = false;
        for (int m = 0; m < count; m++)
            is_needed |= ptx_instruction(&kernel->lines->lines[moved[m]], &user) && writes_for(&in, &user);
        if (!is_needed) continue;
        const bool reads_memory = is_access(&in, "ld") || opcode_is(&in, "atom") || opcode_has(&in, "sync");
        if (at == early || reads_memory || count == MOVED) return 0;
        moved[count++] = at;
    }
    return count;
}

// What other blocks see and is stored before the store at `late`, in the same run of instructions; -1:
// nothing.
static int published_before(const Kernel *kernel, int late) {
    for (int at = late - 1; at >= kernel->first; at--) {
        const PtxLine *line = &kernel->lines->lines[at];
        PtxInstruction in;
        if (line->is_label) return -1;
        if (!ptx_instruction(line, &in)) continue;
        if (opcode_is(&in, "bra") || opcode_is(&in, "bar")) return -1;
        if (is_published(&in) && line->source && line->source != kernel->lines->lines[late].source) return at;
    }
    return -1;
}

// A store that comes after another, or after an atomic, comes before it instead, and a fence between them.
// Code that is inlined several times is changed everywhere.
void propose_store_first(const Kernel *kernel) {
    const int first = kernel->changes->count;
    for (int late = kernel->first; late < kernel->end && kernel->changes->count < first + MOST; late++) {
        const PtxLine *line = &kernel->lines->lines[late];
        PtxInstruction store;
        int moved[MOVED];
        if (!line->source || !ptx_instruction(line, &store) || !is_access(&store, "st") ||
            opcode_has(&store, "shared"))
            continue;
        const int early = published_before(kernel, late);
        const int count = early >= 0 ? list_moved(kernel, early, late, moved) : 0;
        if (count == 0) continue;
        char words[sizeof(Change){0}.words];
        snprintf(words, sizeof words, "the store of line %d and a __threadfence() before line %d",
                 line->source, kernel->lines->lines[early].source);
        Change *change = change_with(kernel, first, CHANGE_STORE_FIRST, line->source, words);
        for (int m = count - 1; m >= 0; m--) move_before(kernel, change, moved[m], early);
        change_insert(kernel->changes, change, early, "\tfence.acq_rel.gpu;");
    }
}

// ---- One word, loaded twice ------------------------------------------------------------------------------

// A load of one value that other blocks may store between it and the next.
static bool is_loaded_anew(const PtxInstruction *in) {
    return is_access(in, "ld") && !opcode_has(in, "shared") && in->operand_count == 2 &&
           in->operands[0][0] != '{' &&
           (opcode_has(in, "volatile") || opcode_has(in, "relaxed") || opcode_has(in, "acquire"));
}

// The nearest load before `late` of the same word through the same register; -1: none, or the register may
// hold another address by then.
static int loaded_before(const Kernel *kernel, int late, const PtxInstruction *load) {
    for (int at = late - 1; at >= kernel->first; at--) {
        PtxInstruction in;
        if (!ptx_instruction(&kernel->lines->lines[at], &in)) continue;
        if (is_loaded_anew(&in) && strcmp(in.opcode, load->opcode) == 0 &&
            strcmp(in.operands[1], load->operands[1]) == 0)
            return at;
        if (writes_for(&in, load)) return -1;
    }
    return -1;
}

// A thread takes what it has loaded instead of loading the word once more, which may have changed. Code that
// is inlined several times is changed everywhere.
void propose_one_load(const Kernel *kernel) {
    const int first = kernel->changes->count;
    for (int late = kernel->first; late < kernel->end && kernel->changes->count < first + MOST; late++) {
        const PtxLine *line = &kernel->lines->lines[late];
        PtxInstruction load, earlier;
        if (!line->source || !ptx_instruction(line, &load) || !is_loaded_anew(&load)) continue;
        const int early = loaded_before(kernel, late, &load);
        if (early < 0 || !ptx_instruction(&kernel->lines->lines[early], &earlier)) continue;
        const int there = kernel->lines->lines[early].source;
        if (there == 0 || there == line->source) continue;
        char words[sizeof(Change){0}.words];
        snprintf(words, sizeof words, "what line %d has loaded instead of a second load in line %d", there,
                 line->source);
        Change *change = change_with(kernel, first, CHANGE_ONE_LOAD, line->source, words);
        change_replace(kernel->changes, change, late, "\t%smov%s %s, %s;", load.predicate,
                       strrchr(load.opcode, '.'), load.operands[0], earlier.operands[0]);
    }
}
