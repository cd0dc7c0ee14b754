// What some threads load does not count any more, or ends the kernel: whether a kernel uses it, and whether
// they load at all.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/judge/repair/proposals.h"

// Of what a thread is a part: the warp of its block, the lane of its warp or the block of the grid. Its
// number in %wbj0, and how many there are in %wbj1; before that, they are those of threads in the block.
static const char *const units[IDLE_UNITS] = {
    "\tshr.u32 %wbj0, %wbj0, 5;\n\tadd.u32 %wbj1, %wbj1, 31;\n\tshr.u32 %wbj1, %wbj1, 5;",
    "\tand.b32 %wbj0, %wbj0, 31;\n\tmov.u32 %wbj1, 32;",
    "\tmov.u32 %wbj0, %ctaid.x;\n\tmov.u32 %wbj1, %nctaid.x;",
};
// From which on they are idle, in %wbj2: the second, the upper half, the last.
static const char *const firsts[IDLE_SHARES] = {
    "\tmov.u32 %wbj2, 1;",
    "\tadd.u32 %wbj2, %wbj1, 1;\n\tshr.u32 %wbj2, %wbj2, 1;",
    "\tsub.u32 %wbj2, %wbj1, 1;",
};

// Sets %wbi0: whether the thread is idle. The only warp, or block, never is.
static void declare(int first, int who, Changes *changes, Change *change) {
    change_insert(
        changes, change, first, "%s",
        "\t.reg .pred %wbi<2>;\n\t.reg .b32 %wbj<4>;\n\tmov.u32 %wbj0, %tid.z;\n\tmov.u32 %wbj1, %ntid.y;\n"
        "\tmov.u32 %wbj2, %tid.y;\n\tmad.lo.u32 %wbj0, %wbj0, %wbj1, %wbj2;\n\tmov.u32 %wbj3, %ntid.x;\n"
        "\tmov.u32 %wbj2, %tid.x;\n\tmad.lo.u32 %wbj0, %wbj0, %wbj3, %wbj2;\n\tmul.lo.u32 %wbj1, %wbj1, "
        "%wbj3;\n"
        "\tmov.u32 %wbj2, %ntid.z;\n\tmul.lo.u32 %wbj1, %wbj1, %wbj2;");
    change_insert(changes, change, first, "%s\n%s", units[who / IDLE_SHARES], firsts[who % IDLE_SHARES]);
    change_insert(changes, change, first, "%s",
                  "\tsetp.ge.u32 %wbi0, %wbj0, %wbj2;\n\tsetp.gt.and.u32 %wbi0, %wbj1, 1, %wbi0;");
}

// A load of global memory that does not wait for other threads.
static bool is_load(const PtxInstruction *in) {
    return opcode_is(in, "ld") && opcode_has(in, "global") && !opcode_has(in, "volatile") &&
           !opcode_has(in, "relaxed") && !opcode_has(in, "acquire");
}

// The bits of a register, by its name; 0: of another kind.
static int bits_of(const char *name, size_t length) {
    static const struct {
        const char *prefix;
        int bits;
    } kinds[] = {{"%rs", 16}, {"%rd", 64}, {"%fd", 64}, {"%r", 32}, {"%f", 32}};
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        const size_t prefix = strlen(kinds[k].prefix);
        if (length > prefix && strncmp(name, kinds[k].prefix, prefix) == 0 &&
            isdigit((unsigned char)name[prefix]))
            return kinds[k].bits;
    }
    return 0;
}

// 0 in each register that the load at `at` has filled, "{%f1,%f2}" or one. False: one has an unusual name.
static bool clear(const PtxInstruction *in, Changes *changes, Change *change, int at) {
    for (const char *name = in->operands[0]; (name = strchr(name, '%')) != NULL;) {
        const size_t length = strcspn(name, ",} ");
        const int bits = bits_of(name, length);
        if (!bits) return false;
        change_insert(changes, change, at + 1, "\t@%%wbi1 mov.b%d %.*s, 0;", bits, (int)length, name);
        name += length;
    }
    return true;
}

bool propose_idle(const PtxLines *lines, int function, int who, bool ends, Changes *changes) {
    Change *change = changes_add(changes, CHANGE_NUMBER, 0);
    bool is_first = true, is_usual = change != NULL, has_load = false;
    for (int i = 0; is_usual && i + 1 < lines->count; i++) {
        PtxInstruction in;
        if (lines->lines[i].function != function || !lines->lines[i].is_instruction) continue;
        if (is_first) declare(i, who, changes, change);
        is_first = false;
        if (!ptx_instruction(&lines->lines[i], &in) || !is_load(&in)) continue;
        has_load = true;
        const bool is_contrary = in.predicate[0] && in.predicate[1] == '!';
        if (!in.predicate[0])
            change_insert(changes, change, i, "\tmov.pred %%wbi1, %%wbi0;");
        else
            change_insert(changes, change, i, "\t%s.pred %%wbi1, %.*s;\n\tand.pred %%wbi1, %%wbi1, %%wbi0;",
                          is_contrary ? "not" : "mov", (int)strcspn(in.predicate + 1 + is_contrary, " "),
                          in.predicate + 1 + is_contrary);
        if (ends)
            change_insert(changes, change, i, "\t@%%wbi1 trap;");
        else
            is_usual = clear(&in, changes, change, i);
    }
    return is_usual && has_load;
}
