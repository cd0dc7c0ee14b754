// Whole numbers of 64 bits instead of 32, in some lines of kernel.cu.
//
// A register of 8 to 32 bits that such a line computes gets a twin of 64 bits, which is computed beside it
// from the twins of what it is computed from. Comparisons, and numbers of 64 bits, are computed from the
// twins; everything else keeps the register.
#include <regex.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/judge/repair/kernel.h"
#include "driver/judge/repair/linked_lines.h"
#include "driver/judge/repair/words.h"

enum { REGISTERS = 4096, OPERANDS = 3 };

typedef struct {
    const Kernel *kernel;
    const int *sources; // the lines of kernel.cu
    int source_count;
    Change *change;
    // By number, of %r and of %rs.
    bool has_twin[2][REGISTERS];
    bool is_sign[2][REGISTERS]; // its twin is 0 or -1: the sign of another one
} Widening;

// ---- Registers -------------------------------------------------------------------------------------------

// The number of a register such as %r12 or %rs3; -1: it is something else.
static int register_of(const char *operand, bool *is_short) {
    if (strncmp(operand, "%r", 2) != 0) return -1;
    *is_short = operand[2] == 's';
    char *end;
    const long number = strtol(operand + 2 + *is_short, &end, 10);
    return end > operand + 2 + *is_short && !*end && number >= 0 && number < REGISTERS ? (int)number : -1;
}

static bool *mark_of(bool marks[2][REGISTERS], const char *operand) {
    bool is_short;
    const int number = register_of(operand, &is_short);
    return number < 0 ? NULL : &marks[is_short][number];
}

static bool is_marked(bool marks[2][REGISTERS], const char *operand) {
    const bool *mark = mark_of(marks, operand);
    return mark && *mark;
}

static bool is_number(const char *operand) { return *operand == '-' || (*operand >= '0' && *operand <= '9'); }

// ---- Instructions ----------------------------------------------------------------------------------------

typedef enum {
    WIDE_NOT, // it has no twin
    WIDE_MOVE,
    WIDE_CONVERT,
    WIDE_CALCULATION,
} WideKind;

static const char *type_of(const PtxInstruction *in) {
    const char *dot = strrchr(in->opcode, '.');
    return dot ? dot + 1 : "";
}

static bool is_whole(const char *type) {
    return (type[0] == 's' || type[0] == 'u' || type[0] == 'b') && atoi(type + 1) >= 8;
}

// Whether it keeps the low 8, 16, 24 or more bits.
static bool is_low_mask(const PtxInstruction *in) {
    const long mask = is_number(in->operands[2]) ? strtol(in->operands[2], NULL, 0) : 0;
    return opcode_is(in, "and") && (mask == 255 || mask == 65535 || mask >= (1L << 24) - 1) &&
           (mask & (mask + 1)) == 0;
}

// Whether a compiler's arithmetic modulo 2^32 is at work, as in a division by a constant: more bits would
// make it wrong.
static bool has_magic_number(const PtxInstruction *in) {
    enum { GREATEST = 1 << 24 };
    for (int o = 1; o < in->operand_count; o++)
        if (is_number(in->operands[o]) && llabs(strtoll(in->operands[o], NULL, 0)) >= GREATEST) return true;
    return false;
}

// The mask in place of one with which a compiler cuts a number of 64 bits down to 32, or to those that a
// shift leaves of 32: it lets the high half through. 0: the instruction does something else.
static long long mask_with_high_half(const PtxInstruction *in) {
    const long long mask = is_number(in->operands[2]) ? strtoll(in->operands[2], NULL, 0) : 0;
    if (strcmp(in->opcode, "and.b64") != 0 || mask < (1 << 24) - 1 || mask > UINT32_MAX) return 0;
    if ((mask & (mask + 1)) == 0) return -1;
    return mask > INT32_MAX ? mask - (1LL << 32) : 0;
}

