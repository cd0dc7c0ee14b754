// A value that several lines of kernel.cu have in common is computed once. A change of it is a change of all
// of them, and no line alone has to be edited so. Here such lines are found, and the change is made for one
// of them.
#include "driver/judge/repair/kernel.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES = 64, NAME_BYTES = 40, REGISTERS = 400 };

typedef struct {
    char names[NAMES][NAME_BYTES];
    int scopes[NAMES]; // the block where it was declared; -1: unknown
    int count;
    bool is_returned;
} Variables;

typedef struct {
    const Kernel *kernel;
    const Change *whole;
    int line;                           // of kernel.cu, of all that is changed
    char values[REGISTERS][NAME_BYTES]; // the registers that depend on the change: first those of that line
    int value_count, own_count;
    bool is_indirect;              // another line has a value in common that is not of the changed line
    Variables variables;           // that depend on that line
    int others[MOST], other_count; // lines that have the value, but none of the variables
} Shared;

// ---- Names in the text -----------------------------------------------------------------------------------

static bool is_name(char c) { return isalnum((unsigned char)c) || c == '_'; }

// The field of something, as in threadIdx.x, is not a variable.
static bool says_name(const char *text, const char *name) {
    const size_t length = strlen(name);
    for (const char *at = text; (at = strstr(at, name)) != NULL; at += length)
        if ((at == text || (!is_name(at[-1]) && at[-1] != '.')) && !is_name(at[length])) return true;
    return false;
}

// Whether a line of kernel.cu says one of the variables, where it is that one.
static bool says_any(const Kernel *kernel, int line, const char *text, const Variables *variables) {
    const SourceBlocks *blocks = &kernel->blocks;
    for (int v = 0; v < variables->count; v++) {
        const int scope = variables->scopes[v];
        const bool is_there =
            scope < 0 || block_holds(blocks, scope, line) || blocks->blocks[scope].head == line;
        if (is_there && says_name(text, variables->names[v])) return true;
    }
    return false;
}

// The block in which a line declares a variable, whose name begins at `from`; -1: it does not declare it.
static int scope_of(const Kernel *kernel, int line, const char *text, const char *from) {
    const SourceBlocks *blocks = &kernel->blocks;
    const char *before = from;
    while (before > text && strchr(" *&", before[-1])) before--;
    if (before == from || before == text || !is_name(before[-1])) return -1;
    for (int b = 0; b < blocks->block_count; b++) // for (int i = ...
        if (blocks->blocks[b].kind == BLOCK_LOOP && blocks->blocks[b].head == line) return b;
    return line >= 1 && line <= blocks->count ? blocks->inside[line] : -1;
}

// Adds what a line assigns to, or to an element of. Returns whether something is new.
static bool add_assigned(const Kernel *kernel, int line, const char *text, Variables *variables) {
    bool is_new = false;
    for (const char *at = strchr(text, '='); at; at = strchr(at + 1, '=')) {
        if (at[1] == '=' || (at > text && strchr("=!", at[-1])) ||
            (at > text && strchr("<>", at[-1]) && !(at > text + 1 && at[-2] == at[-1])))
            continue;
        const char *end = at;
        while (end > text && strchr(" +-*/%&|^<>", end[-1])) end--;
        for (int depth = 0; end > text && end[-1] == ']';) {
            do {
                end--;
                depth += (*end == ']') - (*end == '[');
            } while (end > text && depth > 0);
        }
        const char *from = end;
        while (from > text && is_name(from[-1])) from--;
        char name[NAME_BYTES];
        snprintf(name, sizeof name, "%.*s", (int)(end - from), from);
        const int scope = scope_of(kernel, line, text, from);
        bool is_known = from == end || variables->count == NAMES;
        for (int v = 0; v < variables->count; v++)
            is_known |=
                strcmp(variables->names[v], name) == 0 && (scope < 0 || variables->scopes[v] == scope);
        if (is_known) continue;
        variables->scopes[variables->count] = scope;
        memcpy(variables->names[variables->count++], name, sizeof name);
        is_new = true;
    }
    return is_new;
}

