// Accesses through which blocks communicate: their scope, their strength, and their order.
#include <stdio.h>
#include <stdlib.h>
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

static bool has_weak_access(const Kernel *kernel, int line) {
    int lines[MOST];
    const int count = list_lines(kernel, is_weak_access, lines);
    for (int l = 0; l < count; l++)
        if (lines[l] == line) return true;
    return false;
}

// The lines of the finding that have an access to be changed: an atomic needs no pointer to volatile.
static void say_volatile(const Kernel *kernel, Change *change) {
    const Finding *finding = kernel->symptoms->finding;
    const int line = finding->place.line, other = finding->other_place.line;
    const bool has_line = has_weak_access(kernel, line);
    if (line != other && has_line && has_weak_access(kernel, other))
        snprintf(change->words, sizeof change->words, "a pointer to volatile in lines %d and %d", line,
                 other);
    else
        snprintf(change->words, sizeof change->words, "a pointer to volatile in line %d",
                 has_line ? line : other);
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
            if (change) say_volatile(kernel, change);
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
           (opcode_has(in, "volatile") || opcode_has(in, "relaxed") || opcode_has(in, "acquire")) &&
           in->predicate[0] == 0;
}

// That of such loads of both lines, as ".u64"; NULL if they differ.
static const char *type_of_loads(const Kernel *kernel, int early, int late) {
    static const char *const types[] = {".b32", ".u32", ".s32", ".f32", ".b64", ".u64", ".s64", ".f64"};
    unsigned found[2] = {0};
    for (int i = kernel->first; i < kernel->end; i++) {
        const PtxLine *line = &kernel->lines->lines[i];
        PtxInstruction in;
        if ((line->source != early && line->source != late) || !ptx_instruction(line, &in) ||
            !is_loaded_anew(&in))
            continue;
        for (unsigned t = 0; t < sizeof types / sizeof types[0]; t++)
            if (strcmp(strrchr(in.opcode, '.'), types[t]) == 0) found[line->source == late] |= 1u << t;
    }
    const unsigned both = found[0] & found[1];
    return both ? types[__builtin_ctz(both)] : NULL;
}

// The address of such a load into %wbo1.
static void address_text(const PtxInstruction *in, char *text, size_t bytes) {
    char base[PTX_OPERAND_BYTES] = "";
    sscanf(in->operands[1], "[%95[^]+]", base);
    const char *offset = in->operands[1] + 1 + strlen(base); // "+8]" or "]"
    snprintf(text, bytes, "\tmov.b64 %%wbo1, %s;\n\tadd.s64 %%wbo1, %%wbo1, %ld;", base,
             *offset == '+' ? strtol(offset + 1, NULL, 10) : 0);
}

// A load of the word that another line has loaded last takes what that one has loaded: the word may have
// changed since.
static void propose_loaded_before(const Kernel *kernel, int early, int late, const char *type) {
    Change *change = changes_add(kernel->changes, CHANGE_ONE_LOAD, late);
    if (!change) return;
    snprintf(change->words, sizeof change->words,
             "what line %d has loaded instead of a second load in line %d", early, late);
    change_insert(
        kernel->changes, change, kernel->first,
        "\t.reg .pred %%wbo0;\n\t.reg .b64 %%wbo1, %%wbo2;\n\t.reg %s %%wbo3;\n\tmov.b64 %%wbo2, 0;", type);
    for (int i = kernel->first; i < kernel->end; i++) {
        const PtxLine *line = &kernel->lines->lines[i];
        PtxInstruction in;
        char address[300], load[400];
        if ((line->source != early && line->source != late) || !ptx_instruction(line, &in) ||
            !is_loaded_anew(&in) || strcmp(strrchr(in.opcode, '.'), type) != 0)
            continue;
        address_text(&in, address, sizeof address);
        with_operand(&in, -1, "", load, sizeof load);
        if (line->source == early)
            change_replace(kernel->changes, change, i,
                           "%s\n\tmov.b64 %%wbo2, %%wbo1;\n%s\n\tmov%s %%wbo3, %s;", address, load, type,
                           in.operands[0]);
        else
            change_replace(kernel->changes, change, i,
                           "%s\n\tsetp.eq.s64 %%wbo0, %%wbo1, %%wbo2;\n%s\n\t@%%wbo0 mov%s %s, %%wbo3;",
                           address, load, type, in.operands[0]);
    }
}

void propose_one_load(const Kernel *kernel) {
    int lines[MOST];
    const int count = list_lines(kernel, is_loaded_anew, lines);
    for (int late = 0; late < count; late++)
        for (int early = 0; early < count; early++) {
            const char *type = type_of_loads(kernel, lines[early], lines[late]);
            if (early != late && type) propose_loaded_before(kernel, lines[early], lines[late], type);
        }
}
