// The parsed form of a PTX file: what the parser (ptx_parse) makes, and lowering, the audit and tests read.
//
// The parser resolves every name (registers, variables, labels, functions) but knows nothing of what
// an opcode means: an instruction is its dotted words and its operands. One PtxModule owns everything
// below it; all strings and arrays live until ptx_free().
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emulator/status.h" // EmulatorError

typedef enum {
    PTX_NO_TYPE,
    PTX_PRED,
    PTX_B8,
    PTX_B16,
    PTX_B32,
    PTX_B64,
    PTX_B128,
    PTX_U8,
    PTX_U16,
    PTX_U32,
    PTX_U64,
    PTX_S8,
    PTX_S16,
    PTX_S32,
    PTX_S64,
    PTX_F16,
    PTX_F16X2,
    PTX_BF16,
    PTX_BF16X2,
    PTX_F32,
    PTX_F64,
    PTX_TF32,
} PtxType;

// Bytes of one value of the type; a predicate and PTX_NO_TYPE have 0.
unsigned ptx_type_bytes(PtxType type);
// The type that a dotted word such as "f32" names, or PTX_NO_TYPE.
PtxType ptx_type_named(const char *word);
// "f32" for PTX_F32; never NULL.
const char *ptx_type_name(PtxType type);

typedef enum {
    PTX_SPACE_NONE, // generic where an instruction names no space
    PTX_SPACE_PARAM,
    PTX_SPACE_GLOBAL,
    PTX_SPACE_SHARED,
    PTX_SPACE_LOCAL,
    PTX_SPACE_CONST,
} PtxSpace;

// A source location from .loc. `inlined_at` is the index of the location that this one was inlined
// at, or -1. `file` indexes PtxModule.files. Line 0 is the compiler's way of saying "none".
typedef struct {
    int file;
    int line;
    int column;
    int inlined_at;
} PtxLocation;

typedef struct {
    int number;       // as in `.file 1 "kernel.cu"`
    const char *name; // unescaped
} PtxFile;

typedef struct PtxFunction PtxFunction;
typedef struct PtxVariable PtxVariable;

typedef struct {
    const char *name; // "%r7" or, for a name declared alone, "temp_param_reg"
    PtxType type;
    int index; // position in PtxFunction.registers
} PtxRegister;

// The address of `function` or `variable` plus `addend`, stored at byte `offset` of an initialiser.
typedef struct {
    size_t offset;
    const PtxVariable *variable;
    const PtxFunction *function;
    int64_t addend;
    unsigned bytes; // 4 or 8
    bool generic;   // written generic(name)
} PtxRelocation;

struct PtxVariable {
    const char *name;
    PtxSpace space;
    PtxType type;              // element type
    unsigned align;            // bytes; the type's size where .align is absent
    size_t bytes;              // whole variable; 0 for an unsized extern array
    bool is_array;             // declared with [ ]
    bool is_extern;            // .extern
    bool is_unsized;           // .extern .shared x[]
    bool is_managed;           // .attribute(.managed)
    bool is_texture;           // .texref or .surfref: 8 bytes that hold an object's handle
    bool is_visible;           // .visible, .weak or .common
    const unsigned char *data; // initialiser of `bytes` bytes, or NULL
    PtxRelocation *relocations;
    int relocation_count;
    int line;            // in the PTX text
    PtxFunction *owner;  // function whose body or parameter list declares it; NULL at module scope
    int parameter;       // position among the owner's parameters, or -1 (also for return parameters)
    int index;           // position in the owner's or the module's variables
    const char *refused; // why it cannot be used, in words; NULL: it may be
};

typedef enum {
    PTX_OPERAND_REGISTER,
    PTX_OPERAND_SPECIAL,   // %tid.x: `name` is "%tid.x"
    PTX_OPERAND_INTEGER,   // `integer`
    PTX_OPERAND_FLOAT32,   // 0f3F800000: bits in `integer`
    PTX_OPERAND_FLOAT64,   // 0d... : bits in `integer`; a decimal such as 1.5 too
    PTX_OPERAND_VARIABLE,  // the address of `variable`, plus `offset`
    PTX_OPERAND_FUNCTION,  // `function`
    PTX_OPERAND_LABEL,     // `label`: index into PtxFunction.labels
    PTX_OPERAND_VECTOR,    // { a, b, ... }: `elements`
    PTX_OPERAND_ADDRESS,   // [base + offset]: `elements[0]` is a register, variable or integer
    PTX_OPERAND_PAIR,      // p|q: `elements[0]`, `elements[1]`
    PTX_OPERAND_LIST,      // ( a, b ) of a call
    PTX_OPERAND_SINK,      // _
    PTX_OPERAND_PROTOTYPE, // name of a .callprototype or .calltargets: `name`
    PTX_OPERAND_TARGETS,   // the .branchtargets of brx.idx: `label` is an index into PtxFunction.targets
} PtxOperandKind;

