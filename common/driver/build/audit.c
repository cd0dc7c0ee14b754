#define _GNU_SOURCE // strnlen
#include "driver/build/audit.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/text.h"

typedef struct {
    const PtxModule *module;
    const AuditRules *rules;
    AuditReport *report;
    const char *source;
} Audit;

static bool __attribute__((format(printf, 2, 3))) refuse(Audit *audit, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(audit->report->message, sizeof audit->report->message, format, arguments);
    va_end(arguments);
    audit->report->accepted = false;
    return false;
}

// ---- Places ---------------------------------------------------------------------------------------------

// The report's place: where the function starts in the learner's file.
static void place_at_function(Audit *audit, const PtxFunction *function) {
    const PtxModule *module = audit->module;
    for (int i = 0; i < function->instruction_count; i++) {
        int index = function->instructions[i].location;
        while (index >= 0 && module->locations[index].inlined_at >= 0)
            index = module->locations[index].inlined_at;
        if (index < 0 || module->locations[index].line <= 0) continue;
        int file = module->locations[index].file;
        bool is_known = file >= 0 && file < module->file_count;
        snprintf(audit->report->file, sizeof audit->report->file, "%s",
                 is_known ? module->files[file].name : audit->source);
        audit->report->line = module->locations[index].line;
        return;
    }
}

static bool is_word_character(char c) { return isalnum((unsigned char)c) || c == '_'; }

static bool line_has_word(const char *line, size_t length, const char *word) {
    size_t word_length = strlen(word);
    for (size_t i = 0; i + word_length <= length; i++) {
        if (memcmp(line + i, word, word_length) != 0) continue;
        bool starts = i == 0 || !is_word_character(line[i - 1]);
        bool ends = i + word_length == length || !is_word_character(line[i + word_length]);
        if (starts && ends) return true;
    }
    return false;
}

// PTX keeps no source line of a variable, so the source is searched for the declaration: a line with the
// name and with a word that only declarations at module scope have, else the first line with the name.
static void place_at_variable(Audit *audit, const char *name) {
    static const char *const declares[] = {"__device__", "__managed__", "__constant__", "static", "extern"};
    const char *text = audit->rules->source_text;
    int best = 0, best_rank = 0, number = 1;
    while (text && *text) {
        size_t length = strcspn(text, "\n");
        const char *comment = strstr(text, "//");
        size_t code = comment && comment < text + length ? (size_t)(comment - text) : length;
        if (line_has_word(text, code, name)) {
            int rank = 1;
            for (size_t i = 0; i < sizeof declares / sizeof declares[0]; i++) {
                if (line_has_word(text, code, declares[i])) rank = 2;
            }
            if (rank > best_rank) {
                best = number;
                best_rank = rank;
            }
        }
        text += length + (text[length] == '\n');
        number++;
    }
    if (best == 0) return;
    snprintf(audit->report->file, sizeof audit->report->file, "%s", audit->source);
    audit->report->line = best;
}

// The line of kernel.cu in which the text of an asm() opens a kernel of this name; 0: none does.
static int line_of_asm(const Audit *audit, const char *name) {
    static const char opens[] = ".entry";
    int number = 1;
    for (const char *text = audit->rules->source_text; text && *text; number++) {
        const size_t length = strcspn(text, "\n");
        const char *found = strstr(text, opens);
        if (found && found < text + length) {
            found += sizeof opens - 1 + strspn(found + sizeof opens - 1, " \t");
            const size_t rest = (size_t)(text + length - found), named = strlen(name);
            if (rest > named && memcmp(found, name, named) == 0 && !is_word_character(found[named]))
                return number;
        }
        text += length + (text[length] == '\n');
    }
    return 0;
}

// ---- Names ----------------------------------------------------------------------------------------------

// Levenshtein's distance: insertions, deletions and replacements from one name to the other.
static size_t edit_distance(const char *a, const char *b) {
    enum { MOST = 128 };
    size_t row[MOST + 1], a_length = strnlen(a, MOST), b_length = strnlen(b, MOST);
    for (size_t j = 0; j <= b_length; j++) row[j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            size_t best = diagonal + (tolower((unsigned char)a[i - 1]) != tolower((unsigned char)b[j - 1]));
            if (row[j] + 1 < best) best = row[j] + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            diagonal = row[j];
            row[j] = best;
        }
    }
    return row[b_length];
}

