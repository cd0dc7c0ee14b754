// Additions of floats that change nothing, because the one number is too small beside the other: 16,777,216 +
// 1 is 16,777,216.
#pragma once

#include "emulator/machine/machine.h"

typedef struct {
    double kept, added; // the number that stays, and the one that would have changed it: not 0
} Absorbed;

typedef enum { NO_ADDITION, ADDITION_CHANGES, ADDITION_ABSORBED } AdditionEffect;

// What `in`, of `function`, will do for the lane when it is executed next, if it adds or subtracts two floats
// or doubles and rounds to the nearest. *absorbed is filled for an absorbed addition.
AdditionEffect addition_effect(const Function *function, const Instruction *in,
                               const unsigned char *registers, unsigned lane, Absorbed *absorbed);
