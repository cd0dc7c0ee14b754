// A program on the device: its buffers, its arguments, its results.
#include "driver/run/runner_program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/plan/elements.h"

void reply_say(Reply *reply, ReplyStatus status, const char *words) {
    reply->header.status = status;
    snprintf(reply->header.message, sizeof reply->header.message, "%s", words);
}

void reply_say_error(Reply *reply, const GpuError *error) {
    reply_say(reply, error->finding != FINDING_NONE ? REPLY_FAULT : REPLY_ERROR, error->message);
    reply->header.finding = (int32_t)error->finding;
    reply->header.context_lost = error->is_context_lost;
    reply->header.machines_fault = error->is_machines_fault;
}

static void add_finding(Reply *reply, const Finding *finding) {
    if (reply->header.finding_count < MAX_REPLY_FINDINGS)
        reply->findings[reply->header.finding_count++] = *finding;
}

void reply_add_result(Reply *reply, int launch, const EmulatorResult *result) {
    ReplyHeader *header = &reply->header;
    for (int i = 0; i < result->finding_count; i++) add_finding(reply, &result->findings[i]);
    header->findings_total += result->findings_total;
    header->counters[launch] = result->counters;
    if (result->work) header->works[launch] = *result->work;
    header->lane_instructions += result->lane_instructions;
    header->steps += result->steps;
    header->race_compared += result->race_compared;
    header->seconds += result->seconds;
    int lines = result->line_count;
    if (lines > MAX_REPLY_LINES - header->line_count) lines = MAX_REPLY_LINES - header->line_count;
    if (lines > 0) {
        ReplyLine *grown = realloc(reply->lines, (size_t)(header->line_count + lines) * sizeof *grown);
        if (grown) {
            reply->lines = grown;
            for (int i = 0; i < lines; i++)
                reply->lines[header->line_count + i] =
                    (ReplyLine){.launch = launch, .line = result->lines[i]};
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

void reply_say_fault(Reply *reply, int launch, const EmulatorResult *result, const GpuError *error) {
    reply_say_error(reply, error);
    reply->header.failed_launch = launch;
    bool is_told = false;
    for (int f = 0; f < result->finding_count; f++)
        is_told = is_told || result->findings[f].kind == error->finding;
    if (error->finding == FINDING_NONE || is_told) return;
    // A GPU names the kind and nothing more.
    Finding finding = {.kind = error->finding, .fatal = true, .warp = -1, .lane = -1, .count = 1};
    snprintf(finding.message, sizeof finding.message, "%.1023s", error->message);
    add_finding(reply, &finding);
    reply->header.findings_total++;
}

bool lies_in_arena(const Session *session, uint64_t offset, uint64_t bytes) {
    return offset <= session->arena_bytes && bytes <= session->arena_bytes - offset;
}

bool program_is_sound(const Session *session, const RunProgram *program) {
    if (program->buffer_count < 0 || program->buffer_count > MAX_BUFFERS || program->launch_count < 0 ||
        program->launch_count > MAX_LAUNCHES || program->image < 0 || program->image >= MAX_IMAGES ||
        !session->images[program->image])
        return false;
    for (int i = 0; i < program->buffer_count; i++) {
        const RunBuffer *buffer = &program->buffers[i];
        if (buffer->fill >= FILLS || buffer->misalignment > GPU_MOST_MISALIGNMENT) return false;
        bool uses_arena = buffer->fill == FILL_DATA || buffer->is_read_back;
        if (buffer->period > UINT32_MAX) return false;
        const uint64_t bytes = buffer->period ? buffer->period + EMULATOR_OVERLAP : buffer->bytes;
        if (uses_arena && !lies_in_arena(session, buffer->arena_offset, bytes)) return false;
    }
    for (int i = 0; i < program->launch_count; i++) {
        const RunLaunch *launch = &program->launches[i];
        if (launch->argument_count < 0 || launch->argument_count > MAX_ARGUMENTS ||
            launch->sample_count > MAX_SAMPLE)
            return false;
        for (int a = 0; a < launch->argument_count; a++)
            if (launch->arguments[a].buffer >= program->buffer_count ||
                (launch->arguments[a].buffer >= 0 &&
                 program->buffers[launch->arguments[a].buffer].is_constant) ||
                launch->arguments[a].bytes > 8)
                return false;
    }
    return true;
}

bool program_set_content(Session *session, const RunBuffer *wanted, const GpuBuffer *buffer,
                         GpuError *error) {
    if (wanted->fill == FILL_DATA) {
        if (wanted->bytes == 0) return true;
        return gpu_write(session->gpu, buffer, 0, session->arena + wanted->arena_offset, wanted->bytes,
                         error);
    }
    bool is_zero = wanted->fill == FILL_ZERO;
    return gpu_fill(session->gpu, buffer, is_zero ? 0 : POISON, is_zero, error);
}

bool program_fill_constants(Session *session, GpuImage *image, const RunProgram *program, GpuError *error) {
    for (int b = 0; b < program->buffer_count; b++) {
        const RunBuffer *wanted = &program->buffers[b];
        GpuBuffer variable;
        if (!wanted->is_constant) continue;
        if (!gpu_find_variable(image, wanted->name, &variable, error)) {
            if (error->is_context_lost || error->is_machines_fault) return false;
            continue;
        }
        if (!gpu_write(session->gpu, &variable, 0, session->arena + wanted->arena_offset, wanted->bytes,
                       error))
            return false;
    }
    return true;
}

bool program_allocate(Session *session, const RunBuffer *wanted, GpuBuffer *buffer, GpuError *error) {
    if (wanted->is_constant) return true;
    return gpu_allocate(session->gpu, wanted->bytes, wanted->misalignment, wanted->name, buffer, error) &&
           program_set_content(session, wanted, buffer, error) &&
           (!wanted->is_read_only || gpu_set_read_only(session->gpu, buffer, true, error));
}

bool program_prepare(GpuImage *image, const RunProgram *program, int index, const GpuBuffer *buffers,
                     PreparedLaunch *prepared, Reply *reply) {
    const RunLaunch *launch = &program->launches[index];
    GpuError error = {0};
    prepared->kernel = gpu_find_kernel(image, launch->symbol, &error);
    if (!prepared->kernel) {
        reply_say(reply, REPLY_ERROR, error.message);
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

GpuLaunch program_launch(const RunLaunch *launch, const PreparedLaunch *prepared) {
    GpuLaunch out = {
        .dynamic_shared = launch->shared,
        .arguments = prepared->block,
        .argument_bytes = prepared->bytes,
        .max_steps = launch->max_steps,
        .max_seconds = launch->max_seconds > 0 ? launch->max_seconds : EMULATED_SECONDS,
        .max_output = MAX_REPLY_OUTPUT,
        .guarded_line = launch->guarded_line,
        .most_resident = launch->most_resident,
    };
    memcpy(out.grid, launch->grid, sizeof out.grid);
    memcpy(out.block, launch->block, sizeof out.block);
    return out;
}

void program_read_back(Session *session, const RunProgram *program, const GpuBuffer *buffers, Reply *reply) {
    GpuError error = {0};
    for (int i = 0; i < program->buffer_count; i++) {
        const RunBuffer *wanted = &program->buffers[i];
        if (wanted->is_constant) continue;
        if (reply->header.damaged_buffer < 0 &&
            !gpu_guards_intact(session->gpu, &buffers[i], &reply->header.damaged_index, &error)) {
            if (error.message[0] && error.finding == FINDING_NONE) { // could not look
                reply_say_error(reply, &error);
                return;
            }
            reply->header.damaged_buffer = i;
        }
        if (wanted->is_read_back && wanted->bytes > 0 &&
            !gpu_read(session->gpu, session->arena + wanted->arena_offset, &buffers[i], 0, wanted->bytes,
                      &error)) {
            reply_say_error(reply, &error);
            return;
        }
    }
}
