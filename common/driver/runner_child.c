// The runner's side: requests in, the device's work, replies out.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "elements.h"
#include "runner.h"

typedef struct {
    Gpu *gpu;
    unsigned char *arena;
    size_t arena_bytes;
} Session;

// Everything of a reply; the parts behind the header are built up launch by launch.
typedef struct {
    ReplyHeader header;
    Finding findings[MAX_REPLY_FINDINGS];
    ReplyLine *lines;
    char *output;
} Reply;

static bool receive(void *into, size_t bytes) {
    char *at = into;
    while (bytes > 0) {
        ssize_t got = read(RUNNER_SOCKET, at, bytes);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        at += got;
        bytes -= (size_t)got;
    }
    return true;
}

static bool answer(const void *from, size_t bytes) {
    const char *at = from;
    while (bytes > 0) {
        ssize_t sent = send(RUNNER_SOCKET, at, bytes, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) return false;
        at += sent;
        bytes -= (size_t)sent;
    }
    return true;
}

static void say(Reply *reply, ReplyStatus status, const char *words) {
    reply->header.status = status;
    snprintf(reply->header.message, sizeof reply->header.message, "%s", words);
}

static void say_error(Reply *reply, const GpuError *error) {
    say(reply, error->finding != FINDING_NONE ? REPLY_FAULT : REPLY_ERROR, error->message);
    reply->header.finding = (int32_t)error->finding;
    reply->header.context_lost = error->is_context_lost;
    reply->header.machines_fault = error->is_machines_fault;
}

static bool map_arena(Session *session, uint64_t bytes) {
    if (bytes == session->arena_bytes) return true;
    if (session->arena) munmap(session->arena, session->arena_bytes);
    session->arena = NULL;
    session->arena_bytes = 0;
    void *mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, RUNNER_ARENA, 0);
    if (mapped == MAP_FAILED) return false;
    session->arena = mapped;
    session->arena_bytes = bytes;
    return true;
}

static bool lies_in_arena(const Session *session, uint64_t offset, uint64_t bytes) {
    return offset <= session->arena_bytes && bytes <= session->arena_bytes - offset;
}

// ---- One run
// -------------------------------------------------------------------------------------------------

static bool request_is_sound(const Session *session, const Request *request) {
    if (request->buffer_count < 0 || request->buffer_count > MAX_BUFFERS || request->launch_count < 0 ||
        request->launch_count > MAX_LAUNCHES || request->samples < 0 || request->samples > MAX_SAMPLES)
        return false;
    for (int i = 0; i < request->buffer_count; i++) {
        const RunBuffer *buffer = &request->buffers[i];
        if (buffer->fill >= FILLS || buffer->misalignment > 255) return false;
        bool uses_arena = buffer->fill == FILL_DATA || buffer->is_read_back;
        if (uses_arena && !lies_in_arena(session, buffer->arena_offset, buffer->bytes)) return false;
    }
    for (int i = 0; i < request->launch_count; i++) {
        const RunLaunch *launch = &request->launches[i];
        if (launch->argument_count < 0 || launch->argument_count > MAX_ARGUMENTS) return false;
        for (int a = 0; a < launch->argument_count; a++)
            if (launch->arguments[a].buffer >= request->buffer_count || launch->arguments[a].bytes > 8)
                return false;
    }
    return true;
}

static bool set_content(Session *session, const RunBuffer *wanted, const GpuBuffer *buffer, GpuError *error) {
    if (wanted->fill == FILL_DATA) {
        if (wanted->bytes == 0) return true;
        return gpu_write(session->gpu, buffer, 0, session->arena + wanted->arena_offset, wanted->bytes,
                         error);
    }
    bool is_zero = wanted->fill == FILL_ZERO;
    return gpu_fill(session->gpu, buffer, is_zero ? 0 : POISON, is_zero, error);
}

static bool set_contents(Session *session, const Request *request, const GpuBuffer *buffers,
                         GpuError *error) {
    for (int i = 0; i < request->buffer_count; i++) {
        if (!set_content(session, &request->buffers[i], &buffers[i], error)) return false;
        if (request->buffers[i].is_read_only && !gpu_set_read_only(session->gpu, &buffers[i], true, error))
            return false;
    }
    return true;
}

