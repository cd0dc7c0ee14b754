// What the rules for variants share: texts, the part of an expression that an edit replaces, and types.
#pragma once

#include "driver/judge/repair/named_numbers.h"
#include "driver/judge/variants/variants.h"

typedef struct {
    const Code *code;
    NamedNumbers named;
    const bool *is_of_address; // by variable: variables_of_address()
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
// Frees the texts of its edits.
void variant_drop(Variant *variant);
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
// Adds the variant with `now` in place of a statement; `words` say it without " line 30" at the end.
void proposer_instead_of(const Proposer *proposer, ChangeKind kind, int rank, const Statement *statement,
                         const char *now, const char *words);
// Adds the variant with a statement, without its ;, before the token at `before`.
void proposer_insert(const Proposer *proposer, ChangeKind kind, int rank, int before, const char *statement);

// The text of a statement. To be freed.
char *statement_text(const Proposer *proposer, const Statement *statement);
// The one that follows directly in the same block; NULL: none.
const Statement *statement_after(const Code *code, const Statement *statement);
// The innermost one around a token; NULL: none.
const Statement *statement_at(const Code *code, int token);
// The body of a loop or a condition, if it is in { }; NULL: it is not.
const Statement *statement_block(const Code *code, const Statement *statement);
// The tokens of what an assignment or the declaration of one variable gives it. False: it is neither.
bool statement_value(const Code *code, const Statement *statement, int *first, int *last);
int token_line(const Code *code, int token);

// Whether a name of a number is known at the token `at`: said before by all of kernel.cu, or by a directive.
bool named_is_known(const Proposer *proposer, const NamedNumber *named, int at);
bool type_is_whole(const char *type); // of a whole number
// The type of a variable's elements, as "float"; its own if it has none.
void variable_element_type(const Variable *variable, char type[48]);
// Whether `now` fits where `was` is read.
bool variable_may_stand_for(const Variable *was, const Variable *now);
void variable_name_text(const Proposer *proposer, const Variable *variable, char *out, size_t bytes);
// Whether the variable at a token is changed there, or its address is taken.
bool variable_is_assigned(const Code *code, int token);

// Of the operator at `at`: how strongly it binds; 0: it is none between two operands.
int operator_strength(const Code *code, int at);
// Its operands, in the unit around it. False: they are not whole.
bool operator_operands(const Code *code, int at, int *left, int *right);

// expressions.c: another operator, operand, number or name at a token.
void propose_expressions(const Proposer *proposer, int at);
// A number or an operator of what a constant of all of kernel.cu starts from.
void propose_literals(const Proposer *proposer, int at);
// declared.c: other values of the constants that are declared outside of functions, for those that use them.
void propose_declared_values(const Proposer *proposer, const bool functions[]);
// members.c: other parts of structs, functions and factors of floats.
void propose_members_and_calls(const Proposer *proposer, int function);
// terms.c: terms and factors that the whole numbers of a function lack.
void propose_terms_at(const Proposer *proposer, int at);
void propose_terms(const Proposer *proposer, int function);
// guards.c: parts that conditions lack, and bounds that come from the index of an access.
void propose_guards(const Proposer *proposer, int function);
// sisters.c: factors and addends that other expressions of the function have.
void propose_sisters(const Proposer *proposer, int which);
// conditions.c: other conditions, and statements that are under one.
void propose_conditions(const Proposer *proposer, int function);
// calls.c: arguments in another order, and additions that are atomic.
void propose_calls(const Proposer *proposer, int function);
// heads.c: the distance to a boundary, and numbers that lack what is computed from an address.
void variables_of_address(const Code *code, bool variables[]); // marks them, one flag for each
void propose_heads_at(const Proposer *proposer, int at);
void propose_rests_at(const Proposer *proposer, int at);
void propose_heads(const Proposer *proposer, int function);
// sizes.c: the size of an array in place of a number.
void propose_sizes_at(const Proposer *proposer, int at);
// clamps.c: 0 for what is read where min() keeps an index inside.
void propose_clamps_at(const Proposer *proposer, int at);
// quotients.c: a division after the products that it cuts off.
void propose_quotients_at(const Proposer *proposer, int at);
// remainders.c: of two numbers each a multiple, in place of their product or sum.
void propose_remainders_at(const Proposer *proposer, int at);
// alike.c: what one of two operands has, for the other.
void propose_alike_at(const Proposer *proposer, int at);
// warned.c: what a compiler warns of.
void propose_warned(const Proposer *proposer, int function);
// statements.c: other assignments of a function, and none.
void propose_statements(const Proposer *proposer, int function);
// loops.c: conditions that are to be loops, other steps, other ends, and what a round begins with.
void propose_loops(const Proposer *proposer, int function);
// order.c: barriers, fences and statements at another place.
void propose_places(const Proposer *proposer, int function);
// parallel.c: one slip in all of several statements that are alike.
void propose_parallel(const Proposer *proposer, int function);
// Whether a sum has the term with the other sign: together they are 0, and nothing is added.
bool sum_cancels(const char *sum, const char *term, char sign);
