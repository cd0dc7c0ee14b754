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

void outcome_add(Text *file, int index, OutcomePart part, const Text *content) {
    text_printf(file, "%d %d %zu\n", index, (int)part, content->bytes);
    const char *at = content->data, *end = at + content->bytes;
    while (at < end) {
        const char *from = at;
        while (at < end && *at != 0 && *at != ESCAPE) at++;
        text_add_bytes(file, from, (size_t)(at - from));
        if (at == end) break;
        const char pair[2] = {ESCAPE, *at == 0 ? ESCAPED_NUL : ESCAPED_ESCAPE};
        text_add_bytes(file, pair, sizeof pair);
        at++;
    }
}

// Takes `bytes` bytes of a part from `at`; NULL when there are fewer.
static const char *take(const char *at, const char *end, size_t bytes, Text *content) {
    while (bytes > 0) {
        const size_t left = (size_t)(end - at), most = bytes < left ? bytes : left;
        const char *escape = memchr(at, ESCAPE, most);
        const size_t plain = escape ? (size_t)(escape - at) : most;
        text_add_bytes(content, at, plain);
        at += plain;
        bytes -= plain;
        if (bytes == 0) break;
        if (end - at < 2) return NULL;
        text_add_char(content, at[1] == ESCAPED_NUL ? '\0' : ESCAPE);
        at += 2;
        bytes--;
    }
    return at;
}

bool outcomes_read(const char *path, Outcome outcomes[MOST_OUTCOMES], FileError *error) {
    Text file = {0};
    if (!read_regular_file(path, MOST_OUTCOME_BYTES, &file, error)) return false;
    const char *at = text_chars(&file), *end = at + file.bytes;
    while (at && at < end) {
        int index, part, used = 0;
        size_t bytes;
        if (sscanf(at, "%d %d %zu%n", &index, &part, &bytes, &used) != 3 || at[used] != '\n' || index < 0 ||
            index >= MOST_OUTCOMES || part < 0 || part >= OUTCOME_PARTS || bytes > parts[part].limit ||
            outcomes[index].parts[part].bytes > 0)
            break;
        at = take(at + used + 1, end, bytes, &outcomes[index].parts[part]);
        outcomes[index].was_run = true;
    }
    text_free(&file);
    return true;
}

void outcomes_free(Outcome outcomes[MOST_OUTCOMES]) {
    for (int i = 0; i < MOST_OUTCOMES; i++)
        for (int p = 0; p < OUTCOME_PARTS; p++) text_free(&outcomes[i].parts[p]);
}
