#include "runtime/op.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/kernel.h"

bool op_copy(const Op *op, Op *copy) {
    *copy = *op;
    copy->known = (Known){0};
    if (op->kind != OP_LAUNCH) return true; // a copy in a graph reads its source when it runs
    copy->launch.arguments = malloc(op->launch.argument_bytes + 1);
    if (!copy->launch.arguments) return false;
    memcpy(copy->launch.arguments, op->launch.arguments, op->launch.argument_bytes);
    return true;
}

void op_release(Op *op) {
    if (op->kind == OP_LAUNCH) kernel_release(&op->launch);
    if (op->kind == OP_COPY) copy_release(&op->copy);
    known_free(&op->known);
}
