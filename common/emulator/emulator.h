// Warpbook's PTX emulator: a GPU to run nvcc's PTX on where there is none.
//
// The order of use: emulator_open() makes a device; emulator_load() parses and decodes a PTX image;
// emulator_allocate() and its neighbours manage device memory; emulator_launch() runs one kernel to the
// end and tells what it found and counted. Nothing here prints, exits or keeps global state, so several
// devices may live in one process (each used from one thread at a time).
//
// Ownership: whatever a function returns through a pointer belongs to the Emulator unless its comment
// says otherwise, and lives until emulator_close().
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emulator/counters.h"
#include "emulator/finding.h"
#include "emulator/launch.h"
#include "emulator/status.h"
#include "emulator/texture.h"

typedef struct Emulator Emulator;             // one device: memory, images, figures
typedef struct EmulatorImage EmulatorImage;   // PTX that was loaded: variables and kernels
typedef struct EmulatorKernel EmulatorKernel; // an entry of an image

// ---- The device -------------------------------------------------------------------------------------------

// The H200's figures, the default.
extern const EmulatorDevice emulator_h200;

// Opens a device with those figures (NULL: the H200). Returns NULL when memory runs out.
Emulator *emulator_open(const EmulatorDevice *device);
void emulator_close(Emulator *emulator);
const EmulatorDevice *emulator_device(const Emulator *emulator);

// ---- Memory -----------------------------------------------------------------------------------------------

// Allocates `bytes` (0 is allowed) in a separate address range; the address returned is `misalignment` bytes
// past the beginning of a page, less than its size, and every byte outside is out of bounds. The memory is
// uninitialised for initcheck. `name` is copied; findings call the buffer by it. Returns 0 on failure and
// fills `error`.
uint64_t emulator_allocate(Emulator *emulator, size_t bytes, unsigned misalignment, const char *name,
                           EmulatorError *error);
// The same over memory of the caller's, initialised and aligned to 256 bytes, which must outlive the buffer.
// Where `period` is not 0, the memory holds that many bytes and their first EMULATOR_OVERLAP again, the
// buffer repeats them, and it is read-only.
enum { EMULATOR_OVERLAP = 4096 };
uint64_t emulator_adopt(Emulator *emulator, void *memory, size_t bytes, size_t period, const char *name,
                        EmulatorError *error);
// For a process that hands device addresses out: buffers allocated from now on lie where the host has no
// memory, so that no address means both, and addresses of freed buffers stay unused for long.
void emulator_leave_host_addresses(Emulator *emulator);
// Memory of the caller's, initialised, at an address that the caller chooses, so that kernels and the host
// agree on it: in a TiB (2^40) that holds none but other such memory. What a kernel does outside is out of
// bounds, if it is not inside another one. `memory` may be another mapping of the same pages.
bool emulator_adopt_at(Emulator *emulator, uint64_t address, void *memory, size_t bytes, const char *name,
                       EmulatorError *error);
// Moves a buffer of emulator_allocate() to memory of the caller's, which gets its bytes and is the buffer
// from then on: initialised, for what else writes there.
bool emulator_move(Emulator *emulator, uint64_t address, void *memory, EmulatorError *error);
// The bytes that malloc() in kernels has to give, 8 MiB if this is not called. Before the first launch that
// uses it.
bool emulator_set_heap(Emulator *emulator, size_t bytes, EmulatorError *error);
// Whether a kernel that can call malloc() was launched.
bool emulator_has_heap(const Emulator *emulator);
bool emulator_free(Emulator *emulator, uint64_t address, EmulatorError *error);
// Host to device and back; the range must lie inside one buffer. Writing marks bytes initialised.
bool emulator_write(Emulator *emulator, uint64_t address, const void *from, size_t bytes,
                    EmulatorError *error);
// Marks bytes initialised that were written through emulator_host_pointer().
bool emulator_mark_written(Emulator *emulator, uint64_t address, size_t bytes, EmulatorError *error);
bool emulator_read(Emulator *emulator, void *to, uint64_t address, size_t bytes, EmulatorError *error);
// Fills with a repeated 32-bit pattern (a last part of a word gets its first bytes).
// `initialised` false leaves the bytes uninitialised for initcheck: poison.
bool emulator_fill(Emulator *emulator, uint64_t address, uint32_t pattern, size_t bytes, bool initialised,
                   EmulatorError *error);
// Stores by a kernel to a read-only buffer are findings.
bool emulator_set_read_only(Emulator *emulator, uint64_t address, bool read_only, EmulatorError *error);
// The host memory behind a device range of one buffer, for fast access, or NULL. Writes through it do
// not mark bytes initialised.
void *emulator_host_pointer(Emulator *emulator, uint64_t address, size_t bytes);

