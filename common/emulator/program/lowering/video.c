// Decodes video instructions: types, selectors of bytes and halves, and what happens to the result.
#include "emulator/alu/video.h"

#include <string.h>

#include "emulator/program/lowering/lowering.h"

static void operation_of(const char *opcode, VideoForm *form) {
    static const char *const names[] = {"vadd",  "vsub", "vabsdiff", "vmin", "vmax",
                                        "vavrg", "vshl", "vshr",     "vset", "vmad"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const size_t length = strlen(names[i]);
        if (strncmp(opcode, names[i], length)) continue;
        form->operation = (VideoOperation)i;
        form->elements = opcode[length] ? (unsigned)(opcode[length] - '0') : 1;
        return;
    }
}

static int position(const char *word, const char *const *words) {
    for (int i = 0; words[i]; i++)
        if (!strcmp(word, words[i])) return i;
    return -1;
}

// The words: up to three types, d's first unless the instruction compares.
static bool video_words(Lowering *l, const PtxInstruction *in, VideoForm *form) {
    static const char *const compares[] = {"eq", "ne", "lt", "le", "gt", "ge", NULL};
    static const char *const seconds[] = {"add", "min", "max", NULL};
    bool is_signed[3] = {false};
    const int wanted = form->operation == VIDEO_SET ? 2 : 3;
    int types = 0, compare = -1;
    for (int i = 0; i < in->modifier_count; i++) {
        const char *word = in->modifiers[i];
        const PtxType type = ptx_type_named(word);
        const bool is_set = form->operation == VIDEO_SET;
        if ((type == PTX_U32 || type == PTX_S32) && types < wanted)
            is_signed[types++] = type == PTX_S32;
        else if (is_set && compare < 0 && position(word, compares) >= 0)
            compare = position(word, compares);
        else if (position(word, seconds) >= 0)
            form->second = (VideoSecond)(VIDEO_SECOND_ADD + position(word, seconds));
        else if (!strcmp(word, "sat"))
            form->saturates = true;
        else if (!strcmp(word, "wrap"))
            form->wraps = true;
        else if (!strcmp(word, "po"))
            form->adds_one = true;
        else if (!strcmp(word, "shr7") || !strcmp(word, "shr15"))
            form->scale = word[4] ? 15 : 7;
        else if (strcmp(word, "clamp"))
            return unsupported_form(l, in, word);
    }
    if (types < wanted || (form->operation == VIDEO_SET && compare < 0))
        return unsupported_form(l, in, "(no type)");
    const int first = wanted == 3;
    form->is_signed = first && is_signed[0];
    form->a_is_signed = is_signed[first];
    form->b_is_signed = is_signed[first + 1];
    form->compare = (VideoCompare)(compare < 0 ? 0 : compare);
    return true;
}

// .b0 to .b3, .h0 and .h1; none: all of it.
static bool part_of(Lowering *l, const PtxInstruction *in, const PtxOperand *o, VideoPart *part) {
    static const char *const parts[] = {"b0", "b1", "b2", "b3", "h0", "h1", NULL};
    *part = PART_ALL;
    if (!o->part) return true;
    const int found = position(o->part, parts);
    if (found < 0) return unsupported_form(l, in, o->part);
    *part = (VideoPart)found;
    return true;
}

// .h10 or .b3210: a digit for each element, the last one's first. `offset`: of the default.
static bool elements_of(Lowering *l, const PtxInstruction *in, const PtxOperand *o, unsigned count,
                        unsigned offset, unsigned char *elements) {
    for (unsigned i = 0; i < count; i++) elements[i] = (unsigned char)(offset + i);
    if (!o->part) return true;
    if (strlen(o->part) != 1 + count || o->part[0] != (count == 2 ? 'h' : 'b'))
        return unsupported_form(l, in, o->part);
    for (unsigned i = 0; i < count; i++) {
        const char digit = o->part[count - i];
        if (digit < '0' || digit >= (char)('0' + 2 * count)) return unsupported_form(l, in, o->part);
        elements[i] = (unsigned char)(digit - '0');
    }
    return true;
}

static bool mask_of(Lowering *l, const PtxInstruction *in, const PtxOperand *o, VideoForm *form) {
    form->mask = (1u << form->elements) - 1;
    if (!o->part) return true;
    form->mask = 0;
    for (const char *at = o->part + 1; *at; at++) {
        if (*at < '0' || *at >= (char)('0' + form->elements)) return unsupported_form(l, in, o->part);
        form->mask |= 1u << (*at - '0');
    }
    return true;
}

static bool selectors(Lowering *l, const PtxInstruction *in, VideoForm *form) {
    const PtxOperand *o = in->operands;
    if (form->elements > 1)
        return mask_of(l, in, &o[0], form) &&
               elements_of(l, in, &o[1], form->elements, 0, form->a_elements) &&
               elements_of(l, in, &o[2], form->elements, form->elements, form->b_elements);
    if (form->operation == VIDEO_MAD) {
        form->a_negated = o[1].negated;
        form->b_negated = o[2].negated;
        form->c_negated = o[3].negated;
    }
    return part_of(l, in, &o[0], &form->d_part) && part_of(l, in, &o[1], &form->a_part) &&
           part_of(l, in, &o[2], &form->b_part);
}

bool lower_video(Lowering *l, const PtxInstruction *in) {
    VideoForm form = {0}, *kept = arena_alloc(l->arena, sizeof *kept);
    if (!kept) return lower_no_memory(l);
    operation_of(in->opcode, &form);
    if (!video_words(l, in, &form) || !operands_fit(l, in, in->operand_count)) return false;
    const bool needs_third =
        form.elements > 1 || form.second || form.operation == VIDEO_MAD || in->operands[0].part;
    if ((in->operand_count == 4) != needs_third) return wrong_operands(l, in, l->opcode->wanted);
    if (!selectors(l, in, &form)) return false;
    *kept = form;
    Instruction built = blank(KIND_ALU);
    built.alu = video_run;
    built.operation = VALUE_COMPUTED;
    built.detail = kept;
    built.dst_count = 1;
    built.src_count = (uint8_t)(in->operand_count - 1);
    for (int k = 0; k < in->operand_count; k++) {
        PtxOperand whole = in->operands[k];
        if (k < 3) whole.part = NULL; // c is never a part
        whole.negated = false;
        if (!(k ? lower_source(l, in, &whole, PTX_U32, false, &built.src[k - 1])
                : lower_destination(l, in, &whole, PTX_U32, false, &built.dst[0])))
            return false;
    }
    return emit(l, in, &built);
}
