// The command line of build/bin/emulate.
#pragma once

#include "emulator/emulator.h"

// Exit statuses.
enum { EXIT_CLEAN = 0, EXIT_FINDINGS = 1, EXIT_USAGE = 2, EXIT_BAD_PTX = 3 };

enum { MAX_ARGUMENTS = 64, MAX_DUMPS = 64 };

typedef struct {
    char type; // 'b': buffer, 'v': value
    unsigned char value[8];
    size_t bytes;     // of the value, or of the buffer
    char *spec;       // as given, cut up; owned
    const char *file; // in `spec`: NULL, "zero" or a path
    uint64_t address;
} Argument;

typedef struct {
    const char *ptx, *kernel, *json, *trace;
    EmulatorLaunch launch;
    bool has_grid, has_block, profile;
    Argument arguments[MAX_ARGUMENTS];
    int argument_count;
    struct {
        int index;
        const char *file;
    } dumps[MAX_DUMPS];
    int dump_count;
} Request;

// Reads the command line. 0: run it; otherwise the exit status + 1, after the help or a message.
int read_request(int argc, char **argv, Request *request);
// Frees what read_request() allocated, also where it failed.
void request_free(Request *request);
