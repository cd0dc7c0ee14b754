#include "driver/judge/wrong_column.h"

#include <stdio.h>
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

void explain_wrong_column(const Buffer *buffer, const TableView *view, const void *right, const void *got,
                          char *why, size_t bytes) {
    const size_t size = element_bytes(buffer->type);
    char column[NAME_BYTES] = "", name[NAME_BYTES];
    long long wrong = 0;
    bool has_others = false;
    for (long long i = 0; i < view->count; i++) {
        column_of(buffer, view, i, name);
        const bool is_wrong =
            memcmp((const char *)right + (size_t)i * size, (const char *)got + (size_t)i * size, size) != 0;
        if (is_wrong && wrong++ == 0) snprintf(column, sizeof column, "%s", name);
        if (is_wrong && strcmp(column, name) != 0) return;
    }
    for (long long i = 0; i < view->count && !has_others; i++) {
        column_of(buffer, view, i, name);
        has_others = strcmp(column, name) != 0;
    }
    if (wrong > 1 && column[0] && has_others)
        snprintf(why, bytes, "Each of the wrong numbers is a value of %.60s; all others are right.", column);
}
