// Other comparisons, whole numbers, and numbers of threads and blocks.
#include "driver/judge/repair/kernel.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

// ---- Comparisons and numbers -----------------------------------------------------------------------------

// The comparison in a line of kernel.cu, and what stands for it if another of the PTX is `other`: "<" for
// "<=". False: there is none, or more than one.
static bool name_comparison(const Kernel *kernel, int number, bool is_inverted, const char **was,
                            const char **now) {
    static const char *const all[][3] = {// as it is, with the other bound, inverted
                                         {"<=", "<", ">"},   {">=", ">", "<"},  {"==", NULL, "!="},
                                         {"!=", NULL, "=="}, {"<", "<=", ">="}, {">", ">=", "<="}};
    char line[512];
    int found = 0;
    if (!kernel_line(kernel, number, line, sizeof line) || strstr(line, "<<") || strstr(line, ">>") ||
        strstr(line, "->"))
        return false;
    for (char *at = line; *at; at++) {
        for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) {
            const size_t length = strlen(all[k][0]);
            if (strncmp(at, all[k][0], length) != 0) continue;
            *was = all[k][0];
            *now = all[k][is_inverted ? 2 : 1];
            found++;
            at += length - 1;
            break;
        }
    }
    return found == 1 && *now;
}

// "lt" for "le" and so on: the other bound, or the contrary.
static const char *other_comparison(const PtxInstruction *in, bool is_inverted, const char **was) {
    static const char *const all[][3] = {{"lt", "le", "ge"}, {"le", "lt", "gt"}, {"gt", "ge", "le"},
                                         {"ge", "gt", "lt"}, {"eq", "eq", "ne"}, {"ne", "ne", "eq"}};
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) {
        if (!opcode_has(in, all[k][0])) continue;
        *was = all[k][0];
        return all[k][is_inverted ? 2 : 1];
    }
    return NULL;
}

// Every comparison of a line: a compiler makes several of the one that ends a loop.
static void propose_comparison(const Kernel *kernel, int source, bool is_inverted) {
    const char *was = "", *now = "";
    if (!name_comparison(kernel, source, is_inverted, &was, &now)) return;
    Change *change = changes_add(kernel->changes, CHANGE_COMPARISON, source);
    if (change)
        snprintf(change->words, sizeof change->words, "%s instead of %s in line %d", now, was, source);
    for (int i = kernel->first; i < kernel->end; i++) {
        const PtxLine *line = &kernel->lines->lines[i];
        PtxInstruction in;
        char opcode[64], text[400];
        const char *from, *to;
        if (line->source != source || !ptx_instruction(line, &in) || !opcode_is(&in, "setp") ||
            !(to = other_comparison(&in, is_inverted, &from)))
            continue;
        const char *at = strstr(in.opcode + 4, from);
        if (!at) continue;
        snprintf(opcode, sizeof opcode, "%.*s%s%s", (int)(at - in.opcode), in.opcode, to, at + strlen(from));
        memcpy(in.opcode, opcode, sizeof in.opcode);
        with_operand(&in, -1, "", text, sizeof text);
        change_replace(kernel->changes, change, i, "%s", text);
    }
}

static bool compares(const PtxInstruction *in) { return opcode_is(in, "setp"); }

void propose_comparisons(const Kernel *kernel, bool is_inverted) {
    int lines[MOST];
    const int count = list_lines(kernel, compares, lines);
    for (int k = 0; k < count; k++) propose_comparison(kernel, lines[k], is_inverted);
}

// The line of kernel.cu that has the number of a comparison, as `was`: n > 9 is compiled as 10 <= n or n
// < 10. `source`: where the instruction is from; if that is unknown, a large number may be in one line only.
// 0: none.
static int line_of_limit(const Kernel *kernel, int source, long number, long *was) {
    enum { LARGE = 1000 };
    const long around[] = {number, number - 1, number + 1};
    char said[512];
    for (int k = 0; k < 3; k++) {
        int found = 0, times = 0;
        const int first = source ? source : 1;
        for (int l = first; kernel_line(kernel, l, said, sizeof said) && l <= (source ? source : INT16_MAX);
             l++) {
            const int here = times_said(said, around[k]);
            if (here) found = l;
            times += here;
        }
        *was = around[k];
        if (times == 1 && (source || number >= LARGE)) return found;
    }
    return 0;
}

