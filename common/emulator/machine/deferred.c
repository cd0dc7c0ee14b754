#include "emulator/machine/deferred.h"

#include "emulator/machine/memory.h"
#include "emulator/machine/resolve.h"

static bool is_result(const Instruction *load, int32_t offset) {
    for (int d = 0; d < load->dst_count; d++)
        if (load->dst[d] >= 0 && load->dst[d] == offset) return true;
    return false;
}

// Does `in` need a register that the load writes, or change one that it needs?
static bool shares_registers(const Instruction *load, const Instruction *in) {
    for (int s = 0; s < in->src_count; s++)
        if (!in->src[s].constant && is_result(load, in->src[s].offset)) return true;
    for (int d = 0; d < in->dst_count; d++)
        if (is_result(load, in->dst[d]) || (!load->src[0].constant && in->dst[d] == load->src[0].offset))
            return true;
    return false;
}

// A thread's own accesses to one address stay in order.
static bool shares_bytes(const Deferred *deferred, const unsigned char *registers, const Instruction *store,
                         uint32_t lanes) {
    uint64_t of_load[WARP_SIZE], of_store[WARP_SIZE];
    lane_addresses(deferred->frame->registers, deferred->in, of_load);
    lane_addresses(registers, store, of_store);
    uint64_t load_bytes = (uint64_t)deferred->in->width * deferred->in->elements,
             store_bytes = (uint64_t)store->width * store->elements;
    FOR_LANES(lane, lanes)
    if (of_load[lane] < of_store[lane] + store_bytes && of_store[lane] < of_load[lane] + load_bytes)
        return true;
    return false;
}

bool pass_deferred(Machine *m, Warp *w, Fragment *f, const Instruction *in, uint32_t active) {
    const Deferred deferred = w->deferred;
    uint32_t lanes = active & deferred.mask;
    if (!lanes) return true;
    bool may_pass = f->frame == deferred.frame && !shares_registers(deferred.in, in);
    if (in->kind == KIND_STORE)
        may_pass =
            may_pass && !(in->flags & IS_RELEASE) && !shares_bytes(&deferred, f->frame->registers, in, lanes);
    else
        may_pass = may_pass && in->kind == KIND_ALU;
    if (may_pass) return true;
    w->deferred.in = NULL;
    Fragment late = {.mask = deferred.mask, .frame = deferred.frame};
    execute_load(m, w, &late, deferred.in, deferred.mask);
    return !m->stopped;
}