static bool allocate(Session *session, const Request *request, GpuBuffer *buffers, int *made,
                     GpuError *error) {
    for (*made = 0; *made < request->buffer_count; (*made)++) {
        const RunBuffer *wanted = &request->buffers[*made];
        if (!gpu_allocate(session->gpu, wanted->bytes, wanted->misalignment, wanted->name, &buffers[*made],
                          error))
            return false;
    }
    return true;
}

typedef struct {
    GpuKernel *kernel;
    unsigned char block[4096]; // the parameter block
    size_t bytes;
} Prepared;

// Finds the kernel and lays its arguments out. False with the reason in the reply.
static bool prepare(Session *session, const RunLaunch *launch, const GpuBuffer *buffers, Prepared *prepared,
                    Reply *reply) {
    GpuError error = {0};
    prepared->kernel = gpu_find_kernel(session->gpu, launch->symbol, &error);
    if (!prepared->kernel) {
        say(reply, REPLY_ERROR, error.message);
        return false;
    }
    if (launch->registers > 0) gpu_kernel_set_registers(prepared->kernel, launch->registers);
    int count = 0;
    size_t offsets[64] = {0}, sizes[64] = {0};
    if (!gpu_kernel_parameters(prepared->kernel, &count, offsets, sizes) || count != launch->argument_count) {
        snprintf(reply->header.message, sizeof reply->header.message,
                 "%.200s takes %d parameters, not the %d of the chapter", launch->symbol, count,
                 launch->argument_count);
        reply->header.status = REPLY_ERROR;
        return false;
    }
    prepared->bytes = 0;
    for (int a = 0; a < count; a++) {
        const RunArgument *argument = &launch->arguments[a];
        if (sizes[a] != argument->bytes || offsets[a] + sizes[a] > sizeof prepared->block) {
            snprintf(reply->header.message, sizeof reply->header.message,
                     "parameter %d of %.200s has %zu bytes, not the %u of the chapter", a + 1, launch->symbol,
                     sizes[a], argument->bytes);
            reply->header.status = REPLY_ERROR;
            return false;
        }
        uint64_t bits = argument->buffer >= 0 ? buffers[argument->buffer].address : argument->value;
        memcpy(prepared->block + offsets[a], &bits, sizes[a]); // little-endian, as every GPU and host here
        if (offsets[a] + sizes[a] > prepared->bytes) prepared->bytes = offsets[a] + sizes[a];
    }
    return true;
}

static GpuLaunch device_launch(const Request *request, const RunLaunch *launch, const Prepared *prepared) {
    GpuLaunch out = {
        .dynamic_shared = launch->shared,
        .arguments = prepared->block,
        .argument_bytes = prepared->bytes,
        .checks = request->checks,
        .count = request->count != 0,
        .schedule = request->schedule,
        .max_steps = launch->max_steps,
        .max_output = MAX_REPLY_OUTPUT,
    };
    memcpy(out.grid, launch->grid, sizeof out.grid);
    memcpy(out.block, launch->block, sizeof out.block);
    return out;
}

static void add_finding(Reply *reply, const Finding *finding) {
    if (reply->header.finding_count < MAX_REPLY_FINDINGS)
        reply->findings[reply->header.finding_count++] = *finding;
}

// Moves what one launch found, counted and printed into the reply.
static void collect(Reply *reply, int index, const EmulatorResult *result) {
    ReplyHeader *header = &reply->header;
    for (int i = 0; i < result->finding_count; i++) add_finding(reply, &result->findings[i]);
    header->findings_total += result->findings_total;
    header->counters[index] = result->counters;
    header->lane_instructions += result->lane_instructions;
    header->seconds += result->seconds;
    int lines = result->line_count;
    if (lines > MAX_REPLY_LINES - header->line_count) lines = MAX_REPLY_LINES - header->line_count;
    if (lines > 0) {
        ReplyLine *grown = realloc(reply->lines, (size_t)(header->line_count + lines) * sizeof *grown);
        if (grown) {
            reply->lines = grown;
            for (int i = 0; i < lines; i++)
                reply->lines[header->line_count + i] = (ReplyLine){.launch = index, .line = result->lines[i]};
            header->line_count += lines;
        }
    }
    size_t output = result->output ? result->output_bytes : 0;
    if (output > MAX_REPLY_OUTPUT - header->output_bytes) output = MAX_REPLY_OUTPUT - header->output_bytes;
    if (output > 0) {
        char *grown = realloc(reply->output, header->output_bytes + output);
        if (grown) {
            memcpy(grown + header->output_bytes, result->output, output);
            reply->output = grown;
            header->output_bytes += (uint32_t)output;
        }
    }
}

