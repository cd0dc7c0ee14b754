// The command line of every ./chNN.
#pragma once

#include "gpu/gpu.h"
#include "driver/plan/chapter.h"

enum { MAX_TIMES = 64, MAX_ALSO = 16 };

typedef struct {
    GpuKind device;
    GpuKind asked_device;      // as it was before auto became one of the others
    char profile[64];          // "": the default
    const char *kernel_file;   // another kernel.cu or image; NULL: the chapter's own
    const char *against_file;  // the kernel to be timed against; NULL: the chapter's solution
    CaseSize times[MAX_TIMES]; // sizes to time, in place of the cases; rows and columns where given so
    int time_count;
    CaseSize also[MAX_ALSO]; // sizes besides the chapter's own
    int also_count;
    long long n; // -1: every size of the chapter
    bool has_seed;
    uint64_t seed;       // of the inputs, as a failure names it
    const char *secret;  // what inputs and schedules depend on besides the kernel's text; "": nothing
    int schedules;       // besides schedule 0; -1: as many as the chapter says
    bool is_for_editors; // the result as editors read it, instead of the page
    int repair_work;     // page_work.h; 0: nothing is looked for
    bool has_schedule;
    uint64_t schedule;         // only this one
    const char *cases_folder;  // of a program: write its cases there, and nothing else; NULL: judge
    const char *outcomes_file; // of a program: what it left behind when it ran on them; NULL: run it
    const char *json_file;
    const char *trace_file;
    bool is_trace_only; // and nothing else
    bool is_profile, is_quiet, is_help;
    bool wants_ptx, wants_sass; // list the instructions, and nothing else
} Options;

// False for a wrong command line; `why` says what is wrong, in one sentence.
bool options_parse(int count, char **arguments, Options *options, char *why, size_t why_bytes);
// The text of --help for the chapter of that name.
void options_print_help(const char *name);
