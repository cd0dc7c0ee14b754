// The compiler's output as people shall see it.
#pragma once

#include "support/text.h"

// Adds the compiler's output as people shall see it: safe on a terminal, the learner's file under the
// name `shown`, and without remarks that help nobody.
void add_readable_log(Text *into, const char *output, size_t bytes, const char *shown);
// Adds at most `lines` lines of the text and says how many more there are.
void add_first_lines(Text *into, const char *text, int lines);
// True if a line of the output names a place in the learner's file.
bool log_names_source(const char *output);
