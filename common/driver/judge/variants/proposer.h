// What the rules for variants share: texts, the part of an expression that an edit replaces, and types.
#pragma once

#include "driver/judge/repair/named_numbers.h"
#include "driver/judge/variants/variants.h"

enum { LIKELY, USUAL, RARE, LAST }; // ranks

typedef struct {
    const Code *code;
    NamedNumbers named;
    Variants *variants;
} Proposer;

// A word or sign in place of another.
typedef struct {
    const char *was, *now;
    ChangeKind kind;
    int rank;
} Exchange;

// The text of the tokens from `first` to `last`, in which those from `from` to `to` are `instead`; NULL: as
// they are. To be freed.
char *proposer_text(const Proposer *proposer, int first, int last, int from, int to, const char *instead);
// Adds a variant without edits, of the token's line and function; NULL when memory runs out.
Variant *proposer_add(const Proposer *proposer, ChangeKind kind, int token, int rank);
// Adds an edit, and takes over `text`. `variant` may be NULL.
void proposer_edit(const Proposer *proposer, Variant *variant, EditForm form, int from, int to, char *text);
// The first byte of a token, and the one behind it.
int proposer_begin(const Proposer *proposer, int token);
int proposer_end(const Proposer *proposer, int token);
// The part of an expression that a change of the tokens from `from` to `to` is written with: up to what binds
// less than any operator in it, so that it is an operand as a whole.
void proposer_find_unit(const Code *code, int from, int to, int *first, int *last);
// Adds the variant of an expression with `instead` in place of the tokens from `from` to `to`.
void proposer_replace(const Proposer *proposer, ChangeKind kind, int rank, int from, int to,
                      const char *instead);

bool type_is_whole(const char *type); // of a whole number
// The type of a variable's elements, as "float"; its own if it has none.
void variable_element_type(const Variable *variable, char type[48]);
// Whether `now` fits where `was` is read.
bool variable_may_stand_for(const Variable *was, const Variable *now);
void variable_name_text(const Proposer *proposer, const Variable *variable, char *out, size_t bytes);
// Whether the variable at a token is changed there, or its address is taken.
bool variable_is_assigned(const Code *code, int token);

// expressions.c: another operator, operand, number, name or term at a token.
void propose_expressions(const Proposer *proposer, int at);
// expressions.c: terms that the whole numbers of a function may lack where they are declared.
void propose_terms_of_starts(const Proposer *proposer, int function);
// statements.c: other statements, conditions and loops of a function.
void propose_statements(const Proposer *proposer, int function);
