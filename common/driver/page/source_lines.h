// Lines of the learner's source, for the page. File names come out of the image, where a #line directive can
// put anything: only files below the working folder (the root of the workbook) are opened.
#pragma once

#include "support/text.h"

// Line `line` (from 1) of a source file below the working folder, without its newline, safe on a terminal.
// False when there is none. `text` is emptied first.
bool source_line(const char *file, int line, Text *text);
// The whole of such a file, to take several lines of. False where it cannot be read.
bool source_read(const char *file, Text *text);
// Line `line` of a complete text.
bool source_pick(const Text *whole, int line, Text *text);
