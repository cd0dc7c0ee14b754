// The command lines of the compilers.
#pragma once

#include "driver/build/state.h"

enum { COMMAND_WORDS = 48 };

typedef struct {
    const char *words[COMMAND_WORDS + 1]; // ends with NULL
    int count;
    char architecture[32];
} CommandLine;

// Compiles SOURCE of the private folder to the PTX file OUTPUT there. The words live as long as `build` and
// `line`.
void compile_command(const Build *build, const char *source, const char *output, CommandLine *line);
