// Operands of instructions: registers get offsets, immediates become splatted lanes, names become addresses.
#include <string.h>

#include "emulator/program/lowering/lowering.h"

// ---- Constants --------------------------------------------------------------------------------------------

// 32 lanes of `bits`.
static const void *splat(Lowering *l, uint64_t bits, unsigned width) {
    for (int i = l->splat_count - 1; i >= 0 && i >= l->splat_count - 64; i--)
        if (l->splats[i].bits == bits && l->splats[i].width == width) return l->splats[i].lanes;
    unsigned char *lanes = arena_alloc(l->arena, width ? width * WARP_SIZE : 4);
    struct Splat *grown =
        arena_grow(l->arena, l->splats, &l->splat_capacity, (size_t)l->splat_count + 1, sizeof *l->splats);
    if (!lanes || !grown) return NULL;
    l->splats = grown;
    if (width == 0) {
        uint32_t mask = bits ? FULL_MASK : 0;
        memcpy(lanes, &mask, 4);
    }
    for (unsigned lane = 0; lane < WARP_SIZE && width; lane++)
        memcpy(lanes + lane * width, &bits, width); // little-endian hosts only, as everything here
    l->splats[l->splat_count++] = (struct Splat){.bits = bits, .width = width, .lanes = lanes};
    return lanes;
}

// ---- Operands ---------------------------------------------------------------------------------------------

static const struct {
    const char *name;
    SpecialRegister which;
    unsigned bytes;
} special_registers[] = {
    {"%tid.x", SPECIAL_TID_X, 4},
    {"%tid.y", SPECIAL_TID_Y, 4},
    {"%tid.z", SPECIAL_TID_Z, 4},
    {"%ntid.x", SPECIAL_NTID_X, 4},
    {"%ntid.y", SPECIAL_NTID_Y, 4},
    {"%ntid.z", SPECIAL_NTID_Z, 4},
    {"%ctaid.x", SPECIAL_CTAID_X, 4},
    {"%ctaid.y", SPECIAL_CTAID_Y, 4},
    {"%ctaid.z", SPECIAL_CTAID_Z, 4},
    {"%nctaid.x", SPECIAL_NCTAID_X, 4},
    {"%nctaid.y", SPECIAL_NCTAID_Y, 4},
    {"%nctaid.z", SPECIAL_NCTAID_Z, 4},
    {"%laneid", SPECIAL_LANEID, 4},
    {"%warpid", SPECIAL_WARPID, 4},
    {"%nwarpid", SPECIAL_NWARPID, 4},
    {"%smid", SPECIAL_SMID, 4},
    {"%nsmid", SPECIAL_NSMID, 4},
    {"%gridid", SPECIAL_GRIDID, 8},
    {"%lanemask_eq", SPECIAL_LANEMASK_EQ, 4},
    {"%lanemask_le", SPECIAL_LANEMASK_LE, 4},
    {"%lanemask_lt", SPECIAL_LANEMASK_LT, 4},
    {"%lanemask_ge", SPECIAL_LANEMASK_GE, 4},
    {"%lanemask_gt", SPECIAL_LANEMASK_GT, 4},
    {"%clock", SPECIAL_CLOCK, 4},
    {"%clock_hi", SPECIAL_CLOCK_HI, 4},
    {"%clock64", SPECIAL_CLOCK64, 8},
    {"%globaltimer", SPECIAL_GLOBALTIMER, 8},
    {"%globaltimer_lo", SPECIAL_GLOBALTIMER_LO, 4},
    {"%globaltimer_hi", SPECIAL_GLOBALTIMER_HI, 4},
    {"%dynamic_smem_size", SPECIAL_DYNAMIC_SHARED, 4},
    {"%total_smem_size", SPECIAL_TOTAL_SHARED, 4},
    {"%aggr_smem_size", SPECIAL_TOTAL_SHARED, 4},
    // Cooperative groups find the workspace of a grid barrier through these two.
    {"%envreg1", SPECIAL_WORKSPACE_HI, 4},
    {"%envreg2", SPECIAL_WORKSPACE_LO, 4},
    {"%clusterid.x", SPECIAL_CLUSTERID_X, 4},
    {"%clusterid.y", SPECIAL_CLUSTERID_Y, 4},
    {"%clusterid.z", SPECIAL_CLUSTERID_Z, 4},
    {"%nclusterid.x", SPECIAL_NCLUSTERID_X, 4},
    {"%nclusterid.y", SPECIAL_NCLUSTERID_Y, 4},
    {"%nclusterid.z", SPECIAL_NCLUSTERID_Z, 4},
    {"%cluster_ctaid.x", SPECIAL_CLUSTER_CTAID_X, 4},
    {"%cluster_ctaid.y", SPECIAL_CLUSTER_CTAID_Y, 4},
    {"%cluster_ctaid.z", SPECIAL_CLUSTER_CTAID_Z, 4},
    {"%cluster_nctaid.x", SPECIAL_CLUSTER_NCTAID_X, 4},
    {"%cluster_nctaid.y", SPECIAL_CLUSTER_NCTAID_Y, 4},
    {"%cluster_nctaid.z", SPECIAL_CLUSTER_NCTAID_Z, 4},
    {"%cluster_ctarank", SPECIAL_CLUSTER_CTARANK, 4},
    {"%cluster_nctarank", SPECIAL_CLUSTER_NCTARANK, 4},
    {"%is_explicit_cluster", SPECIAL_IS_EXPLICIT_CLUSTER, 0},
    // Before the variables of the block; offsets in emulated shared memory have no such place.
    {"%reserved_smem_offset_begin", SPECIAL_ZERO, 4},
    {"%reserved_smem_offset_end", SPECIAL_RESERVED_SHARED, 4},
    {"%reserved_smem_offset_cap", SPECIAL_RESERVED_SHARED, 4},
    {"%reserved_smem_offset_0", SPECIAL_ZERO, 4},
    {"%reserved_smem_offset_1", SPECIAL_ZERO, 4},
};