static bool is_launch(const char *name) { return strncmp(name, "launch_", 7) == 0; }

// True when the entry is one that the rules name (rightly spelt).
static bool is_expected(const Audit *audit, const PtxFunction *function) {
    for (int i = 0; i < audit->rules->kernel_count; i++) {
        const AuditKernel *kernel = &audit->rules->kernels[i];
        if (symbol_is(function->name, kernel->name)) return true;
        if (is_launch(function->name) && strcmp(function->name + 7, kernel->name) == 0)
            return kernel->needs_launch;
    }
    return false;
}

// The unexpected entry whose name is nearest to `name`, among launches or among kernels; NULL when none.
static const PtxFunction *nearest_entry(const Audit *audit, const char *name, bool among_launches,
                                        int *others) {
    const PtxFunction *nearest = NULL;
    size_t least = 0;
    *others = 0;
    for (int i = 0; i < audit->module->function_count; i++) {
        const PtxFunction *function = audit->module->functions[i];
        if (!function->is_entry || is_expected(audit, function) ||
            is_launch(function->name) != among_launches) {
            continue;
        }
        char written[256];
        symbol_source_name(function->name, written, sizeof written);
        size_t distance = edit_distance(among_launches ? written + 7 : written, name);
        (*others)++;
        if (nearest && distance >= least) continue;
        nearest = function;
        least = distance;
    }
    return nearest;
}

// "__global__ void sum_shuffle(const float *in, float *partial, int n)", or only "(const float *in, ...)".
static void write_parameters(const AuditKernel *kernel, Text *text) {
    text_add_char(text, '(');
    for (int i = 0; i < kernel->parameter_count; i++) {
        const AuditParameter *parameter = &kernel->parameters[i];
        if (i > 0) text_add(text, ", ");
        if (parameter->declaration)
            text_add(text, parameter->declaration);
        else if (parameter->is_float)
            text_add(text, parameter->bytes == 8 ? "double" : "float");
        else if (parameter->bytes == 8)
            text_add(text, "a pointer");
        else
            text_add(text, "int");
    }
    text_add_char(text, ')');
}

// The same of what is there: in C words where the mangled name tells, else from the sizes.
static void write_found(const PtxFunction *function, Text *text) {
    char words[512];
    text_add_char(text, '(');
    if (symbol_parameters(function->name, words, sizeof words)) {
        text_add(text, words);
    } else {
        for (int i = 0; i < function->parameter_count; i++) {
            const PtxVariable *parameter = function->parameters[i];
            bool is_float = parameter->type == PTX_F32 || parameter->type == PTX_F64;
            if (i > 0) text_add(text, ", ");
            if (parameter->is_array)
                text_printf(text, "a struct of %zu bytes", parameter->bytes);
            else if (is_float)
                text_add(text, parameter->bytes == 8 ? "double" : "float");
            else if (parameter->bytes == 8)
                text_add(text, "a pointer or 8-byte integer");
            else
                text_printf(text, "a %zu-byte integer", parameter->bytes);
        }
    }
    text_add_char(text, ')');
}

