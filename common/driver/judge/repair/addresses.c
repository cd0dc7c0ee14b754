// Accesses at other addresses: one element further, with elements of another size, with or without a sign, or
// in another array.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/judge/repair/kernel.h"

// ---- One element further
// -----------------------------------------------------------------------------------

static bool accesses(const PtxInstruction *in) {
    return is_access(in, "ld") || is_access(in, "st") || opcode_is(in, "atom") || opcode_is(in, "red");
}

// Bytes of the access; 0: not known.
static int bytes_of(const PtxInstruction *in) {
    const char *type = strrchr(in->opcode, '.');
    const int each = type && strlen(type) > 2 ? atoi(type + 2) / 8 : 0;
    return each * (opcode_has(in, "v4") ? 4 : opcode_has(in, "v2") ? 2 : 1);
}

static bool accesses_global(const PtxInstruction *in) {
    return opcode_has(in, "global") && accesses(in) && bytes_of(in) > 0;
}

typedef enum { EVERY_ACCESS, LOADS, STORES } Which;

static bool is_of(const PtxInstruction *in, Which which) {
    return which == EVERY_ACCESS || (which == LOADS) == is_access(in, "ld");
}

// The accesses of a line, or from `at` on only the first, `by` elements further. How many there are.
static int move_accesses(const Kernel *kernel, Change *change, int source, int at, Which which, int by) {
    int moved = 0;
    for (int i = at < 0 ? kernel->first : at; i < (at < 0 ? kernel->end : at + 1); i++) {
        const PtxLine *line = &kernel->lines->lines[i];
        PtxInstruction in;
        char base[PTX_OPERAND_BYTES], place[PTX_OPERAND_BYTES + 32], text[400];
        long offset = 0;
        if (line->source != source || !ptx_instruction(line, &in) || !accesses(&in) || !is_of(&in, which))
            continue;
        for (int o = 0; o < in.operand_count; o++) {
            if (sscanf(in.operands[o], "[%95[^]+]+%ld", base, &offset) < 1) continue;
            snprintf(place, sizeof place, "[%s+%ld]", base, offset + by * bytes_of(&in));
            with_operand(&in, o, place, text, sizeof text);
            change_replace(kernel->changes, change, i, "%s", text);
            moved++;
            break;
        }
    }
    return moved;
}

// Every access of the finding's line one element before, or behind, if the finding is one element outside.
void propose_neighbours(const Kernel *kernel) {
    const Finding *finding = kernel->symptoms->finding;
    if (!finding || finding->kind != FINDING_OUT_OF_BOUNDS || !finding->place.line) return;
    const bool is_behind = finding->index == (int64_t)finding->object_bytes;
    const bool is_before = finding->index == -(int64_t)finding->bytes;
    if (!is_behind && !is_before) return;
    Change *change = changes_add(kernel->changes, CHANGE_NEIGHBOUR, finding->place.line);
    say_at(change, is_behind ? "the element before in every access" : "the next element in every access",
           "in");
    move_accesses(kernel, change, finding->place.line, -1, EVERY_ACCESS, is_behind ? -1 : 1);
}

static bool has_access(const Kernel *kernel, int source, Which which) {
    for (int i = kernel->first; i < kernel->end; i++) {
        PtxInstruction in;
        if (kernel->lines->lines[i].source == source && ptx_instruction(&kernel->lines->lines[i], &in) &&
            accesses(&in) && bytes_of(&in) > 0 && is_of(&in, which))
            return true;
    }
    return false;
}

static bool accesses_element(const PtxInstruction *in) { return accesses(in) && bytes_of(in) > 0; }

// The element beside in all loads of a line, or all stores, then in one of several.
void propose_other_elements(const Kernel *kernel) {
    int lines[MOST];
    if (!wants(kernel, CHANGE_NEIGHBOUR)) return;
    const int count = list_lines(kernel, accesses_element, lines);
    for (int l = 0; l < 2 * count; l++) {
        const Which which = l % 2 ? STORES : LOADS;
        for (int by = 1; by >= -1 && has_access(kernel, lines[l / 2], which); by -= 2) {
            Change *change = changes_add(kernel->changes, CHANGE_NEIGHBOUR, lines[l / 2]);
            if (change)
                snprintf(change->words, sizeof change->words, "the %s in every %s in line %d",
                         by > 0 ? "next element" : "element before", which == LOADS ? "load" : "store",
                         lines[l / 2]);
            move_accesses(kernel, change, lines[l / 2], -1, which, by);
        }
    }
}

