// One launch of a kernel, as the program asks for it.
#pragma once

#include "runtime/module.h"
#include "runtime/place.h"

typedef struct {
    Function *function;
    dim3 grid, block, cluster; // cluster.x 0: what the kernel asks for, or none
    size_t dynamic_shared;
    bool is_cooperative;
    void *arguments; // the parameter block
    size_t argument_bytes;
    Place place;
} Launch;

// What came of an operation that ran.
typedef struct {
    double seconds;    // modelled; 0 where that is not asked for
    uint64_t lanes;    // lane instructions
    bool is_completed; // and all that it has launched
    bool is_clean;     // completed, with no findings, no output, no launches and no conditions set
} Ran;
