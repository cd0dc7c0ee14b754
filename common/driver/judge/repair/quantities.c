// Other quantities in one place: a parameter or a number of threads and blocks for another one, or for a
// whole number.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/judge/repair/kernel.h"
#include "driver/judge/repair/words.h"

// ---- Quantities ------------------------------------------------------------------------------------------

enum {
    SPECIALS = 14,
    PARAMETERS = 12,
    VARIABLES = 24,
    FIRST_VARIABLE = SPECIALS + PARAMETERS,
    QUANTITIES = FIRST_VARIABLE + VARIABLES
};

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
    {"threadIdx.y", "%tid.y"},
    {"blockIdx.y", "%ctaid.y"},
    {"blockDim.y", "%ntid.y"},
    {"gridDim.y", "%nctaid.y"},
    {"32", ""}, // the lanes of a warp
};
enum {
    TID,
    CTAID,
    NTID,
    NCTAID,
    IN_GRID,
    THREADS,
    LANE,
    WARP,
    WARP_IN_GRID,
    TID_Y,
    CTAID_Y,
    NTID_Y,
    NCTAID_Y,
    LANES
};

// A register that holds a quantity, or the same number with 64 bits, or that times 2^shift.
typedef struct {
    char name[32];
    int quantity, shift;
    bool is_wide;
} Holder;

enum { HOLDERS = 96, NAME = 48 };

// A variable of kernel.cu that is initialised where it is declared.
typedef struct {
    char name[NAME], reg[32]; // reg: "" if it is another quantity, `same`
    int line, scope;          // of the declaration; the block in which it is known, -1: none
    int at;                   // of the last instruction of that line
    int same;                 // -1: none
} Variable;

typedef struct {
    const Kernel *kernel;
    char names[PARAMETERS][NAME]; // of the whole numbers of 32 bits among the parameters; "": another
    char symbols[PARAMETERS][PTX_OPERAND_BYTES]; // "[..._param_2]"
    Holder holders[HOLDERS];
    int holder_count;
    Variable variables[VARIABLES];
    int variable_count;
    bool has_y; // the kernel asks for a number along y
} Known;

static bool is_variable(int quantity) { return quantity >= FIRST_VARIABLE; }

// Whether kernel.cu has a name for it.
static bool is_named(int quantity) { return quantity <= NCTAID || quantity >= TID_Y; }

// Whether a variable is known in a line.
static bool is_in_scope(const Known *known, const Variable *variable, int line) {
    const SourceBlocks *blocks = &known->kernel->blocks;
    if (line <= variable->line || variable->scope < 0) return false;
    return block_holds(blocks, variable->scope, line);
}

static const char *name_of(const Known *known, int quantity) {
    return quantity < SPECIALS     ? specials[quantity].said
           : is_variable(quantity) ? known->variables[quantity - FIRST_VARIABLE].name
                                   : known->names[quantity - SPECIALS];
}

// ---- What is in the kernel
// ---------------------------------------------------------------------------------

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

static const Holder *holder_of(const Known *known, const char *reg) {
    for (int h = 0; h < known->holder_count; h++)
        if (strcmp(known->holders[h].name, reg) == 0) return &known->holders[h];
    return NULL;
}

