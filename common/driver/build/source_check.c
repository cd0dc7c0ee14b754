#define _GNU_SOURCE // realpath under -std=c17
#include "driver/build/source_check.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/command_words.h"
#include "support/sha256.h"

enum { SOURCE_LIMIT = 1 << 20 }; // bytes of a kernel.cu

void compile_show_path(const char *path, char *shown, size_t bytes) {
    char *here = realpath(".", NULL);
    size_t length = here ? strlen(here) : 0;
    if (length > 1 && strncmp(path, here, length) == 0 && path[length] == '/') path += length + 1;
    while (strncmp(path, "./", 2) == 0) path += 2;
    Text safe = {0};
    text_add_printable(&safe, path, strlen(path));
    snprintf(shown, bytes, "%s", text_chars(&safe));
    text_free(&safe);
    free(here);
}

void compile_make_label(char *path) {
    for (char *at = path; *at; at++) {
        if (*at == '"' || *at == '\\' || *at < ' ' || *at > '~') *at = '?'; // PTX is ASCII
    }
}

static int line_of(const char *text, size_t offset) {
    int line = 1;
    for (size_t i = 0; i < offset; i++) line += text[i] == '\n';
    return line;
}

bool compile_read_source(Build *build) {
    const char *shown = build->result->source;
    FileError error;
    if (!read_regular_file(build->request->source, SOURCE_LIMIT, &build->source, &error)) {
        switch (error.status) {
        case FILE_MISSING:
            return compile_end(build, COMPILE_BUILD,
                               "there is no file %s; `%sreset-chNN` restores the kernel.cu of a chapter",
                               shown, command_make());
        case FILE_DIRECTORY:
            return compile_end(build, COMPILE_BUILD, "%s is a folder, not a CUDA source file", shown);
        case FILE_SPECIAL:
            return compile_end(build, COMPILE_BUILD, "%s is a pipe, socket or device, not an ordinary file",
                               shown);
        case FILE_TOO_LARGE:
            return compile_end(build, COMPILE_BUILD,
                               "%s is larger than 1 MiB; a kernel.cu has a few hundred lines", shown);
        default: return compile_end(build, COMPILE_INFRA, "%s", error.message);
        }
    }
    const char *text = text_chars(&build->source);
    size_t bytes = build->source.bytes, blank = 0;
    while (blank < bytes && isspace((unsigned char)text[blank])) blank++;
    if (blank == bytes) return compile_end(build, COMPILE_BUILD, "%s is empty", shown);
    for (size_t i = 0; i < bytes;) {
        size_t length = utf8_character(text + i, bytes - i, NULL);
        if (text[i] == '\0') {
            return compile_end(build, COMPILE_BUILD,
                               "%s:%d: the file contains a NUL byte; if it is UTF-16, save it as UTF-8",
                               shown, line_of(text, i));
        }
        if (length == 0) {
            return compile_end(build, COMPILE_BUILD,
                               "%s:%d: the byte 0x%02x is not UTF-8; save the file as UTF-8", shown,
                               line_of(text, i), (unsigned)(unsigned char)text[i]);
        }
        i += length;
    }
    sha256_hex(text, bytes, build->result->source_sha256);
    return true;
}

bool compile_read_header(Build *build) {
    char folder[PATH_MAX], path[PATH_MAX + 64];
    FileError error;
    const char *include = build->request->include_directory;
    if (!include) {
        if (!compile_include_directory(folder, sizeof folder)) {
            return compile_end(build, COMPILE_INFRA,
                               "common/include/warpbook.cuh was not found; run this in the workbook's "
                               "folder, or set WARPBOOK_INCLUDE");
        }
        include = folder;
    }
    snprintf(build->include, sizeof build->include, "%s", include);
    snprintf(path, sizeof path, "%s/warpbook.cuh", include);
    if (!read_regular_file(path, SOURCE_LIMIT, &build->header, &error)) {
        return compile_end(build, COMPILE_INFRA, "%s", error.message);
    }
    compile_show_path(path, build->header_label, sizeof build->header_label);
    compile_make_label(build->header_label);
    sha256_hex(text_chars(&build->header), build->header.bytes, build->result->header_sha256);
    if (!is_whole_program(text_chars(&build->source))) return true;
    snprintf(path, sizeof path, "%s/program.cuh", include);
    if (!read_regular_file(path, SOURCE_LIMIT, &build->program_header, &error))
        return compile_end(build, COMPILE_INFRA, "%s", error.message);
    Text both = {0};
    text_add_bytes(&both, text_chars(&build->header), build->header.bytes);
    text_add_bytes(&both, text_chars(&build->program_header), build->program_header.bytes);
    sha256_hex(text_chars(&both), both.bytes, build->result->header_sha256);
    text_free(&both);
    snprintf(build->runtime, sizeof build->runtime, "%s/../../build/lib/cudart", include);
    return true;
}

bool is_whole_program(const char *text) { return strstr(text, "#include \"program.cuh\"") != NULL; }

// Every include names a header of ours or a plain system header. Comments are not told from code,
// which can only make the answer false.
bool is_self_contained(const char *text) {
    static const char *const words[] = {"include", "import", "embed"};
    for (size_t w = 0; w < sizeof words / sizeof words[0]; w++) {
        for (const char *at = strstr(text, words[w]); at; at = strstr(at, words[w])) {
            const char *before = at;
            at += strlen(words[w]);
            while (before > text && (before[-1] == ' ' || before[-1] == '\t')) before--;
            // The word has no effect in a comment or in a name: a directive begins with #.
            bool is_directive =
                before > text && (before[-1] == '#' || before[-1] == ':' || before[-1] == '/' ||
                                  before[-1] == '\n' || before[-1] == '_' || before[-1] == '=');
            if (!is_directive) continue;
            at += strspn(at, " \t");
            if (w == 0 && (strncmp(at, "\"warpbook.cuh\"", 14) == 0 ||
                           strncmp(at, "<warpbook.cuh>", 14) == 0 || strncmp(at, "\"program.cuh\"", 13) == 0))
                continue;
            if (w != 0 || *at != '<' || !isalnum((unsigned char)at[1])) return false;
            size_t length =
                strspn(at + 1, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_/.+-");
            if (at[1 + length] != '>') return false;
            const char *up = strstr(at, "..");
            if (up && up <= at + length) return false;
        }
    }
    // A directive may be written over two lines: "#incl\" and "ude".
    for (const char *at = strstr(text, "\\\n"); at; at = strstr(at + 1, "\\\n")) {
        if (at > text && islower((unsigned char)at[-1]) && islower((unsigned char)at[2])) return false;
    }
    return true;
}
