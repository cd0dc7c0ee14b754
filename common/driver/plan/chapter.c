#include "driver/plan/chapter.h"

#include <string.h>

int task_buffer_count(const Task *task) {
    int count = 0;
    while (count < MAX_BUFFERS && task->buffers[count].name) count++;
    return count;
}

bool task_has_workspace(const Task *task) {
    for (int b = 0; b < task_buffer_count(task); b++)
        if (task->buffers[b].role == ZEROED) return true;
    return false;
}

int task_launch_count(const Task *task) {
    int count = 0;
    while (count < MAX_LAUNCHES && task->launches[count].kernel) count++;
    return count;
}

int task_find_buffer(const Task *task, const char *name) {
    int count = task_buffer_count(task);
    for (int i = 0; i < count; i++)
        if (strcmp(task->buffers[i].name, name) == 0) return i;
    return -1;
}

int task_find_launch(const Task *task, const char *kernel) {
    int count = task_launch_count(task);
    for (int i = 0; i < count; i++)
        if (strcmp(task->launches[i].kernel, kernel) == 0) return i;
    return -1;
}

bool task_hides_answers(const Task *task) {
    for (int b = 0; b < task_buffer_count(task); b++)
        if (task->buffers[b].hides_answer) return true;
    return false;
}

bool chapter_hides_answers(const Chapter *chapter) {
    for (int t = 0; t < chapter_task_count(chapter); t++)
        if (task_hides_answers(&chapter->tasks[t])) return true;
    return false;
}

int task_input(const Task *task) {
    if (task->input) return task_find_buffer(task, task->input);
    int count = task_buffer_count(task);
    for (int i = 0; i < count; i++)
        if (task->buffers[i].role == INPUT) return i;
    return -1;
}

int task_output(const Task *task) {
    if (task->output) return task_find_buffer(task, task->output);
    int count = task_buffer_count(task);
    for (int i = 0; i < count; i++)
        if (task->buffers[i].role == OUTPUT || task->buffers[i].role == OUTPUT_ZEROED) return i;
    return -1;
}

int chapter_task_count(const Chapter *of) {
    int count = 0;
    while (count < MAX_TASKS && of->tasks[count].name) count++;
    return count;
}

int chapter_goal_count(const Chapter *of) {
    int count = 0;
    while (count < MAX_GOALS && of->goals[count].words) count++;
    return count;
}

// `depth` ends a chapter's mistake of two buffers that each have as many elements as the other.
static long long value_within(const Task *task, const Quantity *quantity, const CaseShape *shape, int depth) {
    const ShapeOfLaunch *launch = NULL;
    if (quantity->kind >= QUANTITY_PER_THREAD && quantity->kind <= QUANTITY_PER_BLOCK) {
        int index = quantity->of ? task_find_launch(task, quantity->of) : 0;
        if (index < 0) return -1;
        launch = &shape->launches[index];
    }
    switch (quantity->kind) {
    case QUANTITY_N: return shape->size.n;
    case QUANTITY_ROWS: return shape->size.rows;
    case QUANTITY_COLUMNS: return shape->size.columns;
    case QUANTITY_DEPTH: return shape->size.depth;
    case QUANTITY_ROWS_BY_DEPTH: return shape->size.rows * shape->size.depth;
    case QUANTITY_DEPTH_BY_COLUMNS: return shape->size.depth * shape->size.columns;
    case QUANTITY_FIXED: return quantity->value;
    case QUANTITY_PER_THREAD: return launch->threads;
    case QUANTITY_PER_WARP: return launch->warps;
    case QUANTITY_PER_BLOCK: return launch->blocks;
    case QUANTITY_ELEMENTS_OF: {
        int index = quantity->of ? task_find_buffer(task, quantity->of) : -1;
        if (index < 0 || depth > MAX_BUFFERS) return -1;
        return value_within(task, &task->buffers[index].count, shape, depth + 1);
    }
    case QUANTITY_FUNCTION: return quantity->function ? quantity->function(shape) : -1;
    }
    return -1;
}

long long quantity_value(const Task *task, const Quantity *quantity, const CaseShape *shape) {
    return value_within(task, quantity, shape, 0);
}
