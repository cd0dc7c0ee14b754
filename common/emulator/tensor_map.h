// Tensor maps: the 128 bytes that cuTensorMapEncodeTiled writes, and tensor copies read.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "emulator/status.h"

enum { TENSOR_RANKS = 5, TENSOR_MAP_WORDS = 32, TENSOR_MAP_ALIGN = 64 };

// CUtensorMapDataType, in its order.
typedef enum {
    TENSOR_U8,
    TENSOR_U16,
    TENSOR_U32,
    TENSOR_S32,
    TENSOR_U64,
    TENSOR_S64,
    TENSOR_F16,
    TENSOR_F32,
    TENSOR_F64,
    TENSOR_BF16,
    TENSOR_F32_FTZ,
    TENSOR_TF32,
    TENSOR_TF32_FTZ,
    TENSOR_TYPES
} TensorType;

// The arguments of cuTensorMapEncodeTiled. The first of each is that of the dimension whose elements follow
// each other.
typedef struct {
    uint64_t address; // of the tensor, a multiple of 16
    TensorType type;
    uint32_t rank;
    uint64_t dims[TENSOR_RANKS];        // elements, 1 to 2^32
    uint64_t strides[TENSOR_RANKS - 1]; // bytes, of the other dimensions: multiples of 16, less than 2^40
    uint32_t box[TENSOR_RANKS];         // elements, 1 to 256
    uint32_t steps[TENSOR_RANKS];       // 1 to 8; the first is not looked at
    uint32_t interleave;                // 0: none; the others are not supported
    uint32_t swizzle;                   // 0: none, 1, 2, 3: rows of 32, 64, 128 bytes
    uint32_t l2_promotion;              // 0 to 3: changes nothing here
    uint32_t fill;                      // of elements outside the tensor, 0: zeros, 1: NaNs, of floats
} TensorMap;

// Bytes of an element; of a row that swizzling turns, 0: none.
uint32_t tensor_element_bytes(TensorType type);
uint32_t tensor_swizzle_bytes(uint32_t swizzle);

// Writes the map as NVIDIA's driver does; false, with the reason, if the driver refuses these arguments.
bool tensor_map_encode(const TensorMap *map, uint32_t words[TENSOR_MAP_WORDS], EmulatorError *error);
// False if that is not what tensor_map_encode() writes.
bool tensor_map_decode(const uint32_t words[TENSOR_MAP_WORDS], TensorMap *map);
