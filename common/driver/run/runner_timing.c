// Allocates buffers for a program and its rival, one copy for each run of a sample, runs the loop of
// timing.c, and reads the last copies back for judging.
#include "driver/run/runner_timing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/plan/elements.h"
#include "driver/run/timing.h"

enum { MAX_COPIES = 32, PROGRAMS = 2 };

typedef struct {
    GpuBuffer buffers[PROGRAMS][MAX_BUFFERS];
    PreparedLaunch launches[PROGRAMS][IMAGE_COPIES][MAX_LAUNCHES];
} Copy;

typedef struct {
    Session *session;
    const RunProgram *programs[PROGRAMS];
    int program_count;
    Copy *copies; // MAX_COPIES
    int copy_count;
} Bench;

// What a TimedProgram works on.
typedef struct {
    Bench *bench;
    int program;
    int turn; // which copy of the image is next: the address of the code affects short times
} Side;

// Both share the inputs, and other buffers of equal size, so that two identical kernels write to the same
// addresses.
static bool is_shared(const Bench *bench, int index) {
    const RunBuffer *mine = &bench->programs[0]->buffers[index];
    return bench->program_count > 1 && mine->bytes == bench->programs[1]->buffers[index].bytes;
}

static bool add_copy(Bench *bench, Reply *reply) {
    Copy *copy = &bench->copies[bench->copy_count++];
    GpuError error = {0};
    for (int p = 0; p < bench->program_count; p++) {
        const RunProgram *program = bench->programs[p];
        for (int b = 0; b < program->buffer_count; b++) {
            if (p > 0 && is_shared(bench, b)) {
                copy->buffers[p][b] = copy->buffers[0][b];
            } else if (!program_allocate(bench->session, &program->buffers[b], &copy->buffers[p][b],
                                         &error)) {
                reply_say_error(reply, &error);
                reply->header.machines_fault = error.finding == FINDING_NONE;
                return false;
            }
        }
        for (int i = 0; i < IMAGE_COPIES; i++)
            for (int l = 0; l < program->launch_count; l++)
                if (!program_prepare(bench->session->again[program->image][i], program, l, copy->buffers[p],
                                     &copy->launches[p][i][l], reply))
                    return false;
    }
    return true;
}

static void free_copies(Bench *bench) {
    for (int c = 0; c < bench->copy_count; c++) {
        for (int p = 0; p < bench->program_count; p++) {
            for (int b = 0; b < bench->programs[p]->buffer_count; b++) {
                GpuError ignored;
                if (p == 0 || !is_shared(bench, b))
                    gpu_free(bench->session->gpu, &bench->copies[c].buffers[p][b], &ignored);
            }
        }
    }
    free(bench->copies);
}

static bool restore(void *context, int copy, GpuError *error) {
    Side *side = context;
    const RunProgram *program = side->bench->programs[side->program];
    if (copy == 0) side->turn = (side->turn + 1) % IMAGE_COPIES;
    for (int b = 0; b < program->buffer_count; b++)
        if (program->buffers[b].fill == FILL_POISON &&
            !gpu_fill_async(side->bench->session->gpu, &side->bench->copies[copy].buffers[side->program][b],
                            POISON, error))
            return false;
    return true;
}

static bool run(void *context, int copy, GpuError *error) {
    const Side *side = context;
    const RunProgram *program = side->bench->programs[side->program];
    Gpu *gpu = side->bench->session->gpu;
    Copy *on = &side->bench->copies[copy];
    for (int b = 0; b < program->buffer_count; b++)
        if (program->buffers[b].fill == FILL_ZERO && !program->buffers[b].stays_zero &&
            !gpu_fill_async(gpu, &on->buffers[side->program][b], 0, error))
            return false;
    for (int l = 0; l < program->launch_count; l++) {
        const PreparedLaunch *prepared = &on->launches[side->program][side->turn][l];
        const GpuLaunch launch = program_launch(&program->launches[l], prepared);
        if (!gpu_launch_async(gpu, prepared->kernel, &launch, error)) return false;
    }
    return true;
}

// Copies together shall not take more than a small part of the device's memory.
static int most_copies(const Bench *bench) {
    const size_t memory = gpu_info(bench->session->gpu)->memory_bytes;
    double bytes = 1;
    for (int p = 0; p < bench->program_count; p++)
        for (int b = 0; b < bench->programs[p]->buffer_count; b++)
            bytes += (double)bench->programs[p]->buffers[b].bytes;
    const double room = 0.125 * (memory ? (double)memory : 1e9) / bytes;
    return room < 1 ? 1 : room < MAX_COPIES ? (int)room : MAX_COPIES;
}

static bool prepare_sweep(Session *session, uint64_t ceiling_bytes, GpuError *error) {
    if (!session->has_sweep) {
        if (!sweep_open(session->gpu, &session->sweep, error)) {
            sweep_close(&session->sweep);
            return false;
        }
        session->has_sweep = true;
    }
    return session->ceiling > 0 || ceiling_bytes == 0 ||
           sweep_read_ceiling(&session->sweep, ceiling_bytes, &session->ceiling, error);
}

