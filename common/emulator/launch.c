// One launch from start to end: checks the shape, lays out shared memory, sets observers up, runs the
// grid, and gathers what was counted.
#define _POSIX_C_SOURCE 200809L // clock_gettime
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "support/mangle.h"
#include "emulator/emulator.h"
#include "emulator/launch_pause.h"
#include "emulator/objects.h"
#include "emulator/machine/beside.h"
#include "emulator/machine/child.h"
#include "emulator/machine/findings.h"
#include "emulator/machine/heap.h"
#include "emulator/machine/matrix.h"
#include "emulator/machine/resolve.h"
#include "emulator/machine/schedule.h"
#include "emulator/machine/undefined.h"
#include "emulator/model/warp_clocks.h"
#include "emulator/observers/access_trace.h"
#include "emulator/observers/asynccheck.h"
#include "emulator/observers/counters.h"
#include "emulator/observers/footprint.h"
#include "emulator/observers/initcheck.h"
#include "emulator/observers/memcheck.h"
#include "emulator/observers/race_shadow.h"
#include "emulator/observers/racecheck.h"
#include "emulator/observers/synccheck.h"
#include "emulator/observers/touched.h"
#include "emulator/observers/weak_memory.h"

// ---- Is the launch possible? ------------------------------------------------------------------------------

