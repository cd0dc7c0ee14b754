// Video instructions (ISA, Video Instructions): what one says of itself, Instruction.detail.
#pragma once

#include "emulator/alu/instruction.h"

typedef enum {
    VIDEO_ADD,
    VIDEO_SUB,
    VIDEO_ABSDIFF,
    VIDEO_MIN,
    VIDEO_MAX,
    VIDEO_AVRG,
    VIDEO_SHL,
    VIDEO_SHR,
    VIDEO_SET,
    VIDEO_MAD
} VideoOperation;

typedef enum { VIDEO_EQ, VIDEO_NE, VIDEO_LT, VIDEO_LE, VIDEO_GT, VIDEO_GE } VideoCompare;
typedef enum { VIDEO_NO_SECOND, VIDEO_SECOND_ADD, VIDEO_SECOND_MIN, VIDEO_SECOND_MAX } VideoSecond;

// A part of a 32-bit register: byte 0 to 3, half 0 or 1, or all of it.
typedef enum { PART_B0, PART_H0 = 4, PART_ALL = 6 } VideoPart;

typedef struct {
    VideoOperation operation;
    VideoCompare compare;
    VideoSecond second;
    unsigned elements; // 1, or of a SIMD instruction 2 or 4
    bool is_signed, a_is_signed, b_is_signed, saturates;
    // Of one element
    VideoPart a_part, b_part, d_part; // d_part: merged with c unless PART_ALL
    bool wraps;                       // of a shift
    unsigned scale;                   // of vmad: bits to shift
    bool a_negated, b_negated, c_negated, adds_one;
    // Of several: which of the elements of a (from 0) and b (behind those of a), and which are written
    unsigned char a_elements[4], b_elements[4];
    unsigned mask;
} VideoForm;

AluHandler video_run;
