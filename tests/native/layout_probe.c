// Prints, as JSON, where the C compiler puts the members of the structures that bench/emulator_library.py
// mirrors.
#include <stdio.h>

#include "emulator/emulator.h"
#include "emulator/model/model.h"

#define BEGIN(type) printf("%s\n\"%s\": {\"sizeof\": %zu", separator, #type, sizeof(type)), separator = ","
#define MEMBER(type, name) printf(", \"%s\": %zu", #name, offsetof(type, name))
#define END() printf("}")

int main(void) {
    const char *separator = "";
    printf("{\"finding kinds\": %d,", FINDING_KINDS);
    BEGIN(EmulatorError);
    MEMBER(EmulatorError, status), MEMBER(EmulatorError, line), MEMBER(EmulatorError, column),
        MEMBER(EmulatorError, file);
    MEMBER(EmulatorError, source_line), MEMBER(EmulatorError, message);
    END();
    BEGIN(SourcePlace);
    MEMBER(SourcePlace, file), MEMBER(SourcePlace, line), MEMBER(SourcePlace, column),
        MEMBER(SourcePlace, ptx_line);
    MEMBER(SourcePlace, call);
    END();
    BEGIN(Finding);
    MEMBER(Finding, kind), MEMBER(Finding, fatal), MEMBER(Finding, place), MEMBER(Finding, other_place);
    MEMBER(Finding, block), MEMBER(Finding, thread), MEMBER(Finding, other_thread),
        MEMBER(Finding, other_block);
    MEMBER(Finding, warp), MEMBER(Finding, lane), MEMBER(Finding, address), MEMBER(Finding, bytes);
    MEMBER(Finding, is_store), MEMBER(Finding, is_atomic), MEMBER(Finding, object), MEMBER(Finding, index);
    MEMBER(Finding, object_bytes), MEMBER(Finding, is_endless), MEMBER(Finding, count),
        MEMBER(Finding, message);
    END();
    BEGIN(Counters);
    for (int i = 0; i < counter_field_count; i++)
        printf(", \"%s\": %zu", counter_fields[i].name, counter_fields[i].offset);
    END();
    BEGIN(LineCounters);
    MEMBER(LineCounters, place), MEMBER(LineCounters, counters), MEMBER(LineCounters, conflict),
        MEMBER(LineCounters, scatter);
    END();
    BEGIN(EmulatorDevice);
    MEMBER(EmulatorDevice, name), MEMBER(EmulatorDevice, compute_major), MEMBER(EmulatorDevice, sm_count);
    MEMBER(EmulatorDevice, registers_per_sm), MEMBER(EmulatorDevice, shared_per_sm),
        MEMBER(EmulatorDevice, max_grid);
    MEMBER(EmulatorDevice, max_block), MEMBER(EmulatorDevice, clock_khz),
        MEMBER(EmulatorDevice, global_bytes);
    END();
    BEGIN(EmulatorKernelInfo);
    MEMBER(EmulatorKernelInfo, name), MEMBER(EmulatorKernelInfo, parameter_count),
        MEMBER(EmulatorKernelInfo, parameters);
    MEMBER(EmulatorKernelInfo, parameter_bytes), MEMBER(EmulatorKernelInfo, static_shared);
    MEMBER(EmulatorKernelInfo, required_threads), MEMBER(EmulatorKernelInfo, max_threads);
    END();
    BEGIN(EmulatorLaunch);
    MEMBER(EmulatorLaunch, grid), MEMBER(EmulatorLaunch, block), MEMBER(EmulatorLaunch, cluster);
    MEMBER(EmulatorLaunch, dynamic_shared);
    MEMBER(EmulatorLaunch, arguments), MEMBER(EmulatorLaunch, argument_bytes), MEMBER(EmulatorLaunch, checks);
    MEMBER(EmulatorLaunch, count), MEMBER(EmulatorLaunch, timing), MEMBER(EmulatorLaunch, schedule);
    MEMBER(EmulatorLaunch, max_steps), MEMBER(EmulatorLaunch, max_output),
        MEMBER(EmulatorLaunch, max_findings);
    MEMBER(EmulatorLaunch, max_seconds), MEMBER(EmulatorLaunch, trace_bytes);
    END();
    BEGIN(EmulatorResult);
    MEMBER(EmulatorResult, completed), MEMBER(EmulatorResult, finding_count),
        MEMBER(EmulatorResult, findings);
    MEMBER(EmulatorResult, findings_total), MEMBER(EmulatorResult, counters),
        MEMBER(EmulatorResult, line_count);
    MEMBER(EmulatorResult, lines), MEMBER(EmulatorResult, lane_instructions), MEMBER(EmulatorResult, seconds);
    MEMBER(EmulatorResult, output), MEMBER(EmulatorResult, output_bytes), MEMBER(EmulatorResult, work);
    MEMBER(EmulatorResult, trace), MEMBER(EmulatorResult, trace_bytes);
    END();
    BEGIN(ModelTime);
    MEMBER(ModelTime, cycles), MEMBER(ModelTime, l2_trips), MEMBER(ModelTime, dram_trips);
    END();
    BEGIN(ModelWork);
    MEMBER(ModelWork, blocks), MEMBER(ModelWork, block_time), MEMBER(ModelWork, regions);
    MEMBER(ModelWork, issued), MEMBER(ModelWork, lsu), MEMBER(ModelWork, barriers);
    MEMBER(ModelWork, load_sectors), MEMBER(ModelWork, store_sectors), MEMBER(ModelWork, local_stores);
    MEMBER(ModelWork, first), MEMBER(ModelWork, warp_distance), MEMBER(ModelWork, grid_distance);
    MEMBER(ModelWork, loads_stored), MEMBER(ModelWork, atomic_sectors), MEMBER(ModelWork, atomic_slice),
        MEMBER(ModelWork, atomic_waits), MEMBER(ModelWork, chain);
    END();
    printf("}\n");
    return 0;
}
