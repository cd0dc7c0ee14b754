#include "runtime/copy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/profiles.h"
#include "runtime/report.h"
#include "runtime/state.h"

Copy copy_row(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, const char *call) {
    Copy copy = {.to = to, .from = from, .width = bytes, .height = 1, .depth = 1, .kind = kind, .call = call};
    place_here(&copy.place);
    return copy;
}

Copy copy_fill(void *to, unsigned value, unsigned unit, size_t bytes, const char *call) {
    Copy copy = copy_row(to, NULL, bytes, cudaMemcpyDeviceToDevice, call);
    copy.is_fill = true;
    copy.value = value;
    copy.unit = unit;
    return copy;
}

// From the first byte to the last.
static size_t span(const Copy *c, size_t pitch, size_t slice) {
    return c->width && c->height && c->depth ? (c->depth - 1) * slice + (c->height - 1) * pitch + c->width
                                             : 0;
}
size_t copy_span_to(const Copy *c) { return span(c, c->to_pitch, c->to_slice); }
size_t copy_span_from(const Copy *c) { return span(c, c->from_pitch, c->from_slice); }

CopySides copy_sides(const Copy *c) {
    return (CopySides){.from = c->from && !c->held ? allocation_live_at(c->from) : NULL,
                       .to = allocation_live_at(c->to)};
}

// ---- Checks -----------------------------------------------------------------------------------------------

static bool is_device(const Allocation *a) {
    return a && (a->kind == MEMORY_DEVICE || a->kind == MEMORY_VARIABLE || a->kind == MEMORY_ARRAY);
}

static cudaError_t check_side(const Copy *c, const void *pointer, size_t bytes, const char *side) {
    const Allocation *a = allocation_at(pointer);
    char words[4400], where[4200];
    if (!a) return pointer || !bytes ? cudaSuccess : cudaErrorInvalidValue;
    if (a->is_freed) {
        if (a->kind != MEMORY_DEVICE) return cudaSuccess; // the host may have other memory there now
        allocation_words(a, words, sizeof words);         // takes its time
        place_text(&a->released, where, sizeof where);
        report_host(USE_AFTER_FREE, &c->place, "%s uses freed memory as its %s", c->call, side);
        report_note("%s, and freed at %s", words, where);
        return cudaErrorInvalidValue;
    }
    const size_t left = a->size - allocation_offset(a, pointer);
    if (bytes <= left) return cudaSuccess;
    allocation_words(a, words, sizeof words);
    report_host(COPY_SIZE, &c->place, "%s moves %zu bytes; its %s has %zu from there on", c->call, bytes,
                side, left);
    report_note("%s", words);
    return cudaErrorInvalidValue;
}

static const char *const directions[] = {"cudaMemcpyHostToHost", "cudaMemcpyHostToDevice",
                                         "cudaMemcpyDeviceToHost", "cudaMemcpyDeviceToDevice"};

static cudaError_t check_direction(const Copy *c, CopySides sides) {
    if (c->kind == cudaMemcpyDefault) return cudaSuccess;
    if (c->kind < 0 || c->kind > cudaMemcpyDeviceToDevice) return cudaErrorInvalidMemcpyDirection;
    const bool from_device = c->kind == cudaMemcpyDeviceToHost || c->kind == cudaMemcpyDeviceToDevice,
               to_device = c->kind == cudaMemcpyHostToDevice || c->kind == cudaMemcpyDeviceToDevice;
    // Memory that both sides reach is right as either.
    const bool bad_from = from_device ? !sides.from : is_device(sides.from),
               bad_to = to_device ? !sides.to : is_device(sides.to);
    if (!bad_from && !bad_to) return cudaSuccess;
    const int meant = (is_device(sides.to) ? 1 : 0) + (is_device(sides.from) ? 2 : 0);
    const bool is_opposite =
        (c->kind == cudaMemcpyHostToDevice && is_device(sides.from) && !is_device(sides.to)) ||
        (c->kind == cudaMemcpyDeviceToHost && is_device(sides.to) && !is_device(sides.from));
    report_host(COPY_DIRECTION, &c->place,
                "%s says %s, but its destination is %s memory and its source is %s memory: %s %s", c->call,
                directions[c->kind], is_device(sides.to) ? "device" : "host",
                is_device(sides.from) ? "device" : "host",
                is_opposite ? "either the two are the wrong way round, or it must be"
                            : "either one of them is the wrong pointer, or it must be",
                directions[meant]);
    return cudaErrorInvalidValue;
}

