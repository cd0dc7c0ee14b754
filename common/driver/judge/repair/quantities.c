// Other quantities in one place: a parameter or a number of threads and blocks for another one, or for a
// whole number.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/judge/repair/kernel.h"

// ---- Quantities ------------------------------------------------------------------------------------------

enum { SPECIALS = 9, PARAMETERS = 12, QUANTITIES = SPECIALS + PARAMETERS };

// `said`: how kernel.cu names it; `ptx`: how PTX does, or the registers of declare() do.
static const struct {
    const char *said, *ptx;
} specials[SPECIALS] = {
    {"threadIdx.x", "%tid.x"},
    {"blockIdx.x", "%ctaid.x"},
    {"blockDim.x", "%ntid.x"},
    {"gridDim.x", "%nctaid.x"},
    {"the thread's number in the grid", ""},
    {"the grid's number of threads", ""},
    {"the lane's number", ""},
    {"the warp's number in the block", ""},
    {"the warp's number in the grid", ""},
};
enum { TID, CTAID, NTID, NCTAID, IN_GRID, THREADS, LANE, WARP, WARP_IN_GRID };

// A register that holds a quantity, or the same number with 64 bits.
typedef struct {
    char name[32];
    int quantity;
    bool is_wide;
} Holder;

enum { HOLDERS = 64 };

typedef struct {
    const Kernel *kernel;
    char names[PARAMETERS][48]; // of the whole numbers of 32 bits among the parameters; "": another
    char symbols[PARAMETERS][PTX_OPERAND_BYTES]; // "[..._param_2]"
    Holder holders[HOLDERS];
    int holder_count;
} Known;

static const char *said_of(const Known *known, int quantity) {
    return quantity < SPECIALS ? specials[quantity].said : known->names[quantity - SPECIALS];
}

// ---- What is in the kernel
// ---------------------------------------------------------------------------------

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

// The text behind the opening parenthesis of the function whose mangled name is `symbol`; NULL: not found.
static const char *parameters_of(const char *source, const char *symbol) {
    for (const char *at = source; at && (at = strchr(at, '(')) != NULL; at++) {
        const char *end = at, *from;
        while (end > source && isspace((unsigned char)end[-1])) end--;
        for (from = end; from > source && is_word(from[-1]); from--) {
        }
        char name[64], mangled[80];
        if (end == from || end - from >= (int)sizeof name) continue;
        snprintf(name, sizeof name, "%.*s", (int)(end - from), from);
        snprintf(mangled, sizeof mangled, "%d%s", (int)(end - from), name);
        const char *found = strstr(symbol, mangled);
        const bool is_it =
            found ? found > symbol && !isdigit((unsigned char)found[-1]) : !strcmp(symbol, name);
        // A call has the same name, but only a definition has types: a blank or * before a parameter's name.
        const char *close = is_it ? strchr(at, ')') : NULL;
        const char *brace = close ? close + 1 + strspn(close + 1, " \t\n") : NULL;
        if (brace && *brace == '{') return at + 1;
    }
    return NULL;
}

// The name of parameter `which`, counted from 0; false: there is none.
static bool parameter_name(const char *parameters, int which, char *name, size_t bytes) {
    const char *at = parameters;
    for (int p = 0; p < which; p++) {
        at += strcspn(at, ",)");
        if (*at != ',') return false;
        at++;
    }
    const char *end = at + strcspn(at, ",)"), *from;
    while (end > at && !is_word(end[-1])) end--;
    for (from = end; from > at && is_word(from[-1]); from--) {
    }
    snprintf(name, bytes, "%.*s", (int)(end - from), from);
    return end > from && isalpha((unsigned char)*from);
}

static int quantity_of(const Known *known, const char *reg, bool *is_wide) {
    for (int h = 0; h < known->holder_count; h++) {
        if (strcmp(known->holders[h].name, reg) != 0) continue;
        *is_wide = known->holders[h].is_wide;
        return known->holders[h].quantity;
    }
    return -1;
}

