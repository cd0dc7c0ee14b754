// Images: PTX that was loaded, its module-scope variables in memory, and its kernels.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/mangle.h"
#include "emulator/emulator.h"
#include "emulator/objects.h"
#include "emulator/program/lower.h"

// ---- Module-scope variables -------------------------------------------------------------------------------

// Whether the image has the variable by way of its original.
static bool is_shared(const EmulatorImage *image, const PtxVariable *variable) {
    return image->original && variable->is_managed;
}

static uint64_t address_of_variable(void *context, const PtxVariable *variable) {
    const EmulatorImage *image = context;
    const Emulator *e = image->emulator;
    const bool by_name = is_shared(image, variable);
    for (uint64_t i = FIRST_OBJECT; i < e->object_count; i++) {
        const Memory *memory = &e->objects[i];
        if (by_name ? memory->image == image->original && memory->variable &&
                          !strcmp(memory->variable->name, variable->name)
                    : memory->variable == variable)
            return memory->base;
    }
    return 0;
}

// The bytes that a variable starts with, addresses filled in.
static void initial_bytes(const Memory *memory, unsigned char *to) {
    const PtxVariable *v = memory->variable;
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
            address += address_of_variable((void *)(uintptr_t)memory->image, r->variable);
        if (r->offset + r->bytes <= v->bytes) memcpy(to + r->offset, &address, r->bytes);
    }
}

// Those of `image`, or all if it is NULL.
static void reset_variables(Emulator *e, const EmulatorImage *image) {
    for (uint64_t i = FIRST_OBJECT; i < e->object_count; i++) {
        Memory *memory = &e->objects[i];
        if (memory->variable && (!image || memory->image == image)) initial_bytes(memory, memory->data);
    }
}

void emulator_reset_variables(Emulator *e) {
    reset_variables(e, NULL);
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
        initial_bytes(memory, initial);
        bool changed = memcmp(initial, memory->data, memory->bytes) != 0;
        free(initial);
        if (changed) {
            snprintf(name, 256, "%s", memory->variable->name);
            return true;
        }
    }
    return false;
}

static bool place_variables(EmulatorImage *image, const PtxModule *module, EmulatorError *error) {
    Emulator *e = image->emulator;
    for (int i = 0; i < module->variable_count; i++) {
        const PtxVariable *v = module->variables[i];
        if ((v->space != PTX_SPACE_GLOBAL && v->space != PTX_SPACE_CONST) || v->is_extern || v->refused ||
            is_shared(image, v))
            continue;
        uint64_t index = object_new(e, v->space, v->bytes, 0, v->name, false, NULL);
        if (!index)
            return emulator_fail(error, EMULATOR_NO_MEMORY, "no memory for the variable %s of %zu bytes",
                                 v->name, v->bytes);
        e->objects[index].variable = v;
        e->objects[index].image = image;
    }
    return true;
}

// The next object from `*i` on that is a variable, of `image` if that is not NULL; *i becomes the one behind
// it.
static const Memory *next_variable(const Emulator *e, const EmulatorImage *image, uint64_t *i) {
    while (*i < e->object_count) {
        const Memory *memory = &e->objects[(*i)++];
        if (memory->variable && (!image || memory->image == image)) return memory;
    }
    return NULL;
}

static void describe_variable(const Memory *memory, EmulatorVariable *variable) {
    *variable = (EmulatorVariable){.name = memory->variable->name,
                                   .address = memory->base,
                                   .bytes = memory->bytes,
                                   .is_constant = memory->space == PTX_SPACE_CONST,
                                   .is_managed = memory->variable->is_managed,
                                   .is_texture = memory->variable->is_texture};
}

int emulator_variable_count(const Emulator *e) {
    int count = 0;
    for (uint64_t i = FIRST_OBJECT; next_variable(e, NULL, &i);) count++;
    return count;
}

bool emulator_variable_at(const Emulator *e, int index, EmulatorVariable *variable) {
    const Memory *memory;
    for (uint64_t i = FIRST_OBJECT; (memory = next_variable(e, NULL, &i));)
        if (!index--) {
            describe_variable(memory, variable);
            return true;
        }
    return false;
}

static bool is_called(const char *symbol, const char *name) {
    char source[256];
    symbol_source_name(symbol, source, sizeof source);
    return !strcmp(source, name);
}

bool emulator_find_variable(const Emulator *e, const EmulatorImage *image, const char *name,
                            EmulatorVariable *variable) {
    const Memory *memory;
    int called = 0;
    for (uint64_t i = FIRST_OBJECT; (memory = next_variable(e, image, &i));) {
        bool exact = !strcmp(memory->variable->name, name);
        if (!exact && !is_called(memory->variable->name, name)) continue;
        describe_variable(memory, variable);
        if (exact) return true;
        called++;
    }
    return called == 1;
}

// ---- Images -----------------------------------------------------------------------------------------------