// In all accesses of a line to global memory, another number added to the index: each thread's own element in
// place of one for all.
static void propose_added(const Kernel *kernel, int source, const char *number, const char *said) {
    Change *change = changes_add(kernel->changes, CHANGE_INDEX, source);
    if (change)
        snprintf(change->words, sizeof change->words, "%s added to the index in line %d", said, source);
    change_insert(kernel->changes, change, kernel->first,
                  "\t.reg .b32 %%wbi<6>;\n\t.reg .b64 %%wbj<2>;\n\tmov.u32 %%wbi1, %%tid.x;\n"
                  "\tmov.u32 %%wbi2, %%ntid.x;\n\tmov.u32 %%wbi3, %%ctaid.x;\n"
                  "\tmad.lo.s32 %%wbi4, %%wbi3, %%wbi2, %%wbi1;\n\tand.b32 %%wbi5, %%wbi1, 31;");
    for (int i = kernel->first; i < kernel->end; i++) {
        const PtxLine *line = &kernel->lines->lines[i];
        PtxInstruction in;
        char base[PTX_OPERAND_BYTES], place[PTX_OPERAND_BYTES], text[400];
        if (line->source != source || !ptx_instruction(line, &in) || !accesses_global(&in)) continue;
        for (int o = 0; o < in.operand_count; o++) {
            if (sscanf(in.operands[o], "[%95[^]+]", base) != 1) continue;
            snprintf(place, sizeof place, "[%%wbj1%s", in.operands[o] + 1 + strlen(base));
            with_operand(&in, o, place, text, sizeof text);
            change_replace(kernel->changes, change, i, "\tmad.wide.u32 %%wbj1, %s, %d, %s;\n%s", number,
                           bytes_of(&in), base, text);
            break;
        }
    }
}

void propose_added_numbers(const Kernel *kernel) {
    static const struct {
        const char *number, *said;
    } numbers[] = {{"%wbi4", "the thread's number in the grid"},
                   {"%wbi1", "threadIdx.x"},
                   {"%wbi3", "blockIdx.x"},
                   {"%wbi5", "the lane's number"}};
    int lines[MOST];
    const int count = list_lines(kernel, accesses_global, lines);
    for (size_t n = 0; n < sizeof numbers / sizeof numbers[0]; n++)
        for (int l = 0; l < count; l++) propose_added(kernel, lines[l], numbers[n].number, numbers[n].said);
}

// ---- Elements further apart ------------------------------------------------------------------------------

// The register and the displacement of an access to global memory; false: it has none.
static bool place_of(const PtxInstruction *in, int *operand, char base[PTX_OPERAND_BYTES], long *offset) {
    for (*operand = 0; *operand < in->operand_count; (*operand)++) {
        *offset = 0;
        if (sscanf(in->operands[*operand], "[%95[^]+]+%ld", base, offset) >= 1) return true;
    }
    return false;
}

// The neighbours that a line accesses in one thread, at a register and behind it, as far apart as a number of
// threads says.
static void propose_apart(const Kernel *kernel, int source, const char *number, const char *said) {
    Change *change = NULL;
    for (int i = kernel->first; i < kernel->end; i++) {
        const PtxLine *line = &kernel->lines->lines[i];
        PtxInstruction in;
        char base[PTX_OPERAND_BYTES], text[400];
        int operand;
        long offset;
        if (line->source != source || !ptx_instruction(line, &in) || !accesses_global(&in) ||
            !place_of(&in, &operand, base, &offset))
            continue;
        const int bytes = bytes_of(&in);
        if (bytes <= 0 || offset <= 0 || offset > 32L * bytes || offset % bytes != 0) continue;
        if (!change) {
            change = changes_add(kernel->changes, CHANGE_INDEX, source);
            if (change)
                snprintf(change->words, sizeof change->words,
                         "elements %s apart in place of neighbours in line %d", said, source);
            change_insert(kernel->changes, change, kernel->first,
                          "\t.reg .b32 %%wba<5>;\n\t.reg .b64 %%wbb<2>;\n\tmov.u32 %%wba1, %%ntid.x;\n"
                          "\tmov.u32 %%wba2, %%nctaid.x;\n\tmul.lo.s32 %%wba2, %%wba1, %%wba2;\n"
                          "\tmov.u32 %%wba3, 32;");
        }
        with_operand(&in, operand, "[%wbb1]", text, sizeof text);
        change_replace(kernel->changes, change, i, "\tmad.wide.u32 %%wbb1, %s, %ld, %s;\n%s", number, offset,
                       base, text);
    }
}

