#define _GNU_SOURCE // memmem
#include "driver/build/ptx_places.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool relabel_ptx(const char *ptx, const char *folder, const char *shown, const char *shown_header,
                 Text *into) {
    const char *slash = strrchr(folder, '/'); // its own name is unique, and nvcc writes it as it is
    const char *own = slash ? slash + 1 : folder;
    size_t own_length = strlen(own);
    for (const char *line = ptx; *line;) {
        size_t length = strcspn(line, "\n");
        const char *quote = memchr(line, '"', length);
        const char *name = "", *rest = NULL; // the name to write, and what follows the one written
        if (quote && strncmp(line, "\t.file\t", 7) == 0) {
            const char *below = memmem(line, length, own, own_length);
            rest = below && below[own_length] == '/' ? below + own_length + 1 : quote + 1;
            const char *path = strncmp(rest, "./", 2) == 0 ? rest + 2 : rest;
            if (strncmp(path, "kernel.cu\"", 10) == 0) {
                name = shown;
                rest = path + strlen("kernel.cu");
            } else if (strncmp(path, "warpbook.cuh\"", 13) == 0) {
                name = shown_header;
                rest = path + strlen("warpbook.cuh");
            }
        }
        if (rest) { // a name that a #line directive made up may hold anything
            text_add_bytes(into, line, (size_t)(quote - line) + 1);
            text_add(into, name);
            text_add_printable(into, rest, length - (size_t)(rest - line));
        } else {
            text_add_bytes(into, line, length);
        }
        if (line[length] == '\n') text_add_char(into, '\n');
        line += length + (line[length] == '\n');
    }
    return !into->failed;
}

// The number that `.file NUMBER "shown"` gives the learner's file, or -1.
static int file_number(const char *ptx, const char *shown) {
    size_t count = strlen(shown);
    for (const char *at = strstr(ptx, "\t.file\t"); at; at = strstr(at + 1, "\t.file\t")) {
        char *end;
        long number = strtol(at + 7, &end, 10);
        if (strncmp(end, " \"", 2) == 0 && strncmp(end + 2, shown, count) == 0 && end[2 + count] == '"') {
            return (int)number;
        }
    }
    return -1;
}

int kernel_line_in_ptx(const char *ptx, const char *kernel, const char *shown) {
    char entry[300], location[32];
    int file = file_number(ptx, shown);
    snprintf(entry, sizeof entry, ".entry %s(", kernel);
    const char *start = strstr(ptx, entry);
    if (!start || file < 0) return 0;
    const char *end = strstr(start, "\n}\n");
    snprintf(location, sizeof location, "\t.loc\t%d ", file);
    const char *at = strstr(start, location);
    if (!at || (end && at > end)) return 0;
    return atoi(at + strlen(location));
}

int source_line_of_ptx(const char *ptx, const char *shown, int number) {
    const int file = file_number(ptx, shown);
    int line = 1, last = 0;
    for (const char *at = ptx; *at && line < number; line++) {
        int loc_file, loc_line;
        if (sscanf(at, "\t.loc\t%d %d", &loc_file, &loc_line) == 2 && loc_file == file && loc_line > 0)
            last = loc_line;
        at += strcspn(at, "\n");
        at += *at == '\n';
    }
    return last;
}