cudaError_t copy_check(const Copy *c) {
    if (!copy_span_to(c)) return cudaSuccess;
    if (!c->is_fill && !c->from) return cudaErrorInvalidValue;
    cudaError_t error = check_side(c, c->to, copy_span_to(c), "destination");
    if (!error && c->from) error = check_side(c, c->from, copy_span_from(c), "source");
    if (error) return error;
    const CopySides sides = copy_sides(c);
    if (c->from) return check_direction(c, sides);
    if (sides.to) return cudaSuccess;
    report_host(HOST_POINTER, &c->place, "%s fills device memory, but its pointer is to host memory",
                c->call);
    return cudaErrorInvalidValue;
}

// ---- Doing it ---------------------------------------------------------------------------------------------

bool copy_hold(Copy *c) {
    const size_t bytes = c->width * c->height * c->depth;
    char *held = malloc(bytes + 1), *to = held;
    if (!held) return false;
    for (size_t z = 0; z < c->depth; z++)
        for (size_t y = 0; y < c->height; y++, to += c->width)
            memcpy(to, c->from + z * c->from_slice + y * c->from_pitch, c->width);
    c->from = c->held = held;
    c->from_pitch = c->width;
    c->from_slice = c->width * c->height;
    return true;
}

void copy_release(Copy *c) {
    free(c->held);
    c->held = NULL;
}

// The bytes of a place in memory, whatever the host may do there.
static char *bytes_at(const Allocation *a, const void *pointer) {
    return a ? (char *)a->bytes + allocation_offset(a, pointer) : (char *)(uintptr_t)pointer;
}

// Whether a row, or a fill if it is NULL, changes the bytes at `to`.
static bool changes(const Copy *c, const char *to, const char *row) {
    if (row) return memcmp(to, row, c->width) != 0;
    return c->width &&
           (memcmp(to, &c->value, c->unit) != 0 || memcmp(to, to + c->unit, c->width - c->unit) != 0);
}

static void fill(const Copy *c, char *to) {
    if (c->unit == 1)
        memset(to, (int)c->value, c->width);
    else
        for (size_t at = 0; at < c->width; at += c->unit) memcpy(to + at, &c->value, c->unit);
}

bool copy_run(const Copy *c) {
    const CopySides sides = copy_sides(c);
    char *to = bytes_at(sides.to, c->to);
    const char *from = c->from ? bytes_at(sides.from, c->from) : NULL;
    const bool marks = is_device(sides.to);
    bool has_changed = false;
    for (size_t z = 0; z < c->depth; z++)
        for (size_t y = 0; y < c->height; y++) {
            const size_t at = z * c->to_slice + y * c->to_pitch;
            const char *row = from ? from + z * c->from_slice + y * c->from_pitch : NULL;
            has_changed = has_changed || (marks && changes(c, to + at, row));
            if (row)
                memmove(to + at, row, c->width);
            else
                fill(c, to + at);
            EmulatorError error;
            const uint64_t address = marks ? sides.to->device + allocation_offset(sides.to, c->to) + at : 0;
            if (marks) emulator_mark_written(device_emulator(), address, c->width, &error);
        }
    return has_changed;
}

int copy_engine(const Copy *c) {
    const CopySides sides = copy_sides(c);
    return c->from && is_device(sides.to) && !is_device(sides.from) ? 1 : 2;
}

double copy_seconds(const Copy *c) {
    const CopySides sides = copy_sides(c);
    const double bytes = (double)c->width * (double)c->height * (double)c->depth;
    const double inside = device_profile()->info.peak_gb_per_s * 1e9;
    if (c->from && is_device(sides.from) && is_device(sides.to)) return 2 * bytes / inside;
    return c->from ? bytes / gpu_link_bytes_per_s : bytes / inside;
}
