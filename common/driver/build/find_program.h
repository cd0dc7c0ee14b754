// Where programs may be: PATH, virtual environments and Python's packages.
#pragma once

#include <stdbool.h>
#include <stddef.h>

bool is_program(const char *path);
// True if what snprintf() wrote was written completely.
bool text_fits(int written, size_t bytes);
// Looks the program up in PATH. Empty parts (the working folder, which holds learners' files) are skipped.
bool find_in_path(const char *program, char *path, size_t path_bytes);
// The folder so many levels above the one this program is in: the checkout, for ./chNN with 0, for
// build/bin/NAME with 2 and for build/sanitize/bin/NAME with 3.
bool program_folder(int levels, char *folder, size_t bytes);
// Looks for `pattern`, such as "nvidia/cu*/bin/nvcc", among the packages of .venv (below the working folder
// or beside this program) and of $VIRTUAL_ENV.
bool find_in_environments(const char *pattern, char *path, size_t path_bytes);
// The same where `python3` keeps its packages: a matter of tens of milliseconds, so it comes last.
bool find_by_python(const char *pattern, char *path, size_t path_bytes);