// All variables of the function that get something of the line.
static void find_variables(Shared *shared) {
    const SourceBlocks *blocks = &shared->kernel->blocks;
    const int body = outermost_block(blocks, shared->line);
    char text[512];
    if (!kernel_line(shared->kernel, shared->line, text, sizeof text)) return;
    add_assigned(shared->kernel, shared->line, text, &shared->variables);
    shared->variables.is_returned = says_name(text, "return");
    for (bool is_new = shared->variables.count > 0; is_new;) {
        is_new = false;
        for (int l = 1; body >= 0 && l <= blocks->count; l++) {
            if (outermost_block(blocks, l) != body || !kernel_line(shared->kernel, l, text, sizeof text) ||
                !says_any(shared->kernel, l, text, &shared->variables))
                continue;
            shared->variables.is_returned |= says_name(text, "return");
            is_new |= add_assigned(shared->kernel, l, text, &shared->variables);
        }
    }
}

static int statement_of(const SourceBlocks *blocks, int line) {
    while (line > 1 && !blocks->begins[line]) line--;
    return line;
}

// Whether line `other` may have a value of the changed line through what that line says.
static bool may_depend(const Shared *shared, int other, int call) {
    const SourceBlocks *blocks = &shared->kernel->blocks;
    char text[512];
    if (shared->variables.is_returned || call == shared->line || other < 1 || other > blocks->count)
        return true;
    if (statement_of(blocks, other) == statement_of(blocks, shared->line)) return true;
    if (kernel_line(shared->kernel, other, text, sizeof text) &&
        says_any(shared->kernel, other, text, &shared->variables))
        return true;
    if (call && kernel_line(shared->kernel, call, text, sizeof text) &&
        says_any(shared->kernel, call, text, &shared->variables))
        return true;
    // What a condition decides lies in its blocks.
    for (int b = blocks->inside[other]; b >= 0; b = blocks->blocks[b].parent)
        if (statement_of(blocks, blocks->blocks[b].head) == statement_of(blocks, shared->line) ||
            blocks->blocks[b].kind == BLOCK_ELSE)
            return true;
    return false;
}

// ---- Registers -------------------------------------------------------------------------------------------

static bool is_value(const Shared *shared, const char *name) {
    for (int v = 0; v < shared->value_count; v++)
        if (strcmp(shared->values[v], name) == 0) return true;
    return false;
}

static bool is_replaced(const Shared *shared, int at, const Edit **edit) {
    for (int e = 0; e < shared->whole->edit_count; e++) {
        if (!shared->whole->edits[e].replaces || shared->whole->edits[e].line != at) continue;
        if (edit) *edit = &shared->whole->edits[e];
        return true;
    }
    return false;
}

static bool is_pure(const PtxInstruction *in) {
    return in->operand_count >= 2 && in->operands[0][0] == '%' && !opcode_is(in, "st") &&
           !opcode_is(in, "ld") && !opcode_is(in, "bra") && !opcode_is(in, "atom") && !opcode_is(in, "red") &&
           !opcode_is(in, "call") && !opcode_is(in, "cp") && !opcode_is(in, "bar") && !opcode_is(in, "shfl");
}

// Whether a name is among an operand's, as in "[%rd4+8]" or "{%f1, %f2}".
static bool uses(const Shared *shared, const char *operand) {
    char name[PTX_OPERAND_BYTES];
    for (const char *at = strchr(operand, '%'); at; at = strchr(at + 1, '%')) {
        size_t length = 1;
        while (is_name(at[length])) length++;
        snprintf(name, sizeof name, "%.*s", (int)length, at);
        if (is_value(shared, name)) return true;
    }
    return false;
}

static bool uses_value(const Shared *shared, const PtxInstruction *in) {
    const char *predicate = strchr(in->predicate, '%');
    if (predicate && uses(shared, predicate)) return true;
    for (int o = opcode_is(in, "st") ? 0 : 1; o < in->operand_count; o++)
        if (uses(shared, in->operands[o])) return true;
    return false;
}

static void add_value(Shared *shared, const char *name) {
    snprintf(shared->values[shared->value_count++], NAME_BYTES, "%.39s", name);
}

// The instructions of the changed line that compute values of the change.
static bool is_of_chain(const Shared *shared, int at, PtxInstruction *in) {
    return shared->kernel->lines->lines[at].source == shared->line &&
           ptx_instruction(&shared->kernel->lines->lines[at], in) && is_pure(in) &&
           is_value(shared, in->operands[0]);
}

