// Other whole numbers in place of those that a line of kernel.cu says, as they are or by their names.
#include <ctype.h>
#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "driver/judge/repair/kernel.h"
#include "driver/judge/repair/named_numbers.h"
#include "driver/judge/repair/words.h"

// ---- What a line says ------------------------------------------------------------------------------------

enum {
    SAID = 12,
    OTHERS = 16,
    LEAST = 3, // smaller numbers are said everywhere
};

typedef struct {
    long value;
    int times;
    char text[NAMED_BYTES]; // "0x7f" or "SIDE"
} Said;

typedef struct {
    const Kernel *kernel;
    NamedNumbers named;
    int first;      // change of this kind
    bool is_single; // in one instruction, of a line that says the number more than once
    bool is_usual;  // numbers near the one that is said; otherwise those of the rest of kernel.cu
} Constants;

static void add_said(Said said[SAID], int *count, long value, const char *text, int length) {
    for (int s = 0; s < *count; s++) {
        if (said[s].value != value) continue;
        said[s].times++;
        return;
    }
    if (*count == SAID || length >= NAMED_BYTES) return;
    said[*count] = (Said){.value = value, .times = 1};
    snprintf(said[(*count)++].text, sizeof said[0].text, "%.*s", length, text);
}

static int list_said(const Constants *constants, const char *line, Said said[SAID]) {
    int count = 0;
    for (const char *at = line; *at;) {
        int length = 0;
        long value;
        while (is_word(at[length])) length++;
        if (length == 0) {
            at++;
            continue;
        }
        if (isdigit((unsigned char)*at)) {
            char *end;
            value = strtol(at, &end, 0);
            const bool is_float = *end == '.' || (at > line && at[-1] == '.');
            const bool is_of_template =
                at > line && at[-1] == '<' && *end == '>'; // its body has it in many lines
            if (!is_float && !is_of_template && end <= at + length)
                add_said(said, &count, value, at, (int)(end - at));
        } else if (named_number(&constants->named, at, length, &value)) {
            add_said(said, &count, value, at, length);
        }
        at += length;
    }
    return count;
}

// ---- What an instruction has of it -----------------------------------------------------------------------

static bool computes(const PtxInstruction *in) {
    static const char *const names[] = {"setp", "mov", "add", "sub", "and", "or",  "xor",  "shl", "shr",
                                        "mul",  "mad", "div", "rem", "min", "max", "shfl", "selp"};
    if (strstr(in->opcode, ".f")) return false; // of floats
    for (size_t n = 0; n < sizeof names / sizeof names[0]; n++)
        if (opcode_is(in, names[n])) return true;
    return false;
}

static bool is_power_of_two(long number) { return number > 0 && (number & (number - 1)) == 0; }

static int bits_below(long number) {
    int bits = 0;
    while (number > 1) number /= 2, bits++;
    return bits;
}

// How an instruction has a number of kernel.cu. ROUNDING: the shift with which a division of a negative
// number by a power of two begins. SCALED: as bytes of an element, or, in a mask, before bits are moved.
typedef enum { AS_IT_IS, AS_SHIFT, ROUNDING, AS_MASK, ONE_LESS, ONE_MORE, NEGATIVE, SCALED } Form;
enum { FORMS = SCALED + 32 }; // SCALED + s: times 2^s

static bool says_shift(const char *line) { return strstr(line, "<<") || strstr(line, ">>"); }

// The number that stands for `number` of a line in that form; false: it has none. The number of a shift is
// one of the text only if that shifts: `/ 4 % 2` has a shift by 2, too.
static bool form_of(const PtxInstruction *in, int form, long number, const char *line, long *as) {
    const bool is_shift = opcode_is(in, "shl") || opcode_is(in, "shr"), is_and = opcode_is(in, "and");
    switch (form) {
    case AS_IT_IS: *as = number; return !is_shift || says_shift(line);
    case AS_SHIFT: *as = bits_below(number); return is_shift && is_power_of_two(number) && number > 1;
    case ROUNDING:
        *as = 32 - bits_below(number);
        return opcode_is(in, "shr") && is_power_of_two(number) && number > 1;
    case AS_MASK: *as = number - 1; return is_and && is_power_of_two(number) && number > 1;
    case ONE_LESS: *as = number - 1; return opcode_is(in, "setp") && number > 1;
    case ONE_MORE: *as = number + 1; return opcode_is(in, "setp") && number >= 0;
    case NEGATIVE: *as = -number; return (opcode_is(in, "add") || is_and) && number > 0;
    default: break;
    }
    const int bits = form - SCALED;
    if (bits < 1 || is_shift || number <= 0 || number > (INT64_C(1) << (31 - bits)) || (!is_and && bits > 4))
        return false;
    *as = number * (1L << bits);
    return true;
}