// What an instruction does, as far as 64 bits are concerned.
static WideKind kind_of(const PtxInstruction *in) {
    static const char *const calculations[] = {"add", "sub", "mul", "mad", "min", "max", "neg", "abs", "div",
                                               "rem", "and", "or",  "xor", "not", "shl", "shr", "selp"};
    const char *type = type_of(in);
    bool is_short;
    if (in->operand_count < 2 || !is_whole(type)) return WIDE_NOT;
    if (opcode_is(in, "cvt")) {
        const char *to = strchr(in->opcode, '.') + 1;
        return is_whole(to) ? WIDE_CONVERT : WIDE_NOT;
    }
    if (register_of(in->operands[0], &is_short) < 0 || atoi(type + 1) > 32) return WIDE_NOT;
    if (opcode_is(in, "mov"))
        return register_of(in->operands[1], &is_short) >= 0 || is_number(in->operands[1]) ? WIDE_MOVE
                                                                                          : WIDE_NOT;
    if (opcode_has(in, "hi") || opcode_has(in, "wide") || opcode_has(in, "cc") ||
        (has_magic_number(in) && !is_low_mask(in)))
        return WIDE_NOT;
    for (size_t c = 0; c < sizeof calculations / sizeof calculations[0]; c++)
        if (opcode_is(in, calculations[c])) return WIDE_CALCULATION;
    return WIDE_NOT;
}

static bool is_chosen(const Widening *wide, int line) {
    const int source = wide->kernel->lines->lines[line].source;
    for (int s = 0; s < wide->source_count; s++)
        if (wide->sources[s] == source) return true;
    return false;
}

// Which registers have twins: what the lines compute, and their copies.
static void choose_registers(Widening *wide) {
    for (bool is_new = true; is_new;) {
        is_new = false;
        for (int i = wide->kernel->first; i < wide->kernel->end; i++) {
            PtxInstruction in;
            if (!ptx_instruction(&wide->kernel->lines->lines[i], &in)) continue;
            const WideKind kind = kind_of(&in);
            bool *mark = mark_of(wide->has_twin, in.operands[0]);
            if (!mark || *mark) continue;
            if (kind == WIDE_MOVE)
                *mark = is_marked(wide->has_twin, in.operands[1]);
            else
                *mark = kind != WIDE_NOT && is_chosen(wide, i);
            is_new = is_new || *mark;
        }
    }
}

// ---- Twins -----------------------------------------------------------------------------------------------

typedef struct {
    char text[480];
    int used;
} Lines;

static void add_line(Lines *lines, const char *predicate, const char *opcode, const char *operands) {
    if (lines->used >= (int)sizeof lines->text) return;
    lines->used += snprintf(lines->text + lines->used, sizeof lines->text - (size_t)lines->used,
                            "%s\t%s %s %s;", lines->used ? "\n" : "", predicate, opcode, operands);
}

// An operand of 64 bits, which may need an instruction before. `which`: of the temporaries.
static void twin_of(Widening *wide, Lines *lines, const char *operand, bool is_unsigned, int which,
                    char twin[PTX_OPERAND_BYTES]) {
    bool is_short;
    const int number = register_of(operand, &is_short);
    if (number < 0) {
        snprintf(twin, PTX_OPERAND_BYTES, "%s", operand);
    } else if (wide->has_twin[is_short][number]) {
        snprintf(twin, PTX_OPERAND_BYTES, "%%wbw%s%d", is_short ? "s" : "", number);
    } else {
        char operands[2 * PTX_OPERAND_BYTES];
        snprintf(twin, PTX_OPERAND_BYTES, "%%wbt%d", which);
        snprintf(operands, sizeof operands, "%s, %s", twin, operand);
        add_line(lines, "",
                 is_unsigned ? is_short ? "cvt.u64.u16" : "cvt.u64.u32"
                 : is_short  ? "cvt.s64.s16"
                             : "cvt.s64.s32",
                 operands);
    }
}

// Whether kernel.cu has no mask and no remainder there.
static bool has_no_mask(const Widening *wide, int line) {
    char said[512];
    return kernel_line(wide->kernel, wide->kernel->lines->lines[line].source, said, sizeof said) &&
           !strpbrk(said, "&%");
}

