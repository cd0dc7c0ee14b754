#include "emulator/model/what_if.h"

double model_loads_in_flight(const ModelWork *work) {
    return work->warp_time.dram_trips > 0 ? work->far_loads / work->warp_time.dram_trips : 0;
}

// Loads that are in flight together wait once.
void model_with_loads_in_flight(ModelWork *work, double loads) {
    const double now = model_loads_in_flight(work);
    if (now >= loads) return;
    ModelTime *const times[] = {&work->block_time, &work->block_most, &work->warp_time};
    for (int i = 0; i < 3; i++) times[i]->dram_trips *= now / loads;
}

void model_without_local_memory(ModelWork *work) { work->local_loads = work->local_stores = 0; }

void model_without_chain(ModelWork *work) {
    work->chain = (ModelTime){0};
    work->links = 0;
}

void model_told_by_atomics(ModelWork *work) { work->told_plainly = 0; }

void model_collected_at_once(ModelWork *work) { work->collecting = (ModelTime){0}; }
