// Another operator in place of one that a line of kernel.cu says, or another function of a warp.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/judge/repair/kernel.h"
#include "driver/judge/repair/words.h"

// How an instruction becomes another.
typedef enum {
    RENAMED,  // another name before the type
    OF_FUSED, // the product in a multiply-add becomes a sum
    NEGATED,  // it is subtracted instead
    SHUFFLED, // another mode of a shuffle, with its clamp
    ADDED,    // the result is added to what the register holds
} Way;

typedef struct {
    const char *was, *now; // in kernel.cu
    const char *from, *to; // in the PTX
    Way way;
} Operator;

static const Operator operators[] = {
    {"fmaxf", "+", "max", "add", RENAMED},
    {"fmaxf", "fminf", "max", "min", RENAMED},
    {"fminf", "fmaxf", "min", "max", RENAMED},
    {"max", "+", "max", "add", RENAMED},
    {"max", "min", "max", "min", RENAMED},
    {"min", "max", "min", "max", RENAMED},
    {"=", "+=", "ld", "add", ADDED},
    {"=", "+=", "mov", "add", ADDED},
    {"-=", "+=", "sub", "add", RENAMED},
    {"-", "+", "sub", "add", RENAMED},
    {"*=", "+=", "mul", "add", RENAMED},
    {"+=", "-=", "fma", "fma", NEGATED},
    {"-=", "+=", "fma", "fma", NEGATED},
    {"+", "*", "add", "mul", RENAMED},
    {"+", "-", "add", "sub", RENAMED},
    {"+=", "-=", "add", "sub", RENAMED},
    {"+", "fmaxf", "add", "max", RENAMED},
    {"+=", "*=", "add", "mul", RENAMED},
    {"*", "+", "mul", "add", RENAMED},
    {"*", "+", "fma", "add", OF_FUSED},
    {"&&", "||", "and.pred", "or.pred", RENAMED},
    {"||", "&&", "or.pred", "and.pred", RENAMED},
    {"&", "|", "and", "or", RENAMED},
    {"|", "&", "or", "and", RENAMED},
    {"|", "^", "or", "xor", RENAMED},
    {"^", "&", "xor", "and", RENAMED},
    {"^", "|", "xor", "or", RENAMED},
    {"|", "+", "or", "add", RENAMED},
    {"^", "+", "xor", "add", RENAMED},
    {"<<", ">>", "shl", "shr", RENAMED},
    {">>", "<<", "shr", "shl", RENAMED},
    {"__shfl_down_sync", "__shfl_up_sync", "down", "up", SHUFFLED},
    {"__shfl_up_sync", "__shfl_down_sync", "up", "down", SHUFFLED},
    {"__shfl_up_sync", "__shfl_xor_sync", "up", "bfly", SHUFFLED},
    {"__shfl_down_sync", "__shfl_xor_sync", "down", "bfly", SHUFFLED},
    {"__shfl_xor_sync", "__shfl_down_sync", "bfly", "down", SHUFFLED},
    {"__shfl_sync", "__shfl_up_sync", "idx", "up", SHUFFLED},
    {"__shfl_sync", "__shfl_down_sync", "idx", "down", SHUFFLED},
    {"__ballot_sync", "__any_sync", "ballot", "any", RENAMED},
};
enum { OPERATORS = sizeof operators / sizeof operators[0] };

static bool is_sign(char c) { return c && strchr("+-*/%&|^<>=!", c) != NULL; }

// How often a line has the operator, not as a part of a longer one.
static int times_said_in(const char *line, const char *what) {
    const size_t length = strlen(what);
    bool (*const is_alike)(char) = is_word(*what) ? is_word : is_sign;
    int times = 0;
    for (const char *at = line; (at = strstr(at, what)) != NULL; at += length)
        times += (at == line || !is_alike(at[-1])) && !is_alike(at[length]);
    return times;
}

