// Reading and checking what is to be compiled.
#pragma once

#include "driver/build/state.h"

// The path as people see it: relative to the working folder where the file is below it.
void compile_show_path(const char *path, char *shown, size_t bytes);
// Strings in PTX have no escapes: what would need one becomes '?'.
void compile_make_label(char *path);
// Both read, check and hash their file. False after an end.
bool compile_read_source(Build *build);
bool compile_read_header(Build *build);
// True when the source is the only thing that can change what comes out, besides warpbook.cuh and the
// toolkit.
bool is_self_contained(const char *text);
// Whether it is a whole program with a main(): it includes program.cuh.
bool is_whole_program(const char *text);