static bool take_samples(Bench *bench, const Request *request, Timing *timing, Reply *reply) {
    Session *session = bench->session;
    Side sides[PROGRAMS] = {{bench, 0, 0}, {bench, 1, 0}};
    const TimedProgram first = {&sides[0], restore, run}, second = {&sides[1], restore, run};
    TimingPlan plan = {.gpu = session->gpu,
                       .sweep = &session->sweep,
                       .programs = {&first, bench->program_count > 1 ? &second : NULL},
                       .copies = 1};
    GpuError error = {0};
    double seconds = 0;
    bool fine = prepare_sweep(session, request->ceiling_bytes, &error);
    fine = fine && timing_estimate(&plan, &seconds, &error);
    if (fine) {
        plan.copies = timing_copies(seconds, most_copies(bench));
        while (bench->copy_count < plan.copies)
            if (!add_copy(bench, reply)) return false;
        fine = timing_take(&plan, &usual_stop_rule, timing, &error);
    }
    if (!fine) {
        reply_say_error(reply, &error);
        return false;
    }
    reply->header.sample_count = timing->count;
    reply->header.dropped = timing->dropped;
    reply->header.runs_per_sample = plan.copies;
    reply->header.ceiling = session->ceiling;
    memcpy(reply->header.throttle, timing->throttle, sizeof reply->header.throttle);
    memcpy(reply->header.why, timing->why, sizeof reply->header.why);
    return true;
}

// Once more on the last copy, so that the judged result was written by this program and not by the other one.
static bool run_again(Bench *bench, int program, Reply *reply) {
    Side side = {bench, program, 0};
    GpuError error = {0};
    const int last = bench->copy_count - 1;
    if (!restore(&side, last, &error) || !run(&side, last, &error) ||
        !gpu_synchronize(bench->session->gpu, &error)) {
        reply_say_error(reply, &error);
        return false;
    }
    program_read_back(bench->session, bench->programs[program], bench->copies[last].buffers[program], reply);
    if (program > 0 && reply->header.damaged_buffer >= 0) { // not caused by the kernel
        reply->header.damaged_buffer = -1;
        reply_say(reply, REPLY_ERROR, "the kernel to compare with wrote outside its buffers");
    }
    return reply->header.status == REPLY_DONE;
}

// The guard bands of the copies that are not read back.
static void look_at_guards(Bench *bench, Reply *reply) {
    for (int c = 0; c < bench->copy_count && reply->header.damaged_buffer < 0; c++) {
        for (int b = 0; b < bench->programs[0]->buffer_count; b++) {
            GpuError error = {0};
            const GpuBuffer *buffer = &bench->copies[c].buffers[0][b];
            if (bench->programs[0]->buffers[b].is_constant) continue;
            if (gpu_guards_intact(bench->session->gpu, buffer, &reply->header.damaged_index, &error))
                continue;
            if (error.message[0] && error.finding == FINDING_NONE)
                reply_say_error(reply, &error);
            else
                reply->header.damaged_buffer = b;
            return;
        }
    }
}

// The copies of a program's image, with their variables as at first and the constants filled.
static bool load_again(Session *session, const RunProgram *program, GpuError *error) {
    const int slot = program->image;
    GpuImage **again = session->again[slot];
    again[0] = session->images[slot];
    for (int i = 0; i < IMAGE_COPIES; i++) {
        if (!again[i]) again[i] = gpu_load_again(session->images[slot], error);
        if (!again[i] || !gpu_reset_variables(again[i], error) ||
            !program_fill_constants(session, again[i], program, error))
            return false;
    }
    return true;
}

void runner_time(Session *session, const Request *request, Reply *reply) {
    Bench bench = {.session = session, .programs = {&request->program, &request->rival}};
    bench.program_count = request->rival.launch_count > 0 ? 2 : 1;
    const size_t room = (size_t)MAX_SAMPLES * sizeof(double);
    reply->header.status = REPLY_DONE;
    bool is_sound =
        session->gpu && program_is_sound(session, bench.programs[0]) &&
        (bench.program_count == 1 || (program_is_sound(session, bench.programs[1]) &&
                                      bench.programs[1]->buffer_count == bench.programs[0]->buffer_count)) &&
        lies_in_arena(session, request->samples_offset, PROGRAMS * room) &&
        request->samples_offset % sizeof(double) == 0;
    bench.copies = is_sound ? calloc(MAX_COPIES, sizeof *bench.copies) : NULL;
    if (!bench.copies) {
        reply_say(reply, REPLY_ERROR, is_sound ? "out of memory" : "a malformed request");
        return;
    }
    double *samples = (double *)(void *)(session->arena + request->samples_offset);
    Timing timing = {.seconds = {samples, samples + MAX_SAMPLES}};
    GpuError error = {0};
    bool fine = true;
    for (int p = 0; fine && p < bench.program_count; p++)
        fine = load_again(session, bench.programs[p], &error);
    if (!fine) reply_say_error(reply, &error);
    fine = fine && add_copy(&bench, reply) && take_samples(&bench, request, &timing, reply);
    if (fine) look_at_guards(&bench, reply);
    // The rival first: shared buffers must contain the program's results at the end.
    const bool is_damaged = reply->header.damaged_buffer >= 0;
    for (int p = bench.program_count - 1; fine && !is_damaged && p >= 0; p--)
        fine = run_again(&bench, p, reply);
    if (!reply->header.context_lost)
        free_copies(&bench);
    else
        free(bench.copies);
}