static void add_holder(Known *known, const char *name, int quantity, bool is_wide) {
    if (known->holder_count == HOLDERS) return;
    Holder *holder = &known->holders[known->holder_count++];
    *holder = (Holder){.quantity = quantity, .is_wide = is_wide};
    snprintf(holder->name, sizeof holder->name, "%.31s", name);
}

// A parameter of 32 bits that is a whole number.
static void add_parameter(Known *known, const PtxInstruction *in) {
    const char *symbol = in->operands[1] + 1, *part = strstr(symbol, "_param_");
    if (!part || !known->kernel->symptoms->source) return;
    const int which = atoi(part + strlen("_param_"));
    char function[PTX_OPERAND_BYTES];
    snprintf(function, sizeof function, "%.*s", (int)(part - symbol), symbol);
    const char *parameters = parameters_of(known->kernel->symptoms->source, function);
    if (which >= PARAMETERS || !parameters ||
        !parameter_name(parameters, which, known->names[which], sizeof known->names[which]))
        return;
    memcpy(known->symbols[which], in->operands[1], sizeof known->symbols[which]);
    add_holder(known, in->operands[0], SPECIALS + which, false);
}

static void add_sum_or_product(Known *known, const PtxInstruction *in) {
    bool wide[3] = {false, false, false};
    int of[3] = {-1, -1, -1};
    for (int o = 1; o < in->operand_count && o < 4; o++)
        of[o - 1] = quantity_of(known, in->operands[o], &wide[o - 1]);
    if (wide[0] || wide[1] || wide[2]) return;
    const int least = of[0] < of[1] ? of[0] : of[1], most = of[0] < of[1] ? of[1] : of[0];
    if (opcode_is(in, "mad") && opcode_has(in, "lo") && least == CTAID && most == NTID && of[2] == TID)
        add_holder(known, in->operands[0], IN_GRID, false);
    else if (opcode_is(in, "mul") && opcode_has(in, "lo") && least == NTID && most == NCTAID)
        add_holder(known, in->operands[0], THREADS, false);
}

static void find_holders(Known *known) {
    const Kernel *kernel = known->kernel;
    for (int i = kernel->first; i < kernel->end; i++) {
        PtxInstruction in;
        bool is_wide = false;
        if (!ptx_instruction(&kernel->lines->lines[i], &in) || in.predicate[0] || in.operand_count < 2)
            continue;
        const int held = quantity_of(known, in.operands[1], &is_wide);
        if (opcode_is(&in, "mov"))
            for (int s = 0; s < SPECIALS; s++)
                if (strcmp(in.operands[1], specials[s].ptx) == 0) add_holder(known, in.operands[0], s, false);
        if (strcmp(in.opcode, "ld.param.u32") == 0) add_parameter(known, &in);
        if (held >= 0 && !is_wide && opcode_is(&in, "cvt") &&
            (strstr(in.opcode, "s64.s32") || strstr(in.opcode, "u64.u32")))
            add_holder(known, in.operands[0], held, true);
        if (held == TID && opcode_is(&in, "and") && strcmp(in.operands[2], "31") == 0)
            add_holder(known, in.operands[0], LANE, false);
        if (held == TID && opcode_is(&in, "shr") && strcmp(in.operands[2], "5") == 0)
            add_holder(known, in.operands[0], WARP, false);
        add_sum_or_product(known, &in);
    }
}

// ---- Proposals
// -----------------------------------------------------------------------------------------------

