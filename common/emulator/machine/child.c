#include "emulator/machine/child.h"

#include <stdlib.h>
#include <string.h>

#include "emulator/machine/findings.h"
#include "emulator/machine/heap.h"
#include "emulator/machine/initialised.h"
#include "emulator/machine/resolve.h"

// Errors and streams of the CUDA runtime, as kernels see them (cuda_device_runtime_api.h).
enum { INVALID_VALUE = 1, MEMORY_ALLOCATION = 2, INVALID_DEVICE_FUNCTION = 98 };
enum { TAIL_LAUNCH = 3, FIRST_STREAM = 16 };

// A buffer for parameters that a thread has got and not launched with.
typedef struct {
    uint64_t buffer;
    const EmulatorKernel *kernel;
    uint32_t grid[3], block[3], dynamic_shared;
} Prepared;

typedef struct Children {
    Prepared *prepared;
    size_t count, capacity;
    uint64_t streams; // created
    int error;        // the last; 0: none
} Children;

// ---- Arguments and results --------------------------------------------------------------------------------

// False when the call does not pass so many bytes as argument `k`.
static bool take(const Fragment *f, const CallDetail *detail, int k, unsigned lane, void *to,
                 uint32_t bytes) {
    if (k >= detail->argument_count || detail->arguments[k].bytes != bytes) return false;
    memcpy(to, f->frame->registers + detail->arguments[k].offset + (size_t)lane * bytes, bytes);
    return true;
}

static void give(Fragment *f, const CallDetail *detail, unsigned lane, uint64_t value) {
    if (detail->result_count != 1 || detail->results[0].bytes > sizeof value) return;
    const uint32_t bytes = detail->results[0].bytes;
    memcpy(f->frame->registers + detail->results[0].offset + (size_t)lane * bytes, &value, bytes);
}

// Stores 8 bytes where a pointer of the thread points to; false: that is not its memory.
static bool store(Machine *m, const Warp *w, unsigned lane, const Instruction *in, uint64_t address,
                  uint64_t value) {
    const Memory *memory = NULL;
    uint64_t offset = 0;
    const unsigned char *bytes =
        address % sizeof value ? NULL
                               : generic_bytes(m, w, (int)lane, address, sizeof value, &memory, &offset);
    if (!bytes || memory->read_only || memory->period || memory->space == PTX_SPACE_CONST) {
        report(m, FINDING_OUT_OF_BOUNDS, w, (int)lane, in,
               "calls a function of the CUDA runtime with 0x%llx, where it cannot store a result",
               (unsigned long long)address);
        return false;
    }
    memcpy(memory->data + offset, &value, sizeof value);
    mark_initialised((Memory *)(uintptr_t)memory, offset, sizeof value); // the machine's own memory
    return true;
}

// ---- Launches ---------------------------------------------------------------------------------------------

static const EmulatorKernel *kernel_of(const Machine *m, uint64_t address) {
    const uint64_t index = (address - FUNCTION_WINDOW) / 16 - 1;
    if (address < FUNCTION_WINDOW + 16 || address % 16 ||
        index >= (uint64_t)m->program->module->function_count)
        return NULL;
    const EmulatorImage *image = m->kernel->image;
    for (int i = 0; i < image->kernel_count; i++)
        if ((uint64_t)image->kernels[i].function == index) return &image->kernels[i];
    return NULL;
}

// cudaGetParameterBufferV2(function, grid, block, bytes of shared memory)
static uint64_t parameter_buffer(Machine *m, const Fragment *f, const Instruction *in, unsigned lane) {
    const CallDetail *detail = in->detail;
    Children *c = m->children;
    Prepared p = {0};
    uint64_t function = 0;
    if (!take(f, detail, 0, lane, &function, sizeof function) ||
        !take(f, detail, 1, lane, p.grid, sizeof p.grid) ||
        !take(f, detail, 2, lane, p.block, sizeof p.block) ||
        !take(f, detail, 3, lane, &p.dynamic_shared, sizeof p.dynamic_shared))
        return 0;
    p.kernel = kernel_of(m, function);
    if (!p.kernel) {
        c->error = INVALID_DEVICE_FUNCTION;
        return 0;
    }
    if (c->count == c->capacity) {
        const size_t capacity = c->capacity ? 2 * c->capacity : 16;
        Prepared *grown = realloc(c->prepared, capacity * sizeof *grown);
        if (!grown) {
            m->out_of_memory = m->stopped = true;
            return 0;
        }
        c->prepared = grown;
        c->capacity = capacity;
    }
    p.buffer = heap_malloc(m, in, p.kernel->info.parameter_bytes + 1); // a kernel may have none
    if (p.buffer)
        c->prepared[c->count++] = p;
    else
        c->error = MEMORY_ALLOCATION;
    return p.buffer;
}

static int ask_for(Machine *m, const EmulatorChild *child) {
    const int error = m->launch->child(m->launch->child_self, child);
    if (error) m->children->error = error;
    return error;
}

