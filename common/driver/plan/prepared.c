#include "driver/plan/prepared.h"

#include <stdlib.h>
#include <string.h>

#include "driver/plan/elements.h"
#include "driver/plan/filter.h"
#include "driver/plan/product.h"

static void clear(Prepared *prepared) {
    for (int b = 0; b < MAX_BUFFERS; b++) free(prepared->inputs[b]);
    expected_free(&prepared->expected);
    *prepared = (Prepared){0};
}

// The number of elements in one result, which keeps whole-number sums exact.
static long long terms_of(const Task *task, const CaseShape *shape, Family family, long long count) {
    switch (task->expect) {
    case EXPECT_FILTER: return family == FAMILY_INTEGERS ? filter_terms(task) : count;
    case EXPECT_PRODUCT:
        return family == FAMILY_INTEGERS ? product_terms(shape->size.depth) : shape->size.depth;
    case EXPECT_ROW_SUMS:
    case EXPECT_ROWS: return shape->size.columns;
    case EXPECT_ELEMENTWISE:
    case EXPECT_TRANSPOSE: return ELEMENTS_OF_SPECIALS;
    default: return count;
    }
}

bool prepared_has_several(const Task *task, const CaseSize *size) {
    const bool is_map = task->expect == EXPECT_ELEMENTWISE || task->expect == EXPECT_TRANSPOSE;
    return is_map ? size->n > ELEMENTS_OF_SPECIALS : task->expect != EXPECT_FILTER && size->rows > 1;
}

static bool has_no_sums(const Task *task) {
    return task->expect == EXPECT_ELEMENTWISE || task->expect == EXPECT_TRANSPOSE ||
           task->expect == EXPECT_FILTER;
}

static bool fill(Prepared *prepared, const Task *task, const CaseShape *shape, uint64_t seed) {
    for (int b = 0; b < task_buffer_count(task); b++) {
        const Buffer *buffer = &task->buffers[b];
        if (buffer->role != INPUT) continue;
        const long long count = prepared->counts[b];
        const size_t bytes = (size_t)count * element_bytes(buffer->type);
        prepared->inputs[b] = malloc(bytes + 1);
        if (!prepared->inputs[b]) return false;
        if (buffer->make)
            buffer->make(&(TableView){.seed = seed, .count = count}, prepared->inputs[b]);
        else if (buffer->data)
            memcpy(prepared->inputs[b], buffer->data, bytes);
        else
            fill_inputs(
                prepared->inputs[b], buffer->type, count, terms_of(task, shape, prepared->family, count),
                prepared->family == FAMILY_INTEGERS ? buffer->family : prepared->family, seed, (unsigned)b);
        if (prepared->family == FAMILY_INTEGERS && has_no_sums(task) && !buffer->make && !buffer->data)
            place_zeros(prepared->inputs[b], buffer->type, count, seed, (unsigned)b);
        const bool is_special = prepared->family == FAMILY_NAN || prepared->family == FAMILY_INFINITY;
        if (is_special && task->expect == EXPECT_PRODUCT)
            product_place_zeros(prepared->inputs[b], count, seed, (unsigned)b);
    }
    const void *inputs[MAX_BUFFERS];
    for (int b = 0; b < MAX_BUFFERS; b++) inputs[b] = prepared->inputs[b];
    // A failure is stored in expected.error and reported with the case.
    expected_make(task, shape, inputs, prepared->counts, seed, &prepared->expected);
    return true;
}

// Whether two tasks have the same inputs and expect the same of them.
static bool are_alike(const Task *a, const Task *b) {
    if (a == b) return true;
    if (a->expect != b->expect || a->element != b->element || a->reference != b->reference ||
        a->row != b->row || a->is_exclusive != b->is_exclusive || a->filter.radius != b->filter.radius ||
        a->filter.fixed != b->filter.fixed || task_buffer_count(a) != task_buffer_count(b) ||
        task_input(a) != task_input(b) || task_output(a) != task_output(b))
        return false;
    for (int i = 0; i < task_buffer_count(a); i++)
        if (a->buffers[i].role != b->buffers[i].role || a->buffers[i].type != b->buffers[i].type ||
            a->buffers[i].family != b->buffers[i].family || a->buffers[i].data != b->buffers[i].data ||
            a->buffers[i].make != b->buffers[i].make)
            return false;
    return true;
}

// The sizes that inputs and results depend on; the counts of partials and scratch depend on the launch shape.
static bool have_same_counts(const Task *task, const long long a[], const long long b[]) {
    for (int i = 0; i < task_buffer_count(task); i++)
        if ((task->buffers[i].role == INPUT ||
             (i == task_output(task) && task->expect != EXPECT_SUM && task->expect != EXPECT_TABLE)) &&
            a[i] != b[i])
            return false;
    return true;
}

// Gigabytes are not kept for a case that may never run.
static void drop_large(PreparedCache *cache) {
    static const long long large = 1 << 24;
    for (int i = 0; i < PREPARED_SLOTS; i++)
        if (cache->slots[i].users == 0 && cache->slots[i].size.n > large) clear(&cache->slots[i]);
}

Prepared *prepared_take(PreparedCache *cache, const Task *task, const Case *wanted, const CaseShape *shape,
                        const long long counts[MAX_BUFFERS], uint64_t seed) {
    for (int i = 0; i < PREPARED_SLOTS; i++) {
        Prepared *slot = &cache->slots[i];
        if (!slot->is_used || slot->family != wanted->family || !are_alike(slot->task, task) ||
            memcmp(&slot->size, &wanted->size, sizeof slot->size) != 0 ||
            !have_same_counts(task, slot->counts, counts))
            continue;
        slot->users++;
        slot->stamp = ++cache->stamp;
        return slot;
    }
    drop_large(cache);
    Prepared *oldest = NULL;
    for (int i = 0; i < PREPARED_SLOTS; i++) {
        Prepared *slot = &cache->slots[i];
        if (slot->users == 0 && (!oldest || slot->stamp < oldest->stamp)) oldest = slot;
    }
    if (!oldest) return NULL; // more cases in progress than slots: the judge has fewer runners than that
    clear(oldest);
    oldest->is_used = true;
    oldest->task = task;
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