void propose_elements_apart(const Kernel *kernel) {
    static const struct {
        const char *number, *said;
    } numbers[] = {{"%wba2", "gridDim.x * blockDim.x"}, {"%wba1", "blockDim.x"}, {"%wba3", "32"}};
    int lines[MOST];
    if (!wants(kernel, CHANGE_INDEX)) return;
    const int count = list_lines(kernel, accesses_global, lines);
    for (size_t n = 0; n < sizeof numbers / sizeof numbers[0]; n++)
        for (int l = 0; l < count; l++) propose_apart(kernel, lines[l], numbers[n].number, numbers[n].said);
}

// ---- Elements of another size
// ------------------------------------------------------------------------------

// Which operand of an address's calculation is the size of an element, and that size; -1: none.
static int scale_of(const PtxInstruction *in, long *scale) {
    const bool is_shift = opcode_is(in, "shl") && strstr(in->opcode, "64") != NULL;
    const bool is_product = (opcode_is(in, "mul") || opcode_is(in, "mad")) &&
                            (opcode_has(in, "wide") || strstr(in->opcode, "64") != NULL);
    if ((!is_shift && !is_product) || in->operand_count < 3 || !whole_number(in->operands[2], scale))
        return -1;
    if (is_shift) *scale = *scale < 6 ? 1L << *scale : 0;
    return *scale >= 1 && *scale <= 32 ? 2 : -1;
}

void propose_sizes(const Kernel *kernel) {
    static const long sizes[] = {4, 8, 12, 16};
    const Finding *finding = kernel->symptoms->finding;
    if (!finding || !finding->place.line || finding->bytes < 4) return;
    for (size_t was = 0; was < sizeof sizes / sizeof sizes[0]; was++) {
        for (size_t now = 0; now < sizeof sizes / sizeof sizes[0]; now++) {
            Change *change = NULL;
            for (int i = kernel->first; i < kernel->end && was != now; i++) {
                PtxInstruction in;
                long scale;
                int shift = 0;
                if (kernel->lines->lines[i].source != finding->place.line ||
                    !ptx_instruction(&kernel->lines->lines[i], &in) || scale_of(&in, &scale) < 0 ||
                    scale != sizes[was])
                    continue;
                while (1L << shift < sizes[now]) shift++;
                if (opcode_is(&in, "shl") && 1L << shift != sizes[now]) continue;
                if (!change) {
                    change = changes_add(kernel->changes, CHANGE_SIZE, finding->place.line);
                    if (change)
                        snprintf(change->words, sizeof change->words,
                                 "places that are %ld bytes apart instead of %ld in line %d", sizes[now],
                                 sizes[was], finding->place.line);
                }
                char operand[16], text[400];
                snprintf(operand, sizeof operand, "%ld", opcode_is(&in, "shl") ? (long)shift : sizes[now]);
                with_operand(&in, 2, operand, text, sizeof text);
                change_replace(kernel->changes, change, i, "%s", text);
            }
        }
    }
}

// ---- Signs
// ---------------------------------------------------------------------------------------------------

// The instruction as one of numbers without a sign, or, if it cuts off bits, as one that does not; false: it
// is neither.
static bool without_sign(const PtxInstruction *in, bool keeps_bits, PtxInstruction *out) {
    static const char *const narrow[] = {".s16", ".s8", ".u16", ".u8"};
    *out = *in;
    if (keeps_bits) {
        const char *last = strrchr(in->opcode, '.');
        bool is_narrow = false;
        if (!last) return false;
        for (size_t k = 0; k < sizeof narrow / sizeof narrow[0]; k++)
            is_narrow |= strcmp(last, narrow[k]) == 0;
        if (!opcode_is(in, "cvt") || !is_narrow || strncmp(in->operands[1], "%rs", 3) == 0) return false;
        const char *bits = strncmp(in->operands[1], "%rd", 3) == 0 ? "64" : "32";
        snprintf(out->opcode, sizeof out->opcode, "%.*s.%c%s", (int)(last - in->opcode), in->opcode, last[1],
                 bits);
        return true;
    }
    if (!opcode_is(in, "ld") && !opcode_is(in, "cvt") && !opcode_has(in, "wide") && !opcode_is(in, "shr"))
        return false;
    bool is_signed = false;
    for (char *at = out->opcode; (at = strstr(at, ".s")) != NULL; at += 2) {
        if (at[2] < '0' || at[2] > '9') continue;
        at[1] = 'u';
        is_signed = true;
    }
    return is_signed;
}

