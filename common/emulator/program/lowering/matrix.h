// What the two files that decode matrix instructions share. Internal to them.
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
bool matrix_shape_known(MatrixType factor, const MatrixShape *shape);
// The elements of a vector of `count` registers; NULL after an error.
const PtxOperand *matrix_registers(Lowering *l, const PtxInstruction *in, const PtxOperand *o, int count);
// The mask of the lanes that take part: all.
bool lower_all_lanes(Lowering *l, const PtxInstruction *in, Operand *out);
// wmma.load and wmma.store
bool lower_wmma_memory(Lowering *l, const PtxInstruction *in, bool is_load);
