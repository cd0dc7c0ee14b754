// What a matrix says by itself of which elements were never written: whole rows, or columns of every row.
#pragma once

#include "driver/plan/chapter.h"

// `output`: rows x columns elements of `type`. Writes nothing to `why` if neither explains all of them. The
// number of rows that are written if these are the first ones, and as many as the grid has blocks; else 0.
long long explain_unwritten_rows(const CaseShape *shape, const void *output, ElementType type, char *why,
                                 size_t bytes);
