// Records for every 32-byte sector of global memory which warp touched it last, and when. Internal to the
// time model.
#pragma once

#include "emulator/machine/machine.h"
#include "emulator/model/work.h"

typedef struct Sectors Sectors;

enum { TOUCHED_REGIONS = 32 };

// What one warp instruction touched.
typedef struct {
    uint32_t lines, sectors;           // distinct
    uint64_t regions[TOUCHED_REGIONS]; // of far sectors, distinct
    uint32_t region_count;
    bool is_far;  // a sector of a load that was never touched before: it comes from memory
    bool is_near; // this warp touched all of them a short while ago: the L1 has them
} Touch;

// `is_coalesced`: as if what each load or store touches lay side by side. NULL when memory ran out.
Sectors *sectors_new(const Emulator *emulator, bool is_coalesced);
void sectors_free(Sectors *sectors);
// The warp that touches: its number in the grid, from 1, and the lines that it touched so far, and before
// this stretch of straight code. `lines` is moved on by sectors_touch().
typedef struct {
    uint64_t number;
    uint32_t lines, before;
} Toucher;
Touch sectors_touch(Sectors *sectors, const Access *access, Toucher *warp, ModelWork *work);
// What only the end tells.
void sectors_summary(const Sectors *sectors, ModelWork *work);
