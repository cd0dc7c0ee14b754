#define _GNU_SOURCE // program_invocation_short_name
#include "runtime/report.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/file.h"
#include "support/json.h"
#include "support/mangle.h"
#include "support/text.h"

// ---- Options ----------------------------------------------------------------------------------------------

static long number_of(const char *name) {
    const char *value = getenv(name);
    return value ? strtol(value, NULL, 10) : 0;
}

const Options *options(void) {
    static Options read;
    static bool is_read;
    if (!is_read) {
        read = (Options){.checks = number_of("WARPBOOK_CHECK") != 0,
                         .exit_status = (int)number_of("WARPBOOK_ERROR_EXITCODE"),
                         .seed = (unsigned long)number_of("WARPBOOK_SEED"),
                         .gpu = getenv("WARPBOOK_GPU"),
                         .devices = (int)number_of("WARPBOOK_DEVICES"),
                         .findings = getenv("WARPBOOK_FINDINGS"),
                         .ptx = getenv("WARPBOOK_PTX"),
                         .profile = getenv("WARPBOOK_PROFILE"),
                         .record = getenv("WARPBOOK_RECORD"),
                         .memory = (size_t)number_of("WARPBOOK_MEMORY"),
                         .failing = (int)number_of("WARPBOOK_FAIL")};
        if (read.devices < 1) read.devices = 1;
        if (read.devices > MOST_DEVICES) read.devices = MOST_DEVICES;
        is_read = true;
    }
    return &read;
}

// ---- Findings ---------------------------------------------------------------------------------------------

static const char *const host_names[] = {
    [HOST_ACCESS] = "HOST_ACCESS",       [HOST_POINTER] = "HOST_POINTER", [COPY_DIRECTION] = "COPY_DIRECTION",
    [COPY_SIZE] = "COPY_SIZE",           [BAD_FREE] = "BAD_FREE",         [LEAK] = "LEAK",
    [UNCHECKED] = "UNCHECKED",           [BAD_LAUNCH] = "BAD_LAUNCH",     [USE_AFTER_FREE] = "USE_AFTER_FREE",
    [READ_TOO_EARLY] = "READ_TOO_EARLY", [BAD_CALL] = "BAD_CALL",         [UNORDERED] = "UNORDERED",
};

typedef struct {
    const char *verdict;
    char file[512];
    int line;
    Text text; // the message, and notes on lines after it
    bool is_after_failure;
} Reported;

enum { MOST_REPORTED = 500 };
static Reported reported[MOST_REPORTED];
static int reported_count;
static bool last_is_new, has_failed;

// Prints and keeps a finding; false if it is known.
static bool keep(const char *verdict, const char *file, int line, const char *message) {
    last_is_new = false;
    for (int i = 0; i < reported_count; i++)
        if (reported[i].verdict == verdict && reported[i].line == line && !strcmp(reported[i].file, file) &&
            (line || !strcmp(text_chars(&reported[i].text), message)))
            return false;
    if (reported_count == MOST_REPORTED) return false;
    Reported *r = &reported[reported_count++];
    *r = (Reported){.verdict = verdict, .line = line, .is_after_failure = has_failed};
    text_add(&r->text, message);
    snprintf(r->file, sizeof r->file, "%s", file);
    fflush(stdout);
    if (line)
        fprintf(stderr, "%s:%d: %s: %s\n", file, line, verdict, message);
    else
        fprintf(stderr, "%s: %s: %s\n", file, verdict, message);
    return last_is_new = true;
}

void report_host(HostFinding kind, const Place *place, const char *format, ...) {
    char message[2048], file[4096];
    int line;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    place_line(place, file, sizeof file, &line);
    keep(host_names[kind], file, line, message);
}

void report_call(const char *call, const char *what) {
    Place place;
    place_here(&place);
    report_host(BAD_CALL, &place, "%s gets %s", call, what);
}

