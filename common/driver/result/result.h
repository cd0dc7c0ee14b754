// The canonical result: JSON of schema "warpbook/result/1", described by docs/result.schema.json.
#ifndef WARPBOOK_RESULT_H
#define WARPBOOK_RESULT_H

#include "support/file.h"
#include "driver/page/report.h"

// Writes it whole to a new file and renames that to `path`. The same run gives the same text but for "times"
// and "build".
bool result_write(const char *path, const Report *report, FileError *error);

#endif
