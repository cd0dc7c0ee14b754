// From a part of a launch to the whole of it.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "emulator/model/work.h"

// A GPU runs 2^28 elements in a millisecond, but an emulator does not. If blocks do not read the number of
// blocks, the first few of the grid represent all. Otherwise the work of a block is a linear function of the
// number of elements in its share: a few blocks with fewer elements are run, twice where the line is needed.
typedef struct {
    uint64_t blocks; // of the grid, in x
    double elements; // that these blocks work on
    bool is_all_n;   // the kernel is told n; else `elements`
} ModelRun;

// The one or two runs from which a launch of `blocks` one-dimensional blocks over n elements is known;
// returns how many. `reads_grid`: the kernel asks how many blocks there are.
int model_plan(uint64_t blocks, uint64_t block_threads, double n, bool reads_grid, ModelRun runs[2]);
// What the launch does, from what its runs did, except that `collecting` stays as it is in the last one. If
// the grid follows n, one run of a smaller grid will do: `count` is 1. Images and matrices have two runs, the
// second with more rows: blocks at their edges may have more to do or less.
void model_whole(const ModelRun *runs, const ModelWork *works, int count, uint64_t blocks, double n,
                 ModelWork *whole);
// ModelWork.collecting of a launch of `all` blocks, from those of two with other numbers of blocks.
void model_collecting(const double blocks[2], const ModelTime times[2], double all, ModelTime *whole);
