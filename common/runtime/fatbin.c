// The layout is that of the files which nvcc writes: a header, and one entry for each architecture, whose
// data is PTX or machine code, compressed or not.
#include "runtime/fatbin.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    uint32_t magic;
    uint16_t version, header_bytes;
    uint64_t bytes; // of all entries
} FatbinHeader;

typedef struct {
    uint16_t kind, version;
    uint32_t header_bytes;
    uint64_t bytes;            // of the data that follows, padding included
    uint32_t compressed_bytes; // 0: not compressed
    uint32_t options;
    uint16_t minor, major;
    uint32_t architecture;
    uint32_t name, name_bytes;
    uint64_t flags;
    uint64_t reserved;
    uint64_t whole_bytes; // once decompressed
} FatbinEntry;

enum { FATBIN_MAGIC = (int)0xba55ed50, KIND_PTX = 1, FLAG_LZ4 = 0x2000, FLAG_ZSTD = 0x8000 };

// ---- Decompression ----------------------------------------------------------------------------------------

// A length of LZ4: 15 in the token means that bytes follow, the last of which is not 255.
static bool lz4_length(const uint8_t **from, const uint8_t *end, size_t *length) {
    if (*length != 15) return true;
    for (uint8_t more = 255; more == 255; *length += more) {
        if (*from == end) return false;
        more = *(*from)++;
    }
    return true;
}

// The LZ4 block format: literals, then a match that is copied from what was written before. False when the
// data are damaged.
static bool lz4_decompress(const uint8_t *from, size_t from_bytes, char *to, size_t to_bytes) {
    const uint8_t *end = from + from_bytes;
    size_t at = 0;
    while (from < end) {
        const uint8_t token = *from++;
        size_t literals = token >> 4, match = token & 15;
        if (!lz4_length(&from, end, &literals) || literals > (size_t)(end - from) || literals > to_bytes - at)
            return false;
        memcpy(to + at, from, literals);
        from += literals;
        at += literals;
        if (from == end) break; // the last sequence has no match
        if (end - from < 2) return false;
        const size_t back = from[0] | (size_t)from[1] << 8;
        from += 2;
        if (!lz4_length(&from, end, &match)) return false;
        match += 4;
        if (!back || back > at || match > to_bytes - at) return false;
        for (; match; match--, at++) to[at] = to[at - back];
    }
    return at == to_bytes;
}

// With the system's library, which comes with gcc's tools.
static bool zstd_decompress(const void *from, size_t from_bytes, char *to, size_t to_bytes,
                            const char **why) {
    typedef size_t Decompress(void *to, size_t to_bytes, const void *from, size_t from_bytes);
    void *library = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);
    Decompress *decompress = library ? (Decompress *)dlsym(library, "ZSTD_decompress") : NULL;
    *why = decompress
               ? "its zstd data are damaged"
               : "it is compressed with zstd, and libzstd.so.1 is missing (Debian: apt-get install libzstd1; "
                 "or compile with nvcc --no-compress)";
    return decompress && decompress(to, to_bytes, from, from_bytes) == to_bytes;
}

// ---- Entries ----------------------------------------------------------------------------------------------

// The text of an entry, NUL terminated; NULL with the reason.
static char *text_of(const FatbinEntry *entry, size_t *bytes, const char **why) {
    const char *data = (const char *)entry + entry->header_bytes;
    *bytes = entry->compressed_bytes ? entry->whole_bytes : entry->bytes;
    char *text = malloc(*bytes + 1);
    *why = "memory ran out";
    if (!text) return NULL;
    bool good = true;
    if (!entry->compressed_bytes)
        memcpy(text, data, *bytes);
    else if (entry->flags & FLAG_ZSTD)
        good = zstd_decompress(data, entry->compressed_bytes, text, *bytes, why);
    else {
        *why = entry->flags & FLAG_LZ4 ? "its LZ4 data are damaged" : "its compression is not known";
        good = entry->flags & FLAG_LZ4 &&
               lz4_decompress((const uint8_t *)data, entry->compressed_bytes, text, *bytes);
    }
    if (!good) {
        free(text);
        return NULL;
    }
    text[*bytes] = '\0';
    *bytes = strlen(text); // padding
    return text;
}

bool fatbin_text(const void *fatbin, int most, FatbinText *text, char *why, size_t why_bytes) {
    const FatbinHeader *header = fatbin;
    snprintf(why, why_bytes,
             "the program was compiled without PTX for compute_%d or older: compile it with "
             "nvcc -arch=compute_%d -code=compute_%d",
             most, most, most);
    if (header->magic != (uint32_t)FATBIN_MAGIC) {
        snprintf(why, why_bytes, "the program's device code is not a fat binary as nvcc writes it");
        return false;
    }
    const char *at = (const char *)fatbin + header->header_bytes, *end = at + header->bytes;
    const FatbinEntry *best = NULL;
    while (end - at >= (ptrdiff_t)sizeof(FatbinEntry)) {
        const FatbinEntry *entry = (const FatbinEntry *)at;
        if (entry->header_bytes < sizeof *entry || entry->bytes > (size_t)(end - at)) break;
        if (entry->kind == KIND_PTX && (int)entry->architecture <= most &&
            (!best || entry->architecture > best->architecture))
            best = entry;
        at += entry->header_bytes + entry->bytes;
    }
    if (!best) return false;
    const char *reason;
    *text = (FatbinText){.architecture = (int)best->architecture};
    text->text = text_of(best, &text->bytes, &reason);
    if (!text->text) snprintf(why, why_bytes, "the program's PTX cannot be read: %s", reason);
    return text->text != NULL;
}
