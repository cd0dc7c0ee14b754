#include "driver/program/host_findings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/json.h"
#include "support/text.h"

static bool is_worse(const HostKind *kind, const HostKind *than) { return !than || kind < than; }

static const char *last_part(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

// Adds the first `bytes` bytes of a message, in which files are named as the compiler saw them, in a folder
// that is gone: each by its last part only, and kernel.cu by that of its source.
static void add_without_folders(Text *safe, const char *message, size_t bytes, const char *source) {
    static const char compiled[] = "kernel.cu:";
    const char *name = last_part(source);
    for (size_t at = 0; at < bytes;) {
        const size_t space = at + strspn(message + at, " ");
        const size_t end = space + strcspn(message + space, " ");
        const size_t stop = end < bytes ? end : bytes;
        size_t from = space;
        if (space < stop && message[space] == '/')
            for (size_t i = space; i < stop; i++)
                if (message[i] == '/') from = i + 1;
        text_add_printable(safe, message + at, (space < bytes ? space : bytes) - at);
        const bool is_source = from > space && starts_with(message + from, compiled);
        if (is_source) {
            text_add_printable(safe, name, strlen(name));
            from += strlen(compiled) - 1;
        }
        if (from < stop) text_add_printable(safe, message + from, stop - from);
        at = stop;
    }
}

// kernel.cu as people know it, or no place.
static SourcePlace place_in(const char *file, int line, const char *source) {
    SourcePlace place = {0};
    if (strcmp(last_part(file), "kernel.cu") != 0 || line <= 0) return place;
    place.line = line;
    snprintf(place.file, sizeof place.file, "%s", source);
    return place;
}

// Reads the first line that begins so: "BEGIN FILE:LINE: TEXT". False: there is none.
static bool read_line(const char *printed, const char *begin, const char *source, SourcePlace *place,
                      char *words, size_t word_bytes) {
    const char *at = strstr(printed, begin);
    char line[400];
    if (!at) return false;
    at += strlen(begin);
    snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\n"), at);
    char *text = strstr(line, ": "), *number = NULL;
    if (text) {
        *text = '\0';
        number = strrchr(line, ':');
    }
    if (!number) return true;
    *number = '\0';
    *place = place_in(line, (int)strtol(number + 1, NULL, 10), source);
    Text safe = {0};
    text_add_printable(&safe, text + 2, strlen(text + 2));
    snprintf(words, word_bytes, "%s", text_chars(&safe));
    text_free(&safe);
    return true;
}

bool failure_read(const char *printed, const char *source, Failure *failure) {
    char rest[64];
    *failure = (Failure){0};
    if (!read_line(printed, "warpbook: failed ", source, &failure->place, failure->text,
                   sizeof failure->text))
        return false;
    failure->continues =
        read_line(printed, "warpbook: continues ", source, &failure->next, rest, sizeof rest);
    return true;
}

static void take(const HostKind *kind, const JsonValue *one, const char *source, HostFindings *findings) {
    const char *message = json_as_string(json_member(one, "message"), "");
    Text safe = {0};
    findings->kind = kind;
    findings->is_after_failure = json_as_boolean(json_member(one, "after_failure"), false);
    findings->place = place_in(json_as_string(json_member(one, "file"), ""),
                               (int)json_as_integer(json_member(one, "line"), 0), source);
    // The notes after the message name files as the compiler saw them; the first one helps.
    add_without_folders(&safe, message, strcspn(message, "\n"), source);
    snprintf(findings->message, sizeof findings->message, "%s", text_chars(&safe));
    text_free(&safe);
}

void host_findings_read(const char *text, size_t bytes, const char *source, HostFindings *findings) {
    char why[160];
    *findings = (HostFindings){0};
    JsonValue *root = json_parse(text, bytes, why, sizeof why);
    const JsonValue *list = json_member(root, "findings");
    for (const JsonValue *one = list ? list->first : NULL; one; one = one->next) {
        const HostKind *kind = host_kind(json_as_string(json_member(one, "verdict"), ""));
        findings->count++;
        findings->kernel_count += !kind;
        if (kind && is_worse(kind, findings->kind)) take(kind, one, source, findings);
    }
    json_free(root);
}
