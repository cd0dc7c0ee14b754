#include "driver/plan/timed_size.h"

#include "driver/plan/elements.h"

bool task_has_bandwidth(const Task *task) {
    return task->expect != EXPECT_TABLE && task->timed.n >= 0 && task_launch_count(task) > 0;
}

static CaseSize complete(CaseSize size) {
    if (size.n == 0) size.n = size.rows * size.columns;
    return size;
}

// A size as the chapter's own sizes have it, or plain.
static bool has_rows(const Task *task) {
    return task->size_count > 0 && task->sizes && (task->sizes[0].rows || task->sizes[0].columns);
}

// Half of the memory is for the inputs and outputs of one run; the rest is for a second kernel's outputs,
// what cleans the cache, and others.
static bool has_room(const Task *task, const CaseSize *size, size_t memory_bytes) {
    double bytes = 0;
    const CaseShape shape = {.size = *size};
    for (int b = 0; b < task_buffer_count(task); b++) {
        // Partials of blocks and the like are at most as many as the elements.
        const Quantity *count = &task->buffers[b].count;
        const bool is_of_product =
            count->kind == QUANTITY_ROWS_BY_DEPTH || count->kind == QUANTITY_DEPTH_BY_COLUMNS;
        const double elements = is_of_product ? (double)quantity_value(task, count, &shape) : (double)size->n;
        bytes += elements * (double)element_bytes(task->buffers[b].type);
    }
    return memory_bytes == 0 || bytes <= 0.5 * (double)memory_bytes;
}

CaseSize timed_size(const Task *task, size_t memory_bytes) {
    const long long limit = task->max_n_gpu;
    if (has_rows(task) && task->timed.n == 0 && task->timed.rows == 0) {
        CaseSize largest = {0};
        for (int i = 0; i < task->size_count; i++) {
            CaseSize size = complete(task->sizes[i]);
            if (size.n > largest.n && (limit == 0 || size.n <= limit) && has_room(task, &size, memory_bytes))
                largest = size;
        }
        return largest;
    }
    CaseSize size = complete(task->timed);
    if (size.n == 0) size.n = 1LL << 28;
    if (size.rows || size.columns) { // halves of rows, so that the shape of a row stays
        while (size.rows > 1 && ((limit > 0 && size.n > limit) || !has_room(task, &size, memory_bytes))) {
            size.rows /= 2;
            size.n = size.rows * size.columns;
        }
        return size;
    }
    if (limit > 0 && size.n > limit) size.n = limit;
    while (size.n > 1 && !has_room(task, &size, memory_bytes)) size.n /= 2;
    return size;
}
