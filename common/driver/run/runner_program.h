// The runner's own parts: a session on a device, and a program's buffers and launches on it.
#pragma once

#include "driver/run/sweep.h"
#include "driver/run/protocol.h"

typedef struct {
    Gpu *gpu;
    GpuImage *images[MAX_IMAGES];
    GpuImage *again[MAX_IMAGES][IMAGE_COPIES]; // the same at other places in memory; the first is images[]
    unsigned char *arena;
    size_t arena_bytes;
    bool has_sweep;
    Sweep sweep;
    double ceiling; // bytes a second; 0: not yet measured
} Session;

// Everything of a reply; the parts behind the header are built up launch by launch.
typedef struct {
    ReplyHeader header;
    Finding findings[MAX_REPLY_FINDINGS];
    ReplyLine *lines;
    char *output;
} Reply;

void reply_say(Reply *reply, ReplyStatus status, const char *words);
void reply_say_error(Reply *reply, const GpuError *error);

// Moves what one launch found, counted and printed into the reply.
void reply_add_result(Reply *reply, int launch, const EmulatorResult *result);
// The launch failed.
void reply_say_fault(Reply *reply, int launch, const EmulatorResult *result, const GpuError *error);

bool lies_in_arena(const Session *session, uint64_t offset, uint64_t bytes);
// Whether every count and place in it is within its bounds.
bool program_is_sound(const Session *session, const RunProgram *program);

// Allocates buffer `index` and fills it as it says. A constant has no buffer: it stays all 0.
bool program_allocate(Session *session, const RunBuffer *wanted, GpuBuffer *buffer, GpuError *error);
// Writes the content of the program's constants into the image's variables. One that the image does not have
// is left out: no kernel of it reads it.
bool program_fill_constants(Session *session, GpuImage *image, const RunProgram *program, GpuError *error);
bool program_set_content(Session *session, const RunBuffer *wanted, const GpuBuffer *buffer, GpuError *error);

typedef struct {
    GpuKernel *kernel;
    unsigned char block[256]; // the parameter block
    size_t bytes;
} PreparedLaunch;

// Finds the kernel and lays its arguments out. False with the reason in the reply.
bool program_prepare(GpuImage *image, const RunProgram *program, int launch, const GpuBuffer *buffers,
                     PreparedLaunch *prepared, Reply *reply);
GpuLaunch program_launch(const RunLaunch *launch, const PreparedLaunch *prepared);

// Copies the results back and checks the guard bands. Problems are in the reply.
void program_read_back(Session *session, const RunProgram *program, const GpuBuffer *buffers, Reply *reply);
