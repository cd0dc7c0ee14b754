// Running the compilers, and explaining why they fail.
#pragma once

#include "driver/build/state.h"

// What the compilers find in their environment.
void compile_make_environment(Build *build);
// nvcc, then ptxas where it is wanted. False after an end.
bool compile_make_ptx(Build *build);
bool compile_assemble(Build *build);
// Makes the file `program` of a whole program in the output folder, which runs on the host. False after an
// end.
bool compile_make_program(Build *build);
