// The commands that messages suggest. In a checkout they are make's and ./chNN; in a folder that the
// package's command `warpbook` made, they are that command's. It says so with WARPBOOK_COMMAND=warpbook in
// the environment.
#pragma once

#include <stdbool.h>
#include <stddef.h>

// What comes before a chapter's name to run it: "./" or "warpbook ".
const char *command_run(void);

// What comes before a target that both have, such as doctor: "make " or "warpbook ".
const char *command_make(void);

// How to build and judge a chapter: "make ch02 && ./ch02" or "warpbook ch02".
void command_judge(const char *chapter, char *words, size_t bytes);

// How to get a hint: "make hint-ch04 STEP=2" or "warpbook hint ch04 --step 2"; a step of 0 is not mentioned.
void command_hint(const char *chapter, int step, char *words, size_t bytes);
