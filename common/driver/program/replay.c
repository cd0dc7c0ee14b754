#define _GNU_SOURCE // MAP_ANONYMOUS
#include "driver/program/replay.h"

#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "driver/plan/verdict.h"
#include "driver/program/schedule.h"
#include "driver/run/confine.h"
#include "emulator/emulator.h"
#include "support/mangle.h"
#include "support/process.h"
#include "support/system.h"

enum {
    MOST_MEMORY = 128,      // allocations that live at a time
    PACKED_AT = 512,        // bytes, a multiple of which allocations of the device begin at
    MOST_OUT = 1024,        // copies to the host
    ASSUMED_REGISTERS = 32, // of a thread, as in the runtime: ptxas does not tell here
    REPLAY_SECONDS = 60,
};
static const size_t MOST_BYTES = (size_t)1 << 30; // of all allocations

typedef enum { FROM_HOST, FROM_KERNEL, FROM_COPY } WordFrom; // FROM_COPY: of what a kernel changed

typedef struct {
    uint64_t address;
    size_t bytes;
    uint32_t memory; // RecordedMemory
    unsigned char *content;
    unsigned char *words;  // of every 4 bytes: who was the last to change them, WordFrom
    unsigned char *before; // the content when the last launch began, and what the host has changed since
    bool is_free;
} Memory;

// What the host got.
typedef struct {
    const unsigned char *bytes;
    const unsigned char *words; // as of Memory, from the first of the bytes on
    size_t count;
    bool is_shared;
} Got;

typedef struct {
    const ReplayPlan *plan;
    ReplayResult *result;
    Emulator *emulator;
    EmulatorImage *image;
    Memory memory[MOST_MEMORY];
    int memory_count;
    size_t bytes;
    Got got[MOST_OUT + MOST_MEMORY];
    int got_count;
    Schedule schedule;
    Verdict verdict;
} Replay;

__attribute__((format(printf, 2, 3))) static bool broken(Replay *r, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(r->result->words, sizeof r->result->words, format, arguments);
    va_end(arguments);
    r->result->state = REPLAY_BROKEN;
    return false;
}

// ---- Memory -----------------------------------------------------------------------------------------------

// The living allocation that holds all of these bytes.
static Memory *memory_at(Replay *r, uint64_t address, uint64_t bytes) {
    for (int i = 0; i < r->memory_count; i++) {
        Memory *m = &r->memory[i];
        if (!m->is_free && address >= m->address && address - m->address <= m->bytes &&
            bytes <= m->bytes - (address - m->address))
            return m;
    }
    return NULL;
}

static bool allocate(Replay *r, const Record *record) {
    char name[64];
    EmulatorError error;
    if (r->memory_count == MOST_MEMORY || record->bytes > MOST_BYTES - r->bytes)
        return broken(r, "more than %d allocations, or more than 1 GiB", MOST_MEMORY);
    Memory *m = &r->memory[r->memory_count++];
    const size_t bytes = (size_t)record->bytes;
    *m = (Memory){.address = record->address, .bytes = bytes, .memory = record->memory};
    r->bytes += bytes;
    snprintf(name, sizeof name, "allocation %d", r->memory_count);
    m->words = calloc(bytes / 4 + 1, 1);
    m->before = malloc(bytes + 1);
    if (record->memory == RECORDED_DEVICE) {
        const unsigned in_page = (unsigned)(record->address % EMULATOR_PAGE); // runtime/packing.h
        if (in_page % PACKED_AT ||
            emulator_allocate(r->emulator, bytes, in_page, name, &error) != record->address)
            return broken(r, "an allocation lies where the device would not have it");
        m->content = emulator_host_pointer(r->emulator, record->address, bytes);
    } else if (record->memory == RECORDED_PINNED || record->memory == RECORDED_MANAGED) {
        m->content = calloc(bytes + 1, 1);
        if (m->content && !emulator_adopt_at(r->emulator, record->address, m->content, bytes, name, &error))
            return broken(r, "%s", error.message);
    } else {
        r->result->state = REPLAY_UNSUPPORTED;
        snprintf(r->result->words, sizeof r->result->words, "cudaHostRegister or an array");
        return false;
    }
    if (!m->content || !m->words || !m->before) return broken(r, "no memory is left");
    memcpy(m->before, m->content, bytes);
    return true;
}

