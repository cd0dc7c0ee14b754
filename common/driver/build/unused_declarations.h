// What headers declare and nothing names, left out of preprocessed C++: most of what a compiler reads for a
// kernel of a few hundred lines.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "support/text.h"

// Adds `headers` to `out` without the functions, classes and types that neither `source` nor anything that is
// kept of `headers` names. Both are preprocessed text; a word in a string counts as a name, too. Lines keep
// their numbers. False when memory ran out.
bool add_used_declarations(const Text *headers, const Text *source, Text *out);