// The number and the form that a line says of what an instruction has; false: it says none.
static bool find_form(const PtxInstruction *in, long number, const char *line, const Said said[SAID],
                      int count, int *which, int *form) {
    for (*form = 0; *form < FORMS; (*form)++) {
        for (*which = 0; *which < count; (*which)++) {
            long as;
            if (form_of(in, *form, said[*which].value, line, &as) && as == number) return true;
        }
    }
    return false;
}

static void add_other(long others[OTHERS], int *count, long number) {
    for (int o = 0; o < *count; o++)
        if (others[o] == number) return;
    if (*count < OTHERS) others[(*count)++] = number;
}

// What may stand for a number; in a line with a shuffle also the first and the last lane.
static int others_of(const Constants *constants, const char *line, long number, long others[OTHERS]) {
    const long usual[] = {2 * number, number / 2, number + 1, number - 1, 2 * number + 1};
    const int usual_count = sizeof usual / sizeof usual[0];
    int count = 0;
    if (constants->is_usual) {
        for (int k = 0; k < usual_count; k++) add_other(others, &count, usual[k]);
        if (strstr(line, "__shfl_sync")) {
            add_other(others, &count, 31);
            add_other(others, &count, 0);
        }
        return count;
    }
    static const long of_a_warp[] = {32, 31, 16, 0, 1};
    if (number < LEAST) return 0;
    for (int n = 0; n < constants->named.count; n++) add_other(others, &count, constants->named.all[n].value);
    for (size_t k = 0; k < sizeof of_a_warp / sizeof of_a_warp[0]; k++)
        add_other(others, &count, of_a_warp[k]);
    int left = 0; // those that are new
    for (int o = 0; o < count; o++) {
        bool is_known = false;
        for (int k = 0; k < usual_count; k++) is_known |= others[o] == usual[k];
        if (!is_known) others[left++] = others[o];
    }
    return left;
}

// One number of an instruction, which line `source` says in some form, as others: in every instruction that
// has it from there, or in this one alone.
static void propose_others(const Constants *constants, int source, int at, const PtxInstruction *in,
                           int operand, const char *line, const Said *said, int form) {
    const Kernel *kernel = constants->kernel;
    long others[OTHERS];
    const bool is_hex = said->text[0] == '0' && tolower((unsigned char)said->text[1]) == 'x';
    const int count = others_of(constants, line, said->value, others);
    for (int k = 0; k < count; k++) {
        char text[32], changed[400], words[sizeof(Change){0}.words];
        long as;
        if (others[k] == said->value || others[k] < 0 || !form_of(in, form, others[k], line, &as)) continue;
        snprintf(text, sizeof text, "%ld", as);
        with_operand(in, operand, text, changed, sizeof changed);
        snprintf(words, sizeof words,
                 is_hex ? "0x%lx instead of %s%s in line %d" : "%ld instead of %s%s in line %d", others[k],
                 constants->is_single ? "one of the numbers " : "", said->text, source);
        Change *change = constants->is_single
                             ? changes_add(kernel->changes, CHANGE_CONSTANT, source)
                             : change_with(kernel, constants->first, CHANGE_CONSTANT, source, words);
        if (constants->is_single) say(change, words);
        change_replace(kernel->changes, change, at, "%s", changed);
    }
}

// The numbers of an instruction that its own line says.
static void propose_at_home(const Constants *constants, int at, const PtxInstruction *in, const char *line,
                            const Said said[SAID], int count) {
    for (int o = 1; o < in->operand_count; o++) {
        long number;
        int which, form;
        if (!whole_number(in->operands[o], &number) ||
            !find_form(in, number, line, said, count, &which, &form) ||
            (constants->is_single && said[which].times < 2))
            continue;
        propose_others(constants, constants->kernel->lines->lines[at].source, at, in, o, line, &said[which],
                       form);
    }
}

