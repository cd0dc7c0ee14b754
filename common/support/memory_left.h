// How much memory this process may still take.
#pragma once

#include <stddef.h>

// Bytes: what the machine has free, its control group leaves and the process's own limit allows, whichever is
// least. SIZE_MAX where none of them is known.
size_t memory_left(void);
