// From a parsed module to a decoded program.
#pragma once

#include "emulator/program/program.h"

// The device address of a module-scope .global or .const variable.
typedef uint64_t AddressOf(void *context, const PtxVariable *variable);

// Decodes `module`, which belongs to the program from here on and is freed on failure too. Functions that no
// entry reaches are decoded as well. A construct that is not known fails with EMULATOR_UNSUPPORTED; NULL on
// any failure, and `error` says why. `name` is for messages.
Program *program_new(PtxModule *module, const char *name, AddressOf *address_of, void *context,
                     EmulatorError *error);
