#include "runtime/condition.h"

#include <stdlib.h>

typedef struct {
    unsigned value, first;
    bool is_assigned_at_launch;
} Condition;
static Condition *conditions;
static size_t count, capacity;
static const cudaGraphConditionalHandle FIRST_HANDLE = 0x434f4e440001; // no pointer, and no small number

static Condition *find(cudaGraphConditionalHandle handle) {
    return handle - FIRST_HANDLE < count ? &conditions[handle - FIRST_HANDLE] : NULL;
}

cudaGraphConditionalHandle condition_new(unsigned value, bool is_assigned_at_launch) {
    if (count == capacity) {
        const size_t larger = capacity ? 2 * capacity : 16;
        Condition *grown = realloc(conditions, larger * sizeof *grown);
        if (!grown) return 0;
        conditions = grown;
        capacity = larger;
    }
    conditions[count] = (Condition){value, value, is_assigned_at_launch};
    return FIRST_HANDLE + count++;
}

bool condition_exists(cudaGraphConditionalHandle handle) { return find(handle) != NULL; }

bool condition_set(cudaGraphConditionalHandle handle, unsigned value) {
    Condition *c = find(handle);
    if (c) c->value = value;
    return c != NULL;
}

void condition_assign(cudaGraphConditionalHandle handle) {
    Condition *c = find(handle);
    if (c && c->is_assigned_at_launch) c->value = c->first;
}

unsigned condition_value(cudaGraphConditionalHandle handle) {
    const Condition *c = find(handle);
    return c ? c->value : 0;
}
