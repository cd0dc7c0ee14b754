// The command line of build/bin/emulate.
#pragma once

#include "emulator/emulate_value.h"
#include "emulator/emulator.h"

// Exit statuses.
enum { EXIT_CLEAN = 0, EXIT_FINDINGS = 1, EXIT_USAGE = 2, EXIT_BAD_PTX = 3 };

enum { MAX_ARGUMENTS = 64, MAX_DUMPS = 64, MAX_FILES = 64, MAX_SETTINGS = 64 };

// A module-scope variable and what it is to hold.
typedef struct {
    char *name; // owned
    Value value;
} Setting;

typedef struct {
    const char *files[MAX_FILES];
    int file_count;
    const char *kernel, *json, *trace; // kernel NULL: list what the files hold
    EmulatorLaunch launch;
    bool has_grid, has_block, profile;
    Value arguments[MAX_ARGUMENTS];
    int argument_count;
    Setting settings[MAX_SETTINGS];
    int setting_count;
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