// Registers %wbq of 32 bits and %wbw of 64, by quantity, at the kernel's first instruction.
static void declare(const Known *known, Change *change) {
    const Kernel *kernel = known->kernel;
    change_insert(kernel->changes, change, kernel->first,
                  "\t.reg .b32 %%wbq<%d>;\n\t.reg .b64 %%wbw<%d>;\n\tmov.u32 %%wbq0, %%tid.x;\n"
                  "\tmov.u32 %%wbq1, %%ctaid.x;\n\tmov.u32 %%wbq2, %%ntid.x;\n\tmov.u32 %%wbq3, %%nctaid.x;\n"
                  "\tmad.lo.s32 %%wbq4, %%wbq1, %%wbq2, %%wbq0;\n\tmul.lo.s32 %%wbq5, %%wbq2, %%wbq3;\n"
                  "\tand.b32 %%wbq6, %%wbq0, 31;\n\tshr.u32 %%wbq7, %%wbq0, 5;\n\tshr.u32 %%wbq8, %%wbq4, 5;",
                  QUANTITIES + 1, QUANTITIES);
    for (int p = 0; p < PARAMETERS; p++)
        if (known->symbols[p][0])
            change_insert(kernel->changes, change, kernel->first, "\tld.param.u32 %%wbq%d, %s;", SPECIALS + p,
                          known->symbols[p]);
}

static bool is_known(const Known *known, int quantity) {
    return quantity < SPECIALS || known->symbols[quantity - SPECIALS][0];
}

// Whether a line of kernel.cu has the word, not as a part of a longer one.
static bool says(const char *line, const char *word) {
    const size_t length = strlen(word);
    for (const char *at = line; (at = strstr(at, word)) != NULL; at += length)
        if ((at == line || !is_word(at[-1])) && !is_word(at[length])) return true;
    return false;
}

// A part of a thread's number, and an instruction that takes one: a lane's number is below any other mask,
// and `lane % 64` would be right where `threadIdx.x % 32` is meant.
static bool is_part(int quantity) { return quantity == LANE || quantity == WARP; }

static bool takes_part(const PtxInstruction *in) {
    return opcode_is(in, "and") || opcode_is(in, "shr") || opcode_is(in, "rem") || opcode_is(in, "div");
}

// In one instruction, or if `at` is -1 in all of a line, one quantity for another.
static void propose_quantity(const Known *known, int line, int at, int was, int now) {
    const Kernel *kernel = known->kernel;
    Change *change = NULL;
    for (int i = at < 0 ? kernel->first : at; i < (at < 0 ? kernel->end : at + 1); i++) {
        PtxInstruction in;
        bool is_used = false, is_wide = false;
        if (kernel->lines->lines[i].source != line || !ptx_instruction(&kernel->lines->lines[i], &in) ||
            opcode_is(&in, "cvt") || (is_part(now) && takes_part(&in)))
            continue;
        for (int o = 1; o < in.operand_count; o++) {
            if (quantity_of(known, in.operands[o], &is_wide) != was) continue;
            snprintf(in.operands[o], sizeof in.operands[o], "%%wb%c%d", is_wide ? 'w' : 'q', now);
            is_used = true;
        }
        if (!is_used) continue;
        if (!change) {
            change = changes_add(kernel->changes, CHANGE_NUMBER, line);
            if (change)
                snprintf(change->words, sizeof change->words, "%s instead of %s in line %d",
                         said_of(known, now), said_of(known, was), line);
            declare(known, change);
            change_insert(kernel->changes, change, kernel->first, "\tcvt.%s %%wbw%d, %%wbq%d;",
                          now < SPECIALS ? "u64.u32" : "s64.s32", now, now);
        }
        char text[400];
        with_operand(&in, -1, "", text, sizeof text);
        change_replace(kernel->changes, change, i, "%s", text);
    }
}

static int users_in(const Known *known, int line, int quantity) {
    int users = 0;
    for (int i = known->kernel->first; i < known->kernel->end; i++) {
        PtxInstruction in;
        bool is_wide, is_used = false;
        if (known->kernel->lines->lines[i].source != line ||
            !ptx_instruction(&known->kernel->lines->lines[i], &in) || opcode_is(&in, "cvt"))
            continue;
        for (int o = 1; o < in.operand_count; o++)
            is_used |= quantity_of(known, in.operands[o], &is_wide) == quantity;
        users += is_used;
    }
    return users;
}

static bool is_any(const PtxInstruction *in) { return in->opcode[0] != '\0'; }

