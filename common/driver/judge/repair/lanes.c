// What the lanes of a warp exchange: with which lanes, and what a lane gets that has no other to read.
#include <stdio.h>
#include <string.h>

#include "driver/judge/repair/kernel.h"

// ---- Masks -----------------------------------------------------------------------------------------------

static bool takes_mask(const PtxInstruction *in) {
    const bool is_sync = opcode_has(in, "sync");
    return is_sync && (opcode_is(in, "shfl") || opcode_is(in, "vote") || opcode_is(in, "match") ||
                       opcode_is(in, "redux") || (opcode_is(in, "bar") && opcode_has(in, "warp")));
}

static bool has_mask(const PtxInstruction *in) { return takes_mask(in) || opcode_is(in, "activemask"); }

// One change for each line of the source, and one for all.
void propose_full_masks(const Kernel *kernel) {
    int lines[MOST];
    const int count = list_lines(kernel, has_mask, lines);
    for (int k = count; k >= 0; k--) { // all first: masks are usually wrong together
        const int only = k == count ? 0 : lines[k];
        if (count == 1 && k == count) continue;
        if (count == 0) return;
        Change *change = changes_add(kernel->changes, CHANGE_FULL_MASK, only);
        if (only)
            say_at(change, "the mask of all lanes", "in");
        else
            say(change, "the mask of all lanes everywhere");
        for (int i = kernel->first; i < kernel->end; i++) {
            const PtxLine *line = &kernel->lines->lines[i];
            PtxInstruction in;
            char text[400];
            if (!ptx_instruction(line, &in) || (only && line->source != only)) continue;
            if (opcode_is(&in, "activemask"))
                snprintf(text, sizeof text, "\t%s mov.b32 %s, -1;", in.predicate, in.operands[0]);
            else if (takes_mask(&in))
                with_operand(&in, in.operand_count - 1, "-1", text, sizeof text);
            else
                continue;
            change_replace(kernel->changes, change, i, "%s", text);
        }
    }
}

// ---- Lanes without a partner -----------------------------------------------------------------------------

static bool may_lack_partner(const PtxInstruction *in) {
    return opcode_is(in, "shfl") && (opcode_has(in, "up") || opcode_has(in, "down")) &&
           strchr(in->operands[0], '|');
}

// A shuffle hands a lane its own value where there is no lane to read: 0 instead, which adds nothing.
void propose_zero_without_partner(const Kernel *kernel) {
    int lines[MOST];
    const int count = list_lines(kernel, may_lack_partner, lines);
    for (int l = 0; l < count; l++) {
        Change *change = changes_add(kernel->changes, CHANGE_NO_PARTNER, lines[l]);
        say_at(change, "0 for the lanes that have no lane to read", "in");
        for (int i = kernel->first; i < kernel->end; i++) {
            PtxInstruction in;
            if (kernel->lines->lines[i].source != lines[l] ||
                !ptx_instruction(&kernel->lines->lines[i], &in) || !may_lack_partner(&in))
                continue;
            const char *predicate = strchr(in.operands[0], '|') + 1;
            change_insert(kernel->changes, change, i + 1, "\t@!%s mov.b32 %.*s, 0;", predicate,
                          (int)(predicate - 1 - in.operands[0]), in.operands[0]);
        }
    }
}
