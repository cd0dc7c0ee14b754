#include "runtime/op.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/graph.h"
#include "runtime/kernel.h"

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

static void release_bodies(Decision *d) {
    for (unsigned i = 0; i < d->body_count; i++)
        if (d->bodies[i]) graph_free(d->bodies[i]);
    free(d->bodies);
    *d = (Decision){0};
}

static bool copy_bodies(const Decision *d, Decision *copy) {
    copy->bodies = calloc(d->body_count, sizeof(cudaGraph_t));
    bool is_whole = copy->bodies != NULL;
    if (!is_whole) copy->body_count = 0;
    for (unsigned i = 0; is_whole && i < d->body_count; i++)
        is_whole = (copy->bodies[i] = graph_ordered(d->bodies[i])) != NULL;
    if (!is_whole) release_bodies(copy);
    return is_whole;
}

bool op_copy(const Op *op, Op *copy) {
    *copy = *op;
    copy->known = (Known){0};
    if (op->kind == OP_DECIDE) return copy_bodies(&op->decision, &copy->decision);
    if (op->kind != OP_LAUNCH) return true; // a copy in a graph reads its source when it runs
    copy->launch.arguments = malloc(op->launch.argument_bytes + 1);
    if (!copy->launch.arguments) return false;
    memcpy(copy->launch.arguments, op->launch.arguments, op->launch.argument_bytes);
    return true;
}

void op_release(Op *op) {
    if (op->kind == OP_LAUNCH) kernel_release(&op->launch);
    if (op->kind == OP_COPY) copy_release(&op->copy);
    if (op->kind == OP_DECIDE) release_bodies(&op->decision);
    known_free(&op->known);
}