// Whether a mask keeps the low bits of a narrower type, or those that shifts to and fro leave.
static bool is_narrowing(const Widening *wide, int line, const PtxInstruction *in) {
    return is_low_mask(in) && has_no_mask(wide, line);
}

// The number of places that a shift moves a twin by, if that is not the register's: 31 leave the sign of a
// register, and what is then moved are bits of the sign.
static long wide_shift(Widening *wide, const PtxInstruction *in) {
    const long places = is_number(in->operands[2]) ? strtol(in->operands[2], NULL, 0) : -1;
    if (!opcode_is(in, "shr") || places < 0) return -1;
    if (type_of(in)[0] == 's' && places == 31) {
        bool *mark = mark_of(wide->is_sign, in->operands[0]);
        if (mark) *mark = true;
        return 63;
    }
    return type_of(in)[0] == 'u' && is_marked(wide->is_sign, in->operands[1]) ? places + 32 : -1;
}

static void add_copy(Widening *wide, Lines *lines, const PtxInstruction *in, const char *result,
                     bool is_unsigned) {
    char twin[PTX_OPERAND_BYTES], operands[3 * PTX_OPERAND_BYTES];
    twin_of(wide, lines, in->operands[1], is_unsigned, 0, twin);
    snprintf(operands, sizeof operands, "%s, %s", result, twin);
    add_line(lines, in->predicate, "mov.b64", operands);
}

// "mad.lo.s32 %r1, ..." as "mad.lo.s64 %wbw1, ...".
static void add_calculation(Widening *wide, Lines *lines, int line, const PtxInstruction *in,
                            const char *result) {
    const bool is_unsigned = type_of(in)[0] == 'u';
    const bool is_shift = opcode_is(in, "shl") || opcode_is(in, "shr");
    char opcode[64], operands[4 * PTX_OPERAND_BYTES], twin[PTX_OPERAND_BYTES];
    int used = snprintf(operands, sizeof operands, "%s", result);
    if (is_narrowing(wide, line, in)) {
        add_copy(wide, lines, in, result, true);
        return;
    }
    const long places = wide_shift(wide, in);
    for (int o = 1; o < in->operand_count && used < (int)sizeof operands; o++) {
        if (is_shift && o == 2 && places >= 0)
            snprintf(twin, sizeof twin, "%ld", places);
        else if ((is_shift && o == 2) || in->operands[o][0] != '%' || strncmp(in->operands[o], "%p", 2) == 0)
            snprintf(twin, sizeof twin, "%s", in->operands[o]);
        else
            twin_of(wide, lines, in->operands[o], is_unsigned, o - 1, twin);
        used += snprintf(operands + used, sizeof operands - (size_t)used, ", %s", twin);
    }
    snprintf(opcode, sizeof opcode, "%.*s%c64", (int)(type_of(in) - in->opcode), in->opcode, type_of(in)[0]);
    add_line(lines, in->predicate, opcode, operands);
}

// What sets the twin of the register that an instruction sets.
static void set_twin(Widening *wide, int line, const PtxInstruction *in) {
    const WideKind kind = kind_of(in);
    const bool is_wide = kind == WIDE_MOVE || (kind != WIDE_NOT && is_chosen(wide, line));
    Lines lines = {.used = 0};
    char result[PTX_OPERAND_BYTES], original[256];
    twin_of(wide, &lines, in->operands[0], false, 0, result);
    // Its operands may be the register itself, so the twin is set first.
    if (is_wide && kind == WIDE_CALCULATION)
        add_calculation(wide, &lines, line, in, result);
    else if (is_wide)
        add_copy(wide, &lines, in, result, type_of(in)[0] == 'u');
    with_operand(in, -1, "", original, sizeof original);
    if (is_wide) {
        change_insert(wide->kernel->changes, wide->change, line, "%s", lines.text);
        return;
    }
    change_replace(wide->kernel->changes, wide->change, line, "%s\n\t%s %s %s, %s;", original, in->predicate,
                   result[4] == 's' ? "cvt.s64.s16" : "cvt.s64.s32", result, in->operands[0]);
}

