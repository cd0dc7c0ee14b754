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

// The last operations that were run, in a ring.
typedef struct {
    const Instruction *all[FLOAT_DISTANCE_MOST];
    int count;
} Before;

static void run_through(Function *function, int first, int end, Before *before) {
    for (int i = first; i < end; i++) {
        Instruction *in = &function->code[i];
        if (in->float_ops == 0) continue;
        int distance = 1;
        while (distance < FLOAT_DISTANCE_MOST && distance <= before->count &&
               !needs(in, before->all[(before->count - distance) % FLOAT_DISTANCE_MOST]))
            distance++;
        in->float_distance = distance > before->count ? FLOAT_DISTANCE_MOST : (uint8_t)distance;
        before->all[before->count++ % FLOAT_DISTANCE_MOST] = in;
    }
}

void set_float_distances(Function *function) {
    for (int first = 0, end = 0; first < function->count; first = ++end) {
        while (end < function->count && !ends_stretch(&function->code[end])) end++;
        const Instruction *last = end < function->count ? &function->code[end] : NULL;
        const bool is_loop = last && last->kind == KIND_BRANCH && last->target >= first && last->target < end;
        const int body = is_loop ? last->target : end;
        Before before = {0};
        run_through(function, first, body, &before);
        before.count = 0;
        run_through(function, body, end, &before); // the round before
        run_through(function, body, end, &before);
    }
}