static bool release(Replay *r, const Record *record) {
    EmulatorError error;
    for (int i = 0; i < r->memory_count; i++) {
        Memory *m = &r->memory[i];
        if (m->is_free || m->address != record->address) continue;
        // What it held stays, because the host may have got its results from there.
        if (m->memory == RECORDED_DEVICE) {
            emulator_free(r->emulator, m->address, &error);
            m->content = NULL;
        }
        m->is_free = true;
        return true;
    }
    return broken(r, "memory is freed that was never allocated");
}

// `from` NULL: a fill.
static void put(Memory *m, uint64_t address, const unsigned char *from, const unsigned char *words,
                size_t bytes, Replay *r) {
    EmulatorError error;
    const size_t at = (size_t)(address - m->address);
    if (from) memmove(m->content + at, from, bytes);
    memcpy(m->before + at, m->content + at, bytes);
    for (size_t i = 0; i < (bytes + 3) / 4; i++)
        m->words[at / 4 + i] = words && words[i] ? FROM_COPY : FROM_HOST;
    if (m->memory == RECORDED_DEVICE) emulator_mark_written(r->emulator, address, bytes, &error);
}

// ---- Operations -------------------------------------------------------------------------------------------

static bool run_copy(Replay *r, const Record *record, const unsigned char *data, Work *work) {
    const uint64_t bytes = record->bytes;
    Memory *to = record->work == WORK_COPY_OUT ? NULL : memory_at(r, record->address, bytes),
           *from = record->work == WORK_COPY || record->work == WORK_COPY_OUT
                       ? memory_at(r, record->from, bytes)
                       : NULL;
    if ((record->work != WORK_COPY_OUT && !to) ||
        ((record->work == WORK_COPY || record->work == WORK_COPY_OUT) && !from))
        return broken(r, "a copy or a fill is not within one allocation");
    if (record->work == WORK_COPY_IN && record->data_bytes != bytes)
        return broken(r, "a copy of %llu bytes brings %llu", (unsigned long long)bytes,
                      (unsigned long long)record->data_bytes);
    const size_t at = from ? (size_t)(record->from - from->address) : 0;
    if (record->work == WORK_COPY_IN) put(to, record->address, data, NULL, (size_t)bytes, r);
    if (record->work == WORK_COPY)
        put(to, record->address, from->content + at, from->words + at / 4, (size_t)bytes, r);
    if (record->work == WORK_FILL) {
        unsigned char *start = to->content + (record->address - to->address);
        const size_t unit = record->unit == 2 || record->unit == 4 ? record->unit : 1;
        for (size_t i = 0; i + unit <= bytes; i += unit) memcpy(start + i, &record->value, unit);
        put(to, record->address, NULL, NULL, (size_t)bytes, r);
    }
    // The device's words at this moment; kept, because the memory changes.
    const bool is_out =
        record->work == WORK_COPY_OUT ||
        (record->work == WORK_COPY && to->memory != RECORDED_DEVICE && from->memory == RECORDED_DEVICE);
    if (is_out && r->got_count < MOST_OUT) {
        unsigned char *kept = malloc((size_t)bytes + 1), *words = malloc((size_t)bytes / 4 + 1);
        if (!kept || !words) {
            free(kept);
            free(words);
            return broken(r, "no memory is left");
        }
        memcpy(kept, from->content + at, (size_t)bytes);
        memcpy(words, from->words + at / 4, (size_t)bytes / 4);
        r->got[r->got_count++] = (Got){kept, words, (size_t)bytes, false};
    }
    const bool is_on_device = (!from || from->memory == RECORDED_DEVICE) && to &&
                              to->memory == RECORDED_DEVICE && record->work != WORK_COPY_IN;
    const double inside = r->plan->device->info.peak_gb_per_s * 1e9;
    if (r->plan->wants_times)
        work->seconds =
            is_on_device ? (from ? 2 : 1) * (double)bytes / inside : (double)bytes / gpu_link_bytes_per_s;
    return true;
}

static void keep_worst(Replay *r, const EmulatorResult *done, const char *kernel) {
    for (int i = 0; i < done->finding_count; i++) {
        const Verdict here = verdict_of_finding(done->findings[i].kind);
        if (here == VERDICT_PASS) continue;
        r->result->finding_count++;
        if (r->result->has_finding && here >= r->verdict) continue;
        r->result->has_finding = true;
        r->verdict = here;
        r->result->finding = done->findings[i];
        symbol_source_name(kernel, r->result->kernel, sizeof r->result->kernel);
    }
}

