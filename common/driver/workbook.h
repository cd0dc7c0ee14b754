// Where things are: the tree that this program belongs to, the learner's workbook, and the folders of a
// chapter. In a checkout the tree is the workbook. A packaged program is in the package's tree, which also
// holds the solutions and the headers, and the workbook is the learner's folder.
#pragma once

#include <stdbool.h>
#include <stddef.h>

// The nearest folder above this program's file that holds common/include/warpbook.cuh. False, with a sentence
// in `why`, when there is none.
bool workbook_tree(char *path, size_t path_bytes, char *why, size_t why_bytes);

// The workbook whose kernels this program judges: the folder that WARPBOOK_WORKBOOK names, or `tree` when
// that is not set. False, with a sentence in `why`, when the folder has no chapters.
bool workbook_root(const char *tree, char *path, size_t path_bytes, char *why, size_t why_bytes);

// "chapters/ch04_warp_shuffle" below the working folder for "ch04". False when there is no such folder.
bool workbook_chapter(const char *name, char *path, size_t path_bytes);

// `path` from `folder` on where it is relative, as it is where it is absolute; "" for NULL.
void workbook_absolute(const char *folder, const char *path, char *out, size_t out_bytes);
