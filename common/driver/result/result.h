// The canonical result: JSON of schema "warpbook/result/1", described by docs/result.schema.json.
#pragma once

#include "support/file.h"
#include "driver/page/report.h"

// Writes it to a new file and renames that to `path`. The same run gives the same text except for "times" and
// "build".
bool result_write(const char *path, const Report *report, FileError *error);

// A run by hand counts: what a full run of the learner's own kernel came to is left where the grader finds it
// (grader/learner/by_hand.py) and takes it into the history.
//
// Writes build/results/by-hand/chNN.json, in the folder of the workbook, where the run is one that counts:
// every case of the chapter's own kernel.cu against its own reference, and not started by the grader, which
// records what it runs itself. False when it should have been written and could not be.
bool by_hand_keep(const Report *report, FileError *error);
