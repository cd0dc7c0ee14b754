// The function vprintf is part of the driver. It reads the format and the strings byte by byte, three loads
// for each, packs the arguments in local memory, takes a place in the buffer by atomics and writes a record
// of a fixed number of words. The figures are those of driver 580 on an H200, for formats of up to 40 bytes
// and up to 6 arguments (tests/hardware_truth/patterns_printf.cu).
#include "emulator/observers/printf_counts.h"

enum {
    LOADS_OF_A_BYTE = 3,
    LOADS_OF_A_CALL = 5,
    STORES = 222,
    STORES_LESS_FOR_AN_ARGUMENT = 7,
    ATOMICS = 5,         // the fifth is left out where calls of several warps overlap
    GENERIC_LOADS = 12,  // which count as instructions on shared memory
    LEADERS_ACCESSES = 2 // of the local ones: by one lane
};

static uint32_t sectors_of_lanes(uint32_t mask) {
    uint32_t count = 0;
    for (; mask; mask >>= 8) count += (mask & 255) != 0;
    return count;
}

static uint32_t local_loads(const Printed *p) {
    const int32_t count = (p->arguments ? 487 - 5 * (int32_t)p->arguments : 483) -
                          2 * (int32_t)p->format_bytes + 3 * (int32_t)p->wide_arguments +
                          4 * (int32_t)p->strings - 2 * (int32_t)p->string_bytes;
    return count > LEADERS_ACCESSES ? (uint32_t)count : LEADERS_ACCESSES;
}

static uint32_t local_stores(const Printed *p) {
    return (p->arguments ? 66 + 6 * p->arguments : 60) + 2 * p->wide_arguments + 4 * p->strings;
}

static void add_local(Counters *c, uint32_t loads, uint32_t stores, uint32_t by_leader, uint32_t mask) {
    c->local_ld_requests += loads;
    c->local_st_requests += stores;
    c->local_ld_sectors += (loads - by_leader) * sectors_of_lanes(mask) + by_leader;
    c->local_st_sectors += (stores - by_leader) * sectors_of_lanes(mask) + by_leader;
}

void counters_add_printf(Counters *counters, uint32_t mask, const Printed *what) {
    if (!what->format_bytes) { // it returns at once
        counters->global_ld_requests++;
        counters->global_ld_sectors++;
        add_local(counters, 35, 37, 0, mask);
        return;
    }
    const uint32_t bytes = what->format_bytes + what->string_bytes + what->strings;
    const uint32_t loads = LOADS_OF_A_BYTE * bytes + LOADS_OF_A_CALL;
    const uint32_t less = STORES_LESS_FOR_AN_ARGUMENT * what->arguments;
    const uint32_t stores = less < STORES ? STORES - less : 0;
    counters->global_ld_requests += loads;
    counters->global_ld_sectors += loads;
    counters->global_st_requests += stores;
    counters->global_st_sectors += stores * (uint32_t)__builtin_popcount(mask);
    counters->global_atom_requests += ATOMICS;
    counters->global_atom_sectors += ATOMICS;
    counters->shared_atom_wavefronts += ATOMICS;
    counters->issued_shared_ld += GENERIC_LOADS;
    add_local(counters, local_loads(what), local_stores(what), LEADERS_ACCESSES, mask);
}
