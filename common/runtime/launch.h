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
