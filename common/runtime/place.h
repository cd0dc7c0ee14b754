// Where in the program a call came from.
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { PLACE_FRAMES = 8 };

// Return addresses outside this library, the innermost first; NULL after the last.
typedef struct {
    void *frames[PLACE_FRAMES];
} Place;

// The calls that led here.
void place_here(Place *place);
// The file and line of the innermost frame that is in the program's own source, not in a header of CUDA's or
// of the compiler's. False without debug information (nvcc -g): `file` is then the program or library.
bool place_line(const Place *place, char *file, size_t file_bytes, int *line);
// "vector.cu:14", or "main + 0x3f of ./vector".
void place_text(const Place *place, char *text, size_t text_bytes);
// That path relative to the current folder if it lies below it.
const char *place_short(const char *path);