typedef struct PtxOperand PtxOperand;
struct PtxOperand {
    PtxOperandKind kind;
    bool negated;   // !%p, or -%r in the few forms that allow it
    int64_t offset; // of an ADDRESS or VARIABLE
    uint64_t integer;
    bool is_unsigned_literal; // written with a U suffix
    const PtxRegister *reg;
    const char *part; // of the register, as in %r1.b0; NULL: all of it
    PtxVariable *variable;
    PtxFunction *function;
    int label;
    const char *name;
    PtxOperand *elements;
    int element_count;
    int line, column; // in the PTX text, from 1
};

typedef struct {
    const char *opcode;     // "ld"
    const char **modifiers; // {"global", "nc", "v4", "f32"}: dotted words after the opcode, in order
    int modifier_count;
    const PtxRegister *guard; // @%p, or NULL
    bool guard_negated;       // @!%p
    PtxOperand *operands;
    int operand_count;
    int location;        // index into PtxModule.locations, or -1 before the first .loc
    int line, column;    // in the PTX text, from 1
    const char *refused; // why this statement cannot be run, in words; NULL: it may be
} PtxInstruction;

// True when the instruction has that dotted word.
bool ptx_has(const PtxInstruction *in, const char *modifier);
// The instruction at that line of the text, or NULL.
const PtxInstruction *ptx_at_line(const PtxFunction *f, int line);
// The type named last, the type before it (0 = last, 1 = last but one ...), or PTX_NO_TYPE.
PtxType ptx_type_from_end(const PtxInstruction *in, int position);

typedef struct {
    const char *name;
    int instruction; // index of the first instruction after the label (may equal instruction_count)
    int line;
    bool is_nounroll; // .pragma "nounroll" follows it
} PtxLabel;

// .branchtargets of brx.idx: a label whose targets are labels.
typedef struct {
    const char *name;
    int *labels;
    int label_count;
} PtxBranchTargets;

struct PtxFunction {
    const char *name;
    bool is_entry;
    bool is_extern; // declared, never defined: vprintf
    bool is_visible;
    bool has_body;
    bool is_second;        // .weak, and not the first of that name: nothing uses it
    PtxVariable **returns; // return parameters (device functions)
    int return_count;
    PtxVariable **parameters;
    int parameter_count;
    PtxVariable **variables; // all variables of the body: .local, .shared, .param of call sequences
    int variable_count;
    PtxRegister **registers;
    int register_count;
    PtxLabel *labels;
    int label_count;
    PtxBranchTargets *targets;
    int target_count;
    PtxInstruction *instructions;
    int instruction_count;
    int max_threads[3];      // .maxntid; 0 where absent
    int required_threads[3]; // .reqntid
    int cluster[3];          // .reqnctapercluster
    int min_blocks;          // .minnctapersm
    int line;
    int index;           // position in PtxModule.functions
    const char *refused; // why none of it can be run, in words; NULL: it may be
};

typedef struct PtxModule {
    int version_major, version_minor;
    const char *target; // "sm_80"
    int address_size;   // 64
    PtxFile *files;
    int file_count;
    PtxLocation *locations;
    int location_count;
    PtxVariable **variables; // module scope
    int variable_count;
    PtxFunction **functions; // in order of first appearance; a declaration and its definition are one
    int function_count;
    const char *text; // the PTX itself, NUL terminated, for caret errors
    size_t text_bytes;
    void *storage; // what ptx_free() releases
} PtxModule;

// Parses `bytes` bytes of PTX (need not be NUL terminated). `name` is used in messages only. Returns
// NULL and fills `error` (status BAD_PTX or NO_MEMORY, with line, column and a caret excerpt).
PtxModule *ptx_parse(const char *text, size_t bytes, const char *name, EmulatorError *error);

// Parses one or more texts, in order, as one module to be run: what one declares .extern and another defines
// is the same thing, and a name that is not visible belongs to its text. What is not supported does not fail,
// nor does what uses it: such a statement becomes an instruction, or its function one, that is `refused`.
PtxModule *ptx_parse_to_run(const EmulatorText *texts, int count, EmulatorError *error);
void ptx_free(PtxModule *module);

// Fills `error` with "NAME:LINE:COLUMN: MESSAGE", the text line and a caret under the column.
void ptx_error_at(EmulatorError *error, EmulatorStatus status, const PtxModule *module, const char *name,
                  int line, int column, const char *format, ...) __attribute__((format(printf, 7, 8)));