// False: there are too many, or a value is also computed elsewhere.
static bool find_values(Shared *shared) {
    const Kernel *kernel = shared->kernel;
    for (int i = kernel->first; i < kernel->end; i++) {
        PtxInstruction in;
        if (kernel->lines->lines[i].source != shared->line ||
            !ptx_instruction(&kernel->lines->lines[i], &in) || !is_pure(&in) ||
            (!is_replaced(shared, i, NULL) && !uses_value(shared, &in)) || is_value(shared, in.operands[0]))
            continue;
        if (shared->value_count == REGISTERS) return false;
        add_value(shared, in.operands[0]);
    }
    for (int i = kernel->first; i < kernel->end; i++) {
        PtxInstruction in;
        if (kernel->lines->lines[i].source != shared->line &&
            ptx_instruction(&kernel->lines->lines[i], &in) && is_pure(&in) &&
            is_value(shared, in.operands[0]))
            return false;
    }
    shared->own_count = shared->value_count;
    return shared->value_count > 0;
}

// Continues with what other lines compute of the values, as long as their text says so. False: that is too
// much.
static bool find_others(Shared *shared) {
    const Kernel *kernel = shared->kernel;
    for (int i = kernel->first; i < kernel->end; i++) {
        const PtxLine *line = &kernel->lines->lines[i];
        PtxInstruction in;
        if (!line->source || line->source == shared->line || !ptx_instruction(line, &in) ||
            !uses_value(shared, &in))
            continue;
        if (may_depend(shared, line->source, line->call)) {
            if (!is_pure(&in) || is_value(shared, in.operands[0])) continue;
            if (shared->value_count == REGISTERS) return false;
            add_value(shared, in.operands[0]);
            continue;
        }
        bool is_known = shared->other_count == MOST;
        for (int k = 0; k < shared->other_count; k++) is_known |= shared->others[k] == line->source;
        if (!is_known) shared->others[shared->other_count++] = line->source;
        const int all = shared->value_count;
        shared->value_count = shared->own_count;
        shared->is_indirect |= !uses_value(shared, &in);
        shared->value_count = all;
    }
    return true;
}

// ---- The change for some lines only ----------------------------------------------------------------------

// "%wbx" before the names of the values: the same of the other kind.
static void rename_values(const Shared *shared, const char *text, char *out, size_t room) {
    size_t used = 0;
    while (*text && used + PTX_OPERAND_BYTES < room) {
        if (*text != '%') {
            out[used++] = *text++;
            continue;
        }
        char name[PTX_OPERAND_BYTES];
        size_t length = 1;
        while (is_name(text[length])) length++;
        snprintf(name, sizeof name, "%.*s", (int)length, text);
        used += (size_t)snprintf(out + used, room - used, "%%%s%s", is_value(shared, name) ? "wbx" : "",
                                 name + 1);
        text += length;
    }
    out[used] = '\0';
}

static void declare(const Shared *shared, Change *change) {
    static const struct {
        const char *name, *type;
    } kinds[] = {{"p", "pred"}, {"rs", "b16"}, {"r", "b32"}, {"rd", "b64"}, {"f", "f32"}, {"fd", "f64"}};
    for (int v = 0; v < shared->value_count; v++) {
        const char *name = shared->values[v] + 1;
        const size_t letters = strcspn(name, "0123456789");
        for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
            if (strlen(kinds[k].name) == letters && strncmp(name, kinds[k].name, letters) == 0)
                change_insert(shared->kernel->changes, change, shared->kernel->first, "\t.reg .%s %%wbx%s;",
                              kinds[k].type, name);
    }
}

