// Where things are: the root of the workbook, from the place of the running program, and the folders of a
// chapter.
#pragma once

#include <stdbool.h>
#include <stddef.h>

// The nearest folder above this program's file that holds common/include/warpbook.cuh. False, with a sentence
// in `why`, when there is none.
bool workbook_root(char *path, size_t path_bytes, char *why, size_t why_bytes);

// "chapters/ch04_warp_shuffle" below the working folder for "ch04". False when there is no such folder.
bool workbook_chapter(const char *name, char *path, size_t path_bytes);

// `path` from `folder` on where it is relative, as it is where it is absolute; "" for NULL.
void workbook_absolute(const char *folder, const char *path, char *out, size_t out_bytes);