static bool explain_missing(Audit *audit, const AuditKernel *kernel) {
    Text expected = {0};
    write_parameters(kernel, &expected);
    for (int i = 0; i < audit->module->function_count; i++) {
        const PtxFunction *function = audit->module->functions[i];
        if (function->is_entry || !function->has_body || !symbol_is(function->name, kernel->name)) continue;
        place_at_function(audit, function);
        refuse(audit, "%s is not a kernel: declare it __global__ void %s%s", kernel->name, kernel->name,
               text_chars(&expected));
        text_free(&expected);
        return false;
    }
    int others = 0;
    const PtxFunction *nearest = nearest_entry(audit, kernel->name, false, &others);
    if (!nearest) {
        refuse(audit, "no kernel named %s in %s: it must define __global__ void %s%s", kernel->name,
               audit->source, kernel->name, text_chars(&expected));
        text_free(&expected);
        return false;
    }
    text_free(&expected);
    char written[256];
    symbol_source_name(nearest->name, written, sizeof written);
    place_at_function(audit, nearest);
    if (strcmp(written, kernel->name) == 0) {
        return refuse(audit, "the kernel %s is in a namespace or class: move it to file scope", written);
    }
    size_t distance = edit_distance(written, kernel->name);
    if (others == 1 || distance <= 2 + strlen(kernel->name) / 4) {
        return refuse(audit, "no kernel named %s; %s defines %s: rename it", kernel->name, audit->source,
                      written);
    }
    return refuse(audit, "no kernel named %s; %s defines %d other kernels, %s the nearest in name",
                  kernel->name, audit->source, others, written);
}

// ---- Kernels --------------------------------------------------------------------------------------------

// True when count, offsets, sizes and kinds are those wanted.
static bool parameters_fit(const PtxFunction *function, const AuditParameter *wanted, int wanted_count) {
    if (function->parameter_count != wanted_count) return false;
    for (int i = 0; i < wanted_count; i++) {
        const PtxVariable *parameter = function->parameters[i];
        bool is_float = parameter->type == PTX_F32 || parameter->type == PTX_F64;
        if (parameter->bytes != wanted[i].bytes) return false;
        if (parameter->is_array) {
            if (wanted[i].is_float) return false;
            continue;
        }
        // Parameters follow each other at their natural alignment; another one would move their offsets.
        if (is_float != wanted[i].is_float || parameter->align != parameter->bytes) return false;
    }
    return true;
}

static bool check_kernel(Audit *audit, int index) {
    const AuditKernel *kernel = &audit->rules->kernels[index];
    const PtxFunction *entry = NULL;
    for (int i = 0; i < audit->module->function_count; i++) {
        const PtxFunction *function = audit->module->functions[i];
        if (!function->is_entry || !symbol_is(function->name, kernel->name)) continue;
        if (entry) {
            place_at_function(audit, function);
            return refuse(audit,
                          "%s defines the kernel %s more than once (with other parameters, or as instances "
                          "of a template): it must be defined once",
                          audit->source, kernel->name);
        }
        entry = function;
    }
    if (!entry) return explain_missing(audit, kernel);
    audit->report->entries[index] = entry;
    if (parameters_fit(entry, kernel->parameters, kernel->parameter_count)) return true;

    Text expected = {0}, found = {0};
    write_parameters(kernel, &expected);
    write_found(entry, &found);
    place_at_function(audit, entry);
    refuse(audit, "the parameters of %s must be %s; %s has %s", kernel->name, text_chars(&expected),
           audit->source, text_chars(&found));
    text_free(&expected);
    text_free(&found);
    return false;
}

static bool check_launch(Audit *audit, int index) {
    static const AuditParameter wanted[5] = {{"LaunchShape *launch", 8, false},
                                             {"const GpuFigures *gpu", 8, false},
                                             {"long long n", 8, false},
                                             {"long long rows", 8, false},
                                             {"long long columns", 8, false}};
    const AuditKernel *kernel = &audit->rules->kernels[index];
    if (!kernel->needs_launch) return true;
    for (int i = 0; i < audit->module->function_count; i++) {
        const PtxFunction *function = audit->module->functions[i];
        if (!function->is_entry || !is_launch(function->name) ||
            strcmp(function->name + 7, kernel->name) != 0)
            continue;
        audit->report->launches[index] = function;
        if (parameters_fit(function, wanted, 5)) return true;
        place_at_function(audit, function);
        return refuse(audit, "launch_%s is not declared as in warpbook.cuh: write it as LAUNCH(%s) { ... }",
                      kernel->name, kernel->name);
    }
    int others = 0;
    const PtxFunction *nearest = nearest_entry(audit, kernel->name, true, &others);
    if (nearest) {
        place_at_function(audit, nearest);
        return refuse(audit, "no LAUNCH(%s) in %s, but a LAUNCH(%s): rename it", kernel->name, audit->source,
                      nearest->name + 7);
    }
    return refuse(audit, "no LAUNCH(%s) in %s: it sets the grid and block with which to launch %s",
                  kernel->name, audit->source, kernel->name);
}

