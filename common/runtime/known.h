// What happened before what: for each stream, the last of its operations that is known to be done. Streams,
// events, operations and the host have one each.
#pragma once

#include <stdbool.h>

typedef struct {
    unsigned long *last; // by the stream's index: the number of an operation; 0: none
    int count;           // of streams; those beyond have none
} Known;                 // zero: knows nothing

// `known` also knows what `more` does. False when memory ran out.
bool known_join(Known *known, const Known *more);
bool known_add(Known *known, int stream, unsigned long number);
// Whether operation `number` of that stream is known.
bool known_has(const Known *known, int stream, unsigned long number);
void known_free(Known *known);
