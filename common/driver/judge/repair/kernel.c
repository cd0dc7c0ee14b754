#include "driver/judge/repair/kernel.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void say(Change *change, const char *words) {
    if (change) snprintf(change->words, sizeof change->words, "%s", words);
}

bool wants(const Kernel *kernel, ChangeKind kind) {
    return !kernel->symptoms->only || kernel->symptoms->only->kind == kind;
}

void say_at(Change *change, const char *what, const char *where) {
    if (change) snprintf(change->words, sizeof change->words, "%s %s line %d", what, where, change->source);
}

bool is_access(const PtxInstruction *in, const char *name) {
    return opcode_is(in, name) && !opcode_has(in, "param") && !opcode_has(in, "local") &&
           !opcode_has(in, "const");
}

void with_operand(const PtxInstruction *in, int which, const char *operand, char *out, size_t room) {
    int used = snprintf(out, room, "\t%s %s", in->predicate, in->opcode);
    for (int i = 0; i < in->operand_count && used > 0 && (size_t)used < room; i++)
        used += snprintf(out + used, room - (size_t)used, "%s%s", i ? ", " : " ",
                         i == which ? operand : in->operands[i]);
    if (used > 0 && (size_t)used < room) snprintf(out + used, room - (size_t)used, ";");
}

bool kernel_line(const Kernel *kernel, int number, char *line, size_t bytes) {
    const char *at = kernel->symptoms->source;
    for (int i = 1; at && i < number; i++) {
        at = strchr(at, '\n');
        at += at != NULL;
    }
    if (!at || number < 1) return false;
    snprintf(line, bytes, "%.*s", (int)strcspn(at, "\n"), at);
    char *comment = strstr(line, "//");
    if (comment) *comment = '\0';
    return true;
}

int list_lines(const Kernel *kernel, OfInterest *is_one, int lines[MOST]) {
    int count = 0;
    for (int i = kernel->first; i < kernel->end && count < MOST; i++) {
        const int source = kernel->lines->lines[i].source;
        PtxInstruction in;
        bool is_known = source == 0;
        for (int k = 0; k < count; k++) is_known = is_known || lines[k] == source;
        if (!is_known && ptx_instruction(&kernel->lines->lines[i], &in) && is_one(&in))
            lines[count++] = source;
    }
    return count;
}

Change *change_with(const Kernel *kernel, int first, ChangeKind kind, int source, const char *words) {
    for (int c = first; c < kernel->changes->count; c++)
        if (kernel->changes->all[c].source == source && strcmp(kernel->changes->all[c].words, words) == 0)
            return &kernel->changes->all[c];
    Change *change = changes_add(kernel->changes, kind, source);
    say(change, words);
    return change;
}

void move_before(const Kernel *kernel, Change *change, int at, int before) {
    const PtxLine *line = &kernel->lines->lines[at];
    change_insert(kernel->changes, change, before, "%.*s", line->length, line->text);
    change_replace(kernel->changes, change, at, "%s", "");
}

bool whole_number(const char *operand, long *number) {
    char *end;
    *number = strtol(operand, &end, 0);
    return *operand && !*end && *number > -(1L << 31) && *number < 1L << 31;
}

int times_said(const char *line, long number) {
    int times = 0;
    for (const char *at = line; *at; at++) {
        if (!isdigit((unsigned char)*at) ||
            (at > line && (isalnum((unsigned char)at[-1]) || at[-1] == '_' || at[-1] == '.')))
            continue;
        char *end;
        times += strtol(at, &end, 0) == number && *end != '.';
        at = end - 1;
    }
    return times;
}
