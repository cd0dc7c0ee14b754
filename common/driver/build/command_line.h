// The command lines of the compilers.
#pragma once

#include "driver/build/state.h"

enum { COMMAND_WORDS = 48 };

typedef struct {
    const char *words[COMMAND_WORDS + 1]; // ends with NULL
    int count;
    char architecture[32];
} CommandLine;

// Compiles SOURCE of the private folder to the file OUTPUT there: PTX, or what the second step makes PTX of.
// The words live as long as `build` and `line`.
void compile_command(const Build *build, const char *source, const char *output, CommandLine *line);
// For nvcc: with hardly any optimizations.
void compile_quickly(CommandLine *line);
bool compile_needs_second_step(const Build *build);
void compile_second_command(const Build *build, const char *source, const char *output, CommandLine *line);
