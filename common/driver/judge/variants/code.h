// The functions of kernel.cu that run on the device: their statements and variables.
#pragma once

#include "driver/judge/variants/tokens.h"

typedef enum {
    STATEMENT_EXPRESSION, // an assignment or a call
    STATEMENT_DECLARATION,
    STATEMENT_RETURN,
    STATEMENT_LEAVE, // break or continue
    STATEMENT_IF,
    STATEMENT_LOOP,
    STATEMENT_BLOCK,
    STATEMENT_OTHER
} StatementKind;

// By token, with the first and the last one. Statements are in the order of their first token.
typedef struct {
    StatementKind kind;
    int first, last;
    int parent;    // the statement around it; -1: none, it is a function's body
    bool in_block; // directly in { }, so that others may be written beside it
    int function;
} Statement;

typedef struct {
    int name;                // its token
    char type[48];           // "float *": without const, volatile and __restrict__
    bool is_const, is_fixed; // fixed: the compiler may need its value, as for the size of an array
    int dimensions;          // of an array; 0: it is none
    int from, to;            // the tokens between which it is known
    int function;
} Variable;

typedef struct {
    int name, first, last; // tokens: of its name, and the braces of its body
    bool is_kernel;        // else one that kernels call
} Function;

typedef struct {
    Tokens tokens;
    bool *is_open; // by token: it is part of an expression that is evaluated when the kernel runs
    Function *functions;
    Statement *statements;
    Variable *variables;
    int function_count, statement_count, variable_count;
    int function_room, statement_room, variable_room;
    int depth;   // of the statement that is being read
    bool failed; // memory ran out, or statements are nested too deeply
} Code;

// `source` must outlive it. False when memory runs out, or if statements are nested more deeply than anybody
// writes them; free in any case.
bool code_make(const char *source, Code *code);
void code_free(Code *code);
// Whether the declaration of a function has a word before its name: "template", "constexpr".
bool code_declares(const Code *code, const Function *function, const char *word);

// The variable that the name at this token stands for; NULL: none of these.
const Variable *code_variable(const Code *code, int token);
// Whether every variable of the tokens from `first` to `last` is known at `place`, with the same type.
bool code_knows(const Code *code, int first, int last, int place);
// Whether the tokens from `from` to `to` have those from `first` to `last` in a row.
bool code_says(const Code *code, int first, int last, int from, int to);
