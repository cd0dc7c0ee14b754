// A runner is a process that does everything on the device: it opens it, loads the image, allocates, copies,
// launches and reads back, and does not know the expected results. The driver gives it inputs, keeps the
// expected values to itself, and survives anything that happens to it: a crash, a hang, a lost context, a
// reply that makes no sense.
#pragma once

#include "support/text.h"
#include "driver/run/protocol.h"

enum { MAX_STARTED = 4 };

typedef struct Runner Runner;

typedef struct {
    GpuKind kind;
    char profile[64]; // "": the default
    // Loaded into slot 0, 1 ...; where there are none the device is opened and nothing more.
    struct {
        const void *image;
        size_t bytes;
        const char *name;
    } images[MAX_IMAGES];
    int image_count;
    size_t arena_bytes;   // room for data
    size_t address_bytes; // what an emulator may reserve besides
} RunnerPlan;

typedef enum {
    RUN_REPLIED,   // `header` and what follows it are valid
    RUN_CRASHED,   // the process ended; why in `words`
    RUN_TIMED_OUT, // it was stopped
    RUN_GARBAGE,   // its reply was malformed
} RunEnd;

// Valid until the runner's next request or end.
typedef struct {
    RunEnd end;
    char words[512];
    const ReplyHeader *header;
    const Finding *findings;
    const ReplyLine *lines;
    const char *output; // what kernels printed; NUL terminated
    size_t output_bytes;
    bool output_was_cut;
    bool is_machines_fault; // opening or loading: no driver, no memory
    FindingKind finding;    // loading: the image's error, otherwise FINDING_NONE
} RunReply;

// Takes the image into the next slot.
void runner_plan_add(RunnerPlan *plan, const Text *image, const char *name);
// Starts a process, opens the device and loads the image. NULL with the reason in `reply` (its `words`, or
// the header's message) when that fails. `plan` is copied; the images must live as long as the runner.
Runner *runner_start(const RunnerPlan *plan, RunReply *reply);
// Several of the same plan, at most MAX_STARTED, which load at the same time.
void runners_start(const RunnerPlan *plan, int count, Runner *runners[], RunReply replies[]);
void runner_stop(Runner *runner);
const GpuInfo *runner_info(const Runner *runner);
// Ends the process and starts another in its place. False when that fails.
bool runner_restart(Runner *runner, RunReply *reply);
// Loads an image, which is copied, in place of the first, unless it is the one loaded last. False as
// runner_start(): if reply->end is RUN_REPLIED, the runner can load another one.
bool runner_load(Runner *runner, const Text *image, const char *name, RunReply *reply);

// The data part of the arena, for contents of buffers at their arena_offset.
unsigned char *runner_arena(Runner *runner);

size_t runner_arena_bytes(const Runner *runner);   // as planned
size_t runner_address_bytes(const Runner *runner); // as planned

// Sends a TIME or, if it has no kind, a RUN; `request` is completed (magic, kind, sequence) and copied.
// It must be answered within `seconds`.
void runner_begin(Runner *runner, const Request *request, double seconds);
// Waits until one of the busy runners has answered or ended and returns its index; fills `reply`. -1: none is
// busy.
int runners_wait(Runner *const runners[], int count, RunReply *reply);
// Both for one runner alone.
void runner_run(Runner *runner, const Request *request, double seconds, RunReply *reply);
