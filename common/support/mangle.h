// Names as nvcc writes them into PTX, and as the learner wrote them: the part of the Itanium C++ ABI's
// mangling (its section 5.1) that kernels and module-scope variables need. No full demangler: whatever is
// beyond it is shown unchanged.
#pragma once

#include <stdbool.h>
#include <stddef.h>

// True when `symbol` is the source name `name`: itself, or mangled as a function of global scope, any
// instance of a template included: "_Z11sum_shufflePKfPfi".
bool symbol_is(const char *symbol, const char *name);

// The name as the learner wrote it: the innermost name of a mangled symbol ("counter" of
// "_ZZN2ns5innerEPiE7counter"), else the symbol itself.
void symbol_source_name(const char *symbol, char *name, size_t name_bytes);

// The parameter types of a mangled function in C words, "const float *, float *, int". False when the
// symbol is not mangled or holds a type beyond this reader.
bool symbol_parameters(const char *symbol, char *words, size_t words_bytes);