static bool load_image(Replay *r) {
    const EmulatorText text = {r->plan->ptx, r->plan->ptx_bytes, "kernel.ptx"};
    EmulatorError error;
    if (!r->image) r->image = emulator_add_image(r->emulator, &text, 1, &error);
    return r->image ? true : broken(r, "%.200s", error.message);
}

// Marks the words that a kernel has changed. Most memory is as it was, which large pieces tell soonest.
static void note_changes(Memory *m) {
    enum { PIECE = 4096 };
    for (size_t at = 0; at < m->bytes; at += PIECE) {
        const size_t bytes = m->bytes - at < PIECE ? m->bytes - at : PIECE;
        if (memcmp(m->before + at, m->content + at, bytes) == 0) continue;
        for (size_t w = at / 4; w < (at + bytes) / 4; w++) {
            uint32_t before, after;
            memcpy(&before, m->before + 4 * w, sizeof before);
            memcpy(&after, m->content + 4 * w, sizeof after);
            if (before != after) m->words[w] = FROM_KERNEL;
        }
        memcpy(m->before + at, m->content + at, bytes);
    }
}

static bool run_launch(Replay *r, const Record *record, const char *data, Work *work) {
    const char *end = memchr(data, 0, record->data_bytes);
    if (!end) return broken(r, "a launch has no name");
    if (!load_image(r)) return false;
    const EmulatorKernel *kernel = emulator_find_kernel_in(r->image, data);
    if (!kernel) return broken(r, "there is no kernel %.100s", data);
    EmulatorKernelInfo info;
    emulator_kernel_info(kernel, &info);
    const size_t argument_bytes = record->data_bytes - (size_t)(end + 1 - data);
    if (argument_bytes != info.parameter_bytes)
        return broken(r, "a launch has too few arguments, or too many");
    // Arguments may lie at any address here.
    unsigned char *arguments = malloc(argument_bytes + 1);
    if (!arguments) return broken(r, "no memory is left");
    memcpy(arguments, end + 1, argument_bytes);
    const EmulatorLaunch how = {
        .grid = {record->grid[0], record->grid[1], record->grid[2]},
        .block = {record->block[0], record->block[1], record->block[2]},
        .dynamic_shared = (uint32_t)record->shared,
        .arguments = arguments,
        .argument_bytes = argument_bytes,
        .checks = CHECK_ALL,
        .timing = r->plan->wants_times,
        .schedule = r->plan->wants_times ? 0 : r->plan->schedule,
        .max_steps = r->plan->max_steps,
    };
    EmulatorResult done;
    EmulatorError error;
    const bool was_run = emulator_launch(r->emulator, kernel, &how, &done, &error);
    free(arguments);
    if (!was_run) return broken(r, "%.200s", error.message);
    keep_worst(r, &done, info.name);
    r->result->lane_instructions += done.lane_instructions;
    if (done.work) {
        ModelDevice device;
        ModelEstimate estimate = {0};
        gpu_profile_model(r->plan->device, &device);
        const ModelShape shape = {.blocks = (double)how.grid[0] * how.grid[1] * how.grid[2],
                                  .block_threads = (double)how.block[0] * how.block[1] * how.block[2],
                                  .registers = ASSUMED_REGISTERS,
                                  .shared_bytes = (double)(info.static_shared + record->shared)};
        model_estimate(&device, &shape, done.work, &estimate);
        work->seconds = estimate.seconds;
    }
    const bool is_over = !done.completed;
    emulator_result_free(&done);
    for (int i = 0; i < r->memory_count; i++)
        if (!r->memory[i].is_free) note_changes(&r->memory[i]);
    return !is_over; // nothing runs on a device after a kernel that was stopped
}

static bool run(Replay *r, const Record *record, const char *data) {
    Work *work = schedule_find(&r->schedule, record->number);
    if (!work || work->work != record->work) return broken(r, "work runs that nothing asked for");
    switch (record->work) {
    case WORK_LAUNCH: return run_launch(r, record, data, work);
    case WORK_COPY:
    case WORK_COPY_IN:
    case WORK_COPY_OUT:
    case WORK_FILL: return run_copy(r, record, (const unsigned char *)data, work);
    default: return true;
    }
}