static bool refuse(Machine *m, FindingKind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static bool refuse(Machine *m, FindingKind kind, const char *format, ...) {
    char message[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    report(m, kind, NULL, -1, NULL, "%s", message);
    return false;
}

static bool check_cluster(Machine *m) {
    static const char axis[] = "xyz";
    const EmulatorLaunch *launch = m->launch;
    const int *asked = m->kernel->entry->cluster;
    uint32_t size = 1;
    m->is_explicit_cluster = launch->cluster[0] || asked[0];
    for (int i = 0; i < 3; i++) {
        const uint32_t needed = asked[0] ? (uint32_t)(asked[i] ? asked[i] : 1) : 0;
        const uint32_t given = launch->cluster[0] ? (launch->cluster[i] ? launch->cluster[i] : 1) : 0;
        m->cluster[i] = given ? given : needed ? needed : 1;
        if (given && needed && given != needed)
            return refuse(m, FINDING_BAD_LAUNCH,
                          "the cluster has %u blocks in %c; the kernel was compiled for %u", given, axis[i],
                          needed);
        if (launch->grid[i] % m->cluster[i])
            return refuse(
                m, FINDING_BAD_LAUNCH,
                "the grid has %u blocks in %c, which is not a multiple of the %u blocks of a cluster",
                launch->grid[i], axis[i], m->cluster[i]);
        size = size > MAX_CLUSTER || m->cluster[i] > MAX_CLUSTER ? MAX_CLUSTER + 1 : size * m->cluster[i];
    }
    if (size > MAX_CLUSTER)
        return refuse(m, FINDING_BAD_LAUNCH, "the cluster has %u x %u x %u blocks; %d are allowed",
                      m->cluster[0], m->cluster[1], m->cluster[2], MAX_CLUSTER);
    if (size > 1 && m->shared_bytes >> RANK_SHIFT)
        return refuse(m, FINDING_RESOURCE,
                      "the shared variables of this file do not fit in a cluster's %d MiB",
                      1 << (RANK_SHIFT - 20));
    return true;
}

static bool check_shape(Machine *m) {
    const EmulatorLaunch *launch = m->launch;
    const EmulatorDevice *device = &m->emulator->device;
    const EmulatorKernelInfo *info = &m->kernel->info;
    static const char axis[] = "xyz";
    uint64_t threads = (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];
    for (int i = 0; i < 3; i++) {
        if (!launch->grid[i] || launch->grid[i] > device->max_grid[i])
            return refuse(m, FINDING_BAD_LAUNCH, "the grid has %u blocks in %c; %s allows 1 to %u",
                          launch->grid[i], axis[i], device->name, device->max_grid[i]);
        if (!launch->block[i] || launch->block[i] > device->max_block[i])
            return refuse(m, FINDING_BAD_LAUNCH, "the block has %u threads in %c; %s allows 1 to %u",
                          launch->block[i], axis[i], device->name, device->max_block[i]);
        if (info->required_threads[0] &&
            (uint32_t)(info->required_threads[i] ? info->required_threads[i] : 1) != launch->block[i])
            return refuse(m, FINDING_BAD_LAUNCH,
                          "the block has %u threads in %c; the kernel was compiled for %d", launch->block[i],
                          axis[i], info->required_threads[i]);
    }
    if (threads > (uint64_t)device->max_threads_per_block)
        return refuse(m, FINDING_BAD_LAUNCH, "the block has %llu threads; %s allows %d",
                      (unsigned long long)threads, device->name, device->max_threads_per_block);
    if (info->max_threads[0]) {
        uint64_t most = 1;
        for (int i = 0; i < 3; i++) most *= (uint64_t)(info->max_threads[i] ? info->max_threads[i] : 1);
        if (threads > most)
            return refuse(m, FINDING_BAD_LAUNCH,
                          "the block has %llu threads; the kernel's __launch_bounds__ allows %llu",
                          (unsigned long long)threads, (unsigned long long)most);
    }
    if (!check_cluster(m)) return false;
    uint32_t local = m->program->functions[m->kernel_function].local_bytes;
    if (local > MAX_LOCAL_BYTES)
        return refuse(m, FINDING_RESOURCE, "the kernel has %u bytes of local arrays; a thread may have %d",
                      local, MAX_LOCAL_BYTES);
    uint64_t shared = info->static_shared + launch->dynamic_shared;
    if (info->static_shared > (size_t)device->shared_per_block)
        return refuse(m, FINDING_RESOURCE,
                      "the kernel has %zu bytes of static shared memory; a block may have %d",
                      info->static_shared, device->shared_per_block);
    if (shared > (uint64_t)device->shared_per_block_optin)
        return refuse(m, FINDING_BAD_LAUNCH, "the block needs %llu bytes of shared memory; %s allows %d",
                      (unsigned long long)shared, device->name, device->shared_per_block_optin);
    if (m->kernel->registers) {
        uint64_t warps = (threads + WARP_SIZE - 1) / WARP_SIZE,
                 per_warp = ((uint64_t)m->kernel->registers * WARP_SIZE + 255) / 256 * 256;
        if (warps * per_warp > (uint64_t)device->registers_per_block)
            return refuse(m, FINDING_BAD_LAUNCH,
                          "%llu threads of %d registers each are more than the %d registers a block may have",
                          (unsigned long long)threads, m->kernel->registers, device->registers_per_block);
    }
    return true;
}

// ---- Shared memory ----------------------------------------------------------------------------------------

static bool place_shared(Machine *m) {
    const Program *p = m->program;
    m->shared_variables = calloc((size_t)p->shared_count + 1, sizeof *m->shared_variables);
    if (!m->shared_variables) return false;
    uint32_t end = 0;
    bool has_dynamic = false;
    for (int i = 0; i < p->shared_count; i++) {
        const SharedPlace *place = &p->shared[i];
        const PtxVariable *v = place->variable;
        if (!uses_shared(p, m->kernel->entry, i) || (v->is_unsized && has_dynamic)) continue;
        has_dynamic |= v->is_unsized;
        char name[64];
        symbol_source_name(v->name, name, sizeof name);
        SharedVariable *out = &m->shared_variables[m->shared_variable_count++];
        *out = (SharedVariable){.offset = place->offset,
                                .bytes = v->is_unsized ? m->launch->dynamic_shared : place->bytes};
        char *copy = arena_string(&m->arena, name, strlen(name));
        if (!copy) return false;
        out->name = copy;
        if (out->offset + out->bytes > end) end = out->offset + out->bytes;
    }
    m->shared_bytes = end;
    return true;
}

// ---- The launch -------------------------------------------------------------------------------------------

static void attach(Machine *m, const Observer *observer) {
    Observer *place = &m->observers[m->observer_count++];
    *place = *observer;
    if (place->access) m->access_observers = m->observer_count;
    if (place->exchange) m->has_exchange_observer = true;
    if (place->instruction) m->of_instructions = place;
    if (place->before) m->of_values = place;
    if (place->chosen) m->of_choices = place;
}

// Those whose findings go to the result when the launch has ended.
typedef struct {
    Counting *counting;
    Timing *timing;
    AccessTrace *trace;
} Recorders;

// Everything that the launch asks for. Those without an `access` come last, so that accesses pass them by.
// False when memory ran out.
static bool attach_all(Machine *m, Recorders *recorders) {
    const EmulatorLaunch *launch = m->launch;
    Observer observer;
    if (launch->count) {
        if (!(recorders->counting = counting_new(m, &observer))) return false;
        attach(m, &observer);
    }
    if (launch->checks & CHECK_INIT) {
        initcheck_observe(m, &observer);
        attach(m, &observer);
    }
    if (launch->checks & (CHECK_RACE | CHECK_SHARED_RACE)) {
        RaceOrder *order = racecheck_observe(m, &observer);
        if (!order) return false;
        attach(m, &observer);
        if (m->is_weak) {
            if (!weak_memory_observe(m, order, &observer)) return false;
            attach(m, &observer);
        }
    }
    if (launch->timing) {
        m->result->work = calloc(1, sizeof *m->result->work);
        if (!m->result->work || !(recorders->timing = timing_new(m, &observer))) return false;
        attach(m, &observer);
    }
    if (launch->trace_bytes) {
        if (!(recorders->trace = access_trace_new(m, &observer))) return false;
        attach(m, &observer);
    }
    if (launch->footprint) {
        if (!footprint_observe(m, &observer)) return false;
        attach(m, &observer);
    }
    if (launch->touched) {
        if (!touched_observe(m, &observer)) return false;
        attach(m, &observer);
    }
    if (m->program->uses_async_proxy) {
        asynccheck_observe(m, &observer);
        attach(m, &observer);
    }
    memcheck_observe(m, &observer);
    attach(m, &observer);
    synccheck_observe(m, &observer);
    attach(m, &observer);
    return true;
}

// False when memory ran out.
static bool finish_recorders(const Recorders *recorders, EmulatorResult *result) {
    bool finished = true;
    if (recorders->counting) finished = counting_finish(recorders->counting, result);
    if (recorders->timing) timing_finish(recorders->timing, result->work);
    if (recorders->trace) finished = access_trace_finish(recorders->trace, result) && finished;
    return finished;
}

static void forget_races(Emulator *e) {
    for (uint64_t i = FIRST_OBJECT; i < e->object_count; i++) {
        shadow_free(e->objects[i].race);
        e->objects[i].race = NULL;
    }
}

bool emulator_launch(Emulator *e, const EmulatorKernel *kernel, const EmulatorLaunch *launch,
                     EmulatorResult *result, EmulatorError *error) {
    *result = (EmulatorResult){0};
    *error = (EmulatorError){0};
    if (!kernel || launch->argument_bytes != kernel->info.parameter_bytes ||
        (launch->argument_bytes && !launch->arguments)) {
        error->status = EMULATOR_BAD_ARGUMENT;
        snprintf(error->message, sizeof error->message, "%s takes %zu bytes of arguments, not %zu",
                 kernel ? kernel->info.name : "no kernel", kernel ? kernel->info.parameter_bytes : 0,
                 launch->argument_bytes);
        return false;
    }
    struct timespec start, end;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
    Machine machine = {.emulator = e,
                       .program = kernel->image->program,
                       .kernel = kernel,
                       .kernel_function = kernel->function,
                       .launch = launch,
                       .workspace = e->paused ? workspace_new(e) : e->workspace,
                       .pause = launch->pause ? launch_pause : NULL,
                       .result = result};
    Machine *m = &machine;
    arena_open(&m->arena, 0);
    m->step_limit = launch->max_steps ? launch->max_steps : UINT64_MAX;
    m->scrambled = launch->schedule != 0;
    m->is_weak = schedule_is_weak(launch->schedule) && launch->checks & CHECK_RACE;
    m->random.state = launch->schedule;
    m->follows_undefined = launch->checks & (CHECK_INIT | CHECK_SYNC);
    m->param = (Memory){.name = "the parameters",
                        .space = PTX_SPACE_PARAM,
                        .base = PARAM_WINDOW,
                        .bytes = launch->argument_bytes,
                        .in_use = true,
                        .all_initialised = true,
                        .read_only = true};
    m->param.data = m->param.allocation = malloc(launch->argument_bytes + 16);
    if (m->param.data && launch->argument_bytes)
        memcpy(m->param.data, launch->arguments, launch->argument_bytes);
    bool ready = m->workspace && m->param.data && place_shared(m) &&
                 (!m->program->uses_heap || e->heap || heap_open(e));
    Recorders recorders = {0};
    ready = ready && attach_all(m, &recorders);

    if (!ready)
        m->out_of_memory = true;
    else if (check_shape(m)) {
        run_grid(m);
        result->completed = !m->stopped && !m->searched;
    }
    children_close(m);
    beside_close(m);
    heap_report_leaks(m);
    result->lane_instructions = m->lane_steps;
    const uint64_t most = launch->max_steps ? launch->max_steps : UINT64_MAX;
    result->steps = m->ended_early ? m->ended_early
                    : m->searched  ? most
                                   : most - m->step_limit + m->lane_steps;
    for (int i = 0; i < m->observer_count; i++)
        if (m->observers[i].end) m->observers[i].end(m->observers[i].self);
    result->race_compared = m->race_compared;
    if (!finish_recorders(&recorders, result)) m->out_of_memory = true;
    forget_races(e);
    if (m->workspace && m->workspace != e->workspace) object_free(memory_at(e, m->workspace));
    for (Frame *frame = m->all_frames; frame; frame = frame->next_made) {
        undefined_end(frame);
        free(frame->registers);
    }
    undefined_close(m);
    matrix_close(m);
    arena_close(&m->arena);
    free(m->param.allocation);
    free(m->shared_variables);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
    result->seconds = (double)(end.tv_sec - start.tv_sec) + 1e-9 * (double)(end.tv_nsec - start.tv_nsec);
    if (m->out_of_memory) {
        error->status = EMULATOR_NO_MEMORY;
        snprintf(error->message, sizeof error->message, "out of memory while running %s", kernel->info.name);
        return false;
    }
    return true;
}

void emulator_result_free(EmulatorResult *result) {
    free(result->findings);
    free(result->lines);
    free(result->output);
    free(result->work);
    free(result->trace);
    *result = (EmulatorResult){0};
}
