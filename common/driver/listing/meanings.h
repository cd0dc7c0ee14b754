// What an instruction does, in a few words, by its mnemonic.
#pragma once

#include "support/text.h"

// Of PTX, as in "@%p1 ld.global.v4.f32 {...}, [%rd4];", and of machine code, as in "@P0 LDG.E.128 R4, ...".
// Adds nothing and returns false where the mnemonic is not known.
bool meaning_of_ptx(const char *instruction, Text *words);
bool meaning_of_machine_code(const char *instruction, Text *words);
