#include "driver/program/host_findings.h"

#include <stdio.h>
#include <string.h>

#include "support/json.h"

static bool is_worse(const HostKind *kind, const HostKind *than) { return !than || kind < than; }

// Adds the first `bytes` bytes of a message, in which files are named as the compiler saw them, in a folder
// that is gone: each by its last part only.
static void add_without_folders(Text *safe, const char *message, size_t bytes) {
    for (size_t at = 0; at < bytes;) {
        const size_t space = at + strspn(message + at, " ");
        const size_t end = space + strcspn(message + space, " ");
        const size_t stop = end < bytes ? end : bytes;
        size_t from = space;
        if (space < stop && message[space] == '/')
            for (size_t i = space; i < stop; i++)
                if (message[i] == '/') from = i + 1;
        text_add_printable(safe, message + at, (space < bytes ? space : bytes) - at);
        if (from < stop) text_add_printable(safe, message + from, stop - from);
        at = stop;
    }
}

static void take(const HostKind *kind, const JsonValue *one, const char *source, HostFindings *findings) {
    const char *file = json_as_string(json_member(one, "file"), ""), *slash = strrchr(file, '/');
    const char *message = json_as_string(json_member(one, "message"), "");
    Text safe = {0};
    findings->kind = kind;
    findings->place = (SourcePlace){.line = (int)json_as_integer(json_member(one, "line"), 0)};
    if (strcmp(slash ? slash + 1 : file, "kernel.cu") == 0 && findings->place.line > 0)
        snprintf(findings->place.file, sizeof findings->place.file, "%s", source);
    else
        findings->place.line = 0;
    // The notes after the message name files as the compiler saw them; the first one helps.
    add_without_folders(&safe, message, strcspn(message, "\n"));
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