static bool refuse_kernel(Audit *audit, const PtxFunction *function, const char *written) {
    const int asm_line = line_of_asm(audit, written);
    place_at_function(audit, function);
    if (asm_line > 0) {
        snprintf(audit->report->file, sizeof audit->report->file, "%s", audit->source);
        audit->report->line = asm_line;
        return refuse(audit, "%s defines another kernel, %s, by asm: remove the asm", audit->source, written);
    }
    if (is_launch(written))
        return refuse(audit, "LAUNCH(%s) belongs to no kernel of this chapter: remove it", written + 7);
    return refuse(
        audit,
        "%s defines another kernel, %s, which is never launched: remove it, or make it a __device__ "
        "function",
        audit->source, written);
}

static bool check_functions(Audit *audit) {
    for (int i = 0; i < audit->module->function_count; i++) {
        const PtxFunction *function = audit->module->functions[i];
        char written[256];
        symbol_source_name(function->name, written, sizeof written);
        if (function->is_entry && !is_expected(audit, function))
            return refuse_kernel(audit, function, written);
        if (function->has_body || strcmp(function->name, "vprintf") == 0 ||
            strcmp(function->name, "__assertfail") == 0) {
            continue;
        }
        if (strcmp(function->name, "malloc") == 0 || strcmp(function->name, "free") == 0) {
            return refuse(audit,
                          "%s allocates memory in a kernel (malloc, free, new or delete): use the kernel's "
                          "buffers, registers or shared memory",
                          audit->source);
        }
        return refuse(audit,
                      "%s calls %s, which is not defined: the only external functions that a kernel may call "
                      "are printf and assert",
                      audit->source, written);
    }
    return true;
}

// ---- Variables ------------------------------------------------------------------------------------------

static bool names_variable(const PtxOperand *operand, const PtxVariable *variable, const bool *tainted) {
    if (operand->variable == variable) return true;
    if (operand->reg && tainted[operand->reg->index]) return true;
    for (int i = 0; i < operand->element_count; i++) {
        if (names_variable(&operand->elements[i], variable, tainted)) return true;
    }
    return false;
}

static bool taint(const PtxOperand *destination, bool *tainted) {
    bool is_new = false;
    if (destination->reg && !tainted[destination->reg->index])
        is_new = tainted[destination->reg->index] = true;
    for (int i = 0; i < destination->element_count; i++) is_new |= taint(&destination->elements[i], tainted);
    return is_new;
}

// The instruction of `function` that may write `variable`: an address computed from the variable's address
// reaches a store or an atomic. Registers that hold such an address are followed whatever the order of
// execution; addresses kept in memory or handed to a function are not (the runner resets all variables before
// a run).
static const PtxInstruction *find_store(const PtxFunction *function, const PtxVariable *variable,
                                        bool *tainted) {
    memset(tainted, 0, (size_t)function->register_count * sizeof *tainted);
    for (bool has_changed = true; has_changed;) {
        has_changed = false;
        for (int i = 0; i < function->instruction_count; i++) {
            const PtxInstruction *in = &function->instructions[i];
            if (in->operand_count < 1) continue;
            bool stores = strcmp(in->opcode, "st") == 0 || strcmp(in->opcode, "red") == 0;
            bool is_atomic = strcmp(in->opcode, "atom") == 0;
            if (stores || is_atomic) {
                int address = is_atomic ? 1 : 0;
                if (address < in->operand_count && names_variable(&in->operands[address], variable, tainted))
                    return in;
                continue;
            }
            // A load returns the variable's value, not its address; the same is true of calls.
            if (strncmp(in->opcode, "ld", 2) == 0 || strcmp(in->opcode, "call") == 0) continue;
            for (int j = 1; j < in->operand_count; j++) {
                if (names_variable(&in->operands[j], variable, tainted))
                    has_changed |= taint(&in->operands[0], tainted);
            }
        }
    }
    return NULL;
}