// "add.f32" for "max.f32": the type, and what an operator asks for besides. False: there is none for it.
static bool rename_opcode(PtxInstruction *in, const char *to) {
    const char *type = strrchr(in->opcode, '.');
    char opcode[64];
    if (!type) return false;
    const char kind = type[1];
    const bool is_float = kind == 'f', is_pred = strcmp(type, ".pred") == 0;
    if (is_pred) {
        snprintf(in->opcode, sizeof in->opcode, "%s", to);
        return strstr(to, ".pred") != NULL;
    }
    if (strstr(to, ".pred") ||
        (is_float && strchr("asox", *to) && strcmp(to, "add") != 0 && strcmp(to, "sub") != 0))
        return false;
    if (kind != 'f' && kind != 's' && kind != 'u' && kind != 'b') return false;
    const char *bits = type + 2;
    if (is_float && strcmp(bits, "32") != 0 && strcmp(bits, "64") != 0) return false;
    const bool is_logic = !strcmp(to, "and") || !strcmp(to, "or") || !strcmp(to, "xor") || !strcmp(to, "shl");
    const char sign = is_float                 ? 'f'
                      : is_logic               ? 'b'
                      : strcmp(to, "shr") == 0 ? 'u'
                      : kind == 'b'            ? 's'
                                               : kind;
    snprintf(opcode, sizeof opcode, "%s%s.%c%s", to, strcmp(to, "mul") == 0 && !is_float ? ".lo" : "", sign,
             bits);
    memcpy(in->opcode, opcode, sizeof in->opcode);
    return true;
}

// Operand 3 has the width of the function in its upper bits (PTX ISA, shfl), which stays.
static bool shuffle(PtxInstruction *in, const Operator *operator) {
    char *mode = strstr(in->opcode, operator->from), rest[64], *end;
    if (!opcode_is(in, "shfl") || !mode || in->operand_count < 4) return false;
    const long width = strtol(in->operands[3], &end, 0) & ~0x1fL;
    if (end == in->operands[3] || *end) return false;
    snprintf(rest, sizeof rest, "%s", mode + strlen(operator->from));
    snprintf(mode, sizeof in->opcode - (size_t)(mode - in->opcode), "%s%s", operator->to, rest);
    snprintf(in->operands[3], sizeof in->operands[3], "%ld",
             width | (strcmp(operator->to, "up") == 0 ? 0 : 31));
    return true;
}

// A register that a loop carries: another instruction sets it too, at first to 0.
static bool begins_at_zero(const Kernel *kernel, int at, const char *reg) {
    for (int i = kernel->first; i < at; i++) {
        PtxInstruction in;
        if (!ptx_instruction(&kernel->lines->lines[i], &in) || !opcode_is(&in, "mov") ||
            strcmp(in.operands[0], reg) != 0)
            continue;
        if (strcmp(in.operands[1], "0") == 0 || strcmp(in.operands[1], "0f00000000") == 0 ||
            strcmp(in.operands[1], "0d0000000000000000") == 0)
            return true;
    }
    return false;
}

static bool is_of_floats(const Operator *operator) {
    return strncmp(operator->was, "fm", 2) == 0 || strncmp(operator->now, "fm", 2) == 0;
}

// The text of the changed instruction at `at`; false: it cannot be one.
static bool write_changed(const Kernel *kernel, const Operator *operator, int at, PtxInstruction *in,
                          char *text, size_t room) {
    const bool is_double = strstr(in->opcode, "64") != NULL;
    char product[400];
    switch (operator->way) {
    case SHUFFLED:
        if (!shuffle(in, operator)) return false;
        with_operand(in, -1, "", text, room);
        return true;
    case RENAMED:
        if (in->operand_count != 3 ||
            (opcode_is(in, "and") && strstr(operator->from, "pred") && !opcode_has(in, "pred")) ||
            (is_of_floats(operator) && !opcode_has(in, "f32")) || !rename_opcode(in, operator->to))
            return false;
        with_operand(in, -1, "", text, room);
        return true;
    case NEGATED:
        if (in->operand_count != 4) return false;
        with_operand(in, 1, is_double ? "%wbo1" : "%wbo0", product, sizeof product);
        snprintf(text, room, "\t%sneg.f%d %%wbo%d, %s;\n%s", in->predicate, is_double ? 64 : 32, is_double,
                 in->operands[1], product);
        return true;
    case OF_FUSED:
        if (in->operand_count != 4 || !opcode_is(in, "fma")) return false;
        snprintf(text, room, "\t%sadd.f%d %%wbo%d, %s, %s;\n\t%sadd.f%d %s, %%wbo%d, %s;", in->predicate,
                 is_double ? 64 : 32, is_double, in->operands[1], in->operands[2], in->predicate,
                 is_double ? 64 : 32, in->operands[0], is_double, in->operands[3]);
        return true;
    case ADDED: {
        const bool is_float = strncmp(in->operands[0], "%f", 2) == 0;
        const bool is_whole =
            strncmp(in->operands[0], "%r", 2) == 0 && isdigit((unsigned char)in->operands[0][2]);
        if (in->operand_count != 2 || opcode_has(in, "param") || (!is_float && !is_whole) ||
            in->operands[1][0] == '0' || !begins_at_zero(kernel, at, in->operands[0]))
            return false;
        const bool is_long = strncmp(in->operands[0], "%fd", 3) == 0;
        const char *with = is_whole ? "%wbo2" : is_long ? "%wbo1" : "%wbo0";
        with_operand(in, 0, with, product, sizeof product);
        snprintf(text, room, "%s\n\t%sadd.%s %s, %s, %s;", product, in->predicate,
                 is_whole  ? "s32"
                 : is_long ? "f64"
                           : "f32",
                 in->operands[0], in->operands[0], with);
        return true;
    }
    }
    return false;
}

