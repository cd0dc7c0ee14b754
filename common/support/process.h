// Runs one program to its end, in its own process group, with its output captured and bounded and limits on
// its time. Processes that it left running are killed too.
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#include "support/text.h"

typedef struct {
    const char *const *arguments;        // NULL terminated; arguments[0] is the path of the program
    const char *const *environment;      // NULL terminated, the whole of it; NULL: ours
    const char *directory;               // to run in; NULL: ours
    double seconds;                      // of wall-clock time; 0: no limit
    double processor_seconds;            // of processor time, with the children it waits for; 0: no limit
    size_t output_limit;                 // bytes kept of stdout and stderr together; more is read and dropped
    size_t memory_limit;                 // address space of each process, bytes; 0: no limit
    size_t file_limit;                   // the largest file it may write, bytes; 0: no limit
    const volatile sig_atomic_t *cancel; // becomes non-zero (by a signal handler) to stop; NULL: never
} ProcessRequest;

typedef struct {
    bool was_started;
    bool timed_out; // either limit on its time was reached
    bool was_cancelled;
    bool output_was_cut;
    int exit_status;          // -1 when it ended by a signal
    int signal;               // that signal, or 0
    double seconds;           // of wall-clock time
    double processor_seconds; // of processor time, with the children it waited for
    Text output;              // stdout and stderr as they came; release with text_free()
    char message[256];        // when it could not be started: why
} ProcessResult;

// True when the program ran and ended with status 0.
bool process_run(const ProcessRequest *request, ProcessResult *result);

// Seconds on a clock that only goes forward.
double monotonic_seconds(void);
