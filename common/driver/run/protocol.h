// The messages between the driver and its runner over a socket pair: fixed structures, because both ends are
// the same build of one program. Bulk data is in an arena that both map; messages refer to places in it.
#pragma once

#include "emulator/model/model.h"
#include "gpu/gpu.h"
#include "driver/plan/chapter.h"

#define PROTOCOL_MAGIC 0x5742524bu // "WBRK"

enum {
    RUNNER_SOCKET = 3, // file descriptors of the runner
    RUNNER_ARENA = 4,
    IMAGE_COPIES = 4,   // of each where it is timed
    MAX_IMAGES = 2,     // the one that is judged, and the reference
    MAX_SAMPLES = 2000, // of each of the two that are timed
    MAX_REPLY_FINDINGS = 64,
    MAX_REPLY_LINES = 4096,
    MAX_REPLY_OUTPUT = 64 * 1024,
    MAX_SAMPLE = 24,        // blocks of a launch, where not all are run
    EMULATED_SECONDS = 120, // of a processor, for one launch on the emulator
};

typedef enum { REQUEST_OPEN = 1, REQUEST_LOAD, REQUEST_RUN, REQUEST_TIME, REQUEST_SAMPLE } RequestKind;

typedef enum { FILL_DATA, FILL_POISON, FILL_ZERO, FILLS } Fill;

typedef struct {
    char name[64];
    uint64_t bytes;
    uint64_t arena_offset; // of its content before and after the run
    uint32_t misalignment;
    uint32_t fill; // of Fill
    uint32_t is_read_only;
    uint32_t is_read_back;
    uint32_t is_constant; // it is the image's variable of that name
    uint32_t stays_zero;  // it is not zeroed again between runs
    // SAMPLE: memory is reserved and zero. That of FILL_DATA is in the arena, the same after every `period`
    // bytes: emulator_adopt(); 0: all of it.
    uint64_t period;
    uint32_t type; // of ElementType
} RunBuffer;

typedef struct {
    int32_t buffer; // index, or -1 for a number
    uint32_t bytes; // of the parameter
    uint64_t value; // its bits
} RunArgument;

typedef struct {
    char symbol[256]; // the kernel's name in the image
    uint32_t grid[3], block[3], shared;
    int32_t registers; // as ptxas reports; 0 unknown
    int32_t argument_count;
    RunArgument arguments[MAX_ARGUMENTS];
    uint64_t max_steps;
    double max_seconds;     // of a processor; 0: EMULATED_SECONDS
    int32_t guarded_line;   // EmulatorLaunch
    uint32_t most_resident; // of it too
    // SAMPLE
    uint64_t sample[MAX_SAMPLE]; // the blocks to run
    uint64_t sample_count;       // 0: all
    uint64_t most_read;          // elements of one buffer by one block
} RunLaunch;

// What one run does: the launches in order, over these buffers.
typedef struct {
    int32_t image; // slot
    int32_t buffer_count, launch_count;
    RunBuffer buffers[MAX_BUFFERS];
    RunLaunch launches[MAX_LAUNCHES];
} RunProgram;

typedef struct {
    uint32_t magic, kind;
    uint64_t sequence;
    uint64_t arena_bytes; // how much of the arena to map
    // OPEN
    int32_t gpu_kind;
    char profile[64];
    // LOAD
    int32_t image; // slot
    uint64_t image_offset, image_bytes;
    char image_name[256];
    // RUN and TIME
    RunProgram program;
    // RUN
    uint64_t schedule;
    uint32_t checks, count;
    uint32_t timing;  // for the time model
    uint32_t what_if; // of WHAT_IF_*: what that supposes
    int32_t rounds;   // runs in a row; 0: one
    uint32_t
        trace_bytes; // the most to record of a launch, one after the other from trace_offset of the arena
    uint64_t trace_offset; // on
    // TIME: in turn with a rival of the same task, whose inputs are the same; no launches: alone
    RunProgram rival;
    uint64_t ceiling_bytes;  // how much to read for the read ceiling
    uint64_t samples_offset; // in the arena: MAX_SAMPLES doubles for the program, as many for the rival
    // SAMPLE
    int32_t output;          // the buffer whose written elements are listed
    uint64_t written_offset; // in the arena, a list of at most written_most
    uint64_t written_most;
    int32_t watched;       // the buffer of which the reply says whether its last element is reached
    uint32_t watches_load; // by a load; 0: by a store
} Request;

typedef enum { REPLY_DONE = 1, REPLY_FAULT, REPLY_ERROR } ReplyStatus;

// An element that a sampled block has written.
typedef struct {
    uint64_t index;
    uint64_t bits; // of its type, from the lowest on
} WrittenElement;

typedef struct {
    FootprintCount most[MAX_LAUNCHES][MAX_BUFFERS];        // by one block of the launch
    FootprintCount all[MAX_LAUNCHES][MAX_BUFFERS];         // by those that ran to their end
    uint64_t ended[MAX_LAUNCHES];                          // so many
    double sum_once[MAX_BUFFERS], sum_of_all[MAX_BUFFERS]; // of what was loaded: Footprint
    uint64_t listed;                                       // elements of the output that were written,
    double written_sum;                                    // and the sum of all of them
    uint64_t highest,
        rewritten;            // the last element of the output that was written, and how many more than once
    uint64_t highest_watched; // element of the watched buffer that a block reached
    uint32_t reaches_last;    // whether a block reached the last element of the watched buffer
    uint64_t run, stride;     // if the first launch has one block: so many elements from the first on that it
                              // reaches, and the way to the next ones after a gap; 0: there are none
    uint32_t is_unreserved;   // the system does not reserve that much memory
    uint32_t takes_over, waits, has_polled; // Footprint, of any launch
} SampleReply;

typedef struct {
    uint32_t magic, kind;
    uint64_t sequence;
    uint32_t status;       // of ReplyStatus; FAULT: the kernel failed; see the findings
    uint32_t context_lost; // this runner cannot be used any more
    uint32_t machines_fault;
    int32_t failed_launch; // index; -1 none
    int32_t finding;       // of FindingKind: what stopped the request, where the image is to blame
    char message[1024];
    GpuInfo info;                      // OPEN
    int32_t finding_count, line_count; // so many Findings, ReplyLines and output bytes follow this header
    uint32_t output_bytes;
    uint64_t findings_total;
    int32_t damaged_buffer; // whose guard band is damaged; -1 none
    int64_t damaged_index;
    Counters counters[MAX_LAUNCHES];
    ModelWork works[MAX_LAUNCHES];                    // of a run with `timing`
    uint32_t trace_bytes[MAX_LAUNCHES];               // recorded; 0: nothing
    uint64_t lane_instructions, steps, race_compared; // as EmulatorResult
    double seconds;
    SampleReply sample; // SAMPLE
    // TIME
    int32_t sample_count, dropped, runs_per_sample;
    double ceiling;     // bytes a second; 0 unknown
    char throttle[128]; // why the clocks could not be watched, else ""
    char why[96];       // the last of the dropped samples was dropped
} ReplyHeader;

typedef struct {
    int32_t launch;
    LineCounters line;
} ReplyLine;
