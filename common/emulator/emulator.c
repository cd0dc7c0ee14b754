// The device: its figures, its memory objects, and the image that is loaded.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emulator/emulator.h"
#include "emulator/machine/initialised.h"
#include "emulator/program/lower.h"

// NVIDIA H200: what cuDeviceGetAttribute answers on one (compute capability 9.0).
const EmulatorDevice emulator_h200 = {
    .name = "H200",
    .compute_major = 9,
    .compute_minor = 0,
    .sm_count = 132,
    .max_threads_per_block = 1024,
    .max_threads_per_sm = 2048,
    .max_blocks_per_sm = 32,
    .registers_per_sm = 65536,
    .registers_per_block = 65536,
    .registers_per_thread = 255,
    .shared_per_sm = 228 << 10,
    .shared_per_block = 48 << 10,
    .shared_per_block_optin = 227 << 10,
    .shared_reserved_per_block = 1 << 10,
    .max_grid = {2147483647, 65535, 65535},
    .max_block = {1024, 1024, 64},
    .clock_khz = 1980000,
    .global_bytes = (size_t)141 << 30,
};

static bool fail(EmulatorError *error, EmulatorStatus status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static bool fail(EmulatorError *error, EmulatorStatus status, const char *format, ...) {
    *error = (EmulatorError){.status = status};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    return false;
}

// ---- Memory -----------------------------------------------------------------------------------------------

enum { BUFFER_ALIGN = 256, MOST_MISALIGNMENT = 65535, MAX_OBJECTS = 1 << 20 };

// The index of an object that is not in use, or 0.
static uint64_t free_object(Emulator *e) {
    for (uint64_t i = FIRST_OBJECT; i < e->object_count; i++)
        if (!e->objects[i].in_use) return i;
    if (e->object_count >= MAX_OBJECTS) return 0;
    if (e->object_count == e->object_capacity) {
        uint64_t capacity = e->object_capacity * 2;
        Memory *grown = realloc(e->objects, capacity * sizeof *grown);
        if (!grown) return 0;
        e->objects = grown;
        e->object_capacity = capacity;
    }
    e->objects[e->object_count] = (Memory){0};
    return e->object_count++;
}

// A new memory object of `bytes` whose address is `misalignment` past a boundary of 65,536
// bytes; its index, or 0. The address is in the middle of the object's range, so that negative indices stay
// in it too. The bytes are those at `adopted`, or new ones.
static uint64_t object_new(Emulator *e, PtxSpace space, size_t bytes, unsigned misalignment, const char *name,
                           bool track, void *adopted) {
    if (bytes + misalignment > (size_t)1 << (ADDRESS_SHIFT - 1))
        return 0; // beyond half an object's range of addresses
    const uint64_t index = free_object(e);
    if (!index) return 0;
    Memory memory = {.space = space,
                     .bytes = bytes,
                     .data = adopted,
                     .in_use = true,
                     .all_initialised = !track,
                     .base = (index << ADDRESS_SHIFT) + (1ull << (ADDRESS_SHIFT - 1)) + misalignment};
    if (!adopted) {
        // Host memory has the device's misalignment, so that a value that is aligned there is aligned here.
        size_t room = (bytes + misalignment + BUFFER_ALIGN - 1) / BUFFER_ALIGN * BUFFER_ALIGN;
        memory.allocation = aligned_alloc(BUFFER_ALIGN, room ? room : BUFFER_ALIGN);
        memory.data = memory.allocation ? (unsigned char *)memory.allocation + misalignment : NULL;
    }
    memory.initialised = track ? calloc(bytes / 64 + 1, sizeof(uint64_t)) : NULL;
    if (!memory.data || (track && !memory.initialised)) {
        free(memory.allocation);
        free(memory.initialised);
        return 0;
    }
    snprintf(memory.name, sizeof memory.name, "%s", name);
    e->objects[index] = memory;
    return index;
}

static void object_free(Memory *memory) {
    free(memory->allocation);
    free(memory->initialised);
    free(memory->race);
    *memory = (Memory){0};
}

uint64_t emulator_allocate(Emulator *e, size_t bytes, unsigned misalignment, const char *name,
                           EmulatorError *error) {
    if (misalignment > MOST_MISALIGNMENT) {
        fail(error, EMULATOR_BAD_ARGUMENT, "a buffer can be misaligned by 0 to 65,535 bytes, not %u",
             misalignment);
        return 0;
    }
    uint64_t index =
        object_new(e, PTX_SPACE_GLOBAL, bytes, misalignment, name ? name : "a buffer", true, NULL);
    if (!index) {
        fail(error, EMULATOR_NO_MEMORY, "no memory for %s of %zu bytes", name ? name : "a buffer", bytes);
        return 0;
    }
    return e->objects[index].base;
}

uint64_t emulator_adopt(Emulator *e, void *memory, size_t bytes, size_t period, const char *name,
                        EmulatorError *error) {
    const uint64_t index = object_new(e, PTX_SPACE_GLOBAL, bytes, 0, name, false, memory);
    if (!index) {
        fail(error, EMULATOR_NO_MEMORY, "no memory for %s of %zu bytes", name, bytes);
        return 0;
    }
    e->objects[index].period = period;
    e->objects[index].read_only = period != 0;
    return e->objects[index].base;
}

// The object whose range holds all of [address, address + bytes); an empty range at its end counts.
static Memory *object_with(Emulator *e, uint64_t address, size_t bytes, EmulatorError *error) {
    uint64_t index = address >> ADDRESS_SHIFT;
    if (index >= FIRST_OBJECT && index < e->object_count && e->objects[index].in_use) {
        Memory *memory = &e->objects[index];
        uint64_t offset = address - memory->base;
        if (offset <= memory->bytes && memory->bytes - offset >= bytes) return memory;
    }
    if (error)
        fail(error, EMULATOR_BAD_ARGUMENT, "%zu bytes at 0x%llx are not in any buffer", bytes,
             (unsigned long long)address);
    return NULL;
}

bool emulator_free(Emulator *e, uint64_t address, EmulatorError *error) {
    Memory *memory = object_with(e, address, 0, error);
    if (!memory) return false;
    if (memory->base != address || memory->variable)
        return fail(error, EMULATOR_BAD_ARGUMENT, "0x%llx is not the start of a buffer",
                    (unsigned long long)address);
    object_free(memory);
    return true;
}

bool emulator_write(Emulator *e, uint64_t address, const void *from, size_t bytes, EmulatorError *error) {
    Memory *memory = object_with(e, address, bytes, error);
    if (!memory) return false;
    if (bytes) memcpy(memory->data + (address - memory->base), from, bytes);
    if (bytes == memory->bytes)
        memory->all_initialised = true;
    else
        mark_initialised(memory, address - memory->base, bytes);
    return true;
}

bool emulator_read(Emulator *e, void *to, uint64_t address, size_t bytes, EmulatorError *error) {
    const Memory *memory = object_with(e, address, bytes, error);
    if (!memory) return false;
    if (bytes) memcpy(to, memory->data + (address - memory->base), bytes);
    return true;
}

bool emulator_fill(Emulator *e, uint64_t address, uint32_t pattern, size_t bytes, bool initialised,
                   EmulatorError *error) {
    Memory *memory = object_with(e, address, bytes, error);
    if (!memory) return false;
    uint64_t offset = address - memory->base;
    unsigned char *to = memory->data + offset;
    for (size_t i = 0; i < bytes; i += 4) memcpy(to + i, &pattern, bytes - i < 4 ? bytes - i : 4);
    if (initialised) {
        if (bytes == memory->bytes)
            memory->all_initialised = true;
        else
            mark_initialised(memory, offset, bytes);
        return true;
    }
    if (memory->all_initialised && memory->initialised) {
        memset(memory->initialised, 0xff, (memory->bytes / 64 + 1) * sizeof(uint64_t));
        memory->all_initialised = false;
    }
    for (uint64_t at = offset; at < offset + bytes && memory->initialised; at++)
        if (at % 64 == 0 && offset + bytes - at >= 64) {
            memory->initialised[at / 64] = 0;
            at += 63;
        } else
            memory->initialised[at / 64] &= ~(1ull << (at % 64));
    return true;
}

bool emulator_set_read_only(Emulator *e, uint64_t address, bool read_only, EmulatorError *error) {
    Memory *memory = object_with(e, address, 0, error);
    if (!memory) return false;
    memory->read_only = read_only;
    return true;
}

void *emulator_host_pointer(Emulator *e, uint64_t address, size_t bytes) {
    Memory *memory = object_with(e, address, bytes, NULL);
    return memory ? memory->data + (address - memory->base) : NULL;
}

// ---- Open and close ---------------------------------------------------------------------------------------

enum { WORKSPACE_BYTES = 256 };

Emulator *emulator_open(const EmulatorDevice *device) {
    Emulator *e = calloc(1, sizeof *e);
    if (!e) return NULL;
    e->device = device ? *device : emulator_h200;
    e->object_count = FIRST_OBJECT;
    e->object_capacity = 64;
    e->objects = calloc(e->object_capacity, sizeof *e->objects);
    uint64_t workspace = e->objects ? object_new(e, PTX_SPACE_GLOBAL, WORKSPACE_BYTES, 0,
                                                 "the grid barrier's workspace", false, NULL)
                                    : 0;
    if (!workspace) {
        emulator_close(e);
        return NULL;
    }
    memset(e->objects[workspace].data, 0, WORKSPACE_BYTES);
    e->workspace = e->objects[workspace].base;
    return e;
}

static void unload(Emulator *e) {
    for (uint64_t i = FIRST_OBJECT; i < e->object_count; i++)
        if (e->objects[i].variable) object_free(&e->objects[i]);
    program_free(e->program);
    free(e->kernels);
    e->program = NULL;
    e->kernels = NULL;
    e->kernel_count = 0;
}

void emulator_close(Emulator *e) {
    if (!e) return;
    unload(e);
    for (uint64_t i = FIRST_OBJECT; i < e->object_count && e->objects; i++) object_free(&e->objects[i]);
    free(e->objects);
    free(e);
}

const EmulatorDevice *emulator_device(const Emulator *e) { return &e->device; }

// ---- Module-scope variables -------------------------------------------------------------------------------

static uint64_t address_of_variable(void *context, const PtxVariable *variable) {
    Emulator *e = context;
    for (uint64_t i = FIRST_OBJECT; i < e->object_count; i++)
        if (e->objects[i].variable == variable) return e->objects[i].base;
    return 0;
}

// The bytes that a variable starts with, addresses filled in.
static void initial_bytes(const Emulator *e, const PtxVariable *v, unsigned char *to) {
    if (v->data)
        memcpy(to, v->data, v->bytes);
    else
        memset(to, 0, v->bytes);
    for (int i = 0; i < v->relocation_count; i++) {
        const PtxRelocation *r = &v->relocations[i];
        uint64_t address = (uint64_t)r->addend;
        if (r->function)
            address += FUNCTION_WINDOW + 16 * (uint64_t)(r->function->index + 1);
        else if (r->variable)
            address += address_of_variable((void *)(uintptr_t)e, r->variable);
        if (r->offset + r->bytes <= v->bytes) memcpy(to + r->offset, &address, r->bytes);
    }
}

void emulator_reset_variables(Emulator *e) {
    for (uint64_t i = FIRST_OBJECT; i < e->object_count; i++) {
        Memory *memory = &e->objects[i];
        if (memory->variable) initial_bytes(e, memory->variable, memory->data);
    }
    unsigned char *workspace = emulator_host_pointer(e, e->workspace, WORKSPACE_BYTES);
    memset(workspace, 0, WORKSPACE_BYTES);
}

void emulator_protect_variables(Emulator *e) {
    for (uint64_t i = FIRST_OBJECT; i < e->object_count; i++)
        if (e->objects[i].variable) e->objects[i].read_only = true;
}

bool emulator_variables_changed(const Emulator *e, char name[256]) {
    for (uint64_t i = FIRST_OBJECT; i < e->object_count; i++) {
        const Memory *memory = &e->objects[i];
        if (!memory->variable || memory->space != PTX_SPACE_GLOBAL) continue;
        unsigned char *initial = malloc(memory->bytes + 1);
        if (!initial) return false;
        initial_bytes(e, memory->variable, initial);
        bool changed = memcmp(initial, memory->data, memory->bytes) != 0;
        free(initial);
        if (changed) {
            snprintf(name, 256, "%s", memory->variable->name);
            return true;
        }
    }
    return false;
}

static bool place_variables(Emulator *e, const PtxModule *module, EmulatorError *error) {
    for (int i = 0; i < module->variable_count; i++) {
        const PtxVariable *v = module->variables[i];
        if (v->space != PTX_SPACE_GLOBAL && v->space != PTX_SPACE_CONST) continue;
        if (v->is_extern || v->is_managed)
            return fail(error, EMULATOR_UNSUPPORTED, "%s is %s; module variables must be plain", v->name,
                        v->is_extern ? "defined elsewhere" : "managed memory");
        uint64_t index = object_new(e, v->space, v->bytes, 0, v->name, false, NULL);
        if (!index)
            return fail(error, EMULATOR_NO_MEMORY, "no memory for the variable %s of %zu bytes", v->name,
                        v->bytes);
        e->objects[index].variable = v;
    }
    return true;
}

// ---- Images -----------------------------------------------------------------------------------------------

static void describe_kernel(const Program *program, int function, EmulatorKernel *kernel) {
    const PtxFunction *entry = program->functions[function].ptx;
    *kernel = (EmulatorKernel){.entry = entry, .function = function};
    EmulatorKernelInfo *info = &kernel->info;
    snprintf(info->name, sizeof info->name, "%s", entry->name);
    for (int i = 0; i < entry->parameter_count && i < 64; i++) {
        const ParamPlace *place = &program->functions[function].parameters[i];
        info->parameters[i].offset = (size_t)place->offset;
        info->parameters[i].bytes = place->bytes;
        info->parameters[i].align = entry->parameters[i]->align;
        info->parameter_bytes = (size_t)place->offset + place->bytes;
    }
    info->parameter_count = entry->parameter_count < 64 ? entry->parameter_count : 64;
    info->static_shared = static_shared_bytes(program, entry);
    memcpy(info->required_threads, entry->required_threads, sizeof info->required_threads);
    memcpy(info->max_threads, entry->max_threads, sizeof info->max_threads);
}

bool emulator_load(Emulator *e, const char *ptx, size_t bytes, const char *name, EmulatorError *error) {
    *error = (EmulatorError){0};
    PtxModule *module = ptx_parse(ptx, bytes, name, error);
    if (!module) return false;
    unload(e);
    if (!place_variables(e, module, error)) {
        unload(e);
        ptx_free(module);
        return false;
    }
    e->program = program_new(module, name, address_of_variable, e, error);
    if (!e->program) {
        unload(e);
        return false;
    }
    e->kernels = calloc((size_t)module->function_count + 1, sizeof *e->kernels);
    if (!e->kernels) {
        unload(e);
        return fail(error, EMULATOR_NO_MEMORY, "no memory to load %s", name);
    }
    for (int i = 0; i < module->function_count; i++)
        if (module->functions[i]->is_entry && module->functions[i]->has_body)
            describe_kernel(e->program, i, &e->kernels[e->kernel_count++]);
    emulator_reset_variables(e);
    return true;
}

const EmulatorKernel *emulator_find_kernel(const Emulator *e, const char *name) {
    for (int i = 0; i < e->kernel_count; i++)
        if (!strcmp(e->kernels[i].entry->name, name)) return &e->kernels[i];
    return NULL;
}

int emulator_kernel_count(const Emulator *e) { return e->kernel_count; }

const EmulatorKernel *emulator_kernel_at(const Emulator *e, int index) {
    return index >= 0 && index < e->kernel_count ? &e->kernels[index] : NULL;
}

void emulator_kernel_info(const EmulatorKernel *kernel, EmulatorKernelInfo *info) { *info = kernel->info; }

void emulator_set_registers(EmulatorKernel *kernel, int registers) { kernel->registers = registers; }
