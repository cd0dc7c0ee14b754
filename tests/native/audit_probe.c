// common/driver/build/audit.c for the tests.
//   audit_probe PTX [--source KERNEL.cu] [--constant NAME COUNT] KERNEL[:launch] ...     COUNT floats; KERNEL
//   is NAME(WORDS), WORDS a list of C declarations
// Prints "accepted" and the entries found, or the place and the message; exit status 0, 1, or 2 for bad PTX.
//   audit_probe --name SYMBOL      the source name and the parameters of a symbol
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/build/audit.h"
#include "support/file.h"

static AuditParameter parameters[AUDIT_MAX_KERNELS][16];

// "add(const float *in, int n):launch"
static AuditKernel read_kernel(char *text, int index) {
    AuditKernel kernel = {.name = text, .parameters = parameters[index]};
    char *open = strchr(text, '('), *close = strrchr(text, ')');
    if (!open || !close) exit(3);
    kernel.needs_launch = strcmp(close, "):launch") == 0;
    *open = *close = '\0';
    for (char *word = strtok(open + 1, ","); word; word = strtok(NULL, ",")) {
        word += strspn(word, " ");
        bool is_pointer = strchr(word, '*') != NULL;
        bool is_wide = is_pointer || strstr(word, "long long") || strstr(word, "double");
        bool is_float = !is_pointer && (strstr(word, "float") || strstr(word, "double"));
        parameters[index][kernel.parameter_count++] = (AuditParameter){word, is_wide ? 8 : 4, is_float};
    }
    return kernel;
}

int main(int argc, char **argv) {
    if (argc == 3 && strcmp(argv[1], "--name") == 0) {
        char name[256], words[256];
        symbol_source_name(argv[2], name, sizeof name);
        bool has_words = symbol_parameters(argv[2], words, sizeof words);
        printf("%s(%s)\n", name, has_words ? words : "?");
        return 0;
    }
    if (argc < 2) return 3;
    AuditKernel kernels[AUDIT_MAX_KERNELS];
    AuditConstant constants[AUDIT_MAX_KERNELS];
    AuditRules rules = {.kernels = kernels, .constants = constants};
    Text ptx = {0}, source = {0};
    FileError file_error;
    EmulatorError error = {0};
    if (!read_regular_file(argv[1], 1 << 26, &ptx, &file_error)) return 3;
    for (int i = 2; i < argc; i++) {
        if (strcmp(argv[i], "--source") == 0) {
            if (!read_regular_file(argv[++i], 1 << 20, &source, &file_error)) return 3;
            rules.source = argv[i];
            rules.source_text = text_chars(&source);
        } else if (strcmp(argv[i], "--constant") == 0 && i + 2 < argc) {
            constants[rules.constant_count++] =
                (AuditConstant){argv[i + 1], argv[i + 1], (size_t)atoi(argv[i + 2]) * sizeof(float)};
            i += 2;
        } else {
            kernels[rules.kernel_count] = read_kernel(argv[i], rules.kernel_count);
            rules.kernel_count++;
        }
    }
    PtxModule *module = ptx_parse(text_chars(&ptx), ptx.bytes, "kernel.ptx", &error);
    text_free(&ptx);
    int status = 2;
    if (!module) {
        printf("%s\n", error.message);
    } else {
        static AuditReport report;
        bool accepted = audit_module(module, &rules, &report);
        status = accepted ? 0 : 1;
        if (accepted) {
            printf("accepted");
            for (int i = 0; i < rules.kernel_count; i++) {
                printf(" %s", report.entries[i]->name);
                if (report.launches[i]) printf(" %s", report.launches[i]->name);
            }
            printf("\n");
        } else {
            printf("%s:%d: %s\n", report.file, report.line, report.message);
        }
        ptx_free(module);
    }
    text_free(&source);
    return status;
}