void report_note(const char *format, ...) {
    if (!last_is_new) return;
    char note[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(note, sizeof note, format, arguments);
    va_end(arguments);
    fprintf(stderr, "  %s\n", note);
    text_printf(&reported[reported_count - 1].text, "\n%s", note);
}

bool report_kernel(const Finding *f, const char *kernel, const Place *launched) {
    last_is_new = false;
    if (finding_is_information(f->kind)) return false;
    char name[256], where[4200], message[1400];
    symbol_source_name(kernel, name, sizeof name);
    snprintf(message, sizeof message, "%s: %s", finding_name(f->kind), f->message);
    const char *file = f->place.line ? place_short(f->place.file) : name;
    if (!keep(finding_verdict(f->kind), file, f->place.line, message)) return false;
    if (f->other_place.line)
        report_note("the other access: %s:%d", place_short(f->other_place.file), f->other_place.line);
    place_text(launched, where, sizeof where);
    report_note("in %s, launched at %s", name, where);
    return true;
}

void report_failure(const Place *place, const char *text) {
    if (has_failed || (!options()->memory && !options()->failing)) return;
    char file[4096];
    int line;
    place_line(place, file, sizeof file, &line);
    fflush(stdout);
    fprintf(stderr, "warpbook: failed %s:%d: %s\n", file, line, text);
    has_failed = true;
}

bool failure_is_reported(void) { return has_failed; }

void report_continues(const Place *place) {
    static bool was_said;
    char where[4200];
    if (was_said) return;
    was_said = true;
    place_text(place, where, sizeof where);
    fflush(stdout);
    fprintf(stderr, "warpbook: continues %s: after it\n", where);
}

void report_once(const char *format, ...) {
    static char *said[64];
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        if (said[i] && !strcmp(said[i], text)) return;
        if (said[i]) continue;
        said[i] = strdup(text);
        break;
    }
    fflush(stdout);
    fprintf(stderr, "warpbook: %s\n", text);
}

int report_count(void) { return reported_count; }

// The file for the findings; the text is to be freed.
static Text findings_file(void) {
    Text path = {0};
    const char *at = options()->findings;
    for (const char *mark; (mark = strstr(at, "%p")); at = mark + strlen("%p"))
        text_printf(&path, "%.*s%d", (int)(mark - at), at, (int)getpid());
    text_add(&path, at);
    return path;
}

void report_end(int status) {
    if (options()->findings) {
        JsonWriter json = {0};
        FileError why;
        json_open_object(&json, NULL);
        json_string(&json, "schema", "warpbook/program-findings/1");
        json_string(&json, "program", program_invocation_short_name);
        json_integer(&json, "status", status);
        json_open_array(&json, "findings");
        for (int i = 0; i < reported_count; i++) {
            json_open_object(&json, NULL);
            json_string(&json, "verdict", reported[i].verdict);
            json_string(&json, "file", reported[i].file);
            json_integer(&json, "line", reported[i].line);
            json_string(&json, "message", text_chars(&reported[i].text));
            if (reported[i].is_after_failure) json_boolean(&json, "after_failure", true);
            json_close_object(&json);
        }
        json_close_array(&json);
        json_close_object(&json);
        Text path = findings_file();
        if (!json_write_file(&json, text_chars(&path), &why)) fprintf(stderr, "warpbook: %s\n", why.message);
        text_free(&path);
    }
    if (!options()->checks) return;
    fflush(stdout);
    if (reported_count)
        fprintf(stderr, "warpbook: %d finding%s\n", reported_count, reported_count > 1 ? "s" : "");
    else
        fprintf(stderr, "warpbook: no findings\n");
}

// What mk/cudart.sh writes calls this.
int warpbook_missing(const char *name);
int warpbook_missing(const char *name) {
    report_once("%s is not supported yet, and returns cudaErrorNotSupported", name);
    return 801; // cudaErrorNotSupported
}
