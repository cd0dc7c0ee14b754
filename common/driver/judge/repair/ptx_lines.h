// The PTX text of an image as lines: what is an instruction, of which kernel and of which line of kernel.cu.
#pragma once

#include "support/text.h"

enum { PTX_OPERANDS = 8, PTX_OPERAND_BYTES = 96 };

// An instruction in parts: "@%p1 ", "shfl.sync.down.b32", and its operands without blanks.
typedef struct {
    char predicate[24], opcode[64];
    char operands[PTX_OPERANDS][PTX_OPERAND_BYTES];
    int operand_count;
} PtxInstruction;

typedef struct {
    const char *text; // not NUL terminated; without the newline
    int length;
    int function; // its place among the kernels and functions of the text; -1: outside of all
    int source;   // line of kernel.cu, of the call where a header's code was inlined, or of what alone uses
                  // it; 0: unknown
    int call; // line of kernel.cu at which the function of `source` was inlined; 0: it was not, or is unknown
    int outer; // line of kernel.cu at which the outermost of these functions was inlined; 0: as above
    bool is_instruction;               // complete on this line
    const PtxInstruction *instruction; // NULL: it has more or longer parts than that holds
    bool is_label;
    bool is_join;     // the first instruction behind a label
    bool is_left_out; // of a kernel that nobody asks for
} PtxLine;

typedef struct {
    PtxLine *lines;
    int count;
    int *labels, label_count; // the places of those that are labels
    PtxInstruction *instructions;
} PtxLines;

// `source`: the name of kernel.cu in the `.file` directives. The lines point into `text`, which must outlive
// them. False when memory runs out.
bool ptx_lines_make(const Text *text, const char *source, PtxLines *lines);
void ptx_lines_free(PtxLines *lines);
bool ptx_is_label(const PtxLine *line, const char *name);
// The first label of that name among the lines [from, end); -1: there is none.
int ptx_find_label(const PtxLines *lines, int from, int end, const char *name);
// The place of the label before `at` that a branch there goes back to; -1: it leads forward.
int ptx_loop_start(const PtxLines *lines, int at, const PtxInstruction *branch);
// The function with that name; -1: there is none.
int ptx_find_function(const PtxLines *lines, const char *symbol);
// Marks the lines of all kernels but those with one of these names, so that a changed text has only these: a
// file may have a hundred instances of a template. Functions that kernels call stay. Returns the bytes that
// are left.
size_t ptx_keep_kernels(PtxLines *lines, const char *const symbols[], int count);
// False if the line is not an instruction, or has more or longer parts than this holds.
bool ptx_instruction(const PtxLine *line, PtxInstruction *instruction);
// Whether the opcode is `name` or begins with `name` and a dot.
bool opcode_is(const PtxInstruction *instruction, const char *name);
// Whether ".name" is among the opcode's parts.
bool opcode_has(const PtxInstruction *instruction, const char *name);
// Whether it sets the register. One with a single operand, as a barrier, reads it.
bool ptx_writes(const PtxInstruction *instruction, const char *reg);
// The place of the last instruction before `at` in the same function, from `first` on, that writes the
// register; -1: there is none.
int ptx_find_writer(const PtxLines *lines, int first, int at, const char *reg, PtxInstruction *instruction);
