// Floats: other numbers that a variable starts from, subtractions the other way round, and products with 0.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/judge/repair/called_numbers.h"
#include "driver/judge/repair/kernel.h"

// ---- Numbers ---------------------------------------------------------------------------------------------

// The numbers that sums, products and maxima start from, and what fills places without an element.
static const struct {
    const char *ptx, *words, *said; // `said`: in kernel.cu
} starts[] = {
    {"0f00000000", "0", "0.0f"},
    {"0f3F800000", "1", "1.0f"},
    {"0fFF800000", "-INFINITY", "INFINITY"},
    {"0fFF7FFFFF", "-FLT_MAX", "FLT_MAX"},
    {"0f00800000", "FLT_MIN", "FLT_MIN"},
    {"0f7F800000", "INFINITY", "INFINITY"},
};
enum { STARTS = sizeof starts / sizeof starts[0], NEW_STARTS = 4 }; // those that are tried instead come first

static bool sets_float(const PtxInstruction *in) {
    return (opcode_is(in, "mov") || opcode_is(in, "selp")) && strstr(in->opcode, ".f32") != NULL;
}

// The operand of a move or selection that is this number; -1: none.
static int operand_of(const PtxInstruction *in, const char *number) {
    if (!sets_float(in)) return -1;
    for (int o = 1; o < in->operand_count && o < 3; o++)
        if (strcmp(in->operands[o], number) == 0) return o;
    return -1;
}

// Instructions of one line of kernel.cu, or of all that was inlined at one line, or of the whole kernel, or
// all that were inlined nowhere.
typedef struct {
    bool is_whole, is_call, is_own;
    int line;
    const char *giver; // the function that gives the number there; NULL: the line says it
} Part;

static bool is_in(const Part *part, const PtxLine *line) {
    if (part->is_own) return line->call == 0;
    return part->is_whole || (part->is_call ? line->call : line->source) == part->line;
}

// What to do with each instruction of the part that uses the number; how many there are.
static int propose_in(const Kernel *kernel, const Part *part, int was, int now, Change *change) {
    int found = 0;
    for (int i = kernel->first; i < kernel->end; i++) {
        const PtxLine *line = &kernel->lines->lines[i];
        PtxInstruction in;
        char text[400];
        if (!is_in(part, line) || !ptx_instruction(line, &in)) continue;
        const int operand = operand_of(&in, starts[was].ptx);
        if (operand < 0) continue;
        found++;
        with_operand(&in, operand, starts[now].ptx, text, sizeof text);
        if (change) change_replace(kernel->changes, change, i, "%s", text);
    }
    return found;
}

static void propose_number(const Kernel *kernel, const Part *part, int was) {
    if (propose_in(kernel, part, was, was, NULL) == 0) return;
    for (int now = 0; now < NEW_STARTS; now++) {
        if (now == was) continue;
        Change *change = changes_add(kernel->changes, CHANGE_START, part->line);
        if (change && part->giver)
            snprintf(change->words, sizeof change->words, "%s in place of the %s of %s() in line %d",
                     starts[now].words, starts[was].words, part->giver, part->line);
        else if (change)
            snprintf(change->words, sizeof change->words, "%s in place of %s in line %d", starts[now].words,
                     starts[was].words, part->line);
        propose_in(kernel, part, was, now, change);
    }
}

// The only line between two that says the number; 0: there is none, or more than one.
static int only_line(const Kernel *kernel, int first, int last, const char *said) {
    char text[512];
    int found = 0;
    for (int line = first; line <= last && kernel_line(kernel, line, text, sizeof text); line++) {
        if (!strstr(text, said)) continue;
        if (found) return 0;
        found = line;
    }
    return found;
}

// A number that a compiler has moved away from its line, into all that follows from it.
static void propose_whole(const Kernel *kernel) {
    int first = 0, last = 0;
    for (int i = kernel->first; i < kernel->end; i++) {
        const PtxLine *line = &kernel->lines->lines[i];
        if (!line->is_instruction || line->call || line->source == 0) continue;
        if (!first || line->source < first) first = line->source;
        if (line->source > last) last = line->source;
    }
    for (int was = 0; was < STARTS; was++) {
        const Part all = {.is_whole = true, .line = only_line(kernel, first, last, starts[was].said)};
        char giver[64];
        const Part own = {.is_own = true,
                          .line = line_that_calls(kernel->symptoms->source, first, last, starts[was].said,
                                                  giver, sizeof giver),
                          .giver = giver};
        if (all.line)
            propose_number(kernel, &all, was);
        else if (own.line)
            propose_number(kernel, &own, was);
    }
}

static void add_line(int lines[MOST], int *count, int line) {
    for (int k = 0; k < *count; k++)
        if (lines[k] == line) return;
    if (line && *count < MOST) lines[(*count)++] = line;
}

void propose_starts(const Kernel *kernel) {
    int lines[MOST], calls[MOST], count = 0, call_count = 0;
    for (int i = kernel->first; i < kernel->end; i++) {
        const PtxLine *line = &kernel->lines->lines[i];
        PtxInstruction in;
        if (!ptx_instruction(line, &in) || !sets_float(&in)) continue;
        add_line(lines, &count, line->source);
        add_line(calls, &call_count, line->call);
    }
    propose_whole(kernel);
    for (int was = 0; was < STARTS; was++) {
        for (int l = 0; l < call_count; l++)
            propose_number(kernel, &(Part){.is_call = true, .line = calls[l]}, was);
        for (int l = 0; l < count; l++) propose_number(kernel, &(Part){.line = lines[l]}, was);
    }
}