// ---- Textures and surfaces --------------------------------------------------------------------------------

// An array of texels: slice by slice or layer by layer, row by row, without gaps, for emulator_write() and
// emulator_read(). emulator_free() frees it. Returns its address, or 0 and fills `error`.
uint64_t emulator_create_array(Emulator *emulator, const EmulatorTexels *texels, const char *name,
                               EmulatorError *error);
// Objects: the handle is the argument of a kernel, or what a .texref or .surfref variable holds. 0 on
// failure.
uint64_t emulator_create_texture(Emulator *emulator, const EmulatorTexture *texture, EmulatorError *error);
uint64_t emulator_create_surface(Emulator *emulator, const EmulatorTexels *texels, uint64_t array,
                                 EmulatorError *error);
bool emulator_destroy_texture(Emulator *emulator, uint64_t handle, EmulatorError *error);

// ---- Images -----------------------------------------------------------------------------------------------

// Loads a PTX image in place of all others. `name` is for messages. The text is copied.
bool emulator_load(Emulator *emulator, const char *ptx, size_t bytes, const char *name, EmulatorError *error);
// Loads one or more texts as one image, beside the others: what one text declares .extern and another defines
// is linked. What is not supported is refused when a lane reaches it. NULL when a text is not PTX, or memory
// ran out.
EmulatorImage *emulator_add_image(Emulator *emulator, const EmulatorText *texts, int count,
                                  EmulatorError *error);
// The same texts again, for another device over the same memory: its own kernels and variables, except the
// managed ones, which are those of `original`. That must outlive it.
EmulatorImage *emulator_add_image_again(const EmulatorImage *original, const EmulatorText *texts, int count,
                                        EmulatorError *error);
// Its kernels and variables are gone with it.
void emulator_remove_image(EmulatorImage *image);

// The kernel with exactly that name, of any image; NULL: there is none.
const EmulatorKernel *emulator_find_kernel(const Emulator *emulator, const char *name);
const EmulatorKernel *emulator_find_kernel_in(const EmulatorImage *image, const char *name);
// The kernel that a person means: of exactly that name, or the only one so called in its source, whether
// namespaces, parameters and template arguments are left out or not. NULL: none, or several (*count).
const EmulatorKernel *emulator_find_kernel_called(const Emulator *emulator, const char *name, int *count);
// Of all images, in the order in which they were loaded.
int emulator_kernel_count(const Emulator *emulator);
const EmulatorKernel *emulator_kernel_at(const Emulator *emulator, int index);

void emulator_kernel_info(const EmulatorKernel *kernel, EmulatorKernelInfo *info);
// Whether something in its image reads memory in a way that can wait for another thread, or for the host.
bool emulator_kernel_may_wait(const EmulatorKernel *kernel);

// Registers per thread as ptxas reports them, for launch checks and the time model; 0 until told.
void emulator_set_registers(EmulatorKernel *kernel, int registers);

typedef struct {
    const char *name; // as in the PTX; the image's
    uint64_t address;
    size_t bytes;
    bool is_constant, is_managed, is_texture;
} EmulatorVariable;

// The variables of module scope of all images.
int emulator_variable_count(const Emulator *emulator);
bool emulator_variable_at(const Emulator *emulator, int index, EmulatorVariable *variable);
// The variable of that name (the PTX's or, if only one is so called, the source's); `image` NULL: of any
// image. emulator_write() and emulator_read() work at its address. False: none, or several.
bool emulator_find_variable(const Emulator *emulator, const EmulatorImage *image, const char *name,
                            EmulatorVariable *variable);

// Resets every module-scope variable to its initial value, as loading the image again would.
void emulator_reset_variables(Emulator *emulator);
// Refuses every store of a kernel to a module-scope .global variable from then on.
void emulator_protect_variables(Emulator *emulator);
// True when a module-scope .global variable no longer holds its initial value; `name` receives it.
bool emulator_variables_changed(const Emulator *emulator, char name[256]);

// ---- Launching --------------------------------------------------------------------------------------------

// Runs `kernel` to its end, a fatal finding, or a limit. Returns false (and fills `error`) only when the
// call itself is wrong; the kernel's errors are in `result`, which the caller releases with
// emulator_result_free() in either case.
bool emulator_launch(Emulator *emulator, const EmulatorKernel *kernel, const EmulatorLaunch *launch,
                     EmulatorResult *result, EmulatorError *error);
void emulator_result_free(EmulatorResult *result);
