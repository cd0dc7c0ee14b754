// build/bin/listing: the PTX and the machine code of a program beside the lines of its source, as JSON, for
// the report and for ./warpbook profile.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/listing/disassemble.h"
#include "driver/listing/listing.h"
#include "driver/listing/listing_page.h"
#include "support/file.h"

static const char usage[] =
    "usage: listing FILE.ptx --source NAME [--source NAME ...] [options]\n"
    "  --source NAME    list lines of this file, as the PTX names it, or its last folders and name\n"
    "  --arch NN        machine code for sm_NN (90)\n"
    "  --sass FILE      machine code from this file, as nvdisasm -gi -c printed it; ptxas and nvdisasm are\n"
    "                   not looked for\n"
    "  --no-sass        PTX only\n"
    "  --hide PREFIX    leave out functions whose names begin so\n"
    "  --page TEXT      a page beside the lines of this file, instead of JSON\n"
    "Prints {schema, target, why, functions} as JSON; why says why there is no machine code.\n"
    "exit status: 0 printed, 2 wrong usage, 3 a file cannot be read\n";

enum { MOST_SOURCES = 64, MAX_BYTES = 64 << 20 };

typedef struct {
    const char *ptx, *sass, *page, *hidden;
    const char *sources[MOST_SOURCES];
    int source_count, architecture;
    bool has_no_sass;
} Request;

static int complain(int status, const char *words) {
    fprintf(stderr, "listing: %s\n%s", words, status == 2 ? usage : "");
    return status;
}

static bool read_request(int count, char **arguments, Request *request) {
    *request = (Request){.architecture = 90};
    for (int i = 1; i < count; i++) {
        const char *option = arguments[i];
        if (strncmp(option, "--", 2) != 0) {
            if (request->ptx) return false;
            request->ptx = option;
            continue;
        }
        if (strcmp(option, "--no-sass") == 0) {
            request->has_no_sass = true;
            continue;
        }
        const char *value = ++i < count ? arguments[i] : NULL;
        if (!value) return false;
        if (strcmp(option, "--source") == 0 && request->source_count < MOST_SOURCES)
            request->sources[request->source_count++] = value;
        else if (strcmp(option, "--arch") == 0 && atoi(value) >= 50)
            request->architecture = atoi(value);
        else if (strcmp(option, "--sass") == 0)
            request->sass = value;
        else if (strcmp(option, "--page") == 0)
            request->page = value;
        else if (strcmp(option, "--hide") == 0)
            request->hidden = value;
        else
            return false;
    }
    return request->ptx && request->source_count > 0;
}

static void print(const Request *request, const Listing *listing, const char *target, const char *why) {
    if (request->page) {
        FileError error;
        Text page = {0}, source = {0};
        Terminal terminal = terminal_of_stdout();
        const bool has_source = read_regular_file(request->page, MAX_BYTES, &source, &error);
        listing_add_page(&page, &terminal, listing, has_source ? text_chars(&source) : NULL);
        terminal_write(&terminal, &page);
        text_free(&page);
        text_free(&source);
        return;
    }
    JsonWriter json = {0};
    json_open_object(&json, NULL);
    json_string(&json, "schema", "warpbook/listing/1");
    json_string(&json, "target", target);
    json_string(&json, "why", why);
    listing_add_json(&json, listing);
    json_close_object(&json);
    if (json_finish(&json)) fputs(text_chars(&json.text), stdout);
    text_free(&json.text);
}

int main(int count, char **arguments) {
    prepare_standard_streams();
    Request request;
    FileError error;
    if (count == 2 && strcmp(arguments[1], "--help") == 0) {
        fputs(usage, stdout);
        return flush_standard_output(&error) ? 0 : complain(3, error.message);
    }
    if (!read_request(count, arguments, &request)) return complain(2, "wrong usage");
    Text ptx = {0}, code = {0};
    Listing listing;
    char why[1200] = "", target[16] = "";
    int status = 0;
    listing_begin(&listing, request.sources, request.source_count, request.hidden);
    if (!read_regular_file(request.ptx, MAX_BYTES, &ptx, &error)) {
        status = complain(3, error.message);
    } else if (!listing_add_ptx(&listing, text_chars(&ptx), ptx.bytes, why, sizeof why)) {
        status = complain(3, why);
    } else if (request.sass && !read_regular_file(request.sass, MAX_BYTES, &code, &error)) {
        status = complain(3, error.message);
    } else {
        const bool has_code =
            request.sass ||
            (!request.has_no_sass && disassemble(request.ptx, true, text_chars(&ptx), request.architecture,
                                                 target, &code, why, sizeof why));
        if (has_code) listing_add_machine_code(&listing, text_chars(&code));
        listing_end(&listing);
        print(&request, &listing, target, why);
        if (!flush_standard_output(&error)) status = complain(3, error.message);
    }
    listing_free(&listing);
    text_free(&ptx);
    text_free(&code);
    return status;
}
