#include "emulator/program/registers.h"

int registers_read(const Instruction *in, int32_t offsets[MOST_READ]) {
    int count = 0;
    if (in->guard >= 0) offsets[count++] = in->guard;
    for (int k = 0; k < 5; k++)
        if (!in->src[k].constant && in->src[k].offset >= REGISTER_FILE_HEADER)
            offsets[count++] = in->src[k].offset;
    for (int k = 0; in->more && k < in->more->src_count; k++)
        if (!in->more->src[k].constant) offsets[count++] = in->more->src[k].offset;
    return count;
}

int registers_written(const Instruction *in, int32_t offsets[MOST_WRITTEN]) {
    int count = 0;
    for (int k = 0; k < 4; k++)
        if (in->dst[k] >= REGISTER_FILE_HEADER) offsets[count++] = in->dst[k];
    for (int k = 0; in->more && k < in->more->dst_count; k++)
        if (in->more->dst[k] >= 0) offsets[count++] = in->more->dst[k];
    return count;
}
