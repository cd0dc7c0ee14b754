#include "emulator/counters.h"

#include <string.h>

#define FIELD(name)                                                                                          \
    { #name, offsetof(Counters, name) }
const CounterField counter_fields[] = {
    FIELD(instructions),
    FIELD(thread_instructions),
    FIELD(global_ld_requests),
    FIELD(global_ld_sectors),
    FIELD(global_ld_bytes),
    FIELD(input_ld_requests),
    FIELD(input_ld_sectors),
    FIELD(global_st_requests),
    FIELD(global_st_sectors),
    FIELD(global_st_bytes),
    FIELD(global_red_requests),
    FIELD(global_red_sectors),
    FIELD(global_atom_requests),
    FIELD(global_atom_sectors),
    FIELD(shared_ld),
    FIELD(shared_st),
    FIELD(shared_atom),
    FIELD(shared_ld_wavefronts),
    FIELD(shared_st_wavefronts),
    FIELD(shared_atom_wavefronts),
    FIELD(shared_ld_conflicts),
    FIELD(shared_st_conflicts),
    FIELD(local_ld_requests),
    FIELD(local_ld_sectors),
    FIELD(local_st_requests),
    FIELD(local_st_sectors),
    FIELD(const_ld),
    FIELD(texture_requests),
    FIELD(texture_sectors),
    FIELD(branches),
    FIELD(branch_divergent),
    FIELD(issued_branch_divergent),
    FIELD(issued_shared_ld),
    FIELD(issued_shared_st),
    FIELD(issued_shared_atom),
    FIELD(barriers),
    FIELD(partial_barriers),
    FIELD(warp_barriers),
    FIELD(shuffles),
    FIELD(votes),
    FIELD(matches),
    FIELD(reductions),
    FIELD(fences),
    FIELD(atomic_max_lanes),
    FIELD(float_ops),
    FIELD(float_distance),
};
const int counter_field_count = (int)(sizeof counter_fields / sizeof *counter_fields);

uint64_t counter_value(const Counters *counters, int field) {
    uint64_t value;
    memcpy(&value, (const char *)counters + counter_fields[field].offset, sizeof value);
    return value;
}

void counters_add(Counters *sum, const Counters *more) {
    for (int i = 0; i < counter_field_count; i++) {
        uint64_t *to = (uint64_t *)(void *)((char *)sum + counter_fields[i].offset);
        uint64_t value = counter_value(more, i);
        if (counter_fields[i].offset == offsetof(Counters, atomic_max_lanes))
            *to = *to > value ? *to : value;
        else
            *to += value;
    }
}

void line_counters_add(LineCounters *sum, const LineCounters *more) {
    counters_add(&sum->counters, &more->counters);
    if (more->conflict.extra > sum->conflict.extra) sum->conflict = more->conflict;
    const uint64_t between = sum->scatter.between + more->scatter.between;
    if (more->scatter.extra > sum->scatter.extra) sum->scatter = more->scatter;
    sum->scatter.between = between;
}
