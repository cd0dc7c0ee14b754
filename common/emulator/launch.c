// One launch from start to end: checks the shape, lays out shared memory, sets observers up, runs the
// grid, and gathers what was counted.
#define _POSIX_C_SOURCE 200809L // clock_gettime
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "support/mangle.h"
#include "emulator/machine/machine.h"
#include "emulator/model/warp_clocks.h"
#include "emulator/observers/access_trace.h"

// ---- Is the launch possible? ------------------------------------------------------------------------------

static bool refuse(Machine *m, FindingKind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static bool refuse(Machine *m, FindingKind kind, const char *format, ...) {
    char message[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    report(m, kind, NULL, -1, NULL, NULL, true, "%s", message);
    return false;
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

// ---- What was counted -------------------------------------------------------------------------------------

static int compare_lines(const void *a, const void *b) {
    const SourcePlace *x = &((const LineCounters *)a)->place, *y = &((const LineCounters *)b)->place;
    int files = strcmp(x->file, y->file);
    return files ? files : x->line - y->line;
}

static bool gather_counts(Machine *m) {
    EmulatorResult *result = m->result;
    LineCounters *lines = calloc((size_t)m->program->instruction_count + 1, sizeof *lines);
    if (!lines) return false;
    int count = 0;
    for (int i = 0; i < m->program->instruction_count; i++) {
        if (!m->counts[i].instructions) continue;
        counters_add(&result->counters, &m->counts[i]);
        lines[count].place = place_of(m->program, m->program->by_number[i]);
        lines[count++].counters = m->counts[i];
    }
    qsort(lines, (size_t)count, sizeof *lines, compare_lines);
    int kept = 0;
    for (int i = 0; i < count; i++) {
        if (kept && !compare_lines(&lines[kept - 1], &lines[i]))
            counters_add(&lines[kept - 1].counters, &lines[i].counters);
        else
            lines[kept++] = lines[i];
    }
    result->lines = lines;
    result->line_count = kept;
    return true;
}

// ---- The launch -------------------------------------------------------------------------------------------

static bool add_observer(Machine *m, bool (*make)(Machine *, Observer *)) {
    Observer *observer = &m->observers[m->observer_count];
    if (!make(m, observer)) return false;
    m->has_exchange_observer |= observer->exchange != NULL;
    m->observer_count++;
    return true;
}

static bool follow_launch(Machine *m, Observer *observer) {
    m->result->work = calloc(1, sizeof *m->result->work);
    m->timing = m->result->work ? timing_new(m, observer) : NULL;
    return m->timing != NULL;
}

static bool record_launch(Machine *m, Observer *observer) {
    m->trace = access_trace_new(m, observer);
    return m->trace != NULL;
}

static void forget_races(Emulator *e) {
    for (uint64_t i = FIRST_OBJECT; i < e->object_count; i++) {
        free(e->objects[i].race);
        e->objects[i].race = NULL;
    }
}

bool emulator_launch(Emulator *e, const EmulatorKernel *kernel, const EmulatorLaunch *launch,
                     EmulatorResult *result, EmulatorError *error) {
    *result = (EmulatorResult){0};
    *error = (EmulatorError){0};
    if (!e->program || !kernel || launch->argument_bytes != kernel->info.parameter_bytes ||
        (launch->argument_bytes && !launch->arguments)) {
        error->status = EMULATOR_BAD_ARGUMENT;
        snprintf(error->message, sizeof error->message, "%s takes %zu bytes of arguments, not %zu",
                 kernel ? kernel->info.name : "no kernel", kernel ? kernel->info.parameter_bytes : 0,
                 launch->argument_bytes);
        return false;
    }
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    Machine machine = {.emulator = e,
                       .program = e->program,
                       .kernel = kernel,
                       .kernel_function = kernel->function,
                       .launch = launch,
                       .result = result};
    Machine *m = &machine;
    arena_open(&m->arena, 0);
    m->step_limit = launch->max_steps ? launch->max_steps : UINT64_MAX;
    m->scrambled = launch->schedule != 0;
    m->random.state = launch->schedule;
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
    bool ready = m->param.data && place_shared(m);
    if (ready && launch->count)
        ready = (m->counts = calloc((size_t)e->program->instruction_count + 1, sizeof *m->counts)) != NULL;
    if (ready && launch->count) ready = add_observer(m, counters_observe);
    if (ready && launch->checks & CHECK_INIT) ready = add_observer(m, initcheck_observe);
    if (ready && launch->checks & CHECK_RACE) ready = add_observer(m, racecheck_observe);
    if (ready && launch->timing) ready = add_observer(m, follow_launch);
    if (ready && launch->trace_bytes) ready = add_observer(m, record_launch);

    if (!ready)
        m->out_of_memory = true;
    else if (check_shape(m)) {
        run_grid(m);
        result->completed = !m->stopped;
        if (m->counts && !gather_counts(m)) m->out_of_memory = true;
    }
    result->lane_instructions = m->lane_steps;
    for (int i = 0; i < m->observer_count; i++)
        if (m->observers[i].end) m->observers[i].end(m->observers[i].self);
    if (m->timing) timing_finish(m->timing, result->work);
    if (m->trace && !access_trace_finish(m->trace, result)) m->out_of_memory = true;
    forget_races(e);
    for (Frame *frame = m->all_frames; frame; frame = frame->next_made) free(frame->registers);
    arena_close(&m->arena);
    free(m->param.allocation);
    free(m->shared_variables);
    free(m->counts);
    clock_gettime(CLOCK_MONOTONIC, &end);
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
