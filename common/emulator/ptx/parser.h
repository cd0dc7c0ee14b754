// What the parts of the parser share, and what each offers to the others. From the bottom up:
//     tokens.c      the next token, the first error, memory
//     names.c       scopes, and what a name stands for
//     location.c    .file and .loc
//     expression.c  constant expressions
//     variable.c    variables, parameters and their initialisers
//     operand.c     operands
//     refuse.c      what is not supported, left until it is reached
//     body.c        bodies: registers, labels, instructions
//     function.c    headers of functions: parameters and launch limits
//     module.c      the module: directives, aliases, ptx_parse()
//
// How errors travel: the first one is written to Parser.error and sets Parser.failed. From then on every
// token is TOKEN_ERROR, so that every loop ends, and every function returns false (or NULL).
#pragma once

#include "emulator/arena.h"
#include "emulator/ptx/lexer.h"
#include "emulator/ptx/ptx.h"

// Limits, each with its own message. They bound the stack (the depths) and the memory (the rest).
enum {
    MAX_SCOPES = 64,                       // nested { } of one function
    MAX_EXPRESSION_DEPTH = 64,             // nested ( ) of one constant expression
    MAX_OPERAND_DEPTH = 4,                 // { } in [ ] in ( )
    MAX_DIMENSIONS = 8,                    // of one array
    MAX_MODIFIERS = 32,                    // dotted words of one instruction
    MAX_REGISTERS = 1000000,               // of one module
    MAX_INLINE_DEPTH = 64,                 // links of one chain of inlined_at
    MAX_PARSER_MEMORY = 512 * 1024 * 1024, // bytes, the text included
    CONSTANT_MEMORY = 64 * 1024,           // bytes, of a device
};

// What lives as long as the module: PtxModule.storage.
typedef struct {
    Arena arena;
    NameTable names; // with the bindings of module scope in force
} PtxStorage;

typedef enum {
    BINDING_REGISTER,
    BINDING_VARIABLE,
    BINDING_FUNCTION,
    BINDING_LABEL,     // `index` into the labels of the function
    BINDING_TARGETS,   // `index` into the .branchtargets of the function
    BINDING_PROTOTYPE, // .callprototype and .calltargets
} BindingKind;

struct Binding {
    BindingKind kind;
    int depth; // of the scope: 0 for the module
    int line;
    int index;
    PtxRegister *reg;
    PtxVariable *variable;
    PtxFunction *function;
    Name *name;
    Binding *shadowed;      // what the name stands for outside this scope
    Binding *next_in_scope; // or in the list of spare bindings
};

// .reg .b32 %r<5>, remembered so that the message about %r99 can name it.
struct NameRange {
    int line;
    int count;
    PtxType type;
    int function; // serial number of the function that declares it
};

// A label named before the end of its scope, where it is known which label is meant.
typedef struct PendingLabel PendingLabel;
struct PendingLabel {
    Name *name;
    int *index;       // receives the label's index
    BindingKind kind; // BINDING_LABEL or BINDING_TARGETS
    int line, column;
    PendingLabel *next;
};

typedef struct {
    Binding *bindings;
    PendingLabel *first_pending, *last_pending;
    int line, column; // of its {
} Scope;

// An array that grows in the arena; the parser's scratch space.
typedef struct {
    void *items;
    size_t count, capacity;
} List;

typedef struct {
    PtxFunction *alias, *function;
} PtxAlias;

typedef struct {
    int number;
    int index;        // into PtxModule.files, or -1 before its .file
    int line, column; // where it is first named
} FileNumber;

// What is known of a location besides what it says.
typedef struct {
    int depth;                 // how often its code was inlined
    const Name *function_name; // the label that stands for the inlined function's name
    int function;              // serial number of the function in which it last was the latest at its place
} InlineChain;

typedef struct Parser {
    PtxModule *module;
    PtxStorage *storage;
    Arena *arena;
    NameTable *names;
    const char *name; // of the text, for messages
    EmulatorError *error;
    bool failed;
    char message[800];   // of the error, without its place
    bool refuses_late;   // what is not supported is refused where it is reached
    const char *refused; // the first such message, or NULL
    int refused_line;    // of it

    uint64_t constant_bytes; // of the .const variables so far
    Lexer lexer;
    Token token; // the one to be looked at next

    Scope scopes[MAX_SCOPES];
    int depth; // of the innermost scope in force; 0 is the module
    Binding *spare_bindings;
    Name *sink;      // _
    Name *warp_size; // WARP_SZ

    List functions, variables, aliases; // of the module
    List files, file_numbers;           // PtxFile; FileNumber, where the file numbers are found by hashing
    size_t first_file_number;           // of this text, in file_numbers
    int *file_slots;
    size_t file_slot_count;
    List locations;      // PtxLocation, whose `file` is a position in file_numbers until the end
    List chains;         // InlineChain, beside `locations`
    int *location_slots; // hash table of all locations
    int *inlined_slots;  // hash table of the latest location that is inlined, by its place
    size_t location_slot_count;
    int location;       // in force, or -1
    int register_count; // of the module, against MAX_REGISTERS

    PtxFunction *function; // whose header or body is being read, or NULL
    int function_serial;
    List body_variables, body_registers, body_labels, body_targets, body_instructions;
    List operands; // PtxOperand: those being read, a stack
} Parser;

