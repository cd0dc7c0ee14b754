// The modelled times of a reference that is not here: a handout has them in place of the solution.
#pragma once

#include "driver/plan/chapter.h"

// The seconds that the file at `path` has for a task, a size and a device; 0: none. Each of its lines is a
// device, a task, n, rows, columns and seconds, separated by tabs; other lines are comments.
double recorded_reference_seconds(const char *path, const char *device, const char *task, CaseSize size);
