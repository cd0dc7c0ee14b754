// Buffers of many gigabytes that take memory only for what the sampled blocks touch: an input is a piece of
// the arena that repeats; any other is reserved, and its pages are zero until they are written.
#define _GNU_SOURCE // memory that is reserved and not accounted for
#include "driver/run/runner_sample.h"

#include <string.h>
#include <sys/mman.h>

#include "driver/plan/elements.h"
#include "driver/plan/inputs.h"

enum { ROOM = 256 }; // no buffer is empty for the system

// NULL: the system does not reserve that much.
static void *memory_of(const Session *session, const RunBuffer *wanted) {
    if (wanted->fill == FILL_DATA) return session->arena + wanted->arena_offset;
    void *at = mmap(NULL, wanted->bytes + ROOM, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

// ---- What was written -------------------------------------------------------------------------------------

// One element in so many is listed; the sum is of all.
static void list_word(const ElementWord *word, const unsigned char *memory, ElementType type, uint64_t one_in,
                      const Request *request, WrittenElement *list, SampleReply *sample) {
    const size_t bytes = element_bytes(type);
    for (uint64_t bits = word->bits; bits; bits &= bits - 1) {
        const uint64_t index = word->word * 64 + (uint64_t)__builtin_ctzll(bits);
        const unsigned char *at = memory + index * bytes;
        sample->written_sum += element_get(at, type, 0);
        if (index > sample->highest) sample->highest = index;
        if (sample->listed == request->written_most || random_bits(0, 0, index) % one_in != 0) continue;
        list[sample->listed] = (WrittenElement){.index = index};
        memcpy(&list[sample->listed++].bits, at, bytes);
    }
}

static void list_written(const Session *session, const Request *request, const void *memory,
                         const ElementSet *written, SampleReply *sample) {
    const ElementType type = (ElementType)request->program.buffers[request->output].type;
    WrittenElement *list = (WrittenElement *)(void *)(session->arena + request->written_offset);
    const uint64_t one_in = 1 + 64 * written->count / request->written_most;
    for (size_t i = 0; i < written->capacity; i++)
        list_word(&written->words[i], memory, type, one_in, request, list, sample);
}

// ---- The launches ----

static void launch_sample(Session *session, const Request *request, const PreparedLaunch *prepared,
                          Footprint *footprint, Reply *reply) {
    SampleReply *sample = &reply->header.sample;
    for (int i = 0; i < request->program.launch_count; i++) {
        const RunLaunch *launch = &request->program.launches[i];
        GpuLaunch on_device = program_launch(launch, &prepared[i]);
        on_device.checks = request->checks;
        on_device.timing = request->timing != 0;
        on_device.sample = launch->sample_count ? launch->sample : NULL;
        on_device.sample_count = launch->sample_count;
        on_device.footprint = footprint;
        footprint->most_read = launch->most_read;
        EmulatorResult result = {0};
        GpuError error = {0};
        const bool fine = gpu_launch(session->gpu, prepared[i].kernel, &on_device, &result, &error);
        reply_add_result(reply, i, &result);
        if (!fine) reply_say_fault(reply, i, &result, &error);
        emulator_result_free(&result);
        memcpy(sample->most[i], footprint->most, sizeof footprint->most);
        memcpy(sample->all[i], footprint->all, sizeof footprint->all);
        sample->ended[i] = footprint->ended;
        sample->takes_over |= footprint->takes_over;
        sample->waits |= footprint->waits;
        sample->has_polled |= footprint->has_polled;
        if (!fine || sample->takes_over || sample->waits) return;
    }
}

static void describe_watched(const Request *request, const Footprint *footprint, SampleReply *sample) {
    const RunBuffer *buffer = &request->program.buffers[request->watched];
    const FootprintBuffer *watched = &footprint->buffers[request->watched];
    const ElementSet *set = request->watches_load ? &watched->read : &watched->written;
    if (watched->element_bytes == 0 || set->count == 0) return; // constant memory has no footprint
    const uint64_t count = buffer->bytes / watched->element_bytes;
    if (count == 0) return;
    sample->reaches_last = element_set_has(set, count - 1);
    sample->highest_watched = element_set_highest(set);
    if (request->program.launches[0].sample_count != 1) return;
    const uint64_t piece = element_set_next(set, 0);
    if (piece >= count) return;
    sample->run = element_set_run(set, piece, count - piece);
    const uint64_t next = element_set_next(set, piece + sample->run);
    sample->stride = next < count ? next - piece : 0;
}

static void run_sample(Session *session, const Request *request, const GpuBuffer *buffers,
                       void *const memory[], Footprint *footprint, Reply *reply) {
    static PreparedLaunch prepared[MAX_LAUNCHES];
    const RunProgram *program = &request->program;
    SampleReply *sample = &reply->header.sample;
    for (int i = 0; i < program->launch_count; i++)
        if (!program_prepare(session->images[program->image], program, i, buffers, &prepared[i], reply))
            return;
    launch_sample(session, request, prepared, footprint, reply);
    for (int b = 0; b < program->buffer_count; b++) {
        sample->sum_once[b] = footprint->buffers[b].sum_once;
        sample->sum_of_all[b] = footprint->buffers[b].sum_of_all;
    }
    const FootprintBuffer *output = &footprint->buffers[request->output];
    sample->rewritten = output->rewritten;
    list_written(session, request, memory[request->output], &output->written, sample);
    describe_watched(request, footprint, sample);
}

static bool is_sound(const Session *session, const Request *request) {
    if (!session->gpu || !program_is_sound(session, &request->program) || request->output < 0 ||
        request->output >= request->program.buffer_count || request->watched < 0 ||
        request->watched >= request->program.buffer_count || request->written_most == 0 ||
        request->written_most > UINT32_MAX || request->written_offset % sizeof(WrittenElement) != 0 ||
        !lies_in_arena(session, request->written_offset, request->written_most * sizeof(WrittenElement)))
        return false;
    for (int b = 0; b < request->program.buffer_count; b++)
        if (request->program.buffers[b].type >= ELEMENT_TYPES) return false;
    return true;
}

void runner_sample(Session *session, const Request *request, Reply *reply) {
    const RunProgram *program = &request->program;
    SampleReply *sample = &reply->header.sample;
    void *memory[MAX_BUFFERS] = {0};
    GpuBuffer buffers[MAX_BUFFERS] = {0};
    Footprint footprint = {0};
    GpuError error = {0};
    reply->header.status = REPLY_DONE;
    if (!is_sound(session, request)) {
        reply_say(reply, REPLY_ERROR, "a malformed request");
        return;
    }
    bool fine = gpu_reset_variables(session->images[program->image], &error);
    for (int b = 0; fine && !sample->is_unreserved && b < program->buffer_count; b++) {
        const RunBuffer *wanted = &program->buffers[b];
        if (wanted->is_constant) continue;
        memory[b] = memory_of(session, wanted);
        sample->is_unreserved = !memory[b] || !gpu_adopt(session->gpu, memory[b], wanted->bytes,
                                                         wanted->period, wanted->name, &buffers[b], &error);
        footprint.buffers[b].address = buffers[b].address;
        footprint.buffers[b].element_bytes = (uint32_t)element_bytes((ElementType)wanted->type);
    }
    fine = fine && program_fill_constants(session, session->images[program->image], program, &error);
    if (!fine)
        reply_say_error(reply, &error);
    else if (!sample->is_unreserved)
        run_sample(session, request, buffers, memory, &footprint, reply);
    footprint_free(&footprint);
    for (int b = 0; b < program->buffer_count; b++) {
        GpuError ignored = {0};
        gpu_free(session->gpu, &buffers[b], &ignored);
        if (memory[b] && program->buffers[b].fill != FILL_DATA)
            munmap(memory[b], program->buffers[b].bytes + ROOM);
    }
}