// ---- tokens.c ---------------------------------------------------------------------------------------------

void parser_advance(Parser *p);
// The token after p->token.
Token parser_peek(const Parser *p);
bool parser_at(const Parser *p, int punctuation);
// Steps over that punctuation where it is next.
bool parser_accept(Parser *p, int punctuation);
// The same, and an error where it is not: "expected ';' after the operands, found 'add'".
bool parser_expect(Parser *p, int punctuation, const char *where);
bool parser_at_dotted(const Parser *p, const char *word);
// A decimal number from 0 to INT_MAX; `what` as in "expected the line of .loc".
bool parser_number(Parser *p, int *number, const char *what);

// All of these return false. Only the first error of a text is kept.
bool parser_fail_at(Parser *p, EmulatorStatus status, int line, int column, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
// The same at a token: the text is not valid PTX, or it is PTX that is not supported.
#define parser_fail(p, at, ...) parser_fail_at(p, EMULATOR_BAD_PTX, (at)->line, (at)->column, __VA_ARGS__)
#define parser_unsupported(p, at, ...)                                                                       \
    parser_fail_at(p, EMULATOR_UNSUPPORTED, (at)->line, (at)->column, __VA_ARGS__)
bool parser_no_memory(Parser *p);
// "expected WANTED, found TOKEN" at the next token.
bool parser_expected(Parser *p, const char *wanted);

void *parser_alloc(Parser *p, size_t count, size_t size);
// Appends one zeroed item and returns it, or NULL.
void *parser_append(Parser *p, List *list, size_t size);
// A copy of the items; NULL for none (and, with p->failed set, on failure).
void *parser_copy(Parser *p, const void *items, size_t count, size_t size);

// ---- names.c ----------------------------------------------------------------------------------------------

bool scope_open(Parser *p, const Token *at);
// Takes the innermost scope's names out of force and settles its labels; `function_end` tells that a
// label not found now is nowhere.
bool scope_close(Parser *p, bool function_end);
// Binds the name in the innermost scope; NULL where it is bound there already or memory ran out.
Binding *scope_bind(Parser *p, const Token *at, Name *name, BindingKind kind);
// Sets *index to the label (or .branchtargets) that the name means in this scope, once that is known.
bool scope_want_label(Parser *p, const Token *at, BindingKind kind, int *index);
const char *binding_kind_name(BindingKind kind);
// "register %r99 is not declared" and what to do about it, at that token.
bool parser_undeclared(Parser *p, const Token *at);

// ---- location.c -------------------------------------------------------------------------------------------

bool parse_file(Parser *p);       // after .file
bool parse_loc(Parser *p);        // after .loc
bool finish_locations(Parser *p); // at the end of a text
void place_locations(Parser *p);  // at the end of the last one

// ---- expression.c -----------------------------------------------------------------------------------------

typedef enum { CONSTANT_INTEGER, CONSTANT_FLOAT32, CONSTANT_FLOAT64, CONSTANT_ADDRESS } ConstantKind;

typedef struct {
    ConstantKind kind;
    uint64_t value; // of an integer; bits of a float; what is added to an address
    bool is_unsigned;
    bool is_generic;
    uint64_t mask; // 0xFF00(name): 0xFF00; 0: the whole address
    const PtxVariable *variable;
    const PtxFunction *function;
} Constant;

// An expression over constants. With `addresses` also name, generic(name), 0xFF(name), each +- a number.
bool parse_constant(Parser *p, Constant *constant, bool addresses);
// The sum that follows a base, "+4", "-8", "+-4+8", or nothing, added to *offset.
bool parse_offset(Parser *p, int64_t *offset);

// ---- variable.c -------------------------------------------------------------------------------------------

typedef struct {
    bool is_extern, is_visible, is_weak;
} Linkage;

// After the word of the space: one declaration with all its names, through the semicolon.
bool parse_variables(Parser *p, PtxSpace space, Linkage linkage);
// One parameter, from .param on, appended to `list` (PtxVariable *).
bool parse_parameter(Parser *p, List *list);
// ".attribute(...)" after that word; *managed is set where it says so.
bool parse_attribute(Parser *p, bool *managed);

// ---- function.c -------------------------------------------------------------------------------------------

// After .entry or .func.
bool parse_function(Parser *p, bool is_entry, Linkage linkage);

// ---- refuse.c ---------------------------------------------------------------------------------------------

// Where a statement begins.
typedef struct {
    Lexer lexer;
    Token token;
    int depth;
    size_t variables, functions; // of the module, then
} StatementStart;

StatementStart statement_start(const Parser *p);
// After a failure in the statement that began there. Where it may be refused late: steps over the statement
// and returns the reason in words, which the module owns. NULL: the failure remains.
const char *refuse_statement(Parser *p, const StatementStart *start);

// ---- body.c -----------------------------------------------------------------------------------------------

// From { to its }.
bool parse_body(Parser *p);

// ---- operand.c --------------------------------------------------------------------------------------------

// The operands of `in`, through the semicolon; its opcode is known.
bool parse_operands(Parser *p, PtxInstruction *in);
