// One compilation under way, and how it ends: what the files of the compile step work on.
#pragma once

#include <limits.h>

#include "support/text.h"
#include "driver/build/build_json.h"
#include "driver/build/outcome.h"
#include "driver/build/toolchain.h"

enum {
    COMPILE_DEFAULT_SECONDS = 30, // of processor time
    // How many times that limit may pass by the clock on the wall: on a busy machine a compiler that works
    // waits for a processor, and one that waits for something else must end.
    COMPILE_PATIENCE = 5,
};

// What one call of compile_kernel() works with.
typedef struct {
    const CompileRequest *request;
    CompileResult *result;
    CompileKey key;
    double began, deadline; // by monotonic_seconds()
    double compilers_began; // likewise
    double limit, used;     // seconds of processor time: for all compilers together, and what they took
    Text source, header, program_header, ptx, cubin; // program_header: empty unless it is a whole program
    char runtime[PATH_MAX + 32]; // the folder of the runtime library that a whole program is linked to
    char label[512];             // result->source as PTX can hold it
    char header_label[PATH_MAX];
    char include[PATH_MAX];     // the folder of warpbook.cuh
    char folder[PATH_MAX + 32]; // private, absolute; "" before it is made
    int lock;
    Toolchain toolchain;
    const char *environment[8];
    char environment_text[4][8192];
} Build;

// End with a message, which the first takes over. Always false.
bool compile_end_with(Build *build, CompileStatus status, Text *message);
bool compile_end(Build *build, CompileStatus status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool compile_end_without_memory(Build *build);
// Writes a file into the private folder. False after an end.
bool compile_put(Build *build, const char *name, const Text *content);