// cudaLaunchDeviceV2(buffer, stream)
static int launch_device(Machine *m, const Warp *w, const Fragment *f, const Instruction *in, unsigned lane) {
    const CallDetail *detail = in->detail;
    Children *c = m->children;
    uint64_t buffer = 0, stream = 0;
    if (!take(f, detail, 0, lane, &buffer, sizeof buffer) ||
        !take(f, detail, 1, lane, &stream, sizeof stream))
        return INVALID_VALUE;
    for (size_t i = 0; i < c->count; i++) {
        if (c->prepared[i].buffer != buffer) continue;
        const Prepared p = c->prepared[i];
        c->prepared[i] = c->prepared[--c->count];
        const Memory *memory = memory_at(m->emulator, buffer);
        if (!memory) return INVALID_VALUE; // not reached: the heap stays
        EmulatorChild child = {.kernel = p.kernel,
                               .dynamic_shared = p.dynamic_shared,
                               .arguments = memory->data + (buffer - memory->base),
                               .argument_bytes = p.kernel->info.parameter_bytes,
                               .is_tail = stream == TAIL_LAUNCH};
        memcpy(child.grid, p.grid, sizeof child.grid);
        memcpy(child.block, p.block, sizeof child.block);
        const int error = ask_for(m, &child);
        heap_release(m, w, (int)lane, in, buffer);
        return error;
    }
    return c->error = INVALID_VALUE;
}

// cudaMemcpyAsync(to, from, bytes, kind, stream)
static int copy_async(Machine *m, const Fragment *f, const Instruction *in, unsigned lane) {
    const CallDetail *detail = in->detail;
    EmulatorChild child = {0};
    uint64_t stream = 0;
    if (!take(f, detail, 0, lane, &child.to, sizeof child.to) ||
        !take(f, detail, 1, lane, &child.from, sizeof child.from) ||
        !take(f, detail, 2, lane, &child.bytes, sizeof child.bytes) ||
        !take(f, detail, 4, lane, &stream, sizeof stream))
        return INVALID_VALUE;
    child.is_tail = stream == TAIL_LAUNCH;
    return ask_for(m, &child);
}

// ---- The other functions ----------------------------------------------------------------------------------

static int create_stream(Machine *m, const Warp *w, const Fragment *f, const Instruction *in, unsigned lane) {
    uint64_t to = 0;
    if (!take(f, in->detail, 0, lane, &to, sizeof to)) return INVALID_VALUE;
    store(m, w, lane, in, to, FIRST_STREAM + 16 * m->children->streams++);
    return 0;
}

static int device_malloc(Machine *m, const Warp *w, const Fragment *f, const Instruction *in, unsigned lane) {
    uint64_t to = 0, bytes = 0;
    if (!take(f, in->detail, 0, lane, &to, sizeof to) || !take(f, in->detail, 1, lane, &bytes, sizeof bytes))
        return INVALID_VALUE;
    const uint64_t address = heap_malloc(m, in, bytes);
    if (!store(m, w, lane, in, to, address) || address || !bytes) return 0;
    return m->children->error = MEMORY_ALLOCATION;
}

static uint64_t call(Machine *m, const Warp *w, const Fragment *f, const Instruction *in, unsigned lane) {
    const CallDetail *detail = in->detail;
    Children *c = m->children;
    const int error = c->error;
    uint64_t address = 0;
    switch (detail->syscall) {
    case SYSCALL_PARAMETER_BUFFER: return parameter_buffer(m, f, in, lane);
    case SYSCALL_LAUNCH_DEVICE: return (uint64_t)launch_device(m, w, f, in, lane);
    case SYSCALL_COPY_ASYNC: return (uint64_t)copy_async(m, f, in, lane);
    case SYSCALL_STREAM_CREATE: return (uint64_t)create_stream(m, w, f, in, lane);
    case SYSCALL_DEVICE_MALLOC: return (uint64_t)device_malloc(m, w, f, in, lane);
    case SYSCALL_DEVICE_FREE:
        if (take(f, detail, 0, lane, &address, sizeof address)) heap_release(m, w, (int)lane, in, address);
        return 0;
    case SYSCALL_LAST_ERROR: c->error = 0; return (uint64_t)error;
    case SYSCALL_PEEK_ERROR: return (uint64_t)error;
    default: return 0; // a stream that is destroyed still does what it was asked for
    }
}

void execute_child_call(Machine *m, Warp *w, Fragment *f, const Instruction *in, uint32_t mask) {
    if (!m->launch->child) {
        report(
            m, FINDING_UNSUPPORTED, w, __builtin_ctz(mask), in,
            "reached code that the emulator cannot run: kernels that launch kernels are not supported here");
        return;
    }
    if (!m->children && !(m->children = calloc(1, sizeof *m->children))) {
        m->out_of_memory = m->stopped = true;
        return;
    }
    FOR_LANES(lane, mask) {
        const uint64_t value = call(m, w, f, in, lane);
        if (m->stopped) return;
        give(f, in->detail, lane, value);
    }
}

void children_close(Machine *m) {
    if (m->children) free(m->children->prepared);
    free(m->children);
    m->children = NULL;
}
