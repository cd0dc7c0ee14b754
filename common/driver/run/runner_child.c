#include "driver/run/runner_child.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "driver/run/confine.h"
#include "driver/run/runner_program.h"
#include "driver/run/runner_sample.h"
#include "driver/run/runner_timing.h"
#include "support/file.h"

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

// ---- One run ---------------------------------------------------------------------------------------------

// What was recorded goes where the driver wants it.
static void keep_trace(Session *session, const Request *request, int index, const EmulatorResult *result,
                       Reply *reply) {
    const uint64_t at = request->trace_offset + (uint64_t)index * request->trace_bytes;
    if (!result->trace || result->trace_bytes > request->trace_bytes ||
        !lies_in_arena(session, at, result->trace_bytes))
        return;
    memcpy(session->arena + at, result->trace, result->trace_bytes);
    reply->header.trace_bytes[index] = (uint32_t)result->trace_bytes;
}

static void launch_all(Session *session, const Request *request, const PreparedLaunch *prepared,
                       Reply *reply) {
    const RunProgram *program = &request->program;
    for (int i = 0; i < program->launch_count; i++) {
        GpuLaunch on_device = program_launch(&program->launches[i], &prepared[i]);
        on_device.checks = request->checks;
        on_device.count = request->count != 0;
        on_device.timing = request->timing != 0;
        on_device.what_if = request->what_if;
        on_device.schedule = request->schedule;
        on_device.trace_bytes = request->trace_bytes;
        EmulatorResult result = {0};
        GpuError error = {0};
        bool fine = gpu_launch(session->gpu, prepared[i].kernel, &on_device, &result, &error);
        reply_add_result(reply, i, &result);
        keep_trace(session, request, i, &result, reply);
        if (!fine) reply_say_fault(reply, i, &result, &error);
        emulator_result_free(&result);
        if (!fine) return;
    }
}

static bool is_zero(const unsigned char *bytes, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (bytes[i] != 0) return false;
    return true;
}

// Whether everything that should have stayed zero has. Otherwise the driver must see the memory as it is,
// because another run would change it.
static bool has_stayed_zero(Session *session, const RunProgram *program, const GpuBuffer *buffers,
                            Reply *reply) {
    for (int i = 0; i < program->buffer_count; i++) {
        const RunBuffer *wanted = &program->buffers[i];
        GpuError error = {0};
        if (!wanted->stays_zero || !wanted->is_read_back || wanted->bytes == 0) continue;
        unsigned char *content = session->arena + wanted->arena_offset;
        if (!gpu_read(session->gpu, content, &buffers[i], 0, wanted->bytes, &error)) {
            reply_say_error(reply, &error);
            return false;
        }
        if (!is_zero(content, wanted->bytes)) return false;
    }
    return true;
}

// Before another run: restores everything except inputs, which no run may change, and memory that must stay
// zero.
static bool set_afresh(Session *session, const RunProgram *program, const GpuBuffer *buffers, Reply *reply) {
    for (int i = 0; i < program->buffer_count; i++) {
        const RunBuffer *wanted = &program->buffers[i];
        GpuError error = {0};
        if (wanted->fill == FILL_DATA || wanted->stays_zero) continue;
        if (program_set_content(session, wanted, &buffers[i], &error)) continue;
        reply_say_error(reply, &error);
        return false;
    }
    return true;
}

static void run(Session *session, const Request *request, Reply *reply) {
    static PreparedLaunch prepared[MAX_LAUNCHES];
    const RunProgram *program = &request->program;
    GpuBuffer buffers[MAX_BUFFERS] = {0};
    GpuError error = {0};
    reply->header.status = REPLY_DONE;
    if (!session->gpu || !program_is_sound(session, program)) {
        reply_say(reply, REPLY_ERROR, "a malformed request");
        return;
    }
    bool fine = gpu_reset_variables(session->images[program->image], &error);
    for (int i = 0; fine && i < program->buffer_count; i++)
        fine = program_allocate(session, &program->buffers[i], &buffers[i], &error);
    fine = fine && program_fill_constants(session, session->images[program->image], program, &error);
    if (!fine) {
        reply_say_error(reply, &error);
        // Running out of device memory is not the kernel's fault.
        if (error.finding == FINDING_NONE) reply->header.machines_fault = 1;
    }
    for (int i = 0; fine && i < program->launch_count; i++)
        fine = program_prepare(session->images[program->image], program, i, buffers, &prepared[i], reply);
    if (fine) launch_all(session, request, prepared, reply);
    for (int round = 1; fine && round < request->rounds && reply->header.status == REPLY_DONE; round++) {
        if (!has_stayed_zero(session, program, buffers, reply)) break;
        fine = set_afresh(session, program, buffers, reply);
        if (fine) launch_all(session, request, prepared, reply);
    }
    if (fine && reply->header.status == REPLY_DONE) program_read_back(session, program, buffers, reply);
    for (int i = 0; i < program->buffer_count; i++) {
        GpuError ignored = {0};
        if (!reply->header.context_lost) gpu_free(session->gpu, &buffers[i], &ignored);
    }
}