// ---- Subtractions ----------------------------------------------------------------------------------------

static bool subtracts(const PtxInstruction *in) {
    return opcode_is(in, "sub") && strstr(in->opcode, ".f32") && strncmp(in->operands[1], "0f", 2) != 0;
}

// Every subtraction of a line the other way round.
void propose_exchanged(const Kernel *kernel) {
    int lines[MOST];
    const int count = list_lines(kernel, subtracts, lines);
    for (int l = 0; l < count; l++) {
        Change *change = changes_add(kernel->changes, CHANGE_EXCHANGED, lines[l]);
        say_at(change, "the two sides of every subtraction exchanged", "in");
        for (int i = kernel->first; i < kernel->end; i++) {
            PtxInstruction in;
            char first[PTX_OPERAND_BYTES], text[400];
            if (kernel->lines->lines[i].source != lines[l] ||
                !ptx_instruction(&kernel->lines->lines[i], &in) || !subtracts(&in))
                continue;
            memcpy(first, in.operands[1], sizeof first);
            memcpy(in.operands[1], in.operands[2], sizeof first);
            with_operand(&in, 2, first, text, sizeof text);
            change_replace(kernel->changes, change, i, "%s", text);
        }
    }
}

// In every subtraction of a line, 0 for the difference of an infinity and itself: of both, or of -infinity
// alone, since a maximum of +infinity has to make a NaN.
void propose_zero_differences(const Kernel *kernel) {
    static const struct {
        const char *words, *equals; // what sets %wbd0 if the difference is to be 0
    } kinds[] = {
        {"0 for the difference of an infinity and itself", "setp.eq.f32 %%wbd0, %s, %s;"},
        {"0 for the difference of -infinity and itself",
         "max.f32 %%wbd1, %s, %s;\n\tsetp.eq.f32 %%wbd0, %%wbd1, 0fFF800000;"},
    };
    int lines[MOST];
    const int count = list_lines(kernel, subtracts, lines);
    for (int l = 0; l < 2 * count; l++) {
        const int line = lines[l / 2];
        Change *change = changes_add(kernel->changes, CHANGE_ZERO_DIFFERENCE, line);
        say_at(change, kinds[l % 2].words, "in");
        change_insert(kernel->changes, change, kernel->first, "\t.reg .pred %%wbd0;\n\t.reg .f32 %%wbd1;");
        for (int i = kernel->first; i < kernel->end; i++) {
            PtxInstruction in;
            char equals[200];
            if (kernel->lines->lines[i].source != line || !ptx_instruction(&kernel->lines->lines[i], &in) ||
                !subtracts(&in))
                continue;
            snprintf(equals, sizeof equals, kinds[l % 2].equals, in.operands[1], in.operands[2]);
            change_replace(kernel->changes, change, i,
                           "\t%s\n\tsub.f32 %%wbd1, %s, %s;\n\tselp.f32 %s, 0f00000000, %%wbd1, %%wbd0;",
                           equals, in.operands[1], in.operands[2], in.operands[0]);
        }
    }
}

// ---- Products --------------------------------------------------------------------------------------------

static bool multiplies(const PtxInstruction *in) {
    return (opcode_is(in, "mul") || opcode_is(in, "fma")) && strstr(in->opcode, ".f32");
}

// In every multiplication of a line, 0 for the product of 0 with an infinity or NaN.
void propose_zero_products(const Kernel *kernel) {
    int lines[MOST];
    const int count = list_lines(kernel, multiplies, lines);
    for (int l = 0; l < count; l++) {
        Change *change = changes_add(kernel->changes, CHANGE_ZERO_PRODUCT, lines[l]);
        say_at(change, "0 for the product of 0 and an infinity", "in");
        change_insert(kernel->changes, change, kernel->first,
                      "\t.reg .pred %%wbz0;\n\t.reg .f32 %%wbz1;\n\t.reg .f32 %%wbz2;");
        for (int i = kernel->first; i < kernel->end; i++) {
            PtxInstruction in;
            char left[PTX_OPERAND_BYTES], right[PTX_OPERAND_BYTES], text[400];
            if (kernel->lines->lines[i].source != lines[l] ||
                !ptx_instruction(&kernel->lines->lines[i], &in) || !multiplies(&in))
                continue;
            memcpy(left, in.operands[1], sizeof left);
            memcpy(right, in.operands[2], sizeof right);
            memcpy(in.operands[1], "%wbz1", sizeof "%wbz1");
            with_operand(&in, 2, "%wbz2", text, sizeof text);
            change_replace(
                kernel->changes, change, i,
                "\tsetp.eq.f32 %%wbz0, %s, 0f00000000;\n\tselp.f32 %%wbz1, 0f00000000, %s, %%wbz0;\n"
                "\tsetp.eq.f32 %%wbz0, %s, 0f00000000;\n\tselp.f32 %%wbz2, 0f00000000, %s, %%wbz0;\n%s",
                right, left, left, right, text);
        }
    }
}