typedef enum { NOT_STORED, STORED, NOT_KNOWN } Stored;

// Whether any function may write it. Not known: out of memory.
static Stored is_stored(const Audit *audit, const PtxVariable *variable) {
    for (int i = 0; i < audit->module->function_count; i++) {
        const PtxFunction *function = audit->module->functions[i];
        bool *tainted = calloc((size_t)function->register_count + 1, sizeof *tainted);
        if (!tainted) return NOT_KNOWN;
        const bool is_found = find_store(function, variable, tainted) != NULL;
        free(tainted);
        if (is_found) return STORED;
    }
    return NOT_STORED;
}

static bool check_stores(Audit *audit, const PtxVariable *variable, const char *written) {
    const Stored stored = is_stored(audit, variable);
    if (stored == NOT_STORED) return true;
    if (stored == NOT_KNOWN) return refuse(audit, "out of memory while the PTX was examined");
    place_at_variable(audit, written);
    return refuse(audit,
                  "a kernel writes the variable %s, which would keep its value from one launch to the "
                  "next: use the kernel's buffers",
                  written);
}

enum { MAX_UNUSED_BYTES = 4096, CONSTANT_BYTES = 65536 };

static bool mentions(const PtxOperand *operand, const PtxVariable *variable) {
    if (operand->variable == variable) return true;
    for (int i = 0; i < operand->element_count; i++) {
        if (mentions(&operand->elements[i], variable)) return true;
    }
    return false;
}

static bool points_at(const PtxVariable *from, const PtxVariable *variable) {
    for (int i = 0; i < from->relocation_count; i++) {
        if (from->relocations[i].variable == variable) return true;
    }
    return false;
}

// Headers of the toolkit declare variables that a kernel need not use: cooperative groups have one named
// `ignore`. A small one that no instruction and no initialiser names holds nothing for anybody.
static bool is_used(const PtxModule *module, const PtxVariable *variable) {
    for (int i = 0; i < module->variable_count; i++) {
        if (points_at(module->variables[i], variable)) return true;
    }
    for (int i = 0; i < module->function_count; i++) {
        const PtxFunction *function = module->functions[i];
        for (int j = 0; j < function->variable_count; j++) {
            if (points_at(function->variables[j], variable)) return true;
        }
        for (int j = 0; j < function->instruction_count; j++) {
            const PtxInstruction *in = &function->instructions[j];
            for (int k = 0; k < in->operand_count; k++) {
                if (mentions(&in->operands[k], variable)) return true;
            }
        }
    }
    return false;
}

static bool check_variable(Audit *audit, const PtxVariable *variable) {
    char written[256];
    symbol_source_name(variable->name, written, sizeof written);
    if (variable->is_managed) {
        place_at_variable(audit, written);
        return refuse(audit, "the variable %s is __managed__: use the kernel's buffers", written);
    }
    if (variable->is_extern && !(variable->space == PTX_SPACE_SHARED && variable->is_unsized)) {
        place_at_variable(audit, written);
        return refuse(audit, "the variable %s is declared extern but not defined", written);
    }
    if (variable->space != PTX_SPACE_GLOBAL) return true;
    if (variable->bytes <= MAX_UNUSED_BYTES && !is_used(audit->module, variable)) return true;
    if (!variable->data && variable->relocation_count == 0) {
        const bool may_be_constant =
            variable->bytes <= CONSTANT_BYTES && is_stored(audit, variable) == NOT_STORED;
        place_at_variable(audit, written);
        return refuse(audit,
                      "%s is a variable of %llu bytes in global memory, which would keep its value from one "
                      "launch to the next: use the kernel's buffers%s",
                      written, (unsigned long long)variable->bytes,
                      may_be_constant ? ", or __constant__ for a table" : "");
    }
    return check_stores(audit, variable, written);
}

