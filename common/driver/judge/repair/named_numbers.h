// The whole numbers to which kernel.cu gives a name: `const int SIDE = 32, TILE = 2 * SIDE;`, `#define BINS
// 256` and `enum { NOTHING, SUM }`.
#pragma once

#include <stdbool.h>

enum { NAMED_NUMBERS = 32, NAMED_BYTES = 40 };

typedef struct {
    char name[NAMED_BYTES];
    long value;
    int line; // 0: outside of all functions
} NamedNumber;

typedef struct {
    NamedNumber all[NAMED_NUMBERS];
    int count;
} NamedNumbers;

// `source`: the text of kernel.cu; NULL: none. What cannot be computed, or has two values, is left out.
void named_numbers_find(const char *source, NamedNumbers *numbers);
// The number behind a name; false: it is none of them.
bool named_number(const NamedNumbers *numbers, const char *name, int length, long *value);
// The value of an expression that begins at `*at`, which is moved behind it; false: it cannot be computed.
bool named_numbers_evaluate(const NamedNumbers *numbers, const char **at, long *value);
