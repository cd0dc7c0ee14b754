#include "runtime/module.h"

#include <fatbinary_section.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/fatbin.h"
#include "runtime/report.h"
#include "runtime/state.h"
#include "support/file.h"

typedef struct Binary {
    struct Binary *next;
    const __fatBinC_Wrapper_t *wrapper;
    EmulatorImage *images[MOST_DEVICES]; // each NULL until it is needed
    const EmulatorImage *first;          // that was loaded: it has the managed variables
    bool has_failed;
} Binary;

typedef struct {
    const void *symbol;
    void **managed; // where the program keeps the address of a managed variable; NULL of others
    char *name;
    size_t size;
    Binary *binary;
    Allocation *allocations[MOST_DEVICES]; // NULL until its binary is loaded; a managed one is that of each
} Variable;

static Binary *binaries;
static Function **functions;
static Variable *variables;
static int function_count, variable_count;

// ---- Loading ----------------------------------------------------------------------------------------------

enum { MAX_TEXTS = 256 };

// The texts of a binary: one, or, if files were compiled for linking (nvcc -rdc=true), one of each file.
static int texts_of(const Binary *binary, FatbinText texts[MAX_TEXTS], char *why, size_t why_bytes) {
    const int most = device_profile()->info.compute_major * 10 + device_profile()->info.compute_minor;
    if (binary->wrapper->version == FATBINC_LINK_VERSION && binary->wrapper->filename_or_fatbins) {
        const void *const *parts = binary->wrapper->filename_or_fatbins;
        int count = 0;
        // A part without PTX is NVIDIA's own, for launches from kernels.
        for (int i = 0; parts[i] && count < MAX_TEXTS; i++)
            count += fatbin_text(parts[i], most, &texts[count], why, why_bytes);
        if (count) return count;
    }
    return fatbin_text(binary->wrapper->data, most, &texts[0], why, why_bytes) ? 1 : 0;
}

// A managed variable's bytes lie in memory that the host shares.
static void place_variable(Variable *v, int device) {
    EmulatorVariable found;
    if (!emulator_find_variable(device_emulator(), v->binary->images[device], v->name, &found)) return;
    Allocation *a = allocation_variable(found.address, found.bytes, v->name);
    v->allocations[device] = a;
    if (!a || !v->managed) return;
    a->host = a->bytes;
    *v->managed = a->bytes;
    for (int i = 0; i < MOST_DEVICES; i++) v->allocations[i] = a;
}

// Leaves the text in the folder of WARPBOOK_PTX, for a listing of it.
static void keep_text(const FatbinText *text) {
    static int count;
    char path[4096];
    FileError error;
    if (!options()->ptx) return;
    snprintf(path, sizeof path, "%s/%d.ptx", options()->ptx, count++);
    if (!write_file_atomically(path, text->text, text->bytes, &error))
        fprintf(stderr, "warpbook: %s\n", error.message);
}

static bool load(Binary *binary, int device) {
    EmulatorImage **image = &binary->images[device];
    if (*image || binary->has_failed) return *image != NULL;
    FatbinText texts[MAX_TEXTS] = {0};
    EmulatorText given[MAX_TEXTS];
    char why[1024];
    const int count = texts_of(binary, texts, why, sizeof why);
    for (int i = 0; i < count; i++)
        given[i] = (EmulatorText){texts[i].text, texts[i].bytes, "the program's PTX"};
    EmulatorError error = {0};
    if (count)
        *image = binary->first ? emulator_add_image_again(binary->first, given, count, &error)
                               : emulator_add_image(device_emulator(), given, count, &error);
    if (count && !*image) snprintf(why, sizeof why, "%.1000s", error.message);
    for (int i = 0; i < count; i++) {
        if (!binary->first) keep_text(&texts[i]);
        free(texts[i].text);
    }
    binary->has_failed = !*image;
    if (!binary->first) binary->first = *image;
    if (binary->has_failed) report_once("%s", why);
    for (int i = 0; i < variable_count && *image; i++)
        if (variables[i].binary == binary) place_variable(&variables[i], device);
    return *image != NULL;
}

// What is registered is the kernel of device 0, the first in the list of all devices' kernels.
static Function *function_of_device(Function *first, int device) {
    if (first->device == device) return first;
    for (Function *f = first->elsewhere; f; f = f->elsewhere)
        if (f->device == device) return f;
    Function *f = calloc(1, sizeof *f);
    if (!f) abort();
    *f = (Function){.stub = first->stub,
                    .name = first->name,
                    .binary = first->binary,
                    .device = device,
                    .elsewhere = first->elsewhere,
                    .carveout = -1};
    return first->elsewhere = f;
}

static Function *registered(const void *stub) {
    for (int i = function_count; i-- > 0;) {
        if (functions[i]->stub == stub) return function_of_device(functions[i], device_current());
        for (Function *f = functions[i]; f; f = f->elsewhere)
            if (f == stub) return f;
    }
    return NULL;
}

