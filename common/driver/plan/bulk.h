// Gigabytes at a time: the inputs of a timed size are copied, cleared and compared on every core there is.
#ifndef WARPBOOK_BULK_H
#define WARPBOOK_BULK_H

#include <stdbool.h>
#include <stddef.h>

void copy_bytes(void *to, const void *from, size_t bytes);
void clear_bytes(void *at, size_t bytes);
bool same_bytes(const void *a, const void *b, size_t bytes);

#endif