static bool issue(Replay *r, const Record *record, const char *data) {
    Schedule *s = &r->schedule;
    if (record->work == WORK_OTHER) {
        r->result->state = REPLAY_UNSUPPORTED;
        snprintf(r->result->words, sizeof r->result->words, "%.*s", (int)record->data_bytes, data);
        return false;
    }
    if (s->count == MOST_WORK) return broken(r, "there are more than %d operations", MOST_WORK);
    Work *w = &s->work[s->count++];
    *w = (Work){.number = record->number,
                .stream = record->stream,
                .is_blocking = record->is_blocking != 0,
                .work = record->work,
                .waits_for = record->other,
                .bytes = record->work == WORK_LAUNCH ? 0 : (long long)record->bytes};
    const bool is_to_device = record->to_memory == RECORDED_DEVICE,
               is_from_device = record->from_memory == RECORDED_DEVICE;
    w->engine = record->work == WORK_LAUNCH || record->work == WORK_FILL || (is_to_device && is_from_device)
                    ? ENGINE_KERNELS
                : is_to_device ? ENGINE_IN
                               : ENGINE_OUT;
    if (record->work == WORK_LAUNCH) {
        char name[256];
        if (!load_image(r)) return false;
        if (!memchr(data, 0, record->data_bytes)) return broken(r, "a launch has no name");
        symbol_source_name(data, name, sizeof name);
        snprintf(w->name, sizeof w->name, "%.63s", name);
    }
    return true;
}

static bool note_wait(Replay *r, const Record *record) {
    Schedule *s = &r->schedule;
    if (s->wait_count == MOST_WORK) return broken(r, "the host waits more than %d times", MOST_WORK);
    s->waits[s->wait_count].before = s->count;
    s->waits[s->wait_count].kind = record->kind;
    s->waits[s->wait_count].stream = record->stream;
    s->waits[s->wait_count++].number = record->number;
    return true;
}

// What the host wrote to memory that both sides reach; what is as it was may still be a kernel's work.
static bool take_host_data(Replay *r, const Record *record, const unsigned char *data) {
    Memory *m = memory_at(r, record->address, record->bytes);
    if (!m || m->memory == RECORDED_DEVICE || record->data_bytes != record->bytes)
        return broken(r, "the host writes to memory that it does not reach");
    const size_t at = (size_t)(record->address - m->address);
    for (size_t w = 0; w < record->bytes / 4; w++)
        if (memcmp(m->content + at + 4 * w, data + 4 * w, 4) != 0) m->words[at / 4 + w] = FROM_HOST;
    memcpy(m->content + at, data, (size_t)record->bytes);
    memcpy(m->before + at, data, (size_t)record->bytes);
    return true;
}

static bool step(Replay *r, const Record *record, const char *data) {
    switch (record->kind) {
    case RECORD_ALLOCATE: return allocate(r, record);
    case RECORD_FREE: return release(r, record);
    case RECORD_ISSUE: return issue(r, record, data);
    case RECORD_RUN: return run(r, record, data);
    case RECORD_HOST_DATA: return take_host_data(r, record, (const unsigned char *)data);
    case RECORD_WAIT_STREAM:
    case RECORD_WAIT_ALL:
    case RECORD_WAIT_WORK: return note_wait(r, record);
    case RECORD_ELAPSED:
        r->schedule.timed_from = record->number;
        r->schedule.timed_to = record->other;
        return true;
    case RECORD_END: r->result->exit_status = (int)record->value; return true;
    default: return broken(r, "a part of it has no meaning");
    }
}

// ---- The results ------------------------------------------------------------------------------------------

// The number of words of `got` that are the same as those at `c`, from `from` on, and how many a kernel
// wrote.
static size_t common_words(const Got *got, size_t from, const float *c, size_t most, size_t *by_kernels) {
    size_t same = 0;
    *by_kernels = 0;
    while (same < most && 4 * (from + same + 1) <= got->count &&
           memcmp(got->bytes + 4 * (from + same), (const unsigned char *)c + 4 * same, 4) == 0)
        *by_kernels += got->words[from + same++] != FROM_HOST;
    return same;
}

// Whether c can be put together from what the host got, and mostly from words that kernels wrote. A kernel
// that writes a value that the memory has already cannot be told from one that does not, as it is with zeros.
static bool is_from_kernels(const Replay *r, const float *c, size_t n) {
    size_t written = 0, nonzero = 0;
    for (size_t i = 0; i < n; i++) nonzero += c[i] != 0;
    for (size_t at = 0; at < n;) {
        size_t longest = 0, most_written = 0, by_kernels;
        for (int g = 0; g < r->got_count; g++) {
            // A part begins where a copy began, or at the same place in memory that both sides reach.
            size_t same = common_words(&r->got[g], 0, c + at, n - at, &by_kernels);
            if (same > longest || (same == longest && by_kernels > most_written))
                longest = same, most_written = by_kernels;
            same = at ? common_words(&r->got[g], at, c + at, n - at, &by_kernels) : 0;
            if (same > longest) longest = same, most_written = by_kernels;
        }
        if (longest == 0) return false;
        at += longest;
        written += most_written;
    }
    return 2 * written >= nonzero;
}