// ---- The loop --------------------------------------------------------------------------------------------

static void open_device(Session *session, Request *request, Reply *reply) {
    GpuError error = {0};
    request->profile[sizeof request->profile - 1] = '\0';
    session->gpu =
        gpu_open((GpuKind)request->gpu_kind, request->profile[0] ? request->profile : NULL, &error);
    if (!session->gpu) {
        reply_say_error(reply, &error);
        reply->header.status = REPLY_ERROR;
        return;
    }
    reply->header.status = REPLY_DONE;
    reply->header.info = *gpu_info(session->gpu);
    // A second barrier; if the system does not have it, the first one remains.
    if (reply->header.info.kind == GPU_EMULATOR) (void)confine_runner();
}

static void forget_image(Session *session, int slot) {
    for (int c = 1; c < IMAGE_COPIES; c++) gpu_unload(session->again[slot][c]);
    gpu_unload(session->images[slot]);
    session->images[slot] = NULL;
    memset(session->again[slot], 0, sizeof session->again[slot]);
}

static void load_image(Session *session, Request *request, Reply *reply) {
    GpuError error = {0};
    request->image_name[sizeof request->image_name - 1] = '\0';
    if (!session->gpu || request->image < 0 || request->image >= MAX_IMAGES ||
        !lies_in_arena(session, request->image_offset, request->image_bytes)) {
        reply_say(reply, REPLY_ERROR, "a malformed request");
        return;
    }
    forget_image(session, request->image);
    session->images[request->image] = gpu_load(session->gpu, session->arena + request->image_offset,
                                               request->image_bytes, request->image_name, &error);
    if (session->images[request->image])
        reply->header.status = REPLY_DONE;
    else
        reply_say_error(reply, &error);
}

static bool send_reply(const Reply *reply) {
    const ReplyHeader *header = &reply->header;
    return answer(header, sizeof *header) &&
           answer(reply->findings, (size_t)header->finding_count * sizeof reply->findings[0]) &&
           answer(reply->lines, (size_t)header->line_count * sizeof reply->lines[0]) &&
           answer(reply->output, header->output_bytes);
}

static void end_texts(RunProgram *program) {
    for (int i = 0; i < MAX_BUFFERS; i++)
        program->buffers[i].name[sizeof program->buffers[i].name - 1] = '\0';
    for (int i = 0; i < MAX_LAUNCHES; i++)
        program->launches[i].symbol[sizeof program->launches[i].symbol - 1] = '\0';
}

int runner_main(void) {
    static Request request;
    static Reply reply;
    Session session = {0};
    while (read_in_full(RUNNER_SOCKET, &request, sizeof request)) {
        if (request.magic != PROTOCOL_MAGIC) return 3;
        memset(&reply.header, 0, sizeof reply.header);
        reply.header.magic = PROTOCOL_MAGIC;
        reply.header.kind = request.kind;
        reply.header.sequence = request.sequence;
        reply.header.failed_launch = -1;
        reply.header.damaged_buffer = -1;
        if (!map_arena(&session, request.arena_bytes)) {
            reply_say(&reply, REPLY_ERROR, "out of memory for the data");
            reply.header.machines_fault = 1;
        } else if (request.kind == REQUEST_OPEN) {
            open_device(&session, &request, &reply);
        } else if (request.kind == REQUEST_LOAD) {
            load_image(&session, &request, &reply);
        } else if (request.kind == REQUEST_RUN) {
            end_texts(&request.program);
            run(&session, &request, &reply);
        } else if (request.kind == REQUEST_SAMPLE) {
            end_texts(&request.program);
            runner_sample(&session, &request, &reply);
        } else if (request.kind == REQUEST_TIME) {
            end_texts(&request.program);
            end_texts(&request.rival);
            runner_time(&session, &request, &reply);
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
