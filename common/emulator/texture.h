// What a texture or surface is: texels in memory, and how they are read.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
    TEXEL_U8,
    TEXEL_S8,
    TEXEL_U16,
    TEXEL_S16,
    TEXEL_U32,
    TEXEL_S32,
    TEXEL_F16,
    TEXEL_F32,
    TEXEL_TYPES
} EmulatorTexelType;

// The texels of an array, or of a part of memory that is read as a texture.
typedef struct {
    EmulatorTexelType type;
    int channels;           // 1, 2 or 4
    uint32_t width, height; // texels; height 0: one dimension
    uint32_t depth;         // slices of three dimensions, or layers; of cubes 6 faces each; 0: neither
    bool is_layered, is_cube;
} EmulatorTexels;

typedef enum { ADDRESS_WRAP, ADDRESS_CLAMP, ADDRESS_MIRROR, ADDRESS_BORDER } EmulatorAddressMode;

typedef struct {
    EmulatorTexels texels;
    uint64_t address; // of the first texel
    bool is_linear; // memory of the kernel's: of one dimension, or of two with `pitch` bytes from row to row
    size_t pitch;
    EmulatorAddressMode address_mode[3]; // of x, y and z
    bool is_filtered;                    // linear filtering, else the nearest texel
    bool has_normalised_coordinates;     // 0 to 1
    bool reads_normalised;               // 8- and 16-bit integers as 0 to 1, or -1 to 1
    float border[4];
} EmulatorTexture;

// Bytes of one texel.
static inline unsigned texel_bytes(const EmulatorTexels *texels) {
    static const unsigned char bytes[TEXEL_TYPES] = {1, 1, 2, 2, 4, 4, 2, 4};
    return bytes[texels->type] * (unsigned)texels->channels;
}
static inline uint64_t texel_rows(const EmulatorTexels *texels) {
    return texels->height ? texels->height : 1;
}
static inline uint64_t texel_slices(const EmulatorTexels *texels) {
    return texels->depth ? texels->depth : 1;
}