// A limit of a comparison that kernel.cu has as a whole number: each parameter instead.
static void propose_parameter_for_limit(const Known *known, int line, const char *said) {
    const Kernel *kernel = known->kernel;
    for (int p = 0; p < PARAMETERS; p++) {
        Change *change = NULL;
        for (int i = kernel->first; i < kernel->end && known->symbols[p][0]; i++) {
            PtxInstruction in;
            long number, was = 0;
            if (kernel->lines->lines[i].source != line || !ptx_instruction(&kernel->lines->lines[i], &in) ||
                !opcode_is(&in, "setp") || strstr(in.opcode, ".f") || opcode_has(&in, "u64") ||
                opcode_has(&in, "s64") || in.operand_count != 3 || !whole_number(in.operands[2], &number))
                continue;
            for (long by = -1; by <= 1 && !was; by++) // `i < 9` is compiled as 8 >= i too
                if (number + by > 1 && times_said(said, number + by) == 1) was = number + by;
            if (!was) continue;
            if (!change) {
                change = changes_add(kernel->changes, CHANGE_NUMBER, line);
                if (change)
                    snprintf(change->words, sizeof change->words, "%s instead of %ld in line %d",
                             known->names[p], was, line);
                declare(known, change);
            }
            char text[400], with[PTX_OPERAND_BYTES];
            snprintf(with, sizeof with, "%%wbq%d", QUANTITIES);
            with_operand(&in, 2, with, text, sizeof text);
            change_replace(kernel->changes, change, i, "\tadd.s32 %%wbq%d, %%wbq%d, %ld;\n%s", QUANTITIES,
                           SPECIALS + p, number - was, text);
        }
    }
}

// What is tried for numbers of threads and blocks; propose_numbers() has the pairs that need no name.
static bool may_stand_for(int was, int now) {
    static const struct {
        int was, now;
    } pairs[] = {{TID, LANE},
                 {TID, WARP},
                 {CTAID, TID},
                 {NTID, NCTAID},
                 {NCTAID, NTID},
                 {NCTAID, THREADS},
                 {IN_GRID, WARP_IN_GRID},
                 {IN_GRID, CTAID},
                 {IN_GRID, TID},
                 {THREADS, NTID}};
    for (size_t p = 0; p < sizeof pairs / sizeof pairs[0]; p++)
        if (pairs[p].was == was && pairs[p].now == now) return true;
    const bool is_parameter = now >= SPECIALS;
    return is_parameter && (was >= SPECIALS || was == NTID || was == NCTAID);
}

static void propose_in_line(const Known *known, int line) {
    const Kernel *kernel = known->kernel;
    char said[512];
    if (!kernel_line(kernel, line, said, sizeof said)) return;
    propose_parameter_for_limit(known, line, said);
    for (int was = 0; was < QUANTITIES; was++) {
        // A number that kernel.cu has a name for is only proposed where the line says it.
        const bool is_named = was <= NCTAID || was >= SPECIALS;
        if (!is_known(known, was) || (is_named && !says(said, said_of(known, was)))) continue;
        const int users = users_in(known, line, was);
        for (int now = 0; now < QUANTITIES && users > 0; now++) {
            if (now == was || !is_known(known, now) || !may_stand_for(was, now)) continue;
            propose_quantity(known, line, -1, was, now);
            for (int i = kernel->first; i < kernel->end && users > 1 && was >= SPECIALS; i++)
                propose_quantity(known, line, i, was, now);
        }
    }
}

// The line of the finding first.
void propose_quantities(const Kernel *kernel) {
    static Known known;
    int lines[MOST];
    const int here = kernel->symptoms->finding ? kernel->symptoms->finding->place.line : 0;
    known = (Known){.kernel = kernel};
    find_holders(&known);
    if (here) propose_in_line(&known, here);
    const int count = list_lines(kernel, is_any, lines);
    for (int l = 0; l < count; l++)
        if (lines[l] != here) propose_in_line(&known, lines[l]);
}
