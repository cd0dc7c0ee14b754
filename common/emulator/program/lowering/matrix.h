// What the files that decode matrix instructions share: matrix_words.c, matrix_memory.c and matrix.c, from
// the bottom up. Internal to them.
#pragma once

#include "emulator/alu/matrix.h"
#include "emulator/program/lowering/lowering.h"

// The dotted words of one of them.
typedef struct {
    MatrixShape shape;
    MatrixType type[4];
    int types;
    bool is_column[2]; // of the layouts
    int layouts;
    MatrixOperation operation;
    PtxSpace space;
    bool saturate, has_popc;
} MatrixWords;

struct MatrixForms {
    MatrixWords words;
    bool is_wmma;
    MatrixForm *form;
    struct MatrixForms *next;
};

// Reads the words from `first` on.
bool matrix_words(Lowering *l, const PtxInstruction *in, int first, MatrixWords *words);
// s8 for all integers of 8 bits, s4 of 4, and e4m3 for all floats of 8 bits; else the type itself.
MatrixType matrix_factor_kind(MatrixType type);
// Whether there is a multiplication of that shape with such factors.
bool matrix_shape_known(MatrixType factor, const MatrixShape *shape);
// The elements of a vector of `count` registers; NULL after an error.
const PtxOperand *matrix_registers(Lowering *l, const PtxInstruction *in, const PtxOperand *o, int count);
// The mask of the lanes that take part: all.
bool lower_all_lanes(Lowering *l, const PtxInstruction *in, Operand *out);
// Whether sums of the factors of `form` may have its types.
bool matrix_sums_fit(const MatrixForm *form);
// wmma.load and wmma.store
bool lower_wmma_memory(Lowering *l, const PtxInstruction *in, bool is_load);
