#define _GNU_SOURCE // memmem
#include "driver/build/image.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/file.h"
#include "driver/build/audit.h"
#include "driver/plan/elements.h"
#include "support/mangle.h"

static bool fail(Image *image, Verdict verdict, const char *words) {
    image->verdict = verdict;
    snprintf(image->message, sizeof image->message, "%s", words);
    return false;
}

// ---- What the chapter's kernels look like ----------------------------------------------------------------

typedef struct {
    AuditKernel kernels[AUDIT_MAX_KERNELS];
    AuditParameter parameters[AUDIT_MAX_KERNELS][MAX_ARGUMENTS];
    char declarations[AUDIT_MAX_KERNELS][MAX_ARGUMENTS][96];
    int count;
    AuditConstant constants[MAX_BUFFERS];
    char constant_declarations[MAX_BUFFERS][96];
    int constant_count;
} Signatures;

static int argument_count(const Launch *launch) {
    int count = 0;
    // An unused slot has no buffer and no number's type: F32 with the default quantity is what zero stands
    // for.
    while (count < MAX_ARGUMENTS &&
           (launch->arguments[count].buffer || launch->arguments[count].type != F32 ||
            launch->arguments[count].value.kind != QUANTITY_N))
        count++;
    return count;
}

static void describe_parameter(const Task *task, const Argument *argument, AuditParameter *parameter,
                               char declaration[96]) {
    int b = argument->buffer ? task_find_buffer(task, argument->buffer) : -1;
    if (argument->buffer) {
        // A buffer that one kernel writes and the next reads is const in the second: both are pointers to the
        // audit.
        bool is_input = b >= 0 && task->buffers[b].role == INPUT;
        snprintf(declaration, 96, "%s%s *%.40s", is_input ? "const " : "",
                 element_word(b < 0 ? F32 : task->buffers[b].type), argument->buffer);
        *parameter = (AuditParameter){.declaration = declaration, .bytes = 8};
    } else {
        const char *name = argument->value.kind == QUANTITY_ROWS      ? "rows"
                           : argument->value.kind == QUANTITY_COLUMNS ? "columns"
                           : argument->value.kind == QUANTITY_DEPTH   ? "depth"
                           : argument->value.kind == QUANTITY_N       ? "n"
                                                                      : "count";
        snprintf(declaration, 96, "%s %s", element_word(argument->type), name);
        *parameter = (AuditParameter){.declaration = declaration,
                                      .bytes = (unsigned)element_bytes(argument->type),
                                      .is_float = element_is_float(argument->type)};
    }
}

static int find_signature(const Signatures *all, const char *kernel) {
    for (int i = 0; i < all->count; i++)
        if (strcmp(all->kernels[i].name, kernel) == 0) return i;
    return -1;
}

static bool has_constant(const Signatures *all, const char *name) {
    for (int k = 0; k < all->constant_count; k++)
        if (strcmp(all->constants[k].name, name) == 0) return true;
    return false;
}

static void collect_constants(const Task *task, Signatures *all) {
    for (int b = 0; b < task_buffer_count(task); b++) {
        const Buffer *buffer = &task->buffers[b];
        if (!buffer->is_constant || all->constant_count == MAX_BUFFERS || has_constant(all, buffer->name))
            continue;
        char *declaration = all->constant_declarations[all->constant_count];
        snprintf(declaration, 96, "%s %.40s[%lld]", element_word(buffer->type), buffer->name,
                 buffer->count.value);
        all->constants[all->constant_count++] =
            (AuditConstant){.name = buffer->name,
                            .declaration = declaration,
                            .bytes = (size_t)buffer->count.value * element_bytes(buffer->type)};
    }
}

static bool collect_signatures(const Chapter *of, Signatures *all) {
    for (int t = 0; t < chapter_task_count(of); t++) {
        const Task *task = &of->tasks[t];
        collect_constants(task, all);
        for (int l = 0; l < task_launch_count(task); l++) {
            const Launch *launch = &task->launches[l];
            if (find_signature(all, launch->kernel) >= 0) continue;
            if (all->count == AUDIT_MAX_KERNELS) return false;
            int index = all->count++, count = argument_count(launch);
            for (int a = 0; a < count; a++)
                describe_parameter(task, &launch->arguments[a], &all->parameters[index][a],
                                   all->declarations[index][a]);
            all->kernels[index] = (AuditKernel){.name = launch->kernel,
                                                .parameters = all->parameters[index],
                                                .parameter_count = count,
                                                .needs_launch = true};
        }
    }
    return true;
}

// ---- Names -----------------------------------------------------------------------------------------------

static void copy_name(char to[256], const char *from) { snprintf(to, 256, "%s", from); }

static void resolve(Image *image, const Chapter *of, const Signatures *all, char symbols[][256],
                    char launch_symbols[][256]) {
    for (int t = 0; t < chapter_task_count(of); t++) {
        for (int l = 0; l < task_launch_count(&of->tasks[t]); l++) {
            int index = find_signature(all, of->tasks[t].launches[l].kernel);
            ImageKernel *kernel = &image->kernels[t][l];
            copy_name(kernel->symbol, symbols[index]);
            copy_name(kernel->launch_symbol, launch_symbols[index]);
        }
    }
}

