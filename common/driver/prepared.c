#include "prepared.h"

#include <stdlib.h>
#include <string.h>

#include "elements.h"
#include "shape.h"

static void clear(Prepared *prepared) {
    for (int b = 0; b < MAX_BUFFERS; b++) free(prepared->inputs[b]);
    expected_free(&prepared->expected);
    *prepared = (Prepared){0};
}

// How many elements go into one result: what keeps whole-number sums exact.
static long long terms_of(const Task *task, const CaseShape *shape, long long count) {
    switch (task->expect) {
    case EXPECT_ROW_SUMS: return shape->size.columns;
    case EXPECT_ELEMENTWISE:
    case EXPECT_TRANSPOSE: return 16;
    default: return count;
    }
}

static bool fill(Prepared *prepared, const Task *task, const CaseShape *shape, uint64_t seed) {
    for (int b = 0; b < task_buffer_count(task); b++) {
        const Buffer *buffer = &task->buffers[b];
        if (buffer->role != INPUT) continue;
        const long long count = prepared->counts[b];
        const size_t bytes = (size_t)count * element_bytes(buffer->type);
        prepared->inputs[b] = malloc(bytes + 1);
        if (!prepared->inputs[b]) return false;
        if (buffer->data)
            memcpy(prepared->inputs[b], buffer->data, bytes);
        else
            fill_inputs(prepared->inputs[b], buffer->type, count, terms_of(task, shape, count),
                        prepared->family, seed, (unsigned)b);
    }
    const void *inputs[MAX_BUFFERS];
    for (int b = 0; b < MAX_BUFFERS; b++) inputs[b] = prepared->inputs[b];
    // A failure stands in expected.error and is reported with the case.
    expected_make(task, shape, inputs, prepared->counts, &prepared->expected);
    return true;
}

Prepared *prepared_take(PreparedCache *cache, const Task *task, const Case *wanted, const CaseShape *shape,
                        const long long counts[MAX_BUFFERS], uint64_t seed) {
    Prepared *oldest = NULL;
    for (int i = 0; i < PREPARED_SLOTS; i++) {
        Prepared *slot = &cache->slots[i];
        if (slot->is_used && slot->task == wanted->task && slot->family == wanted->family &&
            memcmp(&slot->size, &wanted->size, sizeof slot->size) == 0) {
            slot->users++;
            slot->stamp = ++cache->stamp;
            return slot;
        }
        if (slot->users == 0 && (!oldest || slot->stamp < oldest->stamp)) oldest = slot;
    }
    if (!oldest) return NULL; // more cases under way than slots: the judge has fewer runners than that
    clear(oldest);
    oldest->is_used = true;
    oldest->task = wanted->task;
    oldest->size = wanted->size;
    oldest->family = wanted->family;
    memcpy(oldest->counts, counts, sizeof oldest->counts);
    if (!fill(oldest, task, shape, seed)) {
        clear(oldest);
        return NULL;
    }
    oldest->users = 1;
    oldest->stamp = ++cache->stamp;
    return oldest;
}

void prepared_release(Prepared *prepared) {
    if (prepared) prepared->users--;
}

void prepared_free_all(PreparedCache *cache) {
    for (int i = 0; i < PREPARED_SLOTS; i++) clear(&cache->slots[i]);
}