static void launch_all(Session *session, const Request *request, const Prepared *prepared, Reply *reply) {
    for (int i = 0; i < request->launch_count; i++) {
        const RunLaunch *launch = &request->launches[i];
        GpuLaunch on_device = device_launch(request, launch, &prepared[i]);
        EmulatorResult result = {0};
        GpuError error = {0};
        bool fine = gpu_launch(session->gpu, prepared[i].kernel, &on_device, &result, &error);
        collect(reply, i, &result);
        if (!fine) {
            say_error(reply, &error);
            reply->header.failed_launch = i;
            bool is_told = false;
            for (int f = 0; f < result.finding_count; f++)
                is_told = is_told || result.findings[f].kind == error.finding;
            if (error.finding != FINDING_NONE && !is_told) { // a GPU names the kind and nothing more
                Finding finding = {.kind = error.finding, .fatal = true, .warp = -1, .lane = -1, .count = 1};
                snprintf(finding.message, sizeof finding.message, "%.1023s", error.message);
                add_finding(reply, &finding);
                reply->header.findings_total++;
            }
        }
        emulator_result_free(&result);
        if (!fine) return;
    }
}

// Each sample starts from the same contents, so that the first and the last time the same work.
static void time_all(Session *session, const Request *request, const GpuBuffer *buffers,
                     const Prepared *prepared, Reply *reply) {
    GpuTimer *timer = NULL;
    GpuError error = {0};
    bool fine = gpu_timer_create(session->gpu, &timer, &error);
    for (int s = 0; fine && s < request->samples; s++) {
        fine = set_contents(session, request, buffers, &error) && gpu_synchronize(session->gpu, &error) &&
               gpu_timer_start(session->gpu, timer, &error);
        for (int i = 0; fine && i < request->launch_count; i++) {
            GpuLaunch on_device = device_launch(request, &request->launches[i], &prepared[i]);
            fine = gpu_launch_async(session->gpu, prepared[i].kernel, &on_device, &error);
        }
        double seconds = 0;
        fine = fine && gpu_timer_stop(session->gpu, timer, &error) &&
               gpu_timer_seconds(session->gpu, timer, &seconds, &error);
        if (fine) reply->header.samples[reply->header.sample_count++] = seconds;
    }
    if (!fine) say_error(reply, &error);
    if (timer) gpu_timer_free(session->gpu, timer);
}

static void read_back(Session *session, const Request *request, const GpuBuffer *buffers, Reply *reply) {
    GpuError error = {0};
    for (int i = 0; i < request->buffer_count; i++) {
        const RunBuffer *wanted = &request->buffers[i];
        if (reply->header.damaged_buffer < 0 &&
            !gpu_guards_intact(session->gpu, &buffers[i], &reply->header.damaged_index, &error)) {
            if (error.message[0]) {
                say_error(reply, &error);
                return;
            }
            reply->header.damaged_buffer = i;
        }
        if (wanted->is_read_back && wanted->bytes > 0 &&
            !gpu_read(session->gpu, session->arena + wanted->arena_offset, &buffers[i], 0, wanted->bytes,
                      &error)) {
            say_error(reply, &error);
            return;
        }
    }
}

