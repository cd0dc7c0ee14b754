#include "driver/build/state.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool compile_end_with(Build *build, CompileStatus status, Text *message) {
    CompileResult *result = build->result;
    free(result->message);
    result->status = status;
    result->message = text_take(message);
    return false;
}

bool compile_end(Build *build, CompileStatus status, const char *format, ...) {
    Text written = {0}, message = {0};
    va_list arguments;
    va_start(arguments, format);
    text_vprintf(&written, format, arguments);
    va_end(arguments);
    text_add_printable(&message, text_chars(&written), written.bytes);
    text_free(&written);
    return compile_end_with(build, status, &message);
}

bool compile_end_without_memory(Build *build) {
    return compile_end(build, COMPILE_INFRA, "out of memory while compiling");
}

bool compile_put(Build *build, const char *name, const Text *content) {
    char path[PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/%s", build->folder, name);
    FILE *file = fopen(path, "wxe");
    bool good =
        file && fwrite(text_chars(content), 1, content->bytes, file) == content->bytes && fflush(file) == 0;
    if (good)
        futimens(fileno(file), (struct timespec[2]){{0}}); // what __TIMESTAMP__ says, where a disk lets us
    int number = errno;
    if (file && fclose(file) != 0) {
        good = false;
        number = errno;
    }
    if (good) return true;
    return compile_end(build, COMPILE_INFRA, "cannot write to %s: %s", build->request->output_directory,
                       number == ENOSPC ? "the disk is full" : strerror(number));
}
