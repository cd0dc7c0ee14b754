// The cases of a program: what it gets to read, and on what kind of device.
#pragma once

#include "driver/plan/plan.h"
#include "support/file.h"

enum { MOST_PROGRAM_CASES = 96 };

// The cases of all tasks, the small ones first. False when memory ran out.
bool program_plan(const Chapter *of, const Options *options, const Seeds *seeds, Plan *plan);

// The two vectors that a case adds, one after the other: 2 n floats, to be released with free(). NULL: no
// memory.
float *program_inputs(const Task *task, const Case *one, const Seeds *seeds);

// Writes what is needed to run them into FOLDER/00, FOLDER/01 ...: `input` as common/include/program.cuh
// reads it, and `settings` for program_run(). Nothing else about a case is anywhere near the program.
bool program_write_cases(const Chapter *of, const Plan *plan, const Seeds *seeds, const char *gpu,
                         const char *folder, FileError *error);
