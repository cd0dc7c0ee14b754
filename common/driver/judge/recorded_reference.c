#include "driver/judge/recorded_reference.h"

#include <stdio.h>
#include <string.h>

#include "support/file.h"

enum { RECORD_LIMIT = 1 << 20 }; // bytes

static double seconds_of_line(const char *line, const char *device, const char *task, CaseSize size) {
    char on[80], of[80];
    long long n, rows, columns;
    double seconds;
    if (sscanf(line, "%79[^\t\n]\t%79[^\t\n]\t%lld\t%lld\t%lld\t%lf", on, of, &n, &rows, &columns,
               &seconds) != 6)
        return 0;
    const bool is_it = strcmp(on, device) == 0 && strcmp(of, task) == 0 && n == size.n && rows == size.rows &&
                       columns == size.columns;
    return is_it && seconds > 0 && seconds < 1e6 ? seconds : 0;
}

double recorded_reference_seconds(const char *path, const char *device, const char *task, CaseSize size) {
    Text text = {0};
    FileError ignored;
    double seconds = 0;
    if (!read_regular_file(path, RECORD_LIMIT, &text, &ignored)) return 0;
    for (const char *line = text_chars(&text); line && *line && !(seconds > 0);) {
        seconds = seconds_of_line(line, device, task, size);
        line = strchr(line, '\n');
        if (line) line++;
    }
    text_free(&text);
    return seconds;
}
