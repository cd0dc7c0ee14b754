// Words of kernel.cu.
#pragma once

#include <ctype.h>
#include <stdbool.h>

// Whether this character is a part of a name or a number.
static inline bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }
