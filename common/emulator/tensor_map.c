// NVIDIA documents the arguments (CUDA Driver API, "Tensor Map Object Management") and not the bits. They
// were found by changing one argument after the other: tests/hardware_truth/tma has 1,600 maps of a driver.
#include "emulator/tensor_map.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// The words of a map.
enum {
    WORD_ADDRESS, // and the next
    WORD_FORM = 2,
    WORD_STRIDES,         // of 16 bytes, their lower 32 bits
    WORD_STRIDES_TOP = 7, // four bits of each
    WORD_DIMS,            // less 1
    WORD_STEPS = 13,      // less 1, three bits each; in the highest byte box[0] less 1
    WORD_BOX,             // the others, less 1, one byte each
    WORD_BYTES = 16,      // of a box
    WORD_ALIGN = 18,      // of a box in shared memory
};

// Bits of WORD_FORM.
enum { FORM_RANK = 4, FORM_TYPE = 7, FORM_SWIZZLE = 13, FORM_FILL = 15, FORM_TF32 = 16, FORM_L2 = 17 };

enum {
    UNIT = 16,
    MOST_BOX = 256,
    MOST_STEP = 8,
    MOST_BYTES = 228 << 10, // of a box: the shared memory of an SM
};

// The numbers of types in a map; tf32 is f32 with a bit more.
static const struct {
    uint8_t bytes, number;
    bool is_float, is_tf32;
} types[TENSOR_TYPES] = {
    [TENSOR_U8] = {1, 0, false, false},     [TENSOR_U16] = {2, 1, false, false},
    [TENSOR_U32] = {4, 2, false, false},    [TENSOR_S32] = {4, 3, false, false},
    [TENSOR_U64] = {8, 4, false, false},    [TENSOR_S64] = {8, 5, false, false},
    [TENSOR_F16] = {2, 6, true, false},     [TENSOR_F32] = {4, 7, true, false},
    [TENSOR_F64] = {8, 9, true, false},     [TENSOR_BF16] = {2, 10, true, false},
    [TENSOR_F32_FTZ] = {4, 8, true, false}, [TENSOR_TF32] = {4, 7, true, true},
    [TENSOR_TF32_FTZ] = {4, 8, true, true},
};

uint32_t tensor_element_bytes(TensorType type) { return types[type].bytes; }
uint32_t tensor_swizzle_bytes(uint32_t swizzle) { return swizzle ? 16u << swizzle : 0; }

// ---- Arguments --------------------------------------------------------------------------------------------

static bool refuse(EmulatorError *error, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool refuse(EmulatorError *error, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    error->status = EMULATOR_BAD_ARGUMENT;
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    return false;
}

static bool check_dimension(const TensorMap *map, uint32_t i, EmulatorError *error) {
    if (!map->dims[i] || map->dims[i] > 1ull << 32)
        return refuse(error, "dimension %u of a tensor has %llu elements, not 1 to 2^32", i,
                      (unsigned long long)map->dims[i]);
    if (!map->box[i] || map->box[i] > MOST_BOX)
        return refuse(error, "dimension %u of a box has %u elements, not 1 to %d", i, map->box[i], MOST_BOX);
    if (!map->steps[i] || map->steps[i] > MOST_STEP)
        return refuse(error, "dimension %u of a box has a stride of %u elements, not 1 to %d", i,
                      map->steps[i], MOST_STEP);
    if (i && (map->strides[i - 1] % UNIT || map->strides[i - 1] >> 40))
        return refuse(error,
                      "dimension %u of a tensor has a stride of %llu bytes, not a multiple of 16 below 2^40",
                      i, (unsigned long long)map->strides[i - 1]);
    return true;
}

// What the driver writes down as the bytes of a box.
static uint64_t box_bytes(const TensorMap *map) {
    uint64_t bytes = types[map->type].bytes;
    for (uint32_t i = 0; i < map->rank; i++) bytes *= map->box[i] / map->steps[i];
    return bytes;
}

static bool check(const TensorMap *map, EmulatorError *error) {
    if (map->type >= TENSOR_TYPES || !map->rank || map->rank > TENSOR_RANKS)
        return refuse(error, "a tensor map has one of %d types and 1 to %d dimensions", TENSOR_TYPES,
                      TENSOR_RANKS);
    if (map->interleave) return refuse(error, "interleaved tensor maps are not supported");
    if (map->swizzle > 3 || map->l2_promotion > 3 || map->fill > 1)
        return refuse(error,
                      "a tensor map has a swizzle of 0 to 3, an L2 promotion of 0 to 3 and a fill of 0 or 1");
    if (map->address % UNIT) return refuse(error, "the address of a tensor is not a multiple of 16");
    for (uint32_t i = 0; i < map->rank; i++)
        if (!check_dimension(map, i, error)) return false;
    const uint32_t row = map->box[0] * types[map->type].bytes, span = tensor_swizzle_bytes(map->swizzle);
    if (row % UNIT) return refuse(error, "a row of a box has %u bytes, which is not a multiple of 16", row);
    if (span && row > span)
        return refuse(error, "a row of a box has %u bytes, more than the %u that its swizzle turns", row,
                      span);
    if (map->fill && !types[map->type].is_float) return refuse(error, "only floats can be filled with NaN");
    return box_bytes(map) <= MOST_BYTES ||
           refuse(error, "a box has %llu bytes, more than shared memory", (unsigned long long)box_bytes(map));
}

// ---- Bits -------------------------------------------------------------------------------------------------

static void write_words(const TensorMap *map, uint32_t words[TENSOR_MAP_WORDS]) {
    memset(words, 0, TENSOR_MAP_WORDS * sizeof *words);
    memcpy(&words[WORD_ADDRESS], &map->address, sizeof map->address);
    words[WORD_FORM] = (map->rank - 1) << FORM_RANK | (uint32_t)types[map->type].number << FORM_TYPE |
                       map->swizzle << FORM_SWIZZLE | map->fill << FORM_FILL |
                       (uint32_t)types[map->type].is_tf32 << FORM_TF32 | map->l2_promotion << FORM_L2;
    for (uint32_t i = 0; i + 1 < map->rank; i++) {
        words[WORD_STRIDES + i] = (uint32_t)(map->strides[i] / UNIT);
        words[WORD_STRIDES_TOP] |= (uint32_t)(map->strides[i] / UNIT >> 32) << 4 * i;
    }
    words[WORD_STEPS] = (map->box[0] - 1) << 24;
    for (uint32_t i = 0; i < map->rank; i++) {
        words[WORD_DIMS + i] = (uint32_t)(map->dims[i] - 1);
        words[WORD_STEPS] |= (map->steps[i] - 1) << 3 * i;
        if (i) words[WORD_BOX] |= (map->box[i] - 1) << 8 * (i - 1);
    }
    words[WORD_BYTES] = (uint32_t)box_bytes(map);
    words[WORD_ALIGN] = map->swizzle ? 128u << map->swizzle : UNIT;
}

bool tensor_map_encode(const TensorMap *map, uint32_t words[TENSOR_MAP_WORDS], EmulatorError *error) {
    if (!check(map, error)) return false;
    write_words(map, words);
    return true;
}

bool tensor_map_decode(const uint32_t words[TENSOR_MAP_WORDS], TensorMap *map) {
    const uint32_t form = words[WORD_FORM], number = form >> FORM_TYPE & 15;
    *map = (TensorMap){.type = TENSOR_TYPES,
                       .rank = (form >> FORM_RANK & 7) + 1,
                       .swizzle = form >> FORM_SWIZZLE & 3,
                       .fill = form >> FORM_FILL & 1,
                       .l2_promotion = form >> FORM_L2 & 3};
    for (int t = 0; t < TENSOR_TYPES; t++)
        if (types[t].number == number && types[t].is_tf32 == (form >> FORM_TF32 & 1))
            map->type = (TensorType)t;
    memcpy(&map->address, &words[WORD_ADDRESS], sizeof map->address);
    for (uint32_t i = 0; i < TENSOR_RANKS; i++) {
        map->dims[i] = (uint64_t)words[WORD_DIMS + i] + 1;
        map->steps[i] = (words[WORD_STEPS] >> 3 * i & 7) + 1;
        map->box[i] = (i ? words[WORD_BOX] >> 8 * (i - 1) & 255 : words[WORD_STEPS] >> 24) + 1;
        if (i < TENSOR_RANKS - 1)
            map->strides[i] =
                ((uint64_t)(words[WORD_STRIDES_TOP] >> 4 * i & 15) << 32 | words[WORD_STRIDES + i]) * UNIT;
    }
    EmulatorError error = {0};
    uint32_t again[TENSOR_MAP_WORDS];
    return tensor_map_encode(map, again, &error) && !memcmp(words, again, sizeof again);
}
