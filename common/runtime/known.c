#include "runtime/known.h"

#include <stdlib.h>

static bool reach(Known *known, int count) {
    if (count <= known->count) return true;
    unsigned long *last = realloc(known->last, (size_t)count * sizeof *last);
    if (!last) return false;
    for (int i = known->count; i < count; i++) last[i] = 0;
    *known = (Known){last, count};
    return true;
}

bool known_join(Known *known, const Known *more) {
    if (!reach(known, more->count)) return false;
    for (int i = 0; i < more->count; i++)
        if (more->last[i] > known->last[i]) known->last[i] = more->last[i];
    return true;
}

bool known_add(Known *known, int stream, unsigned long number) {
    if (!reach(known, stream + 1)) return false;
    if (number > known->last[stream]) known->last[stream] = number;
    return true;
}

bool known_has(const Known *known, int stream, unsigned long number) {
    return stream < known->count && known->last[stream] >= number;
}

void known_free(Known *known) {
    free(known->last);
    *known = (Known){0};
}
