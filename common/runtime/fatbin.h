// The PTX texts inside a fat binary, which nvcc puts into an object file.
#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef struct {
    char *text; // the caller frees it
    size_t bytes;
    int architecture; // 90 for compute_90
} FatbinText;

// The text for the newest architecture that is at most `most`. False, with a sentence in `why`: there is
// none.
bool fatbin_text(const void *fatbin, int most, FatbinText *text, char *why, size_t why_bytes);
