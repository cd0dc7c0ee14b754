#define _GNU_SOURCE // memmem
#include "driver/judge/repair/ptx_lines.h"

#include <ctype.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *skip_blanks(const char *at, const char *end) {
    while (at < end && isspace((unsigned char)*at)) at++;
    return at;
}

static bool begins_with(const PtxLine *line, const char *word) {
    const char *end = line->text + line->length, *at = skip_blanks(line->text, end);
    const size_t length = strlen(word);
    return (size_t)(end - at) >= length && strncmp(at, word, length) == 0;
}

static bool contains(const PtxLine *line, const char *word) {
    return line->length > 0 && memmem(line->text, (size_t)line->length, word, strlen(word)) != NULL;
}

// ---- Places in the source --------------------------------------------------------------------------------

// The number of kernel.cu among the `.file` directives, which nvcc writes at the end; 1 if it is not named.
static int file_of_source(const PtxLines *lines, const char *source) {
    const char *slash = strrchr(source, '/');
    const char *name = slash ? slash + 1 : source;
    for (int i = 0; i < lines->count; i++) {
        int number;
        char line[1024], path[900];
        if (!begins_with(&lines->lines[i], ".file")) continue;
        snprintf(line, sizeof line, "%.*s", lines->lines[i].length, lines->lines[i].text);
        if (sscanf(line, " .file %d \"%899[^\"]\"", &number, path) != 2) continue;
        const char *here = strrchr(path, '/');
        if (strcmp(here ? here + 1 : path, name) == 0) return number;
    }
    return 1;
}

// The line of kernel.cu that a `.loc` names: its own, or that of the call it was inlined at. 0: an
// instruction of no line; -1: of another file.
static int line_of(const PtxLine *line, int file) {
    char words[512];
    int number = 0, place = 0;
    snprintf(words, sizeof words, "%.*s", line->length, line->text);
    if (sscanf(words, " .loc %d %d", &number, &place) == 2 && number == file) return place;
    const char *inlined = strstr(words, "inlined_at ");
    if (inlined && sscanf(inlined, "inlined_at %d %d", &number, &place) == 2 && number == file) return place;
    return -1;
}

// The line of kernel.cu of the call, if the line of a `.loc` is from a function of kernel.cu that was
// inlined.
static int call_of(const PtxLine *line, int file) {
    char words[512];
    int number = 0, place = 0;
    snprintf(words, sizeof words, "%.*s", line->length, line->text);
    const char *inlined = strstr(words, "inlined_at ");
    return inlined && sscanf(inlined, "inlined_at %d %d", &number, &place) == 2 && number == file ? place : 0;
}

// ---- Lines -----------------------------------------------------------------------------------------------

static bool split(const Text *text, PtxLines *lines) {
    const char *at = text_chars(text), *end = at + text->bytes;
    int capacity = 1;
    for (const char *c = at; c < end; c++) capacity += *c == '\n';
    lines->lines = calloc((size_t)capacity, sizeof *lines->lines);
    lines->labels = calloc((size_t)capacity, sizeof *lines->labels);
    if (!lines->lines || !lines->labels) return false;
    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        if (!stop) stop = end;
        lines->lines[lines->count++] = (PtxLine){.text = at, .length = (int)(stop - at), .function = -1};
        at = stop + 1;
    }
    return true;
}

static bool looks_like_instruction(const PtxLine *line) {
    const char *end = line->text + line->length, *at = skip_blanks(line->text, end);
    if (at == end || !memchr(at, ';', (size_t)(end - at))) return false;
    return isalpha((unsigned char)*at) || *at == '@';
}

static bool looks_like_label(const PtxLine *line) {
    const char *end = line->text + line->length, *at = skip_blanks(line->text, end);
    while (end > at && isspace((unsigned char)end[-1])) end--;
    return end > at && end[-1] == ':' && *at != '.';
}

bool ptx_is_label(const PtxLine *line, const char *name) {
    if (!line->is_label) return false;
    const char *end = line->text + line->length, *at = skip_blanks(line->text, end);
    const ptrdiff_t length = (ptrdiff_t)strlen(name);
    return end - at > length && strncmp(at, name, (size_t)length) == 0 && at[length] == ':';
}

int ptx_find_label(const PtxLines *lines, int from, int end, const char *name) {
    int below = 0, above = lines->label_count; // of those before `from`, and those behind
    while (below < above) {
        const int middle = (below + above) / 2;
        if (lines->labels[middle] < from)
            below = middle + 1;
        else
            above = middle;
    }
    for (int l = below; l < lines->label_count && lines->labels[l] < end; l++)
        if (ptx_is_label(&lines->lines[lines->labels[l]], name)) return lines->labels[l];
    return -1;
}

