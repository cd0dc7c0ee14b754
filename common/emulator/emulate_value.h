// Values as the command line of build/bin/emulate writes them: "i32:5", "f32:1,2,3",
// "i8:1,f32:2.5,buf:64:zero".
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define VALUE_TYPES "i8 u8 i16 u16 i32 u32 i64 u64 f16 bf16 f32 f64"

// A buffer whose address is a part of a value.
typedef struct {
    size_t offset; // of the address in the value
    size_t bytes;
    const char *file; // NULL, "zero" or a path
    unsigned long long address;
} ValueBuffer;

enum { MAX_VALUE_BUFFERS = 16, MAX_VALUE_BYTES = 32764 };

// The members of a struct, each aligned to its size, or of an array.
typedef struct {
    char *spec;           // as given, cut up; owned
    unsigned char *bytes; // owned
    size_t count, align;
    ValueBuffer buffers[MAX_VALUE_BUFFERS];
    int buffer_count;
} Value;

// False if `text` is not a value or memory ran out; value_free() in either case.
bool value_read(const char *text, Value *value);
void value_free(Value *value);
