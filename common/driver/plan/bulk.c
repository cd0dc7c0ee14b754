#include "driver/plan/bulk.h"

#include <string.h>

// Below this much one core is done before a second has begun.
static const size_t piece_bytes = (size_t)4 << 20;

static size_t length_of(size_t from, size_t bytes) {
    return bytes - from < piece_bytes ? bytes - from : piece_bytes;
}

void copy_bytes(void *to, const void *from, size_t bytes) {
#pragma omp parallel for if (bytes > piece_bytes)
    for (size_t at = 0; at < bytes; at += piece_bytes)
        memcpy((char *)to + at, (const char *)from + at, length_of(at, bytes));
}

void clear_bytes(void *at, size_t bytes) {
#pragma omp parallel for if (bytes > piece_bytes)
    for (size_t from = 0; from < bytes; from += piece_bytes)
        memset((char *)at + from, 0, length_of(from, bytes));
}

bool same_bytes(const void *a, const void *b, size_t bytes) {
    int differences = 0;
#pragma omp parallel for reduction(| : differences) if (bytes > piece_bytes)
    for (size_t at = 0; at < bytes; at += piece_bytes)
        differences |= memcmp((const char *)a + at, (const char *)b + at, length_of(at, bytes)) != 0;
    return differences == 0;
}
