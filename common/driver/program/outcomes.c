#include "driver/program/outcomes.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    size_t limit;
} parts[OUTCOME_PARTS] = {
    [OUTCOME_ENDED] = {"ended", 4096},       [OUTCOME_PRINTED] = {"printed", 64 << 10},
    [OUTCOME_RESULT] = {"result", 64 << 20}, [OUTCOME_FINDINGS] = {"findings", 4 << 20},
    [OUTCOME_RECORD] = {"record", 1 << 28},
};

const char *outcome_name(OutcomePart part) { return parts[part].name; }
size_t outcome_limit(OutcomePart part) { return parts[part].limit; }

enum { ESCAPE = 1, ESCAPED_NUL = 1, ESCAPED_ESCAPE = 2 };

enum { CHUNK = 1 << 16 }; // bytes that are added to a text at a time

void outcome_add(Text *file, int index, OutcomePart part, const Text *content) {
    char chunk[CHUNK + 2];
    size_t used = 0;
    text_printf(file, "%d %d %zu\n", index, (int)part, content->bytes);
    for (size_t i = 0; i < content->bytes; i++) {
        const char byte = content->data[i];
        if (byte == 0 || byte == ESCAPE) {
            chunk[used++] = ESCAPE;
            chunk[used++] = byte == 0 ? ESCAPED_NUL : ESCAPED_ESCAPE;
        } else
            chunk[used++] = byte;
        if (used < CHUNK) continue;
        text_add_bytes(file, chunk, used);
        used = 0;
    }
    text_add_bytes(file, chunk, used);
}

// Takes `bytes` bytes of a part from `at`; NULL when there are fewer.
static const char *take(const char *at, const char *end, size_t bytes, Text *content) {
    char chunk[CHUNK];
    while (bytes > 0 && at < end) {
        size_t used = 0;
        for (; used < CHUNK && used < bytes && at < end; used++) {
            const bool is_escaped = *at == ESCAPE;
            if (is_escaped && end - at < 2) return NULL;
            chunk[used] = !is_escaped ? *at : at[1] == ESCAPED_NUL ? '\0' : ESCAPE;
            at += is_escaped ? 2 : 1;
        }
        text_add_bytes(content, chunk, used);
        bytes -= used;
    }
    return bytes ? NULL : at;
}

// Reads the line before a part. NULL if it is none; else the part's first byte.
static const char *read_head(const char *at, const char *end, int *index, int *part, size_t *bytes) {
    char line[64]; // sscanf would look for the end of the text first
    const size_t most = (size_t)(end - at) < sizeof line ? (size_t)(end - at) : sizeof line;
    const char *newline = memchr(at, '\n', most);
    int used = 0;
    if (!newline) return NULL;
    memcpy(line, at, (size_t)(newline - at));
    line[newline - at] = '\0';
    if (sscanf(line, "%d %d %zu%n", index, part, bytes, &used) != 3 || line[used]) return NULL;
    return newline + 1;
}

bool outcomes_read(const char *path, Outcome outcomes[MOST_OUTCOMES], FileError *error) {
    Text file = {0};
    if (!read_regular_file(path, MOST_OUTCOME_BYTES, &file, error)) return false;
    const char *at = text_chars(&file), *end = at + file.bytes;
    while (at && at < end) {
        int index, part;
        size_t bytes;
        at = read_head(at, end, &index, &part, &bytes);
        if (!at || index < 0 || index >= MOST_OUTCOMES || part < 0 || part >= OUTCOME_PARTS ||
            bytes > parts[part].limit || outcomes[index].parts[part].bytes > 0)
            break;
        at = take(at, end, bytes, &outcomes[index].parts[part]);
        outcomes[index].was_run = true;
    }
    text_free(&file);
    return true;
}

void outcomes_free(Outcome outcomes[MOST_OUTCOMES]) {
    for (int i = 0; i < MOST_OUTCOMES; i++)
        for (int p = 0; p < OUTCOME_PARTS; p++) text_free(&outcomes[i].parts[p]);
}
