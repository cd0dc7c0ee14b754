#include "driver/plan/elements.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

size_t element_bytes(ElementType type) {
    switch (type) {
    case BF16: return 2;
    case U8: return 1;
    case F32:
    case I32:
    case U32: return 4;
    case F64:
    case I64:
    case U64: return 8;
    case ELEMENT_TYPES: break;
    }
    return 0;
}

const char *element_word(ElementType type) {
    switch (type) {
    case F32: return "float";
    case F64: return "double";
    case BF16: return "__nv_bfloat16";
    case I32: return "int";
    case U32: return "unsigned";
    case I64: return "long long";
    case U64: return "unsigned long long";
    case U8: return "unsigned char";
    case ELEMENT_TYPES: break;
    }
    return "?";
}

bool element_is_float(ElementType type) { return type == F32 || type == F64 || type == BF16; }

static const unsigned char *place(const void *array, ElementType type, long long index) {
    return (const unsigned char *)array + (size_t)index * element_bytes(type);
}

// The value of that C type at a place that need not be aligned.
#define VALUE_AT(at, type) (*(type *)memcpy(&(type){0}, at, sizeof(type)))

static double from_bfloat16(uint16_t bits) {
    return (double)VALUE_AT(&(uint32_t){(uint32_t)bits << 16}, float);
}

double element_get(const void *array, ElementType type, long long index) {
    const unsigned char *at = place(array, type, index);
    switch (type) {
    case F32: return (double)VALUE_AT(at, float);
    case F64: return VALUE_AT(at, double);
    case BF16: return from_bfloat16(VALUE_AT(at, uint16_t));
    case I32: return (double)VALUE_AT(at, int32_t);
    case U32: return (double)VALUE_AT(at, uint32_t);
    case I64: return (double)VALUE_AT(at, int64_t);
    case U64: return (double)VALUE_AT(at, uint64_t);
    case U8: return *at;
    case ELEMENT_TYPES: break;
    }
    return NAN;
}

// A float's upper half, rounded to nearest even; a NaN stays a NaN.
static uint16_t round_to_bfloat16(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    if (isnan(value)) return (uint16_t)((bits >> 16) | 0x40u);
    return (uint16_t)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

void element_set(void *array, ElementType type, long long index, double value) {
    unsigned char *at = (unsigned char *)array + (size_t)index * element_bytes(type);
    switch (type) {
    case F32: memcpy(at, &(float){(float)value}, sizeof(float)); break;
    case F64: memcpy(at, &value, sizeof value); break;
    case BF16: memcpy(at, &(uint16_t){round_to_bfloat16((float)value)}, sizeof(uint16_t)); break;
    case I32:
    case U32: memcpy(at, &(uint32_t){(uint32_t)(int64_t)value}, sizeof(uint32_t)); break;
    case I64:
    case U64: memcpy(at, &(int64_t){(int64_t)value}, sizeof(int64_t)); break;
    case U8: *at = (unsigned char)value; break;
    case ELEMENT_TYPES: break;
    }
}

// The usual types in loops without a choice.
void elements_get(const void *array, ElementType type, long long first, long long count, double values[]) {
    const unsigned char *at = place(array, type, first);
    if (type == F32)
        for (long long i = 0; i < count; i++) values[i] = (double)VALUE_AT(at + 4 * i, float);
    else if (type == F64)
        memcpy(values, at, (size_t)count * sizeof *values);
    else if (type == BF16)
        for (long long i = 0; i < count; i++) values[i] = from_bfloat16(VALUE_AT(at + 2 * i, uint16_t));
    else if (type == I32)
        for (long long i = 0; i < count; i++) values[i] = (double)VALUE_AT(at + 4 * i, int32_t);
    else
        for (long long i = 0; i < count; i++) values[i] = element_get(at, type, i);
}

void elements_set(void *array, ElementType type, long long first, long long count, const double values[]) {
    unsigned char *at = (unsigned char *)array + (size_t)first * element_bytes(type);
    if (type == F32)
        for (long long i = 0; i < count; i++) memcpy(at + 4 * i, &(float){(float)values[i]}, sizeof(float));
    else if (type == F64)
        memcpy(at, values, (size_t)count * sizeof *values);
    else if (type == BF16)
        for (long long i = 0; i < count; i++)
            memcpy(at + 2 * i, &(uint16_t){round_to_bfloat16((float)values[i])}, sizeof(uint16_t));
    else if (type == I32)
        for (long long i = 0; i < count; i++)
            memcpy(at + 4 * i, &(uint32_t){(uint32_t)(int64_t)values[i]}, sizeof(uint32_t));
    else
        for (long long i = 0; i < count; i++) element_set(at, type, i, values[i]);
}

bool element_is_poison(const void *array, ElementType type, long long index) {
    static const uint32_t words[2] = {POISON, POISON};
    const unsigned char *at = place(array, type, index);
    if (element_bytes(type) == 4) return VALUE_AT(at, uint32_t) == POISON;
    return memcmp(at, words, element_bytes(type)) == 0;
}

void value_text(double value, char *text, size_t bytes) {
    if (isnan(value))
        snprintf(text, bytes, "NaN");
    else if (isinf(value))
        snprintf(text, bytes, value > 0 ? "+Inf" : "-Inf");
    else if (value == floor(value) && fabs(value) < 1e15)
        snprintf(text, bytes, "%.0f", value);
    else
        snprintf(text, bytes, "%.9g", value);
}

void element_text(const void *array, ElementType type, long long index, char *text, size_t bytes) {
    const unsigned char *at = place(array, type, index);
    if (type == I64)
        snprintf(text, bytes, "%lld", (long long)VALUE_AT(at, int64_t));
    else if (type == U64)
        snprintf(text, bytes, "%llu", (unsigned long long)VALUE_AT(at, uint64_t));
    else
        value_text(element_get(array, type, index), text, bytes);
}

void count_text(long long value, char *text, size_t bytes) {
    char digits[32];
    int length = snprintf(digits, sizeof digits, "%lld", value < 0 ? -value : value);
    size_t used = 0;
    if (bytes == 0) return;
    if (value < 0 && used + 1 < bytes) text[used++] = '-';
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0 && used + 1 < bytes) text[used++] = ',';
        if (used + 1 < bytes) text[used++] = digits[i];
    }
    text[used] = '\0';
}

// ---- Gigabytes at a time
// ------------------------------------------------------------------------------------

// Below this much one core is done before a second has begun.
static const size_t piece_bytes = (size_t)4 << 20;

static size_t length_of(size_t from, size_t bytes) {
    return bytes - from < piece_bytes ? bytes - from : piece_bytes;
}

void copy_bytes(void *to, const void *from, size_t bytes) {
#pragma omp parallel for if (bytes > piece_bytes)
    for (size_t at = 0; at < bytes; at += piece_bytes)
        memcpy((char *)to + at, (const char *)from + at, length_of(at, bytes));
}

void clear_bytes(void *at, size_t bytes) {
#pragma omp parallel for if (bytes > piece_bytes)
    for (size_t from = 0; from < bytes; from += piece_bytes)
        memset((char *)at + from, 0, length_of(from, bytes));
}

bool same_bytes(const void *a, const void *b, size_t bytes) {
    int differences = 0;
#pragma omp parallel for reduction(| : differences) if (bytes > piece_bytes)
    for (size_t at = 0; at < bytes; at += piece_bytes)
        differences |= memcmp((const char *)a + at, (const char *)b + at, length_of(at, bytes)) != 0;
    return differences == 0;
}