// A limit in a line of kernel.cu that compares, as of rounds: the largest int instead, wherever it is
// compared.
void propose_limits(const Kernel *kernel) {
    const int first_change = kernel->changes->count;
    for (int i = kernel->first; i < kernel->end; i++) {
        const PtxLine *line = &kernel->lines->lines[i];
        PtxInstruction in;
        char words[sizeof(Change){0}.words], operand[32], text[400];
        long number, was;
        if (!ptx_instruction(line, &in) || !compares(&in) || opcode_has(&in, "eq") ||
            !whole_number(in.operands[2], &number) || number < 3)
            continue;
        const int source = line_of_limit(kernel, line->source, number, &was);
        if (!source) continue;
        snprintf(words, sizeof words, "%d instead of %ld in line %d", INT32_MAX, was, source);
        Change *change = NULL;
        for (int c = first_change; c < kernel->changes->count; c++)
            if (strcmp(kernel->changes->all[c].words, words) == 0) change = &kernel->changes->all[c];
        if (!change) {
            change = changes_add(kernel->changes, CHANGE_CONSTANT, source);
            say(change, words);
        }
        snprintf(operand, sizeof operand, "%d", INT32_MAX);
        with_operand(&in, 2, operand, text, sizeof text);
        change_replace(kernel->changes, change, i, "%s", text);
    }
}

// ---- Numbers of threads and blocks ------------------------------------------------------------------------

// The registers that hold a special register, as "%r1" holds %tid.x, or what is computed from some: "lane",
// "warp", the "base" of the block, which is its number times its threads, and the thread's number in the
// "grid".
typedef struct {
    char name[32], special[16];
} Holder;

typedef struct {
    Holder all[MOST];
    int count;
} Holders;

static void hold(Holders *holders, const char *name, const char *special) {
    if (holders->count == MOST) return;
    Holder *one = &holders->all[holders->count++];
    snprintf(one->name, sizeof one->name, "%.31s", name);
    snprintf(one->special, sizeof one->special, "%s", special);
}

static bool holds(const Holders *holders, const char *name, const char *special) {
    for (int h = 0; h < holders->count; h++)
        if (strcmp(holders->all[h].name, name) == 0) return strcmp(holders->all[h].special, special) == 0;
    return false;
}

// Whether operands 1 and 2 are these, in any order.
static bool are_operands(const Holders *holders, const PtxInstruction *in, const char *a, const char *b) {
    return (holds(holders, in->operands[1], a) && holds(holders, in->operands[2], b)) ||
           (holds(holders, in->operands[1], b) && holds(holders, in->operands[2], a));
}

// What an instruction computes from what registers hold; NULL: none of these.
static const char *computed(const Holders *holders, const PtxInstruction *in) {
    long number;
    const bool is_of_block = holds(holders, in->operands[1], "%ctaid.x"),
               is_of_thread = holds(holders, in->operands[1], "%tid.x"),
               is_by_number = whole_number(in->operands[2], &number),
               is_base = are_operands(holders, in, "%ctaid.x", "%ntid.x") || (is_of_block && is_by_number);
    if (opcode_is(in, "mad") && opcode_has(in, "lo"))
        return is_base && holds(holders, in->operands[3], "%tid.x") ? "grid" : NULL;
    if (opcode_is(in, "mul") && opcode_has(in, "lo")) return is_base ? "base" : NULL;
    if (opcode_is(in, "shl")) return is_of_block && is_by_number ? "base" : NULL;
    if (opcode_is(in, "add")) return are_operands(holders, in, "base", "%tid.x") ? "grid" : NULL;
    if (opcode_is(in, "or")) return are_operands(holders, in, "base", "%tid.x") ? "grid" : NULL;
    if (opcode_is(in, "and")) return is_of_thread && strcmp(in->operands[2], "31") == 0 ? "lane" : NULL;
    if (opcode_is(in, "shr")) return is_of_thread && strcmp(in->operands[2], "5") == 0 ? "warp" : NULL;
    return NULL;
}

static void list_holders(const Kernel *kernel, Holders *holders) {
    static const char *const specials[] = {"%tid.x", "%ctaid.x", "%ntid.x", "%nctaid.x"};
    holders->count = 0;
    for (int i = kernel->first; i < kernel->end; i++) {
        PtxInstruction in;
        if (!ptx_instruction(&kernel->lines->lines[i], &in)) continue;
        const char *of_others = computed(holders, &in);
        if (of_others) hold(holders, in.operands[0], of_others);
        if (!opcode_is(&in, "mov") || in.operand_count != 2) continue;
        for (size_t s = 0; s < sizeof specials / sizeof specials[0]; s++)
            if (strcmp(in.operands[1], specials[s]) == 0) hold(holders, in.operands[0], specials[s]);
    }
}