static bool lower_special(Lowering *l, const PtxInstruction *in, const PtxOperand *o, Operand *out) {
    for (size_t i = 0; i < sizeof special_registers / sizeof *special_registers; i++) {
        if (strcmp(special_registers[i].name, o->name)) continue;
        Instruction move = blank(KIND_SPECIAL);
        move.literal[0] = special_registers[i].which;
        move.dst[0] = new_register(l, special_registers[i].bytes);
        move.dst_count = 1;
        *out = (Operand){.offset = move.dst[0]};
        return emit(l, in, &move);
    }
    return lower_fail(l, EMULATOR_UNSUPPORTED, in, "the special register %s is not supported", o->name);
}

static bool shared_address(const Program *program, const PtxVariable *v, uint64_t *address) {
    for (int i = 0; i < program->shared_count; i++)
        if (program->shared[i].variable == v) {
            *address = program->shared[i].offset;
            return true;
        }
    return false;
}

// The address of a variable as the PTX of its space sees it: an offset in shared and local memory, a
// generic address everywhere else.
static bool lower_variable(Lowering *l, const PtxInstruction *in, const PtxVariable *v, int64_t offset,
                           unsigned width, Operand *out) {
    uint64_t address = 0;
    if (v->refused) return lower_fail(l, EMULATOR_UNSUPPORTED, in, "%s: %s", v->name, v->refused);
    switch (v->space) {
    case PTX_SPACE_GLOBAL:
    case PTX_SPACE_CONST:
        address = l->address_of(l->context, v);
        if (!address)
            return lower_fail(l, EMULATOR_UNSUPPORTED, in,
                              "the variable %s is declared .extern and defined nowhere", v->name);
        break;
    case PTX_SPACE_SHARED:
        if (!shared_address(l->program, v, &address))
            return lower_fail(l, EMULATOR_UNSUPPORTED, in, "the shared variable %s does not fit in 1 GiB",
                              v->name);
        break;
    case PTX_SPACE_PARAM:
        if (!l->ptx->is_entry || v->parameter < 0)
            return lower_fail(l, EMULATOR_UNSUPPORTED, in,
                              "the address of a device function's parameter is not supported");
        address = PARAM_WINDOW + (uint32_t)l->function->parameters[v->parameter].offset;
        break;
    case PTX_SPACE_LOCAL: {
        Instruction compute = blank(KIND_FRAME_ADDRESS);
        compute.width = (uint8_t)width;
        compute.offset = (int64_t)l->local_offset[v->index] + offset;
        compute.dst[0] = new_register(l, width);
        compute.dst_count = 1;
        *out = (Operand){.offset = compute.dst[0]};
        return emit(l, in, &compute);
    }
    default: return lower_fail(l, EMULATOR_BAD_PTX, in, "%s has no address", v->name);
    }
    const void *lanes = splat(l, address + (uint64_t)offset, width);
    if (!lanes) return lower_no_memory(l);
    *out = (Operand){.constant = lanes};
    return true;
}

static bool is_float(PtxType type) { return type == PTX_F32 || type == PTX_F64; }