static void propose_signs_of(const Kernel *kernel, int line, bool keeps_bits) {
    Change *change = NULL;
    for (int i = kernel->first; i < kernel->end; i++) {
        PtxInstruction in, now;
        char text[400];
        if (kernel->lines->lines[i].source != line || !ptx_instruction(&kernel->lines->lines[i], &in) ||
            !without_sign(&in, keeps_bits, &now))
            continue;
        if (!change) {
            change = changes_add(kernel->changes, keeps_bits ? CHANGE_WIDE : CHANGE_UNSIGNED, line);
            say_at(change, keeps_bits ? "all bits of a number that is cut off" : "numbers without a sign",
                   "in");
        }
        with_operand(&now, -1, "", text, sizeof text);
        change_replace(kernel->changes, change, i, "%s", text);
    }
}

static bool may_have_sign(const PtxInstruction *in) {
    PtxInstruction now;
    return without_sign(in, false, &now) || without_sign(in, true, &now);
}

void propose_signs(const Kernel *kernel) {
    int lines[MOST];
    const int count = list_lines(kernel, may_have_sign, lines);
    for (int l = 0; l < count; l++)
        for (int keeps_bits = 1; keeps_bits >= 0; keeps_bits--)
            propose_signs_of(kernel, lines[l], keeps_bits);
}

// ---- Another array
// -------------------------------------------------------------------------------------------

enum { ARRAYS = 8 };

// The arrays in constant memory, by the name that kernel.cu has for them as well.
static int list_arrays(const Kernel *kernel, char names[ARRAYS][64]) {
    int count = 0;
    for (int i = 0; i < kernel->lines->count && count < ARRAYS; i++) {
        char text[256], align[16];
        snprintf(text, sizeof text, "%.*s", kernel->lines->lines[i].length, kernel->lines->lines[i].text);
        const char *at = strstr(text, ".const .align");
        if (at && sscanf(at, ".const .align %15s .b8 %63[^[]", align, names[count]) == 2) count++;
    }
    return count;
}

// The place behind a name in an operand, if it is all of a symbol; NULL: not there.
static char *find_symbol(char *operand, const char *name) {
    const size_t length = strlen(name);
    char *at = strstr(operand, name);
    const bool is_whole = at && (at == operand || at[-1] == '[') &&
                          (at[length] == ']' || at[length] == '+' || at[length] == '\0');
    return is_whole ? at : NULL;
}

void propose_other_arrays(const Kernel *kernel) {
    char names[ARRAYS][64];
    const int count = list_arrays(kernel, names);
    for (int was = 0; was < count; was++) {
        for (int now = 0; now < count; now++) {
            Change *change = NULL;
            int source = 0;
            for (int i = kernel->first; i < kernel->end && was != now; i++) {
                PtxInstruction in;
                if (!ptx_instruction(&kernel->lines->lines[i], &in)) continue;
                for (int o = 1; o < in.operand_count; o++) {
                    char *at = find_symbol(in.operands[o], names[was]), rest[1024], text[1200];
                    if (!at) continue;
                    if (!change) {
                        source = kernel->lines->lines[i].source;
                        change = changes_add(kernel->changes, CHANGE_ARRAY, source);
                        if (change)
                            snprintf(change->words, sizeof change->words, "%.63s instead of %.63s in line %d",
                                     names[now], names[was], source);
                    }
                    snprintf(rest, sizeof rest, "%.*s%s%s", (int)(at - in.operands[o]), in.operands[o],
                             names[now], at + strlen(names[was]));
                    with_operand(&in, o, rest, text, sizeof text);
                    change_replace(kernel->changes, change, i, "%s", text);
                    break;
                }
            }
        }
    }
}