// ---- What twins are used for
// -------------------------------------------------------------------------------

static bool uses_twin(Widening *wide, const PtxInstruction *in) {
    for (int o = 1; o < in->operand_count; o++)
        if (is_marked(wide->has_twin, in->operands[o])) return true;
    return false;
}

// Whether a line of kernel.cu makes a number narrow itself, so that it has to be one of those that are
// changed.
static bool has_narrow_cast(const Widening *wide, int line) {
    static const char *const casts[] = {"(int)", "(unsigned)", "(unsigned int)", "(short)"};
    char said[512];
    if (!kernel_line(wide->kernel, wide->kernel->lines->lines[line].source, said, sizeof said)) return false;
    for (size_t c = 0; c < sizeof casts / sizeof casts[0]; c++)
        if (strstr(said, casts[c])) return true;
    return false;
}

// A comparison, a product or a conversion to 64 bits, from the twins.
static void use_twins(Widening *wide, int line, const PtxInstruction *in) {
    if (!is_chosen(wide, line) && has_narrow_cast(wide, line)) return;
    const char *type = type_of(in);
    Lines lines = {.used = 0};
    PtxInstruction now = *in;
    const long long mask = mask_with_high_half(in);
    if (mask != 0 && is_chosen(wide, line) && (mask != -1 || has_no_mask(wide, line))) {
        char text[400];
        snprintf(now.operands[2], sizeof now.operands[2], "%lld", mask);
        with_operand(&now, -1, "", text, sizeof text);
        change_replace(wide->kernel->changes, wide->change, line, "%s", text);
        return;
    }
    const bool is_long = strncmp(in->operands[0], "%rd", 3) == 0, is_comparison = opcode_is(in, "setp");
    const bool is_product = is_long && opcode_has(in, "wide") && !has_magic_number(in);
    if (is_long && kind_of(in) == WIDE_CONVERT &&
        (uses_twin(wide, in) || (atoi(type + 1) < 32 && is_chosen(wide, line)))) {
        add_copy(wide, &lines, in, in->operands[0], type[0] == 'u');
        change_replace(wide->kernel->changes, wide->change, line, "%s", lines.text);
        return;
    }
    if (!(is_comparison || is_product) || !is_whole(type) || atoi(type + 1) > 32 || !uses_twin(wide, in))
        return;
    for (int o = 1; o <= 2; o++)
        twin_of(wide, &lines, in->operands[o], type[0] == 'u', o - 1, now.operands[o]);
    if (is_product)
        snprintf(now.opcode, sizeof now.opcode, "%s.lo.%c64", opcode_is(in, "mad") ? "mad" : "mul", type[0]);
    else
        snprintf(now.opcode, sizeof now.opcode, "%.*s%c64", (int)(type - in->opcode), in->opcode, type[0]);
    char text[400];
    with_operand(&now, -1, "", text, sizeof text);
    change_replace(wide->kernel->changes, wide->change, line, "%s%s%s", lines.text, lines.used ? "\n" : "",
                   text);
}

static void declare_twins(Widening *wide) {
    const int at = wide->kernel->first;
    change_insert(wide->kernel->changes, wide->change, at, "\t.reg .b64 %%wbt<%d>;", OPERANDS);
    for (int s = 0; s < 2; s++)
        for (int r = 0; r < REGISTERS; r++)
            if (wide->has_twin[s][r])
                change_insert(wide->kernel->changes, wide->change, at,
                              "\t.reg .b64 %%wbw%s%d;\n\tmov.b64 %%wbw%s%d, 0;", s ? "s" : "", r,
                              s ? "s" : "", r);
}

static bool calculates(const PtxInstruction *in) {
    const WideKind kind = kind_of(in);
    return kind == WIDE_CALCULATION || kind == WIDE_CONVERT || mask_with_high_half(in) != 0;
}