int ptx_loop_start(const PtxLines *lines, int at, const PtxInstruction *branch) {
    for (int i = at; i >= 0 && lines->lines[i].function == lines->lines[at].function; i--)
        if (ptx_is_label(&lines->lines[i], branch->operands[0])) return i;
    return -1;
}

// ---- Instructions ----------------------------------------------------------------------------------------

// Copies [from, to) without blanks; false if that is too much.
static bool copy_part(char *out, size_t room, const char *from, const char *to) {
    size_t used = 0;
    for (; from < to; from++) {
        if (isspace((unsigned char)*from)) continue;
        if (used + 1 >= room) return false;
        out[used++] = *from;
    }
    out[used] = '\0';
    return true;
}

static bool parse(const PtxLine *line, PtxInstruction *in) {
    const char *at = line->text, *end = memchr(line->text, ';', (size_t)line->length);
    at = skip_blanks(at, end);
    if (*at == '@') {
        const char *from = at;
        while (at < end && !isspace((unsigned char)*at)) at++;
        if (!copy_part(in->predicate, sizeof in->predicate, from, at)) return false;
        at = skip_blanks(at, end);
    }
    const char *from = at;
    while (at < end && !isspace((unsigned char)*at)) at++;
    if (!copy_part(in->opcode, sizeof in->opcode, from, at)) return false;
    int depth = 0;
    for (from = at; at <= end; at++) {
        if (at < end && (*at == '[' || *at == '{' || *at == '(')) depth++;
        if (at < end && (*at == ']' || *at == '}' || *at == ')')) depth--;
        if (at < end && (*at != ',' || depth > 0)) continue;
        if (skip_blanks(from, at) == at) break;
        if (in->operand_count == PTX_OPERANDS ||
            !copy_part(in->operands[in->operand_count++], PTX_OPERAND_BYTES, from, at))
            return false;
        from = at + 1;
    }
    return in->opcode[0] != '\0';
}

// They are asked for again and again.
static bool parse_all(PtxLines *lines) {
    int count = 0;
    for (int i = 0; i < lines->count; i++) count += lines->lines[i].is_instruction;
    PtxInstruction *next = lines->instructions = calloc((size_t)count + 1, sizeof *next);
    for (int i = 0; next && i < lines->count; i++)
        if (lines->lines[i].is_instruction && parse(&lines->lines[i], next))
            lines->lines[i].instruction = next++;
    return next != NULL;
}

bool ptx_instruction(const PtxLine *line, PtxInstruction *in) {
    if (line->instruction)
        *in = *line->instruction;
    else
        *in = (PtxInstruction){0};
    return line->instruction != NULL;
}

bool opcode_is(const PtxInstruction *in, const char *name) {
    const size_t length = strlen(name);
    return strncmp(in->opcode, name, length) == 0 && (in->opcode[length] == '.' || !in->opcode[length]);
}

bool opcode_has(const PtxInstruction *in, const char *name) {
    const size_t length = strlen(name);
    for (const char *at = strchr(in->opcode, '.'); at; at = strchr(at + 1, '.'))
        if (strncmp(at + 1, name, length) == 0 && (at[1 + length] == '.' || !at[1 + length])) return true;
    return false;
}

// ---- The lines of a text ---------------------------------------------------------------------------------

// A brace of a function, at the very beginning of its line.
static bool is_brace(const PtxLine *line, char brace) { return line->length > 0 && line->text[0] == brace; }

// Whether an instruction reads a register.
static bool reads(const PtxLine *line, const char *reg) {
    const PtxInstruction *in = line->instruction;
    if (!in) return false;
    const size_t length = strlen(reg);
    const char *guard = in->predicate[0] ? in->predicate + 1 + (in->predicate[1] == '!') : "";
    if (strncmp(guard, reg, length) == 0 && !isalnum((unsigned char)guard[length])) return true;
    const bool has_result = !opcode_is(in, "st") && !opcode_is(in, "red");
    for (int o = has_result && in->operand_count > 1 ? 1 : 0; o < in->operand_count; o++)
        for (const char *at = strstr(in->operands[o], reg); at; at = strstr(at + 1, reg))
            if (!isalnum((unsigned char)at[length])) return true;
    return false;
}