static void describe_kernel(const EmulatorImage *image, int function, EmulatorKernel *kernel) {
    const Program *program = image->program;
    const PtxFunction *entry = program->functions[function].ptx;
    *kernel = (EmulatorKernel){.image = image, .entry = entry, .function = function};
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

static EmulatorImage *add_image(Emulator *e, const EmulatorImage *original, const EmulatorText *texts,
                                int count, EmulatorError *error) {
    *error = (EmulatorError){0};
    PtxModule *module = ptx_parse_to_run(texts, count, error);
    if (!module) return NULL;
    EmulatorImage *image = calloc(1, sizeof *image);
    if (!image) {
        ptx_free(module);
        emulator_fail(error, EMULATOR_NO_MEMORY, "no memory to load %s", texts[0].name);
        return NULL;
    }
    image->emulator = e;
    image->original = original;
    EmulatorImage **last = &e->images;
    while (*last) last = &(*last)->next;
    *last = image;
    if (!place_variables(image, module, error)) {
        emulator_remove_image(image);
        ptx_free(module);
        return NULL;
    }
    image->kernels = calloc((size_t)module->function_count + 1, sizeof *image->kernels);
    image->program = program_new(module, texts[0].name, address_of_variable, image, error);
    if (!image->program || !image->kernels) {
        if (image->program) emulator_fail(error, EMULATOR_NO_MEMORY, "no memory to load %s", texts[0].name);
        emulator_remove_image(image);
        return NULL;
    }
    for (int i = 0; i < module->function_count; i++)
        if (module->functions[i]->is_entry && module->functions[i]->has_body &&
            !module->functions[i]->is_second)
            describe_kernel(image, i, &image->kernels[image->kernel_count++]);
    reset_variables(e, image);
    return image;
}

EmulatorImage *emulator_add_image(Emulator *e, const EmulatorText *texts, int count, EmulatorError *error) {
    return add_image(e, NULL, texts, count, error);
}

EmulatorImage *emulator_add_image_again(const EmulatorImage *original, const EmulatorText *texts, int count,
                                        EmulatorError *error) {
    return add_image(original->emulator, original, texts, count, error);
}

static void remove_image(Emulator *e, EmulatorImage *image) {
    EmulatorImage **link = &e->images;
    while (*link != image) link = &(*link)->next;
    *link = image->next;
    for (uint64_t i = FIRST_OBJECT; i < e->object_count; i++)
        if (e->objects[i].image == image) object_free(&e->objects[i]);
    program_free(image->program);
    free(image->kernels);
    free(image);
}

void emulator_remove_image(EmulatorImage *image) {
    if (image) remove_image(image->emulator, image);
}

bool emulator_load(Emulator *e, const char *ptx, size_t bytes, const char *name, EmulatorError *error) {
    EmulatorImage *fresh = emulator_add_image(e, &(EmulatorText){ptx, bytes, name}, 1, error);
    if (!fresh) return false;
    while (e->images != fresh) remove_image(e, e->images);
    return true;
}

// ---- Kernels ----------------------------------------------------------------------------------------------

const EmulatorKernel *emulator_find_kernel_in(const EmulatorImage *image, const char *name) {
    for (int i = 0; i < image->kernel_count; i++)
        if (!strcmp(image->kernels[i].entry->name, name)) return &image->kernels[i];
    return NULL;
}

const EmulatorKernel *emulator_find_kernel(const Emulator *e, const char *name) {
    const EmulatorKernel *found = NULL;
    for (const EmulatorImage *image = e->images; image && !found; image = image->next)
        found = emulator_find_kernel_in(image, name);
    return found;
}

const EmulatorKernel *emulator_find_kernel_called(const Emulator *e, const char *name, int *count) {
    const EmulatorKernel *found = emulator_find_kernel(e, name);
    *count = found != NULL;
    if (found) return found;
    for (int i = 0; i < emulator_kernel_count(e); i++) {
        const EmulatorKernel *kernel = emulator_kernel_at(e, i);
        if (!is_called(kernel->entry->name, name)) continue;
        found = kernel;
        ++*count;
    }
    return *count == 1 ? found : NULL;
}

int emulator_kernel_count(const Emulator *e) {
    int count = 0;
    for (const EmulatorImage *image = e->images; image; image = image->next) count += image->kernel_count;
    return count;
}

const EmulatorKernel *emulator_kernel_at(const Emulator *e, int index) {
    for (const EmulatorImage *image = e->images; image && index >= 0; image = image->next) {
        if (index < image->kernel_count) return &image->kernels[index];
        index -= image->kernel_count;
    }
    return NULL;
}

bool emulator_kernel_may_wait(const EmulatorKernel *kernel) { return kernel->image->program->may_wait; }

void emulator_kernel_info(const EmulatorKernel *kernel, EmulatorKernelInfo *info) { *info = kernel->info; }

void emulator_set_registers(EmulatorKernel *kernel, int registers) { kernel->registers = registers; }
