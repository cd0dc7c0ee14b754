// What one PTX instruction becomes on a GPU: slots, pipes, latency. Internal to the time model.
#pragma once

#include "emulator/program/program.h"
#include "emulator/program/registers.h"

enum { COST_SOURCES = 30, COST_DESTINATIONS = 12 }; // of mma; wgmma has more, which are left out

typedef struct {
    // Registers read (the guard among them) and written, numbered densely within all functions together.
    uint16_t sources[COST_SOURCES], destinations[COST_DESTINATIONS];
    uint8_t source_count, destination_count;
    float issued;                              // issue slots: SASS instructions
    float pipe_alu, pipe_special, pipe_double; // warp instructions of pipes with fewer than 32 lanes
    float fused;                               // multiply-adds that read three registers again
    float latency;                             // cycles from issue to the result, of what touches no memory
    bool is_multiply_add;                      // of 32-bit integers
    bool is_lsu;                               // goes through the load and store unit
    // A forward branch over a few instructions, or around one side of a short if with an else, which ptxas
    // turns into predicates: no branch at all. What no lane runs is issued as well: so many slots where no
    // lane takes the branch, and where all do.
    bool is_predicated;
    float skipped, skipped_if_taken;
    uint8_t unrolled; // of a loop's backward branch: turns that ptxas makes one of; 1: none
} InstructionCost;

typedef struct {
    InstructionCost *of; // by Instruction.number
    int *first_register; // by function: registers [first, next function's first) are its own
    int register_count;  // in all
} ProgramCosts;

// NULL when memory ran out.
ProgramCosts *program_costs_new(const Program *program);
void program_costs_free(ProgramCosts *costs);
