// The size at which a task is timed or modelled.
#pragma once

#include "driver/plan/chapter.h"

// False where a task has no bandwidth by its nature: a table, or NOT_TIMED.
bool task_has_bandwidth(const Task *task);
// .timed or its default, within max_n_gpu and `memory_bytes` (0: any).
CaseSize timed_size(const Task *task, size_t memory_bytes);
