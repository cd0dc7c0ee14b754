// Products of small matrices: mma.sync and wmma.mma (ISA, Warp Level Matrix Instructions), and
// wgmma.mma_async (Asynchronous Warpgroup Level Matrix Instructions).
//
// Each lane of a warp holds a part of every operand, its fragment. An instruction gathers the fragments into
// matrices, multiplies and adds, and deals the result out again.
#pragma once

#include "emulator/alu/instruction.h"

typedef enum {
    MATRIX_NO_TYPE,
    MATRIX_F16,
    MATRIX_BF16,
    MATRIX_TF32,
    MATRIX_E4M3,
    MATRIX_E5M2,
    MATRIX_F32,
    MATRIX_F64,
    MATRIX_S8,
    MATRIX_U8,
    MATRIX_S4,
    MATRIX_U4,
    MATRIX_B1,
    MATRIX_S32
} MatrixType;

// Bits of an element.
unsigned matrix_type_bits(MatrixType type);

// ---- Fragments --------------------------------------------------------------------------------------------

enum { FRAGMENT_REGISTERS = 8 };

// Where the elements of an operand are. A matrix is packed: a as [row][k], b as [column][k], c and d as
// [row][column].
typedef struct {
    uint8_t registers;    // of a lane
    uint8_t distinct;     // the first of them; the others hold the same elements again
    uint8_t width;        // bytes of one of them: 4, or 8
    uint8_t bits;         // of an element
    uint8_t per_register; // elements
    uint8_t shift;        // per_register is 1 << shift
    uint8_t step;         // elements of the matrix from one element of a register to the next
    uint16_t first[FRAGMENT_REGISTERS][WARP_SIZE]; // the register's first element
} MatrixFragment;

typedef enum { MATRIX_A, MATRIX_B, MATRIX_C } MatrixRole;

// The shape of one multiplication: d = a * b + c of m x k, k x n and m x n elements.
typedef struct {
    uint16_t m, n, k;
    bool is_wmma; // a fragment of wmma, not of mma
    bool is_quad; // m8n8k4 of f16: four products, each by 8 lanes
} MatrixShape;

// `is_column`: of a and b of m8n8k4 of f16, whose fragments depend on the layout.
void matrix_fragment(MatrixFragment *fragment, const MatrixShape *shape, MatrixRole role, MatrixType type,
                     bool is_column);

// ---- Fragments in memory ----------------------------------------------------------------------------------

// The place of one element of each lane in a matrix in memory: element `minor` of its row (or column)
// `major`.
typedef struct {
    uint16_t major[WARP_SIZE], minor[WARP_SIZE];
    uint8_t bits;
    bool is_narrow; // addresses have 32 bits
} MatrixPlaces;

// dst[0] = src[0] + the place that Instruction.detail has, in a matrix of which src[1] elements lie between
// rows. A 64-bit address; src[1] has 32 bits.
AluHandler matrix_address;

// ---- Multiplication ---------------------------------------------------------------------------------------

typedef enum { MATRIX_MULTIPLY, MATRIX_XOR_POPC, MATRIX_AND_POPC } MatrixOperation;

typedef struct MatrixForm {
    MatrixShape shape;
    MatrixType a_type, b_type, c_type, d_type;
    MatrixOperation operation;
    bool saturate;
    bool is_group;             // of wgmma: a warp's rows, and at most GROUP_COLUMNS columns
    bool negates;              // the products
    MatrixFragment a, b, c, d; // not of wgmma
} MatrixForm;

enum { GROUP_ROWS = 16, GROUP_COLUMNS = 32 };

enum { MATRIX_BYTES = 2048 }; // of the largest operand

// Registers of 32 lanes each: as many as the form has. NULL in d: that one is not wanted.
typedef struct {
    const void *const *a, *const *b, *const *c;
    void *const *d;
} MatrixRegisters;

// Factors of multiplications in the form in which they are multiplied, beside the words of the registers that
// they were made from: most are in several multiplications, one soon after the other.
typedef struct MatrixFactors MatrixFactors;
MatrixFactors *matrix_factors_new(void); // NULL: there is no memory
void matrix_factors_free(MatrixFactors *factors);

void matrix_multiply(const MatrixForm *form, const MatrixRegisters *registers, MatrixFactors *factors);

// Of 16- and 19-bit floats, as they lie in the registers. False, and nothing is done: of another form, or
// there are infinities or NaNs. matrix_registers.c.
bool matrix_multiply_fragments(const MatrixForm *form, const MatrixRegisters *registers,
                               MatrixFactors *factors);
// The same of packed matrices.
void matrix_multiply_packed(const MatrixForm *form, const void *a, const void *b, const void *c, void *d);
// Of floats, as tensor cores compute it; matrix_float.c.
void matrix_multiply_floats(const MatrixForm *form, const void *a, const void *b, const void *c, void *d);
