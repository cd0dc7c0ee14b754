#define _GNU_SOURCE // memmem
#include "driver/build/ptxas_output.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/mangle.h"
#include "driver/build/register_estimate.h"
#include "driver/build/ptx_places.h"

// A count printed by ptxas, clamped to an int: ptxas accepts sizes of up to 64 bits in inline asm.
static int count_of(const char *digits) {
    const unsigned long long count = strtoull(digits, NULL, 10);
    return count > INT_MAX ? INT_MAX : (int)count;
}

// The number directly before `words` in the line, or 0.
static int number_before(const char *line, size_t length, const char *words) {
    const char *found = memmem(line, length, words, strlen(words));
    if (!found) return 0;
    const char *at = found;
    while (at > line && isdigit((unsigned char)at[-1])) at--;
    return at == found ? 0 : count_of(at);
}

// The lines that ptxas -v prints for each kernel (CUDA compiler driver documentation, section "Printing code
// generation statistics"):
//   ptxas info    : Compiling entry function 'NAME' for 'sm_90'
//   ptxas info    : Function properties for NAME
//       0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
//   ptxas info    : Used 12 registers, used 1 barriers, 400 bytes smem, 380 bytes cmem[0]
bool read_ptxas_log(const char *output, CompileResult *result) {
    static const char entry[] = "ptxas info    : Compiling entry function '";
    static const char properties[] = "ptxas info    : Function properties for ";
    CompiledKernel *kernel = NULL;
    bool is_own = false; // the next line of properties is the kernel's, not that of a function it calls
    for (const char *line = output; *line;) {
        size_t length = strcspn(line, "\n");
        if (starts_with(line, entry)) {
            const char *name = line + sizeof entry - 1;
            kernel = compile_add_kernel(result, name, strcspn(name, "'\n"));
            if (!kernel) return false;
        } else if (kernel && starts_with(line, properties)) {
            const char *name = line + sizeof properties - 1;
            size_t name_length = length - (sizeof properties - 1);
            is_own = strlen(kernel->name) == name_length && memcmp(kernel->name, name, name_length) == 0;
        } else if (kernel && is_own && memmem(line, length, " bytes stack frame", 18)) {
            kernel->stack_bytes = number_before(line, length, " bytes stack frame");
            kernel->spill_store_bytes = number_before(line, length, " bytes spill stores");
            kernel->spill_load_bytes = number_before(line, length, " bytes spill loads");
        } else if (kernel && starts_with(line, "ptxas info    : Used ")) {
            kernel->registers = number_before(line, length, " registers");
            kernel->barriers = number_before(line, length, " barriers");
            kernel->shared_bytes = number_before(line, length, " bytes smem");
            kernel->constant_bytes = 0;
            for (const char *at = line; (at = memmem(at, length - (size_t)(at - line), " bytes cmem", 11));
                 at += 11) {
                const char *digits = at;
                while (digits > line && isdigit((unsigned char)digits[-1])) digits--;
                const int count = count_of(digits);
                kernel->constant_bytes += count > INT_MAX - kernel->constant_bytes ? 0 : count;
            }
        }
        line += length + (line[length] == '\n');
    }
    return true;
}

static void add_shared(Text *into, const char *name, unsigned long long used, unsigned long long most) {
    text_printf(into,
                "the kernel %s declares %llu bytes of shared memory; a block may declare at most %llu\n",
                name, used, most);
}

void explain_shared(const CompiledKernel *kernel, const char *source, Text *into) {
    char name[256];
    symbol_source_name(kernel->name, name, sizeof name);
    if (kernel->line > 0) text_printf(into, "%s:%d: ", source, kernel->line);
    add_shared(into, name, (unsigned long long)kernel->shared_bytes, MOST_STATIC_SHARED);
}

// "ptxas error   : Entry function '_Z3bigPi' uses too much shared data (0x61a80 bytes, 0xc000 max)"
bool explain_resources(const char *output, const CompileResult *result, Text *into) {
    static const char prefix[] = "ptxas error   : Entry function '";
    bool found = false;
    for (const char *line = output; *line;) {
        size_t length = strcspn(line, "\n");
        const char *too_much = memmem(line, length, "uses too much ", 14);
        if (too_much && too_much > line + sizeof prefix && starts_with(line, prefix)) {
            char symbol[256], name[256], what[64];
            const char *start = line + sizeof prefix - 1;
            const char *symbol_end = memchr(start, '\'', (size_t)(too_much - start));
            if (!symbol_end) symbol_end = start;
            snprintf(symbol, sizeof symbol, "%.*s", (int)(symbol_end - start), start);
            symbol_source_name(symbol, name, sizeof name);
            const char *figures = memchr(line, '(', length);
            size_t what_length = strcspn(too_much + 14, "(\n");
            while (what_length > 0 && too_much[13 + what_length] == ' ') what_length--;
            snprintf(what, sizeof what, "%.*s", (int)what_length, too_much + 14);
            bool is_shared = strstr(what, "shared") != NULL;
            unsigned long long used = 0, most = 0;
            const CompiledKernel *kernel = compile_find_kernel(result, symbol);
            if (kernel && kernel->line > 0) text_printf(into, "%s:%d: ", result->source, kernel->line);
            const bool has_figures = figures && sscanf(figures, "(%llx bytes, %llx max)", &used, &most) == 2;
            if (has_figures && is_shared) {
                add_shared(into, name, used, most);
            } else if (has_figures) {
                text_printf(into, "the kernel %s uses %llu bytes of %s; a block has at most %llu\n", name,
                            used, what, most);
            } else {
                text_printf(into, "the kernel %s uses too much %s for sm_%d\n", name, what,
                            result->sass_arch);
            }
            found = true;
        }
        line += length + (line[length] == '\n');
    }
    return found;
}

// "ptxas kernel.ptx, line 33; error   : ..."
void explain_assembly(const char *output, const char *ptx, const char *label, const CompileResult *result,
                      int lines, Text *into) {
    text_printf(into, "%s does not assemble%s:\n\n", result->source,
                strstr(ptx, "begin inline asm") ? "; inline asm reaches the assembler unchanged" : "");
    int shown = 0;
    for (const char *line = output; *line && shown < lines; line += *line == '\n') {
        size_t length = strcspn(line, "\n");
        int number = 0, skip = 0;
        bool has_place = sscanf(line, "ptxas kernel.ptx, line %d; %n", &number, &skip) == 1 && skip > 0;
        if (!starts_with(line, "ptxas info") && line[0] != ' ' && length > 0) {
            if (has_place) {
                int source_line = source_line_of_ptx(ptx, label, number);
                if (source_line > 0) text_printf(into, "%s:%d: ", result->source, source_line);
            }
            text_add_printable(into, line + skip, length - (size_t)skip);
            text_add_char(into, '\n');
            shown++;
        }
        line += length;
    }
}