static bool is_any(const PtxInstruction *in) { return in->opcode[0] != '\0'; }

static bool is_meant(const PtxInstruction *in, const Operator *operator) {
    const char *dot = strchr(operator->from, '.');
    if (operator->way == SHUFFLED) return opcode_is(in, "shfl");
    if (dot) return strcmp(in->opcode, operator->from) == 0;
    return opcode_is(in, operator->from) && !opcode_has(in, "wide") && !opcode_has(in, "pred") &&
           !opcode_has(in, "hi");
}

// In one instruction, or if `at` is -1 in all of the line. `outer`: only where that line calls its function;
// 0: everywhere.
static int propose_operator(const Kernel *kernel, const Operator *operator, int source, int at, int outer) {
    Change *change = NULL;
    int count = 0;
    for (int i = at < 0 ? kernel->first : at; i < (at < 0 ? kernel->end : at + 1); i++) {
        PtxInstruction in;
        char text[1024];
        if (kernel->lines->lines[i].source != source || (outer && kernel->lines->lines[i].outer != outer) ||
            !ptx_instruction(&kernel->lines->lines[i], &in) || !is_meant(&in, operator) ||
            !write_changed(kernel, operator, i, &in, text, sizeof text))
            continue;
        if (!change) {
            change = changes_add(kernel->changes, CHANGE_OPERATOR, outer ? outer : source);
            if (change && outer)
                snprintf(
                    change->words, sizeof change->words,
                    "%s instead of %s in line %d, only for the call in line %d", operator->now, operator->was,
                    source, outer);
            else if (change)
                snprintf(change->words, sizeof change->words,
                         "%s instead of %s in line %d", operator->now, operator->was, source);
            change_insert(kernel->changes, change, kernel->first,
                          "\t.reg .f32 %%wbo0;\n\t.reg .f64 %%wbo1;\n\t.reg .b32 %%wbo2;");
        }
        change_replace(kernel->changes, change, i, "%s", text);
        count++;
    }
    return count;
}

// If several lines of the kernel call the function of a line: for each of them alone.
static void propose_for_calls(const Kernel *kernel, const Operator *operator, int source) {
    int calls[MOST], count = 0;
    for (int i = kernel->first; i < kernel->end && count < MOST; i++) {
        const PtxLine *line = &kernel->lines->lines[i];
        bool is_there = line->source != source || line->outer == 0;
        for (int c = 0; c < count; c++) is_there |= calls[c] == line->outer;
        if (!is_there) calls[count++] = line->outer;
    }
    for (int c = 0; c < count && count > 1; c++) propose_operator(kernel, operator, source, -1, calls[c]);
}

void propose_operators(const Kernel *kernel) {
    int lines[MOST];
    if (!wants(kernel, CHANGE_OPERATOR)) return;
    const int count = list_lines(kernel, is_any, lines);
    for (int o = 0; o < OPERATORS; o++) {
        for (int l = 0; l < count; l++) {
            char said[512];
            if (!kernel_line(kernel, lines[l], said, sizeof said)) continue;
            const int times = times_said_in(said, operators[o].was);
            if (times == 0 || propose_operator(kernel, &operators[o], lines[l], -1, 0) < 2) continue;
            propose_for_calls(kernel, &operators[o], lines[l]);
            for (int i = kernel->first; i < kernel->end && times > 1; i++)
                propose_operator(kernel, &operators[o], lines[l], i, 0);
        }
    }
}
