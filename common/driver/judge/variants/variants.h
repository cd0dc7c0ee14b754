// Other texts of kernel.cu, each with one small change that may repair it.
#pragma once

#include "driver/judge/repair/change.h"
#include "driver/judge/variants/code.h"
#include "support/text.h"

typedef enum {
    EDIT_EXPRESSION, // an expression in place of another of its type
    EDIT_STATEMENT,  // statements in place of others
    EDIT_BEFORE,     // statements before a place
    EDIT_DECLARATION // a declaration before another one, outside of functions
} EditForm;

// In bytes of the source: [from, to) becomes `text`.
typedef struct {
    EditForm form;
    int from, to;
    char *text;
} SourceEdit;

// In the order of their places: insertions before what begins at the same place, outer ones before inner
// ones.
int source_edits_compare(const SourceEdit *a, const SourceEdit *b);

enum { MOST_EDITS = CHANGE_PLACES };

// Ranks: how likely a variant is the repair.
enum { FIRST, LIKELY, USUAL, RARE, LAST };

typedef struct {
    ChangeKind kind;
    int line, function;
    char words[256]; // "lane < warps instead of lane <= warps in line 30"
    int rank;        // FIRST to LAST
    int turn; // how many of this rank its line has before it, of comparisons or of others: all lines have
              // their turn
    SourceEdit edits[MOST_EDITS];
    int edit_count;
} Variant;

typedef struct {
    Variant *all;
    int count, room;
    bool failed; // memory ran out
} Variants;

// What makes some of them likelier.
typedef struct {
    int line;         // of a finding; 0: none
    bool is_of_order; // the order of threads decides: barriers and fences
    bool is_of_size;  // small sizes are right: loops that lack rounds
} VariantClues;

// Adds the variants of these functions (one flag for each of the code's), at most `most` of the likeliest, in
// the order of their places.
void variants_propose(const Code *code, const bool functions[], const VariantClues *clues, int most,
                      Variants *variants);
// Adds a change of the PTX, "< instead of <= in line 30", as a text for each place of the line that it may mean.
// The number of places, of which some may have no text: 0 if the words are about something else.
int variants_propose_said(const Code *code, ChangeKind kind, int line, const char *words, Variants *variants);
// Whether `a` is to be tried before `b`: < 0.
int variants_compare(const Variant *a, const Variant *b);
void variants_free(Variants *variants);

// The text of kernel.cu in which each variant, numbered from 1 on, is chosen by the variable VARIANT_CHOICE,
// and 0 is the kernel as it is; those with `is_left_out` are not in it, and kernels without `is_needed` (one
// flag for each of the code's functions) do nothing. Receives, for each line, the variant that is in it, or
// -1, and where in kernel.cu it begins; to be freed. No lines when memory runs out.
#define VARIANT_CHOICE "warpbook_variant"
typedef struct {
    int variant; // -1: none
    int from;    // the byte of kernel.cu
} VariantLine;
typedef struct {
    VariantLine *all;
    int count;
} VariantLines;
void variants_write(const Code *code, const Variants *variants, const bool is_left_out[],
                    const bool is_needed[], Text *text, VariantLines *lines);
