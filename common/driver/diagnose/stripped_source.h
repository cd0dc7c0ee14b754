// The learner's text without comments and spaces, which differ between authors, for expressions to search. It
// has the same number of lines as the file.
#pragma once

#include "support/text.h"

// Appends `text`, stripped, to `stripped`.
void stripped_text(const char *text, Text *stripped);

// Appends its line `line`, counted from 1, to `picked`; appends nothing if there is no such line.
void stripped_line(const Text *text, int line, Text *picked);

// Appends all lines to `rest`, that one empty.
void stripped_without_line(const Text *text, int line, Text *rest);

// Joins all lines into one.
void stripped_join_lines(Text *text);

// The code around two lines, which may be the same.
typedef struct {
    bool in_loop;          // both are in the body of one loop
    bool loop_has_barrier; // and it, or another such loop, has a barrier of the block or a sync
    bool barrier_between;  // there is one in the text from the upper line to the lower one
    bool way_back_is_open; // and none in the rest of the innermost such loop
    bool has_warp_barrier; // a __syncwarp() is between the two lines, or in such a loop
    bool has_fence;        // likewise a __threadfence() or one of its kin
    bool waits_between;    // a loop between the two lines does nothing but wait for a flag
} Surroundings;
Surroundings stripped_surroundings(const Text *text, int line, int other);

// Appends the head of the innermost loop around `line` to `head`, with the condition that a do loop has at
// its end, and returns the line in which the loop begins; 0: there is none.
int stripped_loop(const Text *text, int line, Text *head);