static void propose_in_line(const Constants *constants, int source) {
    const Kernel *kernel = constants->kernel;
    char line[512];
    Said said[SAID];
    if (!kernel_line(kernel, source, line, sizeof line)) return;
    const int count = list_said(constants, line, said);
    for (int i = kernel->first; i < kernel->end && count > 0; i++) {
        PtxInstruction in;
        if (kernel->lines->lines[i].source == source && ptx_instruction(&kernel->lines->lines[i], &in) &&
            computes(&in))
            propose_at_home(constants, i, &in, line, said, count);
    }
}

// ---- Numbers that a compiler has moved to another line ---------------------------------------------------

typedef struct {
    Said said[SAID];
    int count;
    char text[512];
} SaidLine;

// The only line of the kernel's functions that says what a number of an instruction is; 0: there is none, or
// several, or the line that it belongs to says it too.
static int line_elsewhere(const Constants *constants, const SaidLine lines[], int at,
                          const PtxInstruction *in, long number, const Said **found, int *found_form) {
    for (int form = 0; form < FORMS; form++) {
        int only = 0;
        for (int l = 1; l <= constants->kernel->blocks.count; l++) {
            for (int s = 0; s < lines[l].count; s++) {
                long as;
                const Said *said = &lines[l].said[s];
                if (said->value < LEAST || !form_of(in, form, said->value, lines[l].text, &as) ||
                    as != number)
                    continue;
                if (only || l == constants->kernel->lines->lines[at].source) return 0;
                only = l;
                *found = said;
                *found_form = form;
            }
        }
        if (only) return only;
    }
    return 0;
}

// What the lines of all functions say that the kernel consists of; NULL: memory ran out.
static SaidLine *list_lines_said(const Constants *constants) {
    const Kernel *kernel = constants->kernel;
    SaidLine *lines = calloc((size_t)kernel->blocks.count + 1, sizeof *lines);
    bool *is_body = calloc((size_t)kernel->blocks.block_count + 1, sizeof *is_body);
    for (int i = kernel->first; i < kernel->end && is_body; i++) {
        const int places[] = {kernel->lines->lines[i].source, kernel->lines->lines[i].call};
        for (int k = 0; k < 2; k++) {
            const int block = places[k] ? outermost_block(&kernel->blocks, places[k]) : -1;
            if (block >= 0) is_body[block] = true;
        }
    }
    for (int l = 1; l <= kernel->blocks.count && lines && is_body; l++) {
        const int block = outermost_block(&kernel->blocks, l);
        if (block >= 0 && is_body[block] && kernel_line(kernel, l, lines[l].text, sizeof lines[l].text))
            lines[l].count = list_said(constants, lines[l].text, lines[l].said);
    }
    free(is_body);
    return lines;
}

static void propose_moved(const Constants *constants) {
    const Kernel *kernel = constants->kernel;
    SaidLine *lines = list_lines_said(constants);
    for (int i = kernel->first; i < kernel->end && lines; i++) {
        PtxInstruction in;
        if (!ptx_instruction(&kernel->lines->lines[i], &in) || !computes(&in) || opcode_is(&in, "mul") ||
            opcode_is(&in, "mad"))
            continue;
        for (int o = 1; o < in.operand_count; o++) {
            long number;
            int form;
            const Said *said;
            if (!whole_number(in.operands[o], &number) || number < LEAST - 1) continue;
            const int source = line_elsewhere(constants, lines, i, &in, number, &said, &form);
            if (source) propose_others(constants, source, i, &in, o, lines[source].text, said, form);
        }
    }
    free(lines);
}

// Every place of a number in its line first: a compiler has several of one in a loop that it unrolls.
void propose_constants(const Kernel *kernel, bool is_usual) {
    Constants constants = {.kernel = kernel, .first = kernel->changes->count, .is_usual = is_usual};
    int lines[MOST];
    if (!wants(kernel, CHANGE_CONSTANT)) return;
    const int count = list_lines(kernel, computes, lines);
    named_numbers_find(kernel->symptoms->source, &constants.named);
    for (int l = 0; l < count; l++) propose_in_line(&constants, lines[l]);
    propose_moved(&constants);
    constants.is_single = true;
    for (int l = 0; l < count && is_usual; l++) propose_in_line(&constants, lines[l]);
}
