// Factors of wgmma in shared memory, as descriptors name them (ISA, "Matrix descriptor"). Internal to
// common/emulator.
#pragma once

#include "emulator/machine/machine.h"

// 16 bytes of shared memory each: those of a row, or if the tile is turned of 8 rows at one k.
typedef struct {
    uint32_t at[2 * 256];
    int count;
    bool is_turned;
} TilePieces;

// The pieces of rows [first, first + rows); `rows` is a multiple of 8, and at most 256.
void wgmma_pieces(TilePieces *pieces, uint64_t descriptor, bool is_turned, int first, int rows);
// Packs them: 32 bytes a row. False if the machine was stopped because a piece lies outside.
bool wgmma_gather(Machine *machine, Warp *warp, const Instruction *in, const TilePieces *pieces, void *to);
// Tells observers that the warp reads them.
void wgmma_observe(const Machine *machine, Warp *warp, const Instruction *in, const TilePieces *pieces);
// Where the undefined bytes of each row come from; 0: all are defined.
void wgmma_origins(Machine *machine, Warp *warp, const Instruction *in, const TilePieces *pieces,
                   uint64_t *origins);
