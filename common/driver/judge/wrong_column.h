// What a table of several columns says of its wrong numbers: whether all are of one column, or all of a row
// is 0 from some number of threads on.
#pragma once

#include "driver/plan/chapter.h"

// `right` and `got`: the elements of `buffer`, which has a .describe(); numbers are named "COLUMN of ROW".
// Writes nothing to `why` unless several numbers are wrong, and this holds of them and of none of the others.
void explain_wrong_column(const Buffer *buffer, const TableView *view, const void *right, const void *got,
                          char *why, size_t bytes);