static void find_total(Replay *r) {
    for (int g = 0; g < r->got_count; g++)
        for (size_t w = 0; 4 * (w + 1) <= r->got[g].count; w++) {
            float number;
            memcpy(&number, r->got[g].bytes + 4 * w, sizeof number);
            if (!r->got[g].words[w] ||
                !(fabs((double)number - (double)r->plan->total) <= r->plan->total_slack))
                continue;
            r->result->is_total_from_kernels = true;
            if (r->got[g].is_shared && r->got[g].words[w] == FROM_KERNEL) r->result->is_total_shared = true;
        }
}

static void look_at_results(Replay *r) {
    for (int i = 0; i < r->memory_count; i++) {
        const Memory *m = &r->memory[i];
        r->result->leaks += !m->is_free;
        if (m->memory != RECORDED_DEVICE)
            r->got[r->got_count++] = (Got){m->content, m->words, m->bytes, true};
    }
    r->result->is_c_from_kernels = is_from_kernels(r, r->plan->c, (size_t)r->plan->n);
    find_total(r);
}

// ---- The process ------------------------------------------------------------------------------------------

static void replay_all(const ReplayPlan *plan, ReplayResult *result) {
    Replay *r = calloc(1, sizeof *r);
    EmulatorDevice device;
    gpu_profile_device(plan->device, &device);
    if (!r || !(r->emulator = emulator_open(&device))) return;
    emulator_leave_host_addresses(r->emulator);
    r->plan = plan;
    r->result = result;
    result->exit_status = -1;
    result->state = REPLAY_DONE;
    for (size_t at = 0; at < plan->record_bytes;) {
        Record record;
        if (plan->record_bytes - at < sizeof record) break; // the program was ended while it wrote
        memcpy(&record, plan->record + at, sizeof record);
        at += sizeof record;
        if (record.data_bytes > plan->record_bytes - at) break;
        if (!step(r, &record, plan->record + at)) break;
        at += (size_t)record.data_bytes;
    }
    if (result->state != REPLAY_DONE) return;
    if (!result->has_finding) look_at_results(r);
    result->timeline.n = plan->n;
    result->timeline.shared = result->is_total_shared;
    schedule_run(&r->schedule, &result->timeline);
}

// How the process ended: REPLAY_DONE if well.
static ReplayState wait_for(pid_t child) {
    const double deadline = monotonic_seconds() + REPLAY_SECONDS;
    int status;
    while (waitpid(child, &status, WNOHANG) == 0) {
        if (monotonic_seconds() > deadline) {
            kill(child, SIGKILL);
            waitpid(child, &status, 0);
            return REPLAY_ENDLESS;
        }
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? REPLAY_DONE : REPLAY_LOST;
}

void replay(const ReplayPlan *plan, ReplayResult *result) {
    *result = (ReplayResult){.state = REPLAY_LOST, .exit_status = -1};
    ReplayResult *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) return;
    *shared = *result;
    const pid_t child = fork();
    if (child == 0) {
        system_end_with_parent(SIGKILL);
        confine_runner();
        replay_all(plan, shared);
        _exit(0);
    }
    if (child > 0) result->state = wait_for(child);
    if (result->state == REPLAY_DONE) *result = *shared;
    munmap(shared, sizeof *shared);
    // The process that read it may have been taken over: no number of it leads outside of an array.
    Timeline *t = &result->timeline;
    if (result->state > REPLAY_LOST || t->count < 0 || t->count > MOST_TIMELINE ||
        t->stream_count > MOST_STREAMS)
        *result = (ReplayResult){.state = REPLAY_LOST, .exit_status = -1};
    for (int i = 0; i < t->count; i++) {
        t->work[i].name[sizeof t->work[i].name - 1] = '\0';
        if ((unsigned)t->work[i].engine >= ENGINES || (unsigned)t->work[i].stream > MOST_STREAMS)
            *result = (ReplayResult){.state = REPLAY_LOST, .exit_status = -1};
    }
    result->words[sizeof result->words - 1] = result->kernel[sizeof result->kernel - 1] = '\0';
}
