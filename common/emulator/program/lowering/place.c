// Where things lie in a warp's register file: registers, .param variables, and the parameters and return
// values of the function being lowered; and its .local variables in each thread's local memory.
#include "emulator/program/lowering/lowering.h"

enum { MAX_PARAMETER_BYTES = 65536, MAX_LOCAL_VARIABLES = 1 << 30 };

// ---- Registers --------------------------------------------------------------------------------------------

unsigned lane_width(PtxType type) {
    if (type == PTX_PRED) return 0;
    unsigned bytes = ptx_type_bytes(type);
    return bytes < 2 ? 2 : bytes;
}

int32_t new_register(Lowering *l, unsigned width) {
    // Aligned to 64 bytes: whole vector registers, whole cache lines.
    uint32_t bytes = width == 0 ? 4 : width * WARP_SIZE;
    uint32_t align = width == 0 ? 4 : 64;
    uint32_t offset = (l->register_bytes + align - 1) / align * align;
    l->register_bytes = offset + bytes;
    return (int32_t)offset;
}

// Room for a .param variable: each lane's bytes together, the first lane's at the start of a cache line.
static ParamPlace new_param(Lowering *l, size_t bytes) {
    l->register_bytes = (l->register_bytes + 63) / 64 * 64;
    ParamPlace place = {(int32_t)l->register_bytes, (uint32_t)bytes};
    l->register_bytes += (uint32_t)bytes * WARP_SIZE;
    return place;
}

static bool place_registers(Lowering *l) {
    PtxFunction *f = l->ptx;
    l->register_bytes = REGISTER_FILE_HEADER;
    l->register_offset = arena_array(l->arena, (size_t)f->register_count + 1, sizeof *l->register_offset);
    if (!l->register_offset) return false;
    // Predicates are four bytes each; together first, so that the 64-byte alignment of the rest wastes
    // nothing.
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < f->register_count; i++)
            if ((f->registers[i]->type == PTX_PRED) == (pass == 0))
                l->register_offset[i] = new_register(l, lane_width(f->registers[i]->type));
    l->function->written_from = REGISTER_FILE_HEADER;
    l->function->written_to = l->register_bytes;
    return true;
}

static bool place_variables(Lowering *l) {
    PtxFunction *f = l->ptx;
    l->variable_place = arena_array(l->arena, (size_t)f->variable_count + 1, sizeof *l->variable_place);
    l->local_offset = arena_array(l->arena, (size_t)f->variable_count + 1, sizeof *l->local_offset);
    if (!l->variable_place || !l->local_offset) return false;
    uint64_t local = 0;
    for (int i = 0; i < f->variable_count; i++) {
        const PtxVariable *v = f->variables[i];
        uint64_t align = v->align ? v->align : 1;
        if (v->space == PTX_SPACE_LOCAL) {
            local = (local + align - 1) / align * align;
            l->local_offset[i] = (uint32_t)local;
            local += v->bytes;
        } else if (v->space == PTX_SPACE_PARAM) {
            if (v->bytes > MAX_PARAMETER_BYTES) return false;
            l->variable_place[i] = new_param(l, v->bytes);
        }
        if (local > MAX_LOCAL_VARIABLES || l->register_bytes > MAX_REGISTER_FILE) return false;
    }
    l->function->local_bytes = (uint32_t)((local + 15) / 16 * 16);
    return true;
}

// The places of a device function's parameters and return values; for an entry, offsets in its parameter
// block.
static bool place_parameters(Lowering *l) {
    PtxFunction *f = l->ptx;
    Function *out = l->function;
    out->parameters = arena_array(l->arena, (size_t)f->parameter_count + 1, sizeof *out->parameters);
    out->returns = arena_array(l->arena, (size_t)f->return_count + 1, sizeof *out->returns);
    if (!out->parameters || !out->returns) return false;
    out->parameter_count = f->parameter_count;
    out->return_count = f->return_count;
    size_t offset = 0;
    for (int pass = 0; pass < 2; pass++) {
        PtxVariable **list = pass ? f->returns : f->parameters;
        int count = pass ? f->return_count : f->parameter_count;
        for (int i = 0; i < count; i++) {
            const PtxVariable *v = list[i];
            ParamPlace *place = pass ? &out->returns[i] : &out->parameters[i];
            if (v->bytes > MAX_PARAMETER_BYTES) return false;
            if (f->is_entry) {
                size_t align = v->align ? v->align : 1;
                offset = (offset + align - 1) / align * align;
                *place = (ParamPlace){(int32_t)offset, (uint32_t)v->bytes};
                offset += v->bytes;
            } else {
                *place = new_param(l, v->bytes);
            }
            if (offset > MAX_PARAMETER_BYTES || l->register_bytes > MAX_REGISTER_FILE) return false;
        }
    }
    return true;
}

bool place_all(Lowering *l) { return place_registers(l) && place_variables(l) && place_parameters(l); }

const ParamPlace *param_place(Lowering *l, const PtxVariable *v) {
    if (v->space != PTX_SPACE_PARAM) return NULL;
    for (int i = 0; i < l->ptx->return_count; i++)
        if (l->ptx->returns[i] == v) return &l->function->returns[i];
    for (int i = 0; i < l->ptx->parameter_count; i++)
        if (l->ptx->parameters[i] == v) return &l->function->parameters[i];
    if (v->owner == l->ptx && v->index >= 0 && v->index < l->ptx->variable_count &&
        l->ptx->variables[v->index] == v)
        return &l->variable_place[v->index];
    return NULL;
}
