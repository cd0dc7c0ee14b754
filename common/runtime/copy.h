// Copies and fills: checked when the program asks for them, done when their turn comes.
#pragma once

#include <cuda_runtime_api.h>

#include "runtime/allocation.h"
#include "runtime/place.h"

// `depth` slices of `height` rows of `width` bytes.
typedef struct {
    char *to;
    const char *from; // NULL of a fill
    bool is_fill;     // with `value`
    unsigned value;
    unsigned unit; // bytes of `value`: 1, 2 or 4
    size_t width, height, depth;
    size_t to_pitch, from_pitch, to_slice, from_slice; // bytes from row to row, and from slice to slice
    enum cudaMemcpyKind kind;
    const char *call; // "cudaMemcpy"
    Place place;
    void *held; // a copy of the source, made when the program asked
} Copy;

// One row.
Copy copy_row(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, const char *call);
Copy copy_fill(void *to, unsigned value, unsigned unit, size_t bytes, const char *call);
// Reports a copy that is impossible: beyond the end of memory, in the wrong direction, to freed memory.
cudaError_t copy_check(const Copy *copy);
// Keeps the source as it is now. False when memory ran out.
bool copy_hold(Copy *copy);
bool copy_run(const Copy *copy); // true if it changed memory that only the device has
void copy_release(Copy *copy);

// Which memory a copy reads or writes.
typedef struct {
    const Allocation *from, *to; // NULL: the program's own memory
} CopySides;
CopySides copy_sides(const Copy *copy);
size_t copy_span_to(const Copy *copy), copy_span_from(const Copy *copy);
// Which of the engines that work at the same time does it: 1 copies to the device, 2 everything else.
int copy_engine(const Copy *copy);
// The modelled time.
double copy_seconds(const Copy *copy);