// ---- Words -----------------------------------------------------------------------------------------------

static int compare_lines(const void *left, const void *right) {
    return *(const int *)left - *(const int *)right;
}

// The last product of two names in a line of kernel.cu, as "row * columns"; false: it has none.
static bool product_in(const char *line, char *product, size_t room) {
    const char *found = NULL, *end = NULL;
    for (const char *star = line; (star = strstr(star, " * ")) != NULL; star++) {
        const char *first = star, *last = star + strlen(" * ");
        while (first > line && (is_word(first[-1]) || first[-1] == '.')) first--;
        while (is_word(*last) || *last == '.') last++;
        if (first == star || last == star + strlen(" * ") || (*first >= '0' && *first <= '9')) continue;
        found = first;
        end = last;
    }
    return found && (size_t)snprintf(product, room, "%.*s", (int)(end - found), found) < room;
}

// How often a line changes a variable by a sum, as in `i += 4` and `i++`.
static int sums_said(const char *said) {
    static const char *const signs[] = {"++", "--", "+=", "-="};
    int count = 0;
    for (size_t s = 0; s < sizeof signs / sizeof *signs; s++)
        for (const char *at = said; (at = strstr(at, signs[s])) != NULL; at += 2) count++;
    return count;
}

// Whether a loop begins in a line of kernel.cu that has no product, and a compiler has moved one
// there, from where the loop uses it: as a product, or as a sum that it adds to in each round.
static bool has_product_of_loop(const Kernel *kernel, int number) {
    int products = 0, sums = 0;
    char said[512];
    if (loop_of_head(&kernel->blocks, number) < 0 || !kernel_line(kernel, number, said, sizeof said) ||
        strchr(said, '*'))
        return false;
    for (int i = kernel->first; i < kernel->end; i++) {
        PtxInstruction in;
        if (kernel->lines->lines[i].source != number || !ptx_instruction(&kernel->lines->lines[i], &in) ||
            kind_of(&in) != WIDE_CALCULATION)
            continue;
        products += opcode_is(&in, "mul") || opcode_is(&in, "mad");
        sums += opcode_is(&in, "add") && strcmp(in.operands[0], in.operands[1]) == 0;
    }
    return products > 0 || sums > sums_said(said);
}

// " (and wherever row * columns is again)", if other lines of the function calculate the same product: a
// compiler does it once, for all of them.
static void repeated_in(const Kernel *kernel, int number, char *words, size_t room) {
    char line[512], other[512], product[40];
    const int block = outermost_block(&kernel->blocks, number);
    if (block < 0 || !kernel_line(kernel, number, line, sizeof line) ||
        !product_in(line, product, sizeof product))
        return;
    for (int l = kernel->blocks.blocks[block].head; l <= kernel->blocks.blocks[block].end; l++) {
        if (l == number || !kernel_line(kernel, l, other, sizeof other) || !strstr(other, product)) continue;
        snprintf(words, room, " (and wherever %s is again)", product);
        return;
    }
}

// " (int bytes)", if a line of kernel.cu declares one variable of up to 32 bits and sets it.
static bool declares_narrow(const Kernel *kernel, int number, char *words, size_t room) {
    static const char pattern[] =
        "(^|[^A-Za-z0-9_(])(((unsigned|signed) +)?(int|short|char)|unsigned|u?int(8|16|32)_t) +"
        "([A-Za-z_][A-Za-z0-9_]*) *=[^=]";
    enum { TYPE = 2, NAME = 7, PARTS };
    char line[512];
    regex_t expression;
    regmatch_t at[PARTS];
    if (!kernel_line(kernel, number, line, sizeof line) || regcomp(&expression, pattern, REG_EXTENDED) != 0)
        return false;
    const bool declares = regexec(&expression, line, PARTS, at, 0) == 0 &&
                          regexec(&expression, line + at[NAME].rm_eo, 0, NULL, 0) != 0;
    if (declares)
        snprintf(words, room, " (%.*s %.*s)", (int)(at[TYPE].rm_eo - at[TYPE].rm_so), line + at[TYPE].rm_so,
                 (int)(at[NAME].rm_eo - at[NAME].rm_so), line + at[NAME].rm_so);
    regfree(&expression);
    return declares;
}

