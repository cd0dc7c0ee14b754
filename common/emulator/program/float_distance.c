#include "emulator/program/float_distance.h"

static bool ends_stretch(const Instruction *in) {
    switch ((InstructionKind)in->kind) {
    case KIND_BRANCH:
    case KIND_BRANCH_TABLE:
    case KIND_CALL:
    case KIND_RETURN:
    case KIND_EXIT: return true;
    default: return false;
    }
}

static bool needs(const Instruction *in, const Instruction *earlier) {
    for (int k = 0; k < in->src_count; k++)
        for (int d = 0; d < earlier->dst_count; d++)
            if (!in->src[k].constant && earlier->dst[d] >= 0 && in->src[k].offset == earlier->dst[d])
                return true;
    return false;
}

void set_float_distances(Function *function) {
    const Instruction *before[FLOAT_DISTANCE_MOST]; // the last ones of this stretch, in a ring
    int count = 0;
    for (int i = 0; i < function->count; i++) {
        Instruction *in = &function->code[i];
        if (ends_stretch(in)) {
            count = 0;
            continue;
        }
        if (in->float_ops == 0) continue;
        int distance = 1;
        while (distance < FLOAT_DISTANCE_MOST && distance <= count &&
               !needs(in, before[(count - distance) % FLOAT_DISTANCE_MOST]))
            distance++;
        in->float_distance = distance > count ? FLOAT_DISTANCE_MOST : (uint8_t)distance;
        before[count++ % FLOAT_DISTANCE_MOST] = in;
    }
}
