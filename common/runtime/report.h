// What was found: printed as it is met, counted, and written as JSON at the end.
#pragma once

#include <stdbool.h>

#include "emulator/emulator.h"
#include "runtime/place.h"

enum { MOST_DEVICES = 8 };

// Set by the environment, which `./warpbook run` and its like prepare.
typedef struct {
    bool checks;     // WARPBOOK_CHECK=1: all checks, and findings beyond those that end a kernel
    int exit_status; // WARPBOOK_ERROR_EXITCODE: of a program with findings; 0: its own
    unsigned long
        seed; // WARPBOOK_SEED: of schedules and of the order of asynchronous work; 0: as late as possible
    const char *gpu;      // WARPBOOK_GPU: the profile of the device; NULL: the H200
    int devices;          // WARPBOOK_DEVICES: how many of them there are, 1 to MOST_DEVICES
    const char *findings; // WARPBOOK_FINDINGS: the file for the findings as JSON, in which %p stands for the
                          // number of the process; NULL: none
    const char *ptx;      // WARPBOOK_PTX: a folder for the PTX that is run, 0.ptx and so on; NULL: none
    const char *profile;  // WARPBOOK_PROFILE: the file for counters and times as JSON; NULL: none
    const char *record;   // WARPBOOK_RECORD: the file for the record of record.h; NULL: none
    size_t memory;        // WARPBOOK_MEMORY: bytes of device memory that are free; 0: all that the device has
    int failing; // WARPBOOK_FAIL: of the places in the program that call CUDA, in the order in which it
                 // comes to them, the one whose first call fails; 0: none
} Options;
const Options *options(void);

// What a program did wrong on the host.
typedef enum {
    HOST_ACCESS,    // the host touched device memory
    HOST_POINTER,   // a kernel got a host pointer
    COPY_DIRECTION, // a copy in another direction than it says
    COPY_SIZE,      // a copy beyond the end of memory
    BAD_FREE,       // freed twice, or never allocated
    LEAK,           // not freed at exit
    UNCHECKED,      // an error that the program did not look at
    BAD_LAUNCH,     // an impossible launch
    USE_AFTER_FREE,
    UNORDERED,      // work in two streams that nothing orders
    READ_TOO_EARLY, // before asynchronous work was waited for
    BAD_CALL,       // any other call with arguments that cannot be meant
} HostFinding;

// Reports what the program did wrong at `place`; the same kind at the same place is reported once. The words
// after `format` are a sentence or two without the place.
void report_host(HostFinding kind, const Place *place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
// Adds a line to the finding that was reported last, if it was printed: "allocated at vector.cu:14".
void report_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
// Reports what a kernel did wrong; false if it was met before, or if it is an information.
bool report_kernel(const Finding *finding, const char *kernel, const Place *launched);
// The first call that failed, if the program runs where one is meant to (WARPBOOK_MEMORY, WARPBOOK_FAIL):
// prints it for who runs the program. Findings after it say so.
void report_failure(const Place *place, const char *text);
bool failure_is_reported(void);
// After it: the program makes another call, which is not part of giving up. Prints the first one.
void report_continues(const Place *place);
// A remark that is not a finding, once for each text: a missing function.
// Reports a call that gets what it cannot use: "cudaEventRecord gets an event that was destroyed before".
void report_call(const char *call, const char *what);
void report_once(const char *format, ...) __attribute__((format(printf, 1, 2)));

int report_count(void);
// Writes the JSON, if it was asked for, and a line with the number of findings. `status`: of the program.
void report_end(int status);
