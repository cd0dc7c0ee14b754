// Places in PTX: the files that its .file directives name, and the lines that its .loc directives say.
#pragma once

#include "support/text.h"

// Rewrites the `.file` directives of PTX to the names shown to people (which must hold no quote and no
// backslash: PTX has no escapes for them), those of other files to names that are printable and without
// `folder`, which is another every time; and finds the line of each kernel.
bool relabel_ptx(const char *ptx, const char *folder, const char *shown, const char *shown_header,
                 Text *into);
int kernel_line_in_ptx(const char *ptx, const char *kernel, const char *shown);
// The line that PTX line `number` belongs to: that of the last .loc of the file before it. 0: none.
int source_line_of_ptx(const char *ptx, const char *shown, int number);
