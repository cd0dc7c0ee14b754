#include "driver/judge/wrong_column.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/plan/elements.h"

enum { NAME_BYTES = 160 };

// The column of an element; "": it has none.
static void column_of(const Buffer *buffer, const TableView *view, long long index, char name[NAME_BYTES]) {
    buffer->describe(view, index, name, NAME_BYTES);
    char *row = strstr(name, " of ");
    if (row)
        *row = '\0';
    else
        name[0] = '\0';
}

// What the row of an element is about, "copy" of "time of copy on T4, 999983 turns"; "": it does not say.
static void subject_of(const Buffer *buffer, const TableView *view, long long index, char name[NAME_BYTES]) {
    char words[NAME_BYTES];
    buffer->describe(view, index, words, sizeof words);
    const char *from = strstr(words, " of "), *on = from ? strstr(from, " on ") : NULL;
    snprintf(name, NAME_BYTES, "%.*s", on ? (int)(on - from) - 4 : 0, on ? from + 4 : "");
}

// The threads of the row of an element, "warps of RTX 3090, 1025 threads, ..."; -1: it does not say.
static long threads_of(const Buffer *buffer, const TableView *view, long long index) {
    char name[NAME_BYTES];
    buffer->describe(view, index, name, sizeof name);
    const char *at = strstr(name, " thread");
    while (at && at > name && at[-1] >= '0' && at[-1] <= '9') at--;
    return at && *at >= '0' && *at <= '9' ? strtol(at, NULL, 10) : -1;
}

static bool are_zero(const char *bytes, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (bytes[i]) return false;
    return true;
}

// Whether the rows with a wrong number are those from so many threads on, and nothing but 0 is in any of
// them: it is as if they were never computed.
static void explain_rows_of_zeros(const Buffer *buffer, const TableView *view, const void *right,
                                  const void *got, char *why, size_t bytes) {
    const size_t size = element_bytes(buffer->type);
    const char *should = right, *is = got;
    long fewest = LONG_MAX;
    for (long long i = 0; i < view->count; i++) {
        if (memcmp(should + (size_t)i * size, is + (size_t)i * size, size) == 0) continue;
        const long threads = threads_of(buffer, view, i);
        if (threads < 0) return;
        fewest = threads < fewest ? threads : fewest;
    }
    bool has_others = false;
    for (long long i = 0; i < view->count; i++) {
        const bool is_of_them = threads_of(buffer, view, i) >= fewest;
        if (is_of_them && !are_zero(is + (size_t)i * size, size)) return;
        has_others = has_others || !is_of_them;
    }
    if (has_others && fewest > 1)
        snprintf(why, bytes,
                 "Every number of the rows with %ld threads or more is 0; all of the others are right.",
                 fewest);
}

void explain_wrong_column(const Buffer *buffer, const TableView *view, const void *right, const void *got,
                          char *why, size_t bytes) {
    const size_t size = element_bytes(buffer->type);
    char column[NAME_BYTES] = "", name[NAME_BYTES], subject[NAME_BYTES] = "";
    long long wrong = 0;
    bool has_others = false;
    for (long long i = 0; i < view->count; i++) {
        column_of(buffer, view, i, name);
        const bool is_wrong =
            memcmp((const char *)right + (size_t)i * size, (const char *)got + (size_t)i * size, size) != 0;
        if (is_wrong && wrong++ == 0) {
            snprintf(column, sizeof column, "%s", name);
            subject_of(buffer, view, i, subject);
        }
        if (is_wrong && strcmp(column, name) != 0) {
            explain_rows_of_zeros(buffer, view, right, got, why, bytes);
            return;
        }
        if (!is_wrong) continue;
        subject_of(buffer, view, i, name);
        if (strcmp(subject, name) != 0) subject[0] = '\0';
    }
    for (long long i = 0; i < view->count && !has_others; i++) {
        column_of(buffer, view, i, name);
        has_others = strcmp(column, name) != 0;
    }
    if (wrong > 1 && column[0] && has_others)
        snprintf(why, bytes, "Each of the wrong numbers is a value of %.60s%s%.40s; all others are right.",
                 column, subject[0] ? " of " : "", subject);
}
