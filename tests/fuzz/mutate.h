// The mutations of both fuzzers. Half are libFuzzer's own, by bytes; the other half know that PTX is lines of
// words, so that most of the text stays PTX and inputs get past the parser.
#ifndef WARPBOOK_MUTATE_H
#define WARPBOOK_MUTATE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { MAX_TEXT = 16384 };

// ---- Mutations that keep most of the text PTX -------------------------------------------------------------

size_t LLVMFuzzerMutate(uint8_t *data, size_t bytes, size_t room);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t bytes, size_t room, unsigned seed);

static uint32_t draw(uint32_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

static int is_word(uint8_t c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '%' || c == '$';
}

typedef struct {
    size_t start, bytes;
} Span;

// A line, or a word, somewhere in the text.
static Span span_at(const uint8_t *data, size_t bytes, uint32_t *state, int whole_line) {
    Span span = {draw(state) % bytes, 0};
    if (whole_line) {
        while (span.start && data[span.start - 1] != '\n') span.start--;
        while (span.start + span.bytes < bytes && data[span.start + span.bytes] != '\n') span.bytes++;
        span.bytes += span.start + span.bytes < bytes;
        return span;
    }
    for (int tries = 0; tries < 64 && !is_word(data[span.start]); tries++) span.start = draw(state) % bytes;
    while (span.start && is_word(data[span.start - 1])) span.start--;
    while (span.start + span.bytes < bytes && is_word(data[span.start + span.bytes])) span.bytes++;
    return span;
}

// Replaces `at` by `with`, which holds `count` bytes.
static size_t splice(uint8_t *data, size_t bytes, size_t room, Span at, const uint8_t *with, size_t count) {
    if (bytes - at.bytes + count > room) return bytes;
    memmove(data + at.start + count, data + at.start + at.bytes, bytes - at.start - at.bytes);
    memcpy(data + at.start, with, count);
    return bytes - at.bytes + count;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t bytes, size_t room, unsigned seed) {
    uint32_t state = seed * 2654435761u + 1;
    if (bytes < 8 || draw(&state) % 2) return LLVMFuzzerMutate(data, bytes, room);
    for (uint32_t times = 1 + draw(&state) % 3; times; times--) {
        int whole_line = (int)(draw(&state) % 2);
        Span to = span_at(data, bytes, &state, whole_line), from = span_at(data, bytes, &state, whole_line);
        static uint8_t kept[MAX_TEXT];
        size_t count = from.bytes < sizeof kept ? from.bytes : sizeof kept;
        memcpy(kept, data + from.start, count);
        switch (draw(&state) % 4) {
        case 0: bytes = splice(data, bytes, room, (Span){to.start, 0}, kept, count); break; // copied
        case 1: bytes = splice(data, bytes, room, to, kept, 0); break;                      // removed
        default: bytes = splice(data, bytes, room, to, kept, count); break;                 // replaced
        }
        if (bytes < 8) break;
    }
    return bytes;
}

#endif
