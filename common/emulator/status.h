// How a call to the emulator ends, and places in source code: the types that every stage uses.
#pragma once

#include <stddef.h>

// What makes a call fail, as opposed to what a kernel does wrong.
typedef enum {
    EMULATOR_OK,
    EMULATOR_BAD_PTX,     // the text is not valid PTX: message has line, column and a caret
    EMULATOR_UNSUPPORTED, // PTX that this emulator does not know: message names it
    EMULATOR_NO_MEMORY,
    EMULATOR_BAD_ARGUMENT, // of a call to this library
    EMULATOR_TOO_LARGE,    // valid PTX that asks for more memory than a device or the parser has
} EmulatorStatus;

typedef struct {
    EmulatorStatus status;
    int line, column; // in the PTX text, from 1; 0 when unknown
    char file[256];   // the learner's file, from .loc; "" when unknown
    int source_line;  // in that file; 0 when unknown
    char message[2048];
} EmulatorError;

// PTX as it is given to the emulator; `name` is for messages.
typedef struct {
    const char *text;
    size_t bytes;
    const char *name;
} EmulatorText;

// A place in the learner's source, and the line of PTX that came from it.
typedef struct {
    char file[256]; // "" when unknown
    int line;       // 0 when unknown
    int column;
    int ptx_line;
    int call; // the line of the same file in which the function of `line` was called; 0: it is none, or
              // unknown
} SourcePlace;
