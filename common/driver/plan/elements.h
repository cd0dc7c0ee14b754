// Element types: how one element of a buffer is read, written, rounded, shown and poisoned.
#pragma once

#include "driver/plan/chapter.h"

// Every output and scratch buffer is filled with this word before a run. As float, double and both halves of
// a pair of bfloat16 it is a NaN; no instruction makes these bits (a computed NaN is 0x7fffffff).
#define POISON 0x7ff17ff1u

// The element at `index` of an array, as a double. Exact for all types but 64-bit integers beyond 2^53.
double element_get(const void *array, ElementType type, long long index);
// Stores a value, rounded to nearest even (floats) or truncated to the type (integers).
void element_set(void *array, ElementType type, long long index, double value);
// The same of `count` elements from `first` on.
void elements_get(const void *array, ElementType type, long long first, long long count, double values[]);
void elements_set(void *array, ElementType type, long long first, long long count, const double values[]);
// True when the element still holds the poison it was filled with.
bool element_is_poison(const void *array, ElementType type, long long index);
bool element_is_float(ElementType type);
// "1.25", "-3", "NaN (0x7fffffff)", "+Inf": for people; enough digits to tell neighbours apart.
void element_text(const void *array, ElementType type, long long index, char *text, size_t bytes);
// The same for a value that is not in an array.
void value_text(double value, char *text, size_t bytes);
// "1,048,576"
void count_text(long long value, char *text, size_t bytes);

// Gigabytes at a time: the inputs of a timed size are copied, cleared and compared on all cores.
void copy_bytes(void *to, const void *from, size_t bytes);
void clear_bytes(void *at, size_t bytes);
bool same_bytes(const void *a, const void *b, size_t bytes);