// In one line of the source another number for a special register: the thread's number in the grid for that
// in the block, the grid's threads for the block's.
static void propose_number(const Kernel *kernel, const Holder *holder, int source, const char *other,
                           const char *words) {
    Change *change = NULL;
    for (int i = kernel->first; i < kernel->end; i++) {
        PtxInstruction in;
        char text[400];
        bool is_used = false;
        if (kernel->lines->lines[i].source != source || !ptx_instruction(&kernel->lines->lines[i], &in))
            continue;
        for (int o = 1; o < in.operand_count; o++) {
            if (strcmp(in.operands[o], holder->name) != 0) continue;
            snprintf(in.operands[o], sizeof in.operands[o], "%s", other);
            is_used = true;
        }
        if (!is_used) continue;
        if (!change) {
            change = changes_add(kernel->changes, CHANGE_NUMBER, source);
            say_at(change, words, "in");
            change_insert(
                kernel->changes, change, kernel->first,
                "\t.reg .b32 %%wbn<10>;\n\tmov.u32 %%wbn1, %%tid.x;\n\tmov.u32 %%wbn2, %%ntid.x;\n"
                "\tmov.u32 %%wbn3, %%ctaid.x;\n\tmov.u32 %%wbn4, %%nctaid.x;\n"
                "\tmad.lo.s32 %%wbn5, %%wbn3, %%wbn2, %%wbn1;\n\tmul.lo.s32 %%wbn6, %%wbn4, %%wbn2;\n"
                "\tshr.u32 %%wbn7, %%wbn1, 5;\n\tand.b32 %%wbn8, %%wbn1, 31;\n"
                "\tshr.u32 %%wbn9, %%wbn5, 5;");
        }
        with_operand(&in, -1, "", text, sizeof text);
        change_replace(kernel->changes, change, i, "%s", text);
    }
}

static bool is_any(const PtxInstruction *in) { return in->opcode[0]; }

// A wrong number is likelier in the line of the finding, as the head of a loop that does not end, than in
// another line that has it too.
static void put_first(int lines[], int count, int line) {
    for (int k = 1; k < count; k++) {
        if (lines[k] != line) continue;
        memmove(&lines[1], lines, (size_t)k * sizeof lines[0]);
        lines[0] = line;
    }
}

// Whether a line computes the thread's number in the grid already.
static bool has_number_in_grid(const Kernel *kernel, int source) {
    static const char *const sums[] = {
        "blockIdx.x*blockDim.x+threadIdx.x", "blockDim.x*blockIdx.x+threadIdx.x",
        "threadIdx.x+blockIdx.x*blockDim.x", "threadIdx.x+blockDim.x*blockIdx.x"};
    char line[512], joined[512];
    size_t used = 0;
    if (!kernel_line(kernel, source, line, sizeof line)) return false;
    for (const char *at = line; *at; at++)
        if (*at != ' ') joined[used++] = *at;
    joined[used] = '\0';
    for (size_t s = 0; s < sizeof sums / sizeof sums[0]; s++)
        if (strstr(joined, sums[s])) return true;
    return false;
}

void propose_numbers(const Kernel *kernel) {
    static const struct {
        const char *special, *other, *words;
    } numbers[] = {
        {"%tid.x", "%wbn5", "the thread's number in the grid for its number in the block"},
        {"grid", "%wbn1", "the thread's number in the block for its number in the grid"},
        {"%ntid.x", "%wbn6", "the grid's number of threads for the block's"},
        {"%tid.x", "%wbn3", "the block's number for the thread's"},
        {"%ctaid.x", "%wbn5", "the thread's number in the grid for the block's number"},
        {"lane", "%wbn7", "the warp's number for the lane's"},
        {"warp", "%wbn8", "the lane's number for the warp's"},
        {"warp", "%wbn9", "the warp's number in the grid for its number in the block"},
        {"lane", "%wbn1", "the thread's number in the block for the lane's"},
    };
    Holders holders;
    int lines[MOST];
    const int line_count = list_lines(kernel, is_any, lines);
    list_holders(kernel, &holders);
    if (kernel->symptoms->finding) put_first(lines, line_count, kernel->symptoms->finding->place.line);
    // Where threads are missing at a barrier, all numbers are of one block.
    const bool is_of_block = kernel->symptoms->verdict == VERDICT_SYNC;
    for (size_t n = 0; n < sizeof numbers / sizeof numbers[0]; n++) {
        if (is_of_block && strcmp(numbers[n].special, "grid") == 0) continue;
        for (int h = 0; h < holders.count; h++)
            for (int l = 0; l < line_count && strcmp(holders.all[h].special, numbers[n].special) == 0; l++)
                propose_number(kernel, &holders.all[h], lines[l], numbers[n].other,
                               n == 0 && has_number_in_grid(kernel, lines[l])
                                   ? "2 * blockIdx.x instead of blockIdx.x"
                                   : numbers[n].words);
    }
}