static const PtxVariable *find_constant(const Audit *audit, const char *name) {
    for (int i = 0; i < audit->module->variable_count; i++) {
        char written[256];
        symbol_source_name(audit->module->variables[i]->name, written, sizeof written);
        if (strcmp(written, name) == 0) return audit->module->variables[i];
    }
    return NULL;
}

// A variable in constant memory that is 0 at first and that nobody fills.
static const PtxVariable *find_unfilled(const Audit *audit) {
    for (int i = 0; i < audit->module->variable_count; i++) {
        const PtxVariable *variable = audit->module->variables[i];
        bool is_known = variable->space != PTX_SPACE_CONST || variable->data || variable->relocation_count;
        for (int k = 0; k < audit->rules->constant_count && !is_known; k++)
            is_known = find_constant(audit, audit->rules->constants[k].name) == variable;
        if (!is_known) return variable;
    }
    return NULL;
}

static bool check_constants(Audit *audit) {
    for (int k = 0; k < audit->rules->constant_count; k++) {
        const AuditConstant *constant = &audit->rules->constants[k];
        const PtxVariable *variable = find_constant(audit, constant->name);
        if (!variable) continue;
        const bool is_plain = strcmp(variable->name, constant->name) == 0;
        if (variable->space == PTX_SPACE_CONST && variable->bytes == constant->bytes && is_plain) continue;
        place_at_variable(audit, constant->name);
        return refuse(audit, "%s must be declared at file scope as __constant__ %s: the driver fills it",
                      constant->name, constant->declaration);
    }
    const PtxVariable *other = audit->rules->constant_count ? find_unfilled(audit) : NULL;
    if (!other) return true;
    char written[256];
    symbol_source_name(other->name, written, sizeof written);
    place_at_variable(audit, written);
    return refuse(audit,
                  "%s is in constant memory, has no initial value, and is none of the variables that the "
                  "driver fills: use __constant__ %s",
                  written, audit->rules->constants[0].declaration);
}

static bool check_variables(Audit *audit) {
    if (!check_constants(audit)) return false;
    for (int i = 0; i < audit->module->variable_count; i++) {
        if (!check_variable(audit, audit->module->variables[i])) return false;
    }
    for (int i = 0; i < audit->module->function_count; i++) {
        const PtxFunction *function = audit->module->functions[i];
        for (int j = 0; j < function->variable_count; j++) {
            if (!check_variable(audit, function->variables[j])) return false;
        }
    }
    return true;
}

// ---- What the parsed form does not keep -----------------------------------------------------------------

// True when the text holds that directive outside comments and strings.
static bool has_directive(const char *text, const char *directive) {
    size_t length = strlen(directive);
    for (const char *at = text; *at; at++) {
        if (at[0] == '/' && at[1] == '/') {
            at += strcspn(at, "\n");
        } else if (at[0] == '/' && at[1] == '*') {
            const char *end = strstr(at + 2, "*/");
            if (!end) return false;
            at = end + 1;
        } else if (at[0] == '"') {
            at++;
            while (*at && *at != '"') at += at[0] == '\\' && at[1] ? 2 : 1;
        } else if (strncmp(at, directive, length) == 0 && !is_word_character(at[length]) &&
                   (at == text || !is_word_character(at[-1]))) {
            return true;
        }
        if (!*at) return false;
    }
    return false;
}

bool audit_module(const PtxModule *module, const AuditRules *rules, AuditReport *report) {
    *report = (AuditReport){.accepted = true};
    Audit audit = {module, rules, report, rules->source ? rules->source : "kernel.cu"};
    if (rules->kernel_count > AUDIT_MAX_KERNELS) return refuse(&audit, "the chapter names too many kernels");
    for (int i = 0; i < rules->kernel_count; i++) {
        if (!check_kernel(&audit, i)) return false;
    }
    for (int i = 0; i < rules->kernel_count; i++) {
        if (!check_launch(&audit, i)) return false;
    }
    if (!check_functions(&audit) || !check_variables(&audit)) return false;
    if (module->text && has_directive(module->text, ".alias")) {
        return refuse(&audit, "%s gives a function a second name (.alias), which is not allowed",
                      audit.source);
    }
    return true;
}