// What is declared there, or where else the product is; otherwise nothing, nor for the variable of a loop,
// which need not be what overflows.
static void describe_line(const Kernel *kernel, int number, char *words, size_t room) {
    if (declares_narrow(kernel, number, words, room)) return;
    if (has_product_of_loop(kernel, number))
        snprintf(words, room, " (for a product in its loop)");
    else
        repeated_in(kernel, number, words, room);
}

// Whether an instruction of the kernel that calculates has this line.
static bool has_calculation(const Kernel *kernel, int number) {
    for (int i = kernel->first; i < kernel->end; i++) {
        PtxInstruction in;
        if (kernel->lines->lines[i].source == number && ptx_instruction(&kernel->lines->lines[i], &in) &&
            calculates(&in))
            return true;
    }
    return false;
}

static int add_number(int numbers[], int count, int number) {
    for (int k = 0; k < count; k++)
        if (numbers[k] == number) return count;
    numbers[count] = number;
    return count + 1;
}

// Whether an expression is a number of threads or of a thread alone, as gridDim.x * blockDim.x is: no launch
// has more of them than 32 bits hold.
static bool counts_threads(const char *expression) {
    static const char *const names[] = {"gridDim", "blockDim", "blockIdx", "threadIdx"};
    for (const char *at = expression, *end; *at; at = end) {
        end = at + 1;
        if (!is_word(*at)) continue;
        while (is_word(*end)) end++;
        bool is_known = at > expression && at[-1] == '.';
        for (size_t k = 0; k < sizeof names / sizeof *names; k++)
            is_known |= (size_t)(end - at) == strlen(names[k]) && starts_with(at, names[k]);
        if (!is_known) return false;
    }
    return true;
}

// Adds the lines above `number` that declare a variable of it, and whose arithmetic a compiler has moved
// there, as that of `int from = row * columns;` to `in[from + column]`. How many there are then, at most
// `room`.
static int add_moved(const Kernel *kernel, int lines[], int count, int room, int number) {
    const int block = outermost_block(&kernel->blocks, number);
    for (int above = number - 1;
         count < room && above > 0 && outermost_block(&kernel->blocks, above) == block; above--) {
        char declared[64], line[512];
        if (!declares_narrow(kernel, above, declared, sizeof declared) ||
            !kernel_line(kernel, above, line, sizeof line))
            continue;
        const char *set_to = line + strcspn(line, "=");
        if (strpbrk(set_to, "*+-") && !counts_threads(set_to) &&
            text_leads_to(line, kernel->symptoms->source, number) && !has_calculation(kernel, above))
            count = add_number(lines, count, above);
    }
    return count;
}

// Whether a line calls the function that begins with another line, as "__device__ int at(int row) {".
static bool calls(const char *said, const char *head) {
    char call[64];
    const char *open = strchr(head, '('), *name = open;
    while (name && name > head && is_word(name[-1])) name--;
    if (!name || name == open || open - name + 2 > (int)sizeof call) return false;
    snprintf(call, sizeof call, "%.*s", (int)(open + 1 - name), name);
    for (const char *at = said; (at = strstr(at, call)) != NULL; at++)
        if (at == said || !is_word(at[-1])) return true;
    return false;
}

// Adds the line's own product, and those of the functions that it calls, to `lines`. How many there are then.
static int add_products(const Kernel *kernel, int lines[], int count, int room, int number) {
    char said[512], line[512], product[40];
    if (!kernel_line(kernel, number, said, sizeof said)) return count;
    if (count < room && product_in(said, product, sizeof product) && !counts_threads(product))
        count = add_number(lines, count, number);
    for (int b = 0; b < kernel->blocks.block_count; b++) {
        const Block *function = &kernel->blocks.blocks[b];
        if (function->parent >= 0 || block_holds(&kernel->blocks, b, number) ||
            !kernel_line(kernel, function->head, line, sizeof line) || !calls(said, line))
            continue;
        for (int l = function->head; l <= function->end && count < room; l++)
            if (kernel_line(kernel, l, line, sizeof line) && product_in(line, product, sizeof product) &&
                !counts_threads(product))
                count = add_number(lines, count, l);
    }
    return count;
}