// `is_changed`: line `other` alone gets the changed value. Otherwise the lines that share it keep the old
// one.
static void add_part(const Shared *shared, int other, bool is_changed, const char *words) {
    const Kernel *kernel = shared->kernel;
    Change *part = changes_add(kernel->changes, shared->whole->kind, is_changed ? other : shared->line);
    if (!part) return;
    say(part, words);
    for (int e = 0; e < shared->whole->edit_count; e++) {
        const Edit *edit = &shared->whole->edits[e];
        if (!edit->replaces) change_insert(kernel->changes, part, edit->line, "%s", edit->text);
        if (edit->replaces && !is_changed)
            change_replace(kernel->changes, part, edit->line, "%s", edit->text);
    }
    declare(shared, part);
    for (int i = kernel->first; i < kernel->end; i++) {
        const PtxLine *line = &kernel->lines->lines[i];
        PtxInstruction in;
        char text[500], renamed[500];
        const Edit *edit;
        if (!ptx_instruction(line, &in)) continue;
        snprintf(text, sizeof text, "%.*s", line->length, line->text);
        if (is_of_chain(shared, i, &in)) {
            if (is_changed && is_replaced(shared, i, &edit))
                snprintf(text, sizeof text, "%.480s", edit->text);
            rename_values(shared, text, renamed, sizeof renamed);
            change_insert(kernel->changes, part, i + 1, "%s", renamed);
        }
        bool is_other = line->source == other;
        for (int k = 0; k < shared->other_count && !is_changed; k++)
            is_other |= line->source == shared->others[k];
        if (!is_other || !uses_value(shared, &in)) continue;
        rename_values(shared, text, renamed, sizeof renamed);
        change_replace(kernel->changes, part, i, "%s", renamed);
    }
}

static const char place[] = " in line ";

// Whether another line says what is replaced.
static bool says_replaced(const Shared *shared, int other) {
    static const char joint[] = " instead of ";
    const char *was = strstr(shared->whole->words, joint), *at = strstr(shared->whole->words, place);
    char name[128], text[512], *end;
    if (!was || !at || at < was || !kernel_line(shared->kernel, other, text, sizeof text)) return false;
    was += sizeof joint - 1;
    snprintf(name, sizeof name, "%.*s", (int)(at - was), was);
    const long number = strtol(name, &end, 0);
    return *end ? strstr(text, name) != NULL : times_said(text, number) == 1;
}

// The words for another line; false: it does not say what is replaced.
static bool words_for(const Shared *shared, int other, char *words, size_t bytes) {
    if (!says_replaced(shared, other)) return false;
    const char *at = strstr(shared->whole->words, place);
    snprintf(words, bytes, "%.*s in line %d", (int)(at - shared->whole->words), shared->whole->words, other);
    return true;
}

// The compiler computes a value where it is used first: the line that says it may be above that. 0: none
// does.
static int line_that_says(const Shared *shared, int other) {
    enum { FEW_LINES = 8 };
    for (int l = other; l > 0 && l > other - FEW_LINES; l--)
        if (l != shared->line && says_replaced(shared, l)) return l;
    return 0;
}

// The first other line whose own text can use the value: where a loop begins, the compiler puts what it
// computes before the loop for any line in it. 0: none.
static int other_in_place(const Shared *shared) {
    for (int k = 0; k < shared->other_count; k++)
        if (loop_of_head(&shared->kernel->blocks, shared->others[k]) < 0) return shared->others[k];
    return 0;
}

bool propose_parts_of(const Kernel *kernel, const Change *whole, char *also, size_t bytes) {
    Shared shared = {.kernel = kernel, .whole = whole, .line = whole->source};
    char words[sizeof whole->words];
    also[0] = '\0';
    if (!whole->source || kernel->blocks.count == 0) return false;
    for (int e = 0; e < whole->edit_count; e++)
        if (whole->edits[e].replaces && kernel->lines->lines[whole->edits[e].line].source != whole->source)
            return false;
    find_variables(&shared);
    if (!find_values(&shared) || !find_others(&shared) || shared.other_count == 0) return false;
    shared.value_count = shared.own_count;
    if (!shared.is_indirect) add_part(&shared, 0, false, whole->words);
    for (int k = 0; k < shared.other_count && !shared.is_indirect; k++)
        if (words_for(&shared, shared.others[k], words, sizeof words))
            add_part(&shared, shared.others[k], true, words);
    const int said = line_that_says(&shared, shared.others[0]), other = said ? said : other_in_place(&shared);
    if (other == 0) return true;
    if (shared.other_count == 1)
        snprintf(also, bytes, ", and for line %d, which %s the same value", other, said ? "has" : "uses");
    else
        snprintf(also, bytes, ", and for other lines that %s the same value, as line %d",
                 said ? "have" : "use", other);
    return true;
}