// What a compiler moves out of a loop may have no line any more: it gets that of what uses it, if this is one
// line alone.
static void place_by_use(PtxLines *lines) {
    for (int i = lines->count - 1; i >= 0; i--) {
        PtxLine *line = &lines->lines[i];
        PtxInstruction in;
        if (!line->is_instruction || line->source > 0 || !ptx_instruction(line, &in) ||
            in.operand_count < 2 || in.operands[0][0] != '%')
            continue;
        const PtxLine *user = NULL;
        bool is_one = true;
        for (int k = i + 1; k < lines->count && is_one && lines->lines[k].function == line->function; k++) {
            const PtxLine *other = &lines->lines[k];
            if (!reads(other, in.operands[0])) continue;
            is_one = other->source > 0 && (!user || user->source == other->source);
            if (!user) user = other;
        }
        if (!user || !is_one) continue;
        line->source = user->source;
        line->call = user->call;
        line->outer = user->outer;
    }
}

bool ptx_lines_make(const Text *text, const char *source, PtxLines *lines) {
    *lines = (PtxLines){0};
    if (!split(text, lines)) return false;
    const int file = file_of_source(lines, source);
    enum { PLACES = 2048, DEPTH = 8 };
    int calls[PLACES] = {0}; // at which the function of a line was inlined last
    int function = -1, functions = 0, place = 0, call = 0, outer = 0;
    bool is_inside = false, is_join = true;
    for (int i = 0; i < lines->count; i++) {
        PtxLine *line = &lines->lines[i];
        if (!is_inside && (contains(line, ".entry ") || contains(line, ".func ")) &&
            !begins_with(line, "//")) {
            function = functions++;
            place = call = outer = 0;
        }
        line->function = function;
        if (is_brace(line, '{')) is_inside = is_join = true;
        if (is_brace(line, '}')) {
            is_inside = false;
            function = -1;
        }
        if (!is_inside) continue;
        if (begins_with(line, ".loc")) {
            const int here = line_of(line, file);
            if (here >= 0) place = here;
            call = call_of(line, file);
            if (here > 0 && here < PLACES) calls[here] = call == here ? calls[here] : call;
            outer = call;
            for (int k = 0; k < DEPTH && outer > 0 && outer < PLACES && calls[outer]; k++)
                outer = calls[outer];
        }
        line->is_label = looks_like_label(line);
        line->is_instruction = looks_like_instruction(line);
        if (line->is_label) {
            is_join = true;
            lines->labels[lines->label_count++] = i;
        }
        if (!line->is_instruction) continue;
        line->source = place;
        line->call = call;
        line->outer = outer;
        line->is_join = is_join;
        is_join = false;
    }
    if (!parse_all(lines)) return false;
    place_by_use(lines);
    return true;
}

void ptx_lines_free(PtxLines *lines) {
    free(lines->lines);
    free(lines->labels);
    free(lines->instructions);
    *lines = (PtxLines){0};
}

// Whether a line names `symbol`, and nothing that only begins or ends so.
static bool names(const PtxLine *line, const char *symbol) {
    const size_t length = strlen(symbol);
    const char *at = length ? memmem(line->text, (size_t)line->length, symbol, length) : NULL;
    return at && at > line->text && !isalnum((unsigned char)at[length]) && at[length] != '_' &&
           isspace((unsigned char)at[-1]);
}

size_t ptx_keep_kernels(PtxLines *lines, const char *const symbols[], int count) {
    size_t bytes = 0;
    int function = -1;
    bool is_left_out = false;
    for (int i = 0; i < lines->count; i++) {
        PtxLine *line = &lines->lines[i];
        if (line->function != function) {
            function = line->function;
            is_left_out = function >= 0 && contains(line, ".entry ");
            for (int s = 0; s < count; s++) is_left_out = is_left_out && !names(line, symbols[s]);
        }
        line->is_left_out = is_left_out;
        if (!is_left_out) bytes += (size_t)line->length + 1;
    }
    return bytes;
}

int ptx_find_function(const PtxLines *lines, const char *symbol) {
    for (int i = 0; i < lines->count; i++) {
        const PtxLine *line = &lines->lines[i];
        if (line->function < 0 || (!contains(line, ".entry ") && !contains(line, ".func "))) continue;
        if (names(line, symbol)) return line->function;
    }
    return -1;
}

bool ptx_writes(const PtxInstruction *in, const char *reg) {
    return in->operand_count > 1 && strcmp(in->operands[0], reg) == 0;
}

int ptx_find_writer(const PtxLines *lines, int first, int at, const char *reg, PtxInstruction *in) {
    const int function = lines->lines[at].function;
    for (int i = at - 1; i >= first && lines->lines[i].function == function; i--)
        if (ptx_instruction(&lines->lines[i], in) && ptx_writes(in, reg)) return i;
    return -1;
}
