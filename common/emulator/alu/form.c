// Reading the dotted words of an arithmetic instruction, and filling a Selection.
#include "emulator/alu/alu.h"

static const char *const word_names[WORD_COUNT] = {
#define X(word) #word,
    ALU_WORDS(X)
#undef X
};

static int word_named(const char *name) {
    for (int i = 0; i < WORD_COUNT; i++)
        if (!strcmp(word_names[i], name)) return i;
    return -1;
}

bool alu_form(const PtxInstruction *in, uint64_t allowed, AluForm *form) {
    *form = (AluForm){0};
    int types = 0;
    for (int i = 0; i < in->modifier_count; i++) {
        const PtxType type = ptx_type_named(in->modifiers[i]);
        if (type != PTX_NO_TYPE) {
            if (types == 0) form->type = type;
            if (types == 1) form->from = type;
            if (types == 2) form->third = type;
            if (++types > 3) return false;
            continue;
        }
        const int word = word_named(in->modifiers[i]);
        if (word < 0 || !(allowed >> word & 1)) return false;
        form->words |= UINT64_C(1) << word;
    }
    if (types == 1) form->from = form->type;
    return true;
}

bool alu_rounding(const AluForm *form, Rounding *rounding) {
    switch (form->words & ROUNDINGS) {
    case 0:
    case W(rn): *rounding = ROUND_NEAREST; return true;
    case W(rz): *rounding = ROUND_ZERO; return true;
    case W(rm): *rounding = ROUND_DOWN; return true;
    case W(rp): *rounding = ROUND_UP; return true;
    default: return false;
    }
}

bool alu_integral_rounding(const AluForm *form, Rounding *rounding) {
    switch (form->words & INTEGER_ROUNDINGS) {
    case W(rni): *rounding = ROUND_NEAREST; return true;
    case W(rzi): *rounding = ROUND_ZERO; return true;
    case W(rmi): *rounding = ROUND_DOWN; return true;
    case W(rpi): *rounding = ROUND_UP; return true;
    default: return false;
    }
}

bool alu_choose(Selection *selection, AluHandler *handler, PtxType destination, const PtxType *sources) {
    if (!handler) return false;
    *selection = (Selection){.handler = handler, .dst = {destination}};
    for (int i = 0; i < 5 && sources[i] != PTX_NO_TYPE; i++) selection->src[i] = sources[i];
    return true;
}
