// How the files that word findings write. Internal to them.
#pragma once

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "emulator/observers/wording.h"

// Appends to the message.
static inline void say(Finding *finding, const char *format, ...) __attribute__((format(printf, 2, 3)));
static inline void say(Finding *finding, const char *format, ...) {
    size_t used = strlen(finding->message);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(finding->message + used, sizeof finding->message - used, format, arguments);
    va_end(arguments);
}

// " at line 5" into `text`, or nothing if there is no line.
static inline const char *at_line(char text[32], int line) {
    text[0] = '\0';
    if (line > 0) snprintf(text, 32, " at line %d", line);
    return text;
}
