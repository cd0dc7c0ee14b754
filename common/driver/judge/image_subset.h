// Some places of an image, in words: rows and columns, or all but some. A rule is stated if no place
// contradicts it.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "support/text.h"

// `is_in`: of rows * columns places, row by row. "all outputs", "those of row 0", "those of columns 63 to
// 66", "those of rows 0 to 2 and of columns 0 to 2", "those of row 0 in column 5", "17 of 323 outputs, within
// rows 2 to 9 and columns 0 to 18"; nothing if there are none. Returns how many.
long long image_subset_describe(const bool *is_in, long long rows, long long columns, Text *words);
