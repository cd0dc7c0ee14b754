#include "runtime/op.h"

#include <stdlib.h>

bool tips_add(Tips *tips, const cudaGraphNode_t *nodes, size_t count) {
    for (size_t i = 0; i < count; i++) {
        size_t at = 0;
        while (at < tips->count && tips->nodes[at] != nodes[i]) at++;
        if (at < tips->count) continue;
        if (tips->count == tips->capacity) {
            const size_t more = tips->capacity ? 2 * tips->capacity : 4;
            cudaGraphNode_t *grown = realloc(tips->nodes, more * sizeof(cudaGraphNode_t));
            if (!grown) return false;
            tips->nodes = grown;
            tips->capacity = more;
        }
        tips->nodes[tips->count++] = nodes[i];
    }
    return true;
}

void tips_free(Tips *tips) {
    free(tips->nodes);
    *tips = (Tips){0};
}