// The quantity that a register holds as it is; -1: none.
static int quantity_of(const Known *known, const char *reg, bool *is_wide) {
    const Holder *holder = holder_of(known, reg);
    if (!holder || holder->shift) return -1;
    *is_wide = holder->is_wide;
    return holder->quantity;
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
                if (specials[s].ptx[0] && strcmp(in.operands[1], specials[s].ptx) == 0) {
                    add_holder(known, in.operands[0], s, false);
                    known->has_y |= s >= TID_Y;
                }
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

// ---- Variables
// -----------------------------------------------------------------------------------------------

// How often a line of kernel.cu has the word, not as a part of a longer one.
static int times_named(const char *line, const char *word) {
    const size_t length = strlen(word);
    int times = 0;
    for (const char *at = line; (at = strstr(at, word)) != NULL; at += length)
        times += (at == line || (!is_word(at[-1]) && at[-1] != '.')) && !is_word(at[length]);
    return times;
}

static bool says(const char *line, const char *word) { return times_named(line, word) > 0; }

// What a line of kernel.cu calls a quantity: its name, or that of a variable that is the same; NULL: it does
// not say it. If it has no name, what the page calls it.
static const char *said_in(const Known *known, int quantity, int line, const char *text) {
    const char *name = name_of(known, quantity);
    for (int v = 0; v < known->variable_count; v++)
        if (known->variables[v].same == quantity && is_in_scope(known, &known->variables[v], line) &&
            (!text || says(text, known->variables[v].name)))
            return known->variables[v].name;
    if (!is_named(quantity)) return name;
    if (is_variable(quantity) && !is_in_scope(known, &known->variables[quantity - FIRST_VARIABLE], line))
        return NULL;
    return !text || says(text, name) ? name : NULL;
}

// The text behind the type of a declaration of whole numbers; NULL: the line is none.
static const char *behind_type(const char *line) {
    static const char *const types[] = {"const", "unsigned", "int", "size_t", "long", "auto"};
    const char *at = line + strspn(line, " \t");
    if (strncmp(at, "for (", 5) == 0) at += 5;
    for (bool is_known = true, has_type = false;; is_known = false) {
        for (size_t k = 0; k < sizeof types / sizeof types[0]; k++) {
            const size_t length = strlen(types[k]);
            if (strncmp(at, types[k], length) != 0 || is_word(at[length])) continue;
            has_type = is_known = true;
            at += length;
            at += strspn(at, " ");
            k = 0;
        }
        if (!is_known || has_type) return has_type && is_word(*at) ? at : NULL;
    }
}

// The registers of 32 bits that a line computes and other lines use, in the order in which it does.
static int results_of(const Kernel *kernel, int line, char registers[VARIABLES][32], int *last) {
    int count = 0;
    for (int i = kernel->first; i < kernel->end; i++) {
        PtxInstruction in;
        if (kernel->lines->lines[i].source != line || !ptx_instruction(&kernel->lines->lines[i], &in) ||
            strncmp(in.operands[0], "%r", 2) != 0 || !isdigit((unsigned char)in.operands[0][2]) ||
            opcode_is(&in, "st") || count == VARIABLES)
            continue;
        bool is_used = false, is_there = false;
        for (int c = 0; c < count; c++) is_there |= strcmp(registers[c], in.operands[0]) == 0;
        for (int k = kernel->first; k < kernel->end && !is_used && !is_there; k++) {
            PtxInstruction user;
            if (kernel->lines->lines[k].source == line || !ptx_instruction(&kernel->lines->lines[k], &user))
                continue;
            for (int o = opcode_is(&user, "st") ? 0 : 1; o < user.operand_count; o++)
                is_used |= strcmp(user.operands[o], in.operands[0]) == 0;
        }
        if (!is_used) continue;
        snprintf(registers[count++], 32, "%.31s", in.operands[0]);
        *last = i;
    }
    return count;
}

// The end of the expression that begins at `at`: the comma or semicolon behind it.
static const char *end_of_expression(const char *at) {
    int depth = 0;
    for (; *at && (depth > 0 || (*at != ',' && *at != ';')); at++)
        depth += (*at == '(' || *at == '[') - (*at == ')' || *at == ']');
    return at;
}

// The quantity that an expression is, with nothing else; -1: it is none.
static int quantity_said(const Known *known, const char *from, const char *end) {
    while (end > from && end[-1] == ' ') end--;
    for (int q = 0; q < FIRST_VARIABLE; q++) {
        const char *name = q < SPECIALS || known->symbols[q - SPECIALS][0] ? name_of(known, q) : "";
        if (is_named(q) && *name && strlen(name) == (size_t)(end - from) &&
            strncmp(name, from, strlen(name)) == 0)
            return q;
    }
    return -1;
}

// The variables that a line declares. If the compiler has a register for each, in their order, these are
// they.
static void find_declared(Known *known, int line, const char *text) {
    const SourceBlocks *blocks = &known->kernel->blocks;
    const int first = known->variable_count;
    const char *at = behind_type(text);
    int unknown = 0, scope = blocks->inside[line], last = 0, next = 0;
    bool is_loop = false; // whose variable is another number in each round
    for (int b = 0; b < blocks->block_count; b++) {
        if (blocks->blocks[b].kind != BLOCK_LOOP || blocks->blocks[b].head != line) continue;
        scope = b;
        is_loop = true;
    }
    while (at && is_word(*at) && known->variable_count < VARIABLES) {
        Variable *variable = &known->variables[known->variable_count];
        int length = 0;
        while (is_word(at[length])) length++;
        *variable = (Variable){.line = line, .scope = scope};
        snprintf(variable->name, sizeof variable->name, "%.*s", length < NAME ? length : 0, at);
        at += length;
        at += strspn(at, " ");
        if (*at != '=') break;
        at += 1 + strspn(at + 1, " ");
        const char *end = end_of_expression(at);
        variable->same = is_loop ? -1 : quantity_said(known, at, end);
        unknown += variable->same < 0;
        known->variable_count++;
        if (*end != ',') break;
        at = end + 1 + strspn(end + 1, " ");
    }
    char registers[VARIABLES][32];
    const bool is_clear = unknown > 0 && results_of(known->kernel, line, registers, &last) == unknown;
    for (int v = first; v < known->variable_count; v++) {
        Variable *variable = &known->variables[v];
        variable->at = last;
        if (variable->same >= 0 || !is_clear) continue;
        snprintf(variable->reg, sizeof variable->reg, "%s", registers[next++]);
        bool is_wide;
        const int held = quantity_of(known, variable->reg, &is_wide);
        if (held >= 0 && !is_loop) {
            variable->same =
                held; // as (blockIdx.x * blockDim.x + threadIdx.x), which has a name otherwise too
            variable->reg[0] = '\0';
        } else if (held < 0) {
            add_holder(known, variable->reg, FIRST_VARIABLE + v, false);
        }
    }
}

static void find_variables(Known *known) {
    const Kernel *kernel = known->kernel;
    char text[512];
    for (int line = 1; line <= kernel->blocks.count; line++)
        if (kernel->blocks.inside[line] >= 0 && kernel_line(kernel, line, text, sizeof text))
            find_declared(known, line, text);
    for (int i = kernel->first; i < kernel->end; i++) {
        PtxInstruction in;
        bool is_wide;
        if (!ptx_instruction(&kernel->lines->lines[i], &in) || !opcode_is(&in, "cvt") ||
            (!strstr(in.opcode, "s64.s32") && !strstr(in.opcode, "u64.u32")))
            continue;
        const int held = quantity_of(known, in.operands[1], &is_wide);
        if (held >= FIRST_VARIABLE && !is_wide) add_holder(known, in.operands[0], held, true);
    }
}

// The length of a row in bytes, as a compiler adds it to an address in each round.
static void find_scaled(Known *known) {
    for (int i = known->kernel->first; i < known->kernel->end; i++) {
        PtxInstruction in;
        long shift;
        bool is_wide;
        if (!ptx_instruction(&known->kernel->lines->lines[i], &in) || strcmp(in.opcode, "shl.b64") != 0 ||
            !whole_number(in.operands[2], &shift) || shift < 1 || shift > 4)
            continue;
        const int held = quantity_of(known, in.operands[1], &is_wide);
        if (held < 0 || !is_wide || known->holder_count == HOLDERS) continue;
        add_holder(known, in.operands[0], held, true);
        known->holders[known->holder_count - 1].shift = (int)shift;
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
    change_insert(kernel->changes, change, kernel->first,
                  "\tmov.u32 %%wbq9, %%tid.y;\n\tmov.u32 %%wbq10, %%ctaid.y;\n\tmov.u32 %%wbq11, %%ntid.y;\n"
                  "\tmov.u32 %%wbq12, %%nctaid.y;\n\tmov.u32 %%wbq13, 32;\n\t.reg .b64 %%wbt;");
    for (int p = 0; p < PARAMETERS; p++)
        if (known->symbols[p][0])
            change_insert(kernel->changes, change, kernel->first, "\tld.param.u32 %%wbq%d, %s;", SPECIALS + p,
                          known->symbols[p]);
}

static bool is_known(const Known *known, int quantity) {
    if (is_variable(quantity))
        return quantity - FIRST_VARIABLE < known->variable_count &&
               known->variables[quantity - FIRST_VARIABLE].reg[0];
    return quantity < SPECIALS || known->symbols[quantity - SPECIALS][0];
}

// A part of a thread's number, and an instruction that takes one: a lane's number is below any other mask,
// and `lane % 64` would be right where `threadIdx.x % 32` is meant.
static bool is_part(int quantity) { return quantity == LANE || quantity == WARP; }

static bool takes_part(const PtxInstruction *in) {
    return opcode_is(in, "and") || opcode_is(in, "shr") || opcode_is(in, "rem") || opcode_is(in, "div");
}

// Whether an instruction has the quantity from that line: its own, or that of the call through which it got
// it.
static bool is_of_line(const Known *known, int at, int line, int quantity) {
    const PtxLine *ptx = &known->kernel->lines->lines[at];
    char text[512];
    if (ptx->source == line) return true;
    return ptx->call == line && kernel_line(known->kernel, ptx->source, text, sizeof text) &&
           !said_in(known, quantity, ptx->source, text);
}

// What stands for a quantity in an instruction that is to have another one in place of it.
static void put(const Known *known, PtxInstruction *in, int operand, int now, bool is_wide) {
    const bool is_register = is_variable(now) && !is_wide;
    if (is_register)
        snprintf(in->operands[operand], sizeof in->operands[operand], "%s",
                 known->variables[now - FIRST_VARIABLE].reg);
    else
        snprintf(in->operands[operand], sizeof in->operands[operand], "%%wb%c%d", is_wide ? 'w' : 'q', now);
}

// In one instruction, or if `at` is -1 in all of a line, one quantity for another.
static void propose_quantity(const Known *known, int line, const char *said, int at, int was, int now) {
    const Kernel *kernel = known->kernel;
    const Variable *variable = is_variable(now) ? &known->variables[now - FIRST_VARIABLE] : NULL;
    const char *was_said = said_in(known, was, line, said), *now_said = said_in(known, now, line, NULL);
    Change *change = NULL;
    if (!was_said || !now_said) return;
    for (int i = at < 0 ? kernel->first : at; i < (at < 0 ? kernel->end : at + 1); i++) {
        PtxInstruction in;
        bool is_used = false, needs_wide = false;
        int shift = 0;
        if (!is_of_line(known, i, line, was) || !ptx_instruction(&kernel->lines->lines[i], &in) ||
            opcode_is(&in, "cvt") || (is_part(now) && takes_part(&in)) || (variable && i <= variable->at))
            continue;
        for (int o = 1; o < in.operand_count; o++) {
            const Holder *holder = holder_of(known, in.operands[o]);
            if (!holder || holder->quantity != was) continue;
            if (holder->shift)
                snprintf(in.operands[o], sizeof in.operands[o], "%%wbt");
            else
                put(known, &in, o, now, holder->is_wide);
            is_used = true;
            needs_wide |= holder->is_wide;
            shift = holder->shift;
        }
        if (!is_used) continue;
        if (!change) {
            change = changes_add(kernel->changes, CHANGE_NUMBER, line);
            if (change)
                snprintf(change->words, sizeof change->words, "%s instead of %s in line %d", now_said,
                         was_said, line);
            declare(known, change);
            if (!variable)
                change_insert(kernel->changes, change, kernel->first, "\tcvt.%s %%wbw%d, %%wbq%d;",
                              now < SPECIALS ? "u64.u32" : "s64.s32", now, now);
        }
        char text[400];
        with_operand(&in, -1, "", text, sizeof text);
        if (variable && needs_wide)
            change_insert(kernel->changes, change, i, "\tcvt.s64.s32 %%wbw%d, %s;", now, variable->reg);
        if (shift) change_insert(kernel->changes, change, i, "\tshl.b64 %%wbt, %%wbw%d, %d;", now, shift);
        change_replace(kernel->changes, change, i, "%s", text);
    }
}

static int users_in(const Known *known, int line, int quantity) {
    int users = 0;
    for (int i = known->kernel->first; i < known->kernel->end; i++) {
        PtxInstruction in;
        bool is_used = false;
        if (!is_of_line(known, i, line, quantity) || !ptx_instruction(&known->kernel->lines->lines[i], &in) ||
            opcode_is(&in, "cvt"))
            continue;
        for (int o = 1; o < in.operand_count; o++) {
            const Holder *holder = holder_of(known, in.operands[o]);
            is_used |= holder && holder->quantity == quantity;
        }
        users += is_used;
    }
    return users;
}

static void widen(const Known *known, Change *change, int at, int quantity) {
    const bool is_register = is_variable(quantity);
    if (is_register)
        change_insert(known->kernel->changes, change, at, "\tcvt.s64.s32 %%wbw%d, %s;", quantity,
                      known->variables[quantity - FIRST_VARIABLE].reg);
    else
        change_insert(known->kernel->changes, change, at, "\tcvt.%s %%wbw%d, %%wbq%d;",
                      quantity < SPECIALS ? "u64.u32" : "s64.s32", quantity, quantity);
}

// Two quantities that a line names, each in place of the other.
static void propose_exchange(const Known *known, int line, const char *said, int one, int other) {
    const Kernel *kernel = known->kernel;
    const char *one_said = said_in(known, one, line, said), *other_said = said_in(known, other, line, said);
    Change *change = NULL;
    if (!one_said || !other_said || !users_in(known, line, one) || !users_in(known, line, other)) return;
    for (int i = kernel->first; i < kernel->end; i++) {
        PtxInstruction in;
        bool is_used = false, is_wide = false;
        char text[400];
        if (kernel->lines->lines[i].source != line || !ptx_instruction(&kernel->lines->lines[i], &in) ||
            opcode_is(&in, "cvt"))
            continue;
        for (int o = 1; o < in.operand_count; o++) {
            const Holder *holder = holder_of(known, in.operands[o]);
            if (!holder || holder->shift || (holder->quantity != one && holder->quantity != other)) continue;
            const int now = holder->quantity == one ? other : one;
            if (is_variable(now) && i <= known->variables[now - FIRST_VARIABLE].at) continue;
            is_wide |= holder->is_wide;
            put(known, &in, o, now, holder->is_wide);
            is_used = true;
        }
        if (!is_used) continue;
        if (!change) {
            change = changes_add(kernel->changes, CHANGE_NUMBER, line);
            if (change)
                snprintf(change->words, sizeof change->words, "%s and %s exchanged in line %d", one_said,
                         other_said, line);
            declare(known, change);
        }
        if (is_wide) {
            widen(known, change, i, one);
            widen(known, change, i, other);
        }
        with_operand(&in, -1, "", text, sizeof text);
        change_replace(kernel->changes, change, i, "%s", text);
    }
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
static bool may_stand_for(const Known *known, int was, int now) {
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
                 {THREADS, NTID},
                 {NTID, LANES},
                 {THREADS, LANES},
                 {TID, TID_Y},
                 {TID_Y, TID},
                 {CTAID, CTAID_Y},
                 {CTAID_Y, CTAID},
                 {NTID, NTID_Y},
                 {NTID_Y, NTID},
                 {NCTAID, NCTAID_Y},
                 {NCTAID_Y, NCTAID},
                 {TID_Y, CTAID_Y},
                 {CTAID_Y, TID_Y}};
    if (now >= TID_Y && now <= NCTAID_Y && !known->has_y) return false;
    for (size_t p = 0; p < sizeof pairs / sizeof pairs[0]; p++)
        if (pairs[p].was == was && pairs[p].now == now) return true;
    // A variable of the kernel, or a parameter, for one that the line names.
    return now >= SPECIALS && (was >= SPECIALS || was == NTID || was == NCTAID || was == LANE ||
                               was == WARP || (is_variable(now) && is_named(was)));
}

static void propose_in_line(const Known *known, int line) {
    const Kernel *kernel = known->kernel;
    char said[512];
    if (!kernel_line(kernel, line, said, sizeof said)) return;
    propose_parameter_for_limit(known, line, said);
    for (int was = 0; was < QUANTITIES; was++) {
        if (!is_known(known, was) || !said_in(known, was, line, said)) continue;
        const int users = users_in(known, line, was);
        for (int now = 0; now < QUANTITIES && users > 0; now++) {
            if (now == was || !is_known(known, now) || !may_stand_for(known, was, now)) continue;
            propose_quantity(known, line, said, -1, was, now);
            const bool is_one_of_several =
                users > 1 && is_named(was) && times_named(said, said_in(known, was, line, said)) > 1;
            for (int i = kernel->first; i < kernel->end && is_one_of_several; i++)
                propose_quantity(known, line, said, i, was, now);
        }
    }
    for (int one = 0; one < QUANTITIES; one++)
        for (int other = one + 1; other < QUANTITIES; other++)
            if (is_named(one) && is_named(other) && is_known(known, one) && is_known(known, other))
                propose_exchange(known, line, said, one, other);
}

static const Known *find_all(const Kernel *kernel) {
    static Known known;
    known = (Known){.kernel = kernel};
    find_holders(&known);
    find_variables(&known);
    find_scaled(&known);
    return &known;
}

void propose_steps(const Kernel *kernel) {
    static const int pairs[][2] = {{NCTAID, NCTAID_Y}, {NCTAID_Y, NCTAID}, {NTID, NTID_Y}, {NTID_Y, NTID}};
    const int here = kernel->symptoms->finding ? kernel->symptoms->finding->place.line : 0;
    char said[512];
    if (!wants(kernel, CHANGE_NUMBER) || !here || !kernel_line(kernel, here, said, sizeof said)) return;
    const Known *known = find_all(kernel);
    for (size_t p = 0; p < sizeof pairs / sizeof *pairs; p++) {
        const int was = pairs[p][0], now = pairs[p][1];
        if (is_known(known, was) && is_known(known, now) && may_stand_for(known, was, now) &&
            said_in(known, was, here, said) && users_in(known, here, was) > 0)
            propose_quantity(known, here, said, -1, was, now);
    }
}

// The line of the finding first.
void propose_quantities(const Kernel *kernel) {
    int lines[MOST];
    const int here = kernel->symptoms->finding ? kernel->symptoms->finding->place.line : 0;
    if (!wants(kernel, CHANGE_NUMBER)) return;
    const Known *known = find_all(kernel);
    if (here) propose_in_line(known, here);
    int count = list_lines(kernel, is_any, lines);
    for (int i = kernel->first; i < kernel->end && count < MOST; i++) {
        const int call = kernel->lines->lines[i].call;
        bool is_there = call == 0;
        for (int l = 0; l < count; l++) is_there |= lines[l] == call;
        if (!is_there) lines[count++] = call;
    }
    for (int l = 0; l < count; l++)
        if (lines[l] != here) propose_in_line(known, lines[l]);
}