static void run(Session *session, const Request *request, Reply *reply) {
    static Prepared prepared[MAX_LAUNCHES];
    GpuBuffer buffers[MAX_BUFFERS];
    int made = 0;
    GpuError error = {0};
    reply->header.status = REPLY_DONE;
    if (!session->gpu || !request_is_sound(session, request)) {
        say(reply, REPLY_ERROR, "a malformed request");
        return;
    }
    bool fine = allocate(session, request, buffers, &made, &error) &&
                gpu_reset_variables(session->gpu, &error) && set_contents(session, request, buffers, &error);
    if (!fine) {
        say_error(reply, &error);
        // Running out of device memory is nobody's mistake in the kernel.
        if (error.finding == FINDING_NONE) reply->header.machines_fault = 1;
    }
    for (int i = 0; fine && i < request->launch_count; i++)
        fine = prepare(session, &request->launches[i], buffers, &prepared[i], reply);
    if (fine && request->samples > 0)
        time_all(session, request, buffers, prepared, reply);
    else if (fine)
        launch_all(session, request, prepared, reply);
    if (fine && reply->header.status == REPLY_DONE) read_back(session, request, buffers, reply);
    for (int i = 0; i < made; i++) {
        GpuError ignored = {0};
        if (!reply->header.context_lost) gpu_free(session->gpu, &buffers[i], &ignored);
    }
}

// ---- The loop
// ----------------------------------------------------------------------------------------------------

static void open_device(Session *session, Request *request, Reply *reply) {
    GpuError error = {0};
    request->profile[sizeof request->profile - 1] = '\0';
    session->gpu =
        gpu_open((GpuKind)request->gpu_kind, request->profile[0] ? request->profile : NULL, &error);
    if (!session->gpu) {
        say_error(reply, &error);
        reply->header.status = REPLY_ERROR;
        return;
    }
    reply->header.status = REPLY_DONE;
    reply->header.info = *gpu_info(session->gpu);
}

static void load_image(Session *session, Request *request, Reply *reply) {
    GpuError error = {0};
    request->image_name[sizeof request->image_name - 1] = '\0';
    if (!session->gpu || !lies_in_arena(session, request->image_offset, request->image_bytes)) {
        say(reply, REPLY_ERROR, "a malformed request");
    } else if (gpu_load(session->gpu, session->arena + request->image_offset, request->image_bytes,
                        request->image_name, &error)) {
        reply->header.status = REPLY_DONE;
    } else {
        say_error(reply, &error);
    }
}

static bool send_reply(const Reply *reply) {
    const ReplyHeader *header = &reply->header;
    return answer(header, sizeof *header) &&
           answer(reply->findings, (size_t)header->finding_count * sizeof reply->findings[0]) &&
           answer(reply->lines, (size_t)header->line_count * sizeof reply->lines[0]) &&
           answer(reply->output, header->output_bytes);
}

int runner_main(void) {
    static Request request;
    static Reply reply;
    Session session = {0};
    while (receive(&request, sizeof request)) {
        if (request.magic != PROTOCOL_MAGIC) return 3;
        memset(&reply.header, 0, sizeof reply.header);
        reply.header.magic = PROTOCOL_MAGIC;
        reply.header.kind = request.kind;
        reply.header.sequence = request.sequence;
        reply.header.failed_launch = -1;
        reply.header.damaged_buffer = -1;
        if (!map_arena(&session, request.arena_bytes)) {
            say(&reply, REPLY_ERROR, "out of memory for the data");
            reply.header.machines_fault = 1;
        } else if (request.kind == REQUEST_OPEN) {
            open_device(&session, &request, &reply);
        } else if (request.kind == REQUEST_LOAD) {
            load_image(&session, &request, &reply);
        } else if (request.kind == REQUEST_RUN) {
            for (int i = 0; i < MAX_BUFFERS; i++)
                request.buffers[i].name[sizeof request.buffers[i].name - 1] = '\0';
            for (int i = 0; i < MAX_LAUNCHES; i++)
                request.launches[i].symbol[sizeof request.launches[i].symbol - 1] = '\0';
            run(&session, &request, &reply);
        } else {
            return 3;
        }
        fflush(stdout);
        bool sent = send_reply(&reply);
        free(reply.lines);
        free(reply.output);
        reply.lines = NULL;
        reply.output = NULL;
        if (!sent) return 3;
    }
    if (session.gpu) gpu_close(session.gpu);
    if (session.arena) munmap(session.arena, session.arena_bytes);
    return 0;
}
