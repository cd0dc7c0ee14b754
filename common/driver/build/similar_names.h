// The names of a kernel.cu and of CUDA, for advice on one that the compiler does not know.
#pragma once

#include <stdbool.h>

// The first line that declares `name`, as `float name` or `float *name`; 0: none.
int name_declaration(const char *source, const char *name);
// The place of the name in that declaration; -1: none.
long name_declared_at(const char *source, const char *name);
// The name of CUDA or of the source that `name` is closest to, if only a letter or two differ, or only case
// and underscores.
bool name_similar(const char *source, const char *name, char similar[128]);
// The last line before `line` that has more than blanks and a comment; 0: none.
int name_last_line_with_code(const char *source, int line);
