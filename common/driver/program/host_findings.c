#include "driver/program/host_findings.h"

#include <stdio.h>
#include <string.h>

#include "support/json.h"

static bool is_worse(const HostKind *kind, const HostKind *than) { return !than || kind < than; }

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
    text_add_printable(&safe, message, strcspn(message, "\n"));
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
