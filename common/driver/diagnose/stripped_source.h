// The learner's text without what says nothing to a compiler, comments and spaces, for expressions to search:
// everybody lays them out differently. It has a line for each of the file.
#ifndef WARPBOOK_STRIPPED_SOURCE_H
#define WARPBOOK_STRIPPED_SOURCE_H

#include "support/text.h"

// Appends `text`, stripped, to `stripped`.
void stripped_text(const char *text, Text *stripped);

// Appends line `line` of it, from 1, to `picked`; nothing where there is no such line.
void stripped_line(const Text *text, int line, Text *picked);

// Makes one line of it all.
void stripped_join_lines(Text *text);

// What stands around two lines, which may be one.
typedef struct {
    bool in_loop;          // a loop has both in its body
    bool loop_has_barrier; // and it, or another such loop, names a barrier of the block or a sync
    bool barrier_between;  // one stands in the text from the upper line to the lower one
    bool way_back_is_open; // and none in the rest of the innermost such loop
} Surroundings;
Surroundings stripped_surroundings(const Text *text, int line, int other);

#endif