// A kernel that stands for no function of the image is one that the linker removed.
Function *module_function(const void *stub, cudaError_t *error) {
    *error = cudaErrorInvalidDeviceFunction;
    Function *f = registered(stub);
    if (!f) return NULL;
    if (!load(f->binary, f->device)) {
        *error = cudaErrorNoKernelImageForDevice;
        return NULL;
    }
    if (!f->kernel) f->kernel = emulator_find_kernel_in(f->binary->images[f->device], f->name);
    if (!f->kernel) return NULL;
    *error = cudaSuccess;
    return f;
}

Function *module_function_of(const EmulatorKernel *kernel, int device) {
    EmulatorKernelInfo info;
    emulator_kernel_info(kernel, &info);
    for (int i = function_count; i-- > 0;) {
        cudaError_t error;
        if (strcmp(functions[i]->name, info.name)) continue;
        Function *f = module_function(function_of_device(functions[i], device), &error);
        if (f && f->kernel == kernel) return f;
    }
    return NULL;
}

Allocation *module_variable(const void *symbol, cudaError_t *error) {
    for (int i = variable_count; i-- > 0;) {
        Variable *v = &variables[i];
        if (v->symbol != symbol) continue;
        const int device = device_current();
        if (load(v->binary, device) && v->allocations[device]) return v->allocations[device];
        break;
    }
    *error = cudaErrorInvalidSymbol;
    return NULL;
}

// ---- What nvcc's code calls before main -------------------------------------------------------------------

void **__cudaRegisterFatBinary(void *wrapper);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaUnregisterFatBinary(void **handle);
void __cudaRegisterFunction(void **handle, const char *stub, char *device_stub, const char *name,
                            int thread_limit, uint3 *thread, uint3 *block, dim3 *block_size, dim3 *grid_size,
                            int *warp_size);
void __cudaRegisterVar(void **handle, char *symbol, char *address, const char *name, int is_extern,
                       size_t size, int is_constant, int is_global);
void __cudaRegisterManagedVar(void **handle, void **symbol, char *address, const char *name, int is_extern,
                              size_t size, int is_constant, int is_global);
char __cudaInitModule(void **handle);
cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *stub);

static void *grown(void *list, int count, size_t size) {
    if (count & (count - 1)) return list; // only at powers of two
    void *larger = realloc(list, (size_t)(count ? count * 2 : 1) * size);
    if (!larger) abort();
    return larger;
}

void **__cudaRegisterFatBinary(void *wrapper) {
    runtime_lock();
    Binary *binary = calloc(1, sizeof *binary);
    if (!binary) abort();
    *binary = (Binary){.next = binaries, .wrapper = wrapper};
    binaries = binary;
    runtime_unlock();
    return (void **)binary;
}

void __cudaRegisterFatBinaryEnd(void **handle) { (void)handle; }
void __cudaUnregisterFatBinary(void **handle) { (void)handle; } // at exit, before what is checked then

void __cudaRegisterFunction(void **handle, const char *stub, char *device_stub, const char *name,
                            int thread_limit, uint3 *thread, uint3 *block, dim3 *block_size, dim3 *grid_size,
                            int *warp_size) {
    (void)device_stub, (void)thread_limit, (void)thread, (void)block, (void)block_size, (void)grid_size,
        (void)warp_size;
    runtime_lock();
    functions = grown(functions, function_count, sizeof(Function *));
    Function *f = calloc(1, sizeof *f);
    if (!f) abort();
    *f = (Function){.stub = stub, .name = strdup(name), .binary = (Binary *)handle, .carveout = -1};
    functions[function_count++] = f;
    runtime_unlock();
}

static void register_variable(void **handle, const void *symbol, void **managed, const char *name,
                              size_t size) {
    runtime_lock();
    variables = grown(variables, variable_count, sizeof *variables);
    variables[variable_count++] = (Variable){
        .symbol = symbol, .managed = managed, .name = strdup(name), .size = size, .binary = (Binary *)handle};
    runtime_unlock();
}

void __cudaRegisterVar(void **handle, char *symbol, char *address, const char *name, int is_extern,
                       size_t size, int is_constant, int is_global) {
    (void)address, (void)is_extern, (void)is_constant, (void)is_global;
    register_variable(handle, symbol, NULL, name, size);
}

void __cudaRegisterManagedVar(void **handle, void **symbol, char *address, const char *name, int is_extern,
                              size_t size, int is_constant, int is_global) {
    (void)address, (void)is_extern, (void)is_constant, (void)is_global;
    register_variable(handle, symbol, symbol, name, size);
}

// The host is about to use a managed variable for the first time.
char __cudaInitModule(void **handle) {
    runtime_lock();
    const bool is_loaded = load((Binary *)handle, device_current());
    runtime_unlock();
    return is_loaded;
}

cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *stub) {
    *kernel = (cudaKernel_t)(void *)(uintptr_t)stub; // as good a name as any: a launch looks it up
    return cudaSuccess;
}