// Of all instructions only those of video take parts, and lower_video() leaves none of them to others.
static bool refuse_part(Lowering *l, const PtxInstruction *in, const PtxOperand *o) {
    return lower_fail(l, EMULATOR_UNSUPPORTED, in, "a part of a register (.%.20s) is not supported", o->part);
}

bool lower_source(Lowering *l, const PtxInstruction *in, const PtxOperand *o, PtxType type, bool wide_ok,
                  Operand *out) {
    unsigned width = lane_width(type);
    uint64_t bits = o->integer;
    if (o->part) return refuse_part(l, in, o);
    switch (o->kind) {
    case PTX_OPERAND_REGISTER: {
        unsigned have = lane_width(o->reg->type);
        if ((type == PTX_PRED) != (o->reg->type == PTX_PRED) || have < width || (have > width && !wide_ok))
            return lower_fail(l, EMULATOR_BAD_PTX, in, "%s is a .%s register, but %s needs .%s", o->reg->name,
                              ptx_type_name(o->reg->type), in->opcode, ptx_type_name(type));
        int32_t offset = l->register_offset[o->reg->index];
        if (o->negated) {
            if (type != PTX_PRED)
                return lower_fail(l, EMULATOR_UNSUPPORTED, in, "a negated register operand");
            Instruction complement = blank(KIND_NOT_PREDICATE);
            complement.src[0] = (Operand){.offset = offset};
            complement.src_count = complement.dst_count = 1;
            offset = complement.dst[0] = new_register(l, 0);
            if (!emit(l, in, &complement)) return false;
        }
        *out = (Operand){.offset = offset};
        return true;
    }
    case PTX_OPERAND_SPECIAL: return lower_special(l, in, o, out);
    case PTX_OPERAND_VARIABLE: return lower_variable(l, in, o->variable, o->offset, width, out);
    case PTX_OPERAND_FUNCTION: bits = FUNCTION_WINDOW + 16 * (uint64_t)(o->function->index + 1); break;
    case PTX_OPERAND_INTEGER:
        // An integer where a float is wanted is its value (the ISA allows it for .f32 0 only in old code).
        if (is_float(type)) {
            double value = (double)(int64_t)bits;
            float narrow = (float)value;
            bits = 0;
            if (type == PTX_F32)
                memcpy(&bits, &narrow, 4);
            else
                memcpy(&bits, &value, 8);
        }
        break;
    case PTX_OPERAND_FLOAT32:
        if (type == PTX_F64) {
            float narrow;
            memcpy(&narrow, &bits, 4);
            double wide = narrow;
            memcpy(&bits, &wide, 8);
        }
        break;
    case PTX_OPERAND_FLOAT64:
        if (type == PTX_F32) {
            double wide;
            memcpy(&wide, &bits, 8);
            float narrow = (float)wide;
            bits = 0;
            memcpy(&bits, &narrow, 4);
        }
        break;
    default: return lower_fail(l, EMULATOR_BAD_PTX, in, "%s cannot take this kind of operand", in->opcode);
    }
    if (o->negated && type == PTX_PRED) bits = !bits;
    const void *lanes = splat(l, bits, width);
    if (!lanes) return lower_no_memory(l);
    *out = (Operand){.constant = lanes};
    return true;
}

bool lower_destination(Lowering *l, const PtxInstruction *in, const PtxOperand *o, PtxType type, bool wide_ok,
                       int32_t *out) {
    *out = -1;
    if (o->part) return refuse_part(l, in, o);
    if (o->kind == PTX_OPERAND_SINK) return true;
    if (o->kind != PTX_OPERAND_REGISTER)
        return lower_fail(l, EMULATOR_BAD_PTX, in, "%s needs a register to write to", in->opcode);
    unsigned have = lane_width(o->reg->type), width = lane_width(type);
    if ((type == PTX_PRED) != (o->reg->type == PTX_PRED) || have < width || (have > width && !wide_ok))
        return lower_fail(l, EMULATOR_BAD_PTX, in, "%s is a .%s register, but %s writes .%s", o->reg->name,
                          ptx_type_name(o->reg->type), in->opcode, ptx_type_name(type));
    *out = l->register_offset[o->reg->index];
    return true;
}

bool lower_literal(Lowering *l, const PtxInstruction *in, const PtxOperand *o, uint32_t *out) {
    if (o->kind != PTX_OPERAND_INTEGER)
        return lower_fail(l, EMULATOR_BAD_PTX, in, "%s needs a constant here", in->opcode);
    *out = (uint32_t)o->integer;
    return true;
}
