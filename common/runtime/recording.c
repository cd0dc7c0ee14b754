#include "runtime/recording.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/op.h"
#include "runtime/report.h"

enum { MOST_RECORDED = 1 << 28 }; // bytes, after which nothing more is written, and no end

static FILE *file;
static size_t written;

static FILE *open_file(void) {
    static bool is_tried;
    if (!is_tried && options()->record) file = fopen(options()->record, "wbe");
    is_tried = true;
    return file;
}

void recording_put(Record record, const void *data, size_t data_bytes) {
    if (!open_file()) return;
    record.data_bytes = data_bytes;
    written += sizeof record + data_bytes;
    if (written > MOST_RECORDED || fwrite(&record, sizeof record, 1, file) != 1 ||
        (data_bytes && fwrite(data, data_bytes, 1, file) != 1)) {
        fclose(file);
        file = NULL;
    }
}

RecordedMemory recording_memory(const Allocation *a) {
    if (!a) return RECORDED_HOST;
    switch (a->kind) {
    case MEMORY_DEVICE:
    case MEMORY_VARIABLE: return RECORDED_DEVICE;
    case MEMORY_PINNED: return RECORDED_PINNED;
    case MEMORY_MANAGED: return RECORDED_MANAGED;
    default: return RECORDED_OTHER;
    }
}

void recording_allocation(const Allocation *a) {
    recording_put(
        (Record){
            .kind = RECORD_ALLOCATE, .address = a->device, .bytes = a->size, .memory = recording_memory(a)},
        NULL, 0);
}
void recording_free(const Allocation *a) {
    recording_put((Record){.kind = RECORD_FREE, .address = a->device}, NULL, 0);
}

bool recording_is_on(void) { return open_file() != NULL; }

// ---- The host ---------------------------------------------------------------------------------------------

void recording_wait_stream(const struct CUstream_st *stream) {
    recording_put(
        (Record){.kind = RECORD_WAIT_STREAM, .stream = stream->is_default ? 0 : (uint32_t)stream->index},
        NULL, 0);
}
void recording_wait_all(void) { recording_put((Record){.kind = RECORD_WAIT_ALL}, NULL, 0); }
void recording_wait_work(unsigned long number) {
    recording_put((Record){.kind = RECORD_WAIT_WORK, .number = number}, NULL, 0);
}
void recording_elapsed(unsigned long start, unsigned long end, double milliseconds) {
    recording_put(
        (Record){.kind = RECORD_ELAPSED, .number = start, .other = end, .milliseconds = milliseconds}, NULL,
        0);
}
void recording_end(int status) {
    recording_put((Record){.kind = RECORD_END, .value = (uint32_t)status}, NULL, 0);
    if (file) fclose(file);
    file = NULL;
}