// Where kernel.cu has the product that a compiler has moved to the head of its loop, if the loop has no other
// one: that line can be written with 64 bits, and the head cannot. Otherwise the head.
static int line_of_product(const Kernel *kernel, int number) {
    enum { TWO = 2 };
    int lines[TWO], count = 0;
    if (!has_product_of_loop(kernel, number)) return number;
    const Block *loop = &kernel->blocks.blocks[loop_of_head(&kernel->blocks, number)];
    for (int l = loop->head + 1; l <= loop->end; l++) count = add_products(kernel, lines, count, TWO, l);
    return count == 1 ? lines[0] : number;
}

// "64-bit arithmetic in line 12 (int bytes) and line 13, whose results stay in 64 bits": also where
// a variable or a parameter of another line holds them.
static void say_lines(const Kernel *kernel, Change *change) {
    enum { FEW = 3 };
    int lines[MOST + FEW], count = 0;
    for (int l = 0; l < change->wide_count; l++)
        count = add_number(lines, count,
                           change->wide_count <= FEW ? line_of_product(kernel, change->wide_lines[l])
                                                     : change->wide_lines[l]);
    for (int l = 0; change->wide_count <= FEW && l < count; l++)
        count = add_moved(kernel, lines, count, 2 * FEW, lines[l]);
    qsort(lines, (size_t)count, sizeof *lines, compare_lines);
    change->source = lines[0];
    size_t used = (size_t)snprintf(change->words, sizeof change->words, "64-bit arithmetic in ");
    for (int l = 0; l < count && used < sizeof change->words; l++) {
        char declared[80] = "";
        const char *before = l == 0 ? "" : l == count - 1 ? " and " : ", ";
        if (change->wide_count <= FEW) describe_line(kernel, lines[l], declared, sizeof declared);
        used += (size_t)snprintf(change->words + used, sizeof change->words - used, "%sline %d%s", before,
                                 lines[l], declared);
    }
    if (used < sizeof change->words)
        snprintf(change->words + used, sizeof change->words - used, ", whose results stay in 64 bits");
}

static void propose_in(const Kernel *kernel, const int sources[], int count) {
    static Widening wide;
    wide = (Widening){.kernel = kernel, .sources = sources, .source_count = count};
    choose_registers(&wide);
    wide.change = count > 0 ? changes_add(kernel->changes, CHANGE_WIDE, sources[0]) : NULL;
    if (!wide.change) return;
    memcpy(wide.change->wide_lines, sources, (size_t)count * sizeof *sources);
    wide.change->wide_count = count;
    wide.change->function = kernel->lines->lines[kernel->first].function;
    say_lines(kernel, wide.change);
    declare_twins(&wide);
    for (int i = kernel->first; i < kernel->end; i++) {
        PtxInstruction in;
        if (!ptx_instruction(&kernel->lines->lines[i], &in)) continue;
        if (is_marked(wide.has_twin, in.operands[0]))
            set_twin(&wide, i, &in);
        else
            use_twins(&wide, i, &in);
    }
}

void propose_wide(const Kernel *kernel) {
    int lines[MOST];
    const int count = list_lines(kernel, calculates, lines);
    qsort(lines, (size_t)count, sizeof *lines, compare_lines);
    if (count > 0) propose_in(kernel, lines, count);
}

void propose_less_wide(const Kernel *kernel, const Change *whole, int from, int parts) {
    int lines[MOST], count = 0;
    for (int l = 0; l < whole->wide_count; l++)
        if (l < from || l >= from + parts) lines[count++] = whole->wide_lines[l];
    propose_in(kernel, lines, count);
}
