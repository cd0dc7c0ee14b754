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

typedef struct Emulator Emulator;             // one device: memory, at most one image, figures
typedef struct EmulatorKernel EmulatorKernel; // an entry of the loaded image

// ---- The device -------------------------------------------------------------------------------------------

// The H200's figures, the default.
extern const EmulatorDevice emulator_h200;

// Opens a device with those figures (NULL: the H200). Returns NULL when memory runs out.
Emulator *emulator_open(const EmulatorDevice *device);
void emulator_close(Emulator *emulator);
const EmulatorDevice *emulator_device(const Emulator *emulator);

// ---- Memory -----------------------------------------------------------------------------------------------

// Allocates `bytes` (0 is allowed) in a separate address range; the address returned is
// `misalignment` bytes (0 to 65,535) past a boundary of 65,536 bytes, and every byte outside is out of
// bounds. The memory is uninitialised for initcheck. `name` is copied; findings call the buffer by it.
// Returns 0 on failure and fills `error`.
uint64_t emulator_allocate(Emulator *emulator, size_t bytes, unsigned misalignment, const char *name,
                           EmulatorError *error);
// The same over memory of the caller's, initialised and aligned to 256 bytes, which must outlive the buffer.
// Where `period` is not 0, the memory holds that many bytes and their first EMULATOR_OVERLAP again, the
// buffer repeats them, and it is read-only.
enum { EMULATOR_OVERLAP = 4096 };
uint64_t emulator_adopt(Emulator *emulator, void *memory, size_t bytes, size_t period, const char *name,
                        EmulatorError *error);
bool emulator_free(Emulator *emulator, uint64_t address, EmulatorError *error);
// Host to device and back; the range must lie inside one buffer. Writing marks bytes initialised.
bool emulator_write(Emulator *emulator, uint64_t address, const void *from, size_t bytes,
                    EmulatorError *error);
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

// ---- Images -----------------------------------------------------------------------------------------------

// Loads a PTX image in place of the one before. `name` is for messages. The text is copied.
bool emulator_load(Emulator *emulator, const char *ptx, size_t bytes, const char *name, EmulatorError *error);
const EmulatorKernel *emulator_find_kernel(const Emulator *emulator, const char *name);
int emulator_kernel_count(const Emulator *emulator);
const EmulatorKernel *emulator_kernel_at(const Emulator *emulator, int index);

void emulator_kernel_info(const EmulatorKernel *kernel, EmulatorKernelInfo *info);

// Registers per thread as ptxas reports them, for launch checks and the time model; 0 until told.
void emulator_set_registers(EmulatorKernel *kernel, int registers);

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