void image_add_resources(Image *image, const Chapter *of, const CompileResult *build) {
    for (int t = 0; t < chapter_task_count(of); t++) {
        for (int l = 0; l < task_launch_count(&of->tasks[t]); l++) {
            ImageKernel *kernel = &image->kernels[t][l];
            const CompiledKernel *compiled = compile_find_kernel(build, kernel->symbol);
            if (!compiled) continue;
            kernel->registers = compiled->registers;
            kernel->registers_are_estimated = build->has_estimate;
            kernel->has_no_stack =
                !build->has_estimate && compiled->registers > 0 && compiled->stack_bytes == 0;
            kernel->spilled = build->has_estimate ? 0 : compiled->spill_store_bytes;
            kernel->static_shared = compiled->shared_bytes;
        }
    }
}

static void add_bounds(Image *image, const Chapter *of, const PtxModule *module) {
    for (int t = 0; t < chapter_task_count(of); t++)
        for (int l = 0; l < task_launch_count(&of->tasks[t]); l++)
            for (int f = 0; f < module->function_count; f++)
                if (strcmp(module->functions[f]->name, image->kernels[t][l].symbol) == 0)
                    image->kernels[t][l].least_blocks = module->functions[f]->min_blocks;
}

static bool audit_ptx(Image *image, const Chapter *of, const Signatures *all, const char *source,
                      const char *source_text) {
    static EmulatorError error;
    PtxModule *module = ptx_parse(image->text.data, image->text.bytes, image->name, &error);
    if (!module) {
        Text safe = {0};
        text_add_printable(&safe, error.message, strnlen(error.message, sizeof error.message));
        fail(image,
             error.status == EMULATOR_NO_MEMORY     ? VERDICT_INFRA
             : error.status == EMULATOR_UNSUPPORTED ? VERDICT_UNSUPPORTED
                                                    : VERDICT_REJECT,
             text_chars(&safe));
        copy_name(image->file, error.file);
        image->line = error.source_line;
        text_free(&safe);
        return false;
    }
    const AuditRules rules = {.kernels = all->kernels,
                              .kernel_count = all->count,
                              .constants = all->constants,
                              .constant_count = all->constant_count,
                              .source = source,
                              .source_text = source_text};
    static AuditReport report;
    bool accepted = audit_module(module, &rules, &report);
    if (accepted) {
        static char symbols[AUDIT_MAX_KERNELS][256], launches[AUDIT_MAX_KERNELS][256];
        for (int i = 0; i < all->count; i++) {
            copy_name(symbols[i], report.entries[i]->name);
            copy_name(launches[i], report.launches[i]->name);
        }
        resolve(image, of, all, symbols, launches);
        add_bounds(image, of, module);
    } else {
        fail(image, VERDICT_REJECT, report.message);
        copy_name(image->file, report.file);
        image->line = report.line;
    }
    ptx_free(module);
    return accepted;
}

// A cubin is an ELF file whose section .text.NAME holds kernel NAME. It cannot be audited, and the driver
// checks parameters by itself; it is for people who bring their own image, never for grading.
static bool name_cubin_kernels(Image *image, const Chapter *of, const Signatures *all) {
    static char symbols[AUDIT_MAX_KERNELS][256], launches[AUDIT_MAX_KERNELS][256];
    memset(symbols, 0, sizeof symbols);
    memset(launches, 0, sizeof launches);
    static const char prefix[] = ".text.";
    const char *at = image->text.data, *end = at + image->text.bytes;
    while ((at = memmem(at, (size_t)(end - at), prefix, sizeof prefix - 1)) != NULL) {
        at += sizeof prefix - 1;
        size_t length = strnlen(at, (size_t)(end - at));
        if (length == 0 || length >= 256 || at + length == end) continue;
        for (int i = 0; i < all->count; i++) {
            char launch[256];
            snprintf(launch, sizeof launch, "launch_%.200s", all->kernels[i].name);
            if (symbol_is(at, all->kernels[i].name)) copy_name(symbols[i], at);
            if (symbol_is(at, launch)) copy_name(launches[i], at);
        }
    }
    for (int i = 0; i < all->count; i++) {
        if (symbols[i][0] && launches[i][0]) continue;
        char words[256];
        snprintf(words, sizeof words, "there is no kernel %s%.200s in this image",
                 symbols[i][0] ? "launch_" : "", all->kernels[i].name);
        return fail(image, VERDICT_REJECT, words);
    }
    resolve(image, of, all, symbols, launches);
    return true;
}

bool image_open(const char *path, const Chapter *of, const CompileResult *build, const char *source,
                const char *source_text, Image *image) {
    *image = (Image){.verdict = VERDICT_PASS};
    snprintf(image->name, sizeof image->name, "%s", path);
    FileError error = {0};
    if (!read_regular_file(path, MAX_IMAGE_BYTES, &image->text, &error)) {
        image->is_usage = error.status != FILE_NO_MEMORY && error.status != FILE_BROKEN;
        return fail(image, VERDICT_INFRA, error.message);
    }
    const bool is_elf = image->text.bytes >= 4 && memcmp(image->text.data, "\177ELF", 4) == 0;
    image->is_ptx = !is_elf;
    // A program names its kernels as it likes, and is run from its record: program/replay.h.
    if (of->is_program && image->text.bytes > 0) return true;
    static Signatures all;
    memset(&all, 0, sizeof all);
    if (!collect_signatures(of, &all)) return fail(image, VERDICT_INFRA, "the chapter has too many kernels");
    if (image->text.bytes == 0) {
        image->is_usage = true;
        char words[1100];
        snprintf(words, sizeof words, "%.900s is empty", path);
        return fail(image, VERDICT_REJECT, words);
    }
    const bool is_accepted =
        is_elf ? name_cubin_kernels(image, of, &all) : audit_ptx(image, of, &all, source, source_text);
    if (is_accepted && build) image_add_resources(image, of, build);
    return is_accepted;
}

void image_free(Image *image) { text_free(&image->text); }
