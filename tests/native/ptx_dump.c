// Shows what the PTX parser makes of a file, for tests.
//
//     ptx_dump FILE                     the module as JSON; or the error message, exit status 1
//     ptx_dump --prefixes FILE [STEP]   parses every prefix (or every STEPth): none may crash
//     ptx_dump --mutations FILE COUNT   parses COUNT damaged copies: none may crash
//     ptx_dump --time FILE COUNT        the fastest of COUNT parses, in seconds
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "emulator/ptx/ptx.h"

// ---- JSON -------------------------------------------------------------------------------------------------

static void print_string(const char *text) {
    putchar('"');
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c == '"' || *c == '\\')
            printf("\\%c", *c);
        else if (*c < 32 || *c == 127)
            printf("\\u%04x", (unsigned)*c);
        else
            putchar(*c);
    }
    putchar('"');
}

static void key(const char *name) { printf("\"%s\": ", name); }

static void string_field(const char *name, const char *value) {
    key(name);
    print_string(value);
}

static void flag(const char *name, bool value) {
    if (value) printf(", \"%s\": true", name);
}

static const char *const space_names[] = {"none", "param", "global", "shared", "local", "const"};

static void print_relocation(const PtxRelocation *relocation) {
    printf("{\"offset\": %zu, \"bytes\": %u, \"addend\": %lld, ", relocation->offset, relocation->bytes,
           (long long)relocation->addend);
    string_field("to", relocation->variable ? relocation->variable->name : relocation->function->name);
    flag("generic", relocation->generic);
    putchar('}');
}

static void print_variable(const PtxVariable *v) {
    putchar('{');
    string_field("name", v->name);
    printf(
        ", \"space\": \"%s\", \"type\": \"%s\", \"align\": %u, \"bytes\": %zu, \"line\": %d, \"index\": %d",
        space_names[v->space], ptx_type_name(v->type), v->align, v->bytes, v->line, v->index);
    if (v->parameter >= 0) printf(", \"parameter\": %d", v->parameter);
    if (v->owner) {
        printf(", ");
        string_field("owner", v->owner->name);
    }
    flag("array", v->is_array);
    flag("extern", v->is_extern);
    flag("unsized", v->is_unsized);
    flag("managed", v->is_managed);
    flag("visible", v->is_visible);
    if (v->data) {
        printf(", \"data\": \"");
        for (size_t i = 0; i < v->bytes; i++) printf("%02x", (unsigned)v->data[i]);
        printf("\", \"relocations\": [");
        for (int i = 0; i < v->relocation_count; i++) {
            if (i) printf(", ");
            print_relocation(&v->relocations[i]);
        }
        putchar(']');
    }
    putchar('}');
}

static void print_variables(const char *name, PtxVariable *const *variables, int count) {
    printf(", \"%s\": [", name);
    for (int i = 0; i < count; i++) {
        if (i) printf(",\n   ");
        print_variable(variables[i]);
    }
    putchar(']');
}

// An operand in PTX's own notation, with every name followed by what it was resolved to.
static void print_operand(const PtxFunction *function, const PtxOperand *operand);

static void print_elements(const PtxFunction *function, const PtxOperand *operand, const char *between) {
    for (int i = 0; i < operand->element_count; i++) {
        if (i) printf("%s", between);
        print_operand(function, &operand->elements[i]);
    }
}

static void print_operand(const PtxFunction *function, const PtxOperand *o) {
    if (o->negated) putchar('!');
    switch (o->kind) {
    case PTX_OPERAND_REGISTER: printf("%s#%d", o->reg->name, o->reg->index); break;
    case PTX_OPERAND_SPECIAL: printf("special %s", o->name); break;
    case PTX_OPERAND_INTEGER:
        printf("%lld%s", (long long)o->integer, o->is_unsigned_literal ? "U" : "");
        break;
    case PTX_OPERAND_FLOAT32: printf("0f%08llX", (unsigned long long)o->integer); break;
    case PTX_OPERAND_FLOAT64: printf("0d%016llX", (unsigned long long)o->integer); break;
    case PTX_OPERAND_VARIABLE:
        printf("%s %s#%d", space_names[o->variable->space], o->variable->name, o->variable->index);
        if (o->offset) printf("%+lld", (long long)o->offset);
        break;
    case PTX_OPERAND_FUNCTION: printf("function %s#%d", o->function->name, o->function->index); break;
    case PTX_OPERAND_LABEL:
        printf("label %s@%d", function->labels[o->label].name, function->labels[o->label].instruction);
        break;
    case PTX_OPERAND_TARGETS: printf("targets %s", function->targets[o->label].name); break;
    case PTX_OPERAND_VECTOR:
        putchar('{');
        print_elements(function, o, ", ");
        putchar('}');
        break;
    case PTX_OPERAND_ADDRESS:
        putchar('[');
        print_operand(function, &o->elements[0]);
        if (o->offset) printf("%+lld", (long long)o->offset);
        for (int i = 1; i < o->element_count; i++) {
            printf(", ");
            print_operand(function, &o->elements[i]);
        }
        putchar(']');
        break;
    case PTX_OPERAND_PAIR: print_elements(function, o, "|"); break;
    case PTX_OPERAND_LIST:
        putchar('(');
        print_elements(function, o, ", ");
        putchar(')');
        break;
    case PTX_OPERAND_SINK: putchar('_'); break;
    case PTX_OPERAND_PROTOTYPE: printf("prototype %s", o->name); break;
    }
}

static void print_instruction(const PtxFunction *function, const PtxInstruction *in) {
    printf("{\"line\": %d, \"column\": %d, \"location\": %d, \"text\": \"", in->line, in->column,
           in->location);
    if (in->guard) printf("@%s%s#%d ", in->guard_negated ? "!" : "", in->guard->name, in->guard->index);
    printf("%s", in->opcode);
    for (int i = 0; i < in->modifier_count; i++) printf(".%s", in->modifiers[i]);
    for (int i = 0; i < in->operand_count; i++) {
        printf(i ? ", " : " ");
        print_operand(function, &in->operands[i]);
    }
    printf("\"}");
}

static void print_function(const PtxFunction *f) {
    putchar('{');
    string_field("name", f->name);
    printf(", \"line\": %d, \"index\": %d", f->line, f->index);
    flag("entry", f->is_entry);
    flag("extern", f->is_extern);
    flag("visible", f->is_visible);
    flag("body", f->has_body);
    if (f->max_threads[0])
        printf(", \"maxntid\": [%d, %d, %d]", f->max_threads[0], f->max_threads[1], f->max_threads[2]);
    if (f->required_threads[0])
        printf(", \"reqntid\": [%d, %d, %d]", f->required_threads[0], f->required_threads[1],
               f->required_threads[2]);
    if (f->min_blocks) printf(", \"minnctapersm\": %d", f->min_blocks);
    print_variables("returns", f->returns, f->return_count);
    print_variables("parameters", f->parameters, f->parameter_count);
    print_variables("variables", f->variables, f->variable_count);
    printf(",\n  \"registers\": [");
    for (int i = 0; i < f->register_count; i++)
        printf("%s\"%s %s\"", i ? ", " : "", ptx_type_name(f->registers[i]->type), f->registers[i]->name);
    printf("],\n  \"labels\": {");
    for (int i = 0; i < f->label_count; i++)
        printf("%s\"%d %s\": %d", i ? ", " : "", f->labels[i].line, f->labels[i].name,
               f->labels[i].instruction);
    printf("},\n  \"targets\": {");
    for (int i = 0; i < f->target_count; i++) {
        printf("%s\"%s\": [", i ? ", " : "", f->targets[i].name);
        for (int k = 0; k < f->targets[i].label_count; k++)
            printf("%s\"%s\"", k ? ", " : "", f->labels[f->targets[i].labels[k]].name);
        putchar(']');
    }
    printf("},\n  \"instructions\": [\n   ");
    for (int i = 0; i < f->instruction_count; i++) {
        if (i) printf(",\n   ");
        print_instruction(f, &f->instructions[i]);
    }
    printf("]}");
}

static void print_module(const PtxModule *module) {
    printf("{\"version\": [%d, %d], ", module->version_major, module->version_minor);
    string_field("target", module->target ? module->target : "");
    printf(", \"address_size\": %d,\n \"files\": [", module->address_size);
    for (int i = 0; i < module->file_count; i++) {
        printf("%s[%d, ", i ? ", " : "", module->files[i].number);
        print_string(module->files[i].name);
        putchar(']');
    }
    printf("],\n \"locations\": [");
    for (int i = 0; i < module->location_count; i++) {
        const PtxLocation *location = &module->locations[i];
        printf("%s[%d, %d, %d, %d]", i ? ", " : "", module->files[location->file].number, location->line,
               location->column, location->inlined_at);
    }
    putchar(']');
    print_variables("variables", module->variables, module->variable_count);
    printf(",\n \"functions\": [\n  ");
    for (int i = 0; i < module->function_count; i++) {
        if (i) printf(",\n  ");
        print_function(module->functions[i]);
    }
    printf("]}\n");
}

// ---- What must hold of every module that was accepted -----------------------------------------------------

static int check_operands(const PtxFunction *f, const PtxOperand *operands, int count) {
    for (int i = 0; i < count; i++) {
        const PtxOperand *o = &operands[i];
        if (o->kind == PTX_OPERAND_LABEL && (o->label < 0 || o->label >= f->label_count)) return 1;
        if (o->kind == PTX_OPERAND_TARGETS && (o->label < 0 || o->label >= f->target_count)) return 1;
        if (o->kind == PTX_OPERAND_REGISTER && f->registers[o->reg->index] != o->reg) return 1;
        if (o->kind == PTX_OPERAND_ADDRESS && o->element_count < 1) return 1;
        if (check_operands(f, o->elements, o->element_count)) return 1;
    }
    return 0;
}

static int check_module(const PtxModule *module) {
    for (int i = 0; i < module->location_count; i++) {
        const PtxLocation *location = &module->locations[i];
        if (location->file < 0 || location->file >= module->file_count) return 1;
        if (location->inlined_at >= i || location->inlined_at < -1)
            return 1; // chains go back: none is a ring
    }
    for (int i = 0; i < module->function_count; i++) {
        const PtxFunction *f = module->functions[i];
        if (f->index != i) return 1;
        for (int k = 0; k < f->instruction_count; k++) {
            if (f->instructions[k].location >= module->location_count) return 1;
            if (check_operands(f, f->instructions[k].operands, f->instructions[k].operand_count)) return 1;
        }
        for (int k = 0; k < f->label_count; k++)
            if (f->labels[k].instruction > f->instruction_count) return 1;
        for (int k = 0; k < f->target_count; k++)
            for (int l = 0; l < f->targets[k].label_count; l++)
                if (f->targets[k].labels[l] < 0 || f->targets[k].labels[l] >= f->label_count) return 1;
    }
    for (int i = 0; i < module->variable_count; i++) {
        const PtxVariable *v = module->variables[i];
        if (v->index != i) return 1;
        for (int k = 0; k < v->relocation_count; k++)
            if (v->relocations[k].offset + v->relocations[k].bytes > v->bytes) return 1;
    }
    return 0;
}

// Parses an exact copy, so that a read past the end is one past an allocation. Returns 1 on a broken promise.
static int try_text(const char *text, size_t bytes, long *accepted) {
    char *copy = malloc(bytes ? bytes : 1);
    if (!copy) return 1;
    memcpy(copy, text, bytes);
    EmulatorError error;
    PtxModule *module = ptx_parse(copy, bytes, "text", &error);
    free(copy);
    int broken = module ? check_module(module) : error.status == EMULATOR_OK || !error.message[0];
    if (module) ++*accepted;
    ptx_free(module);
    return broken;
}

static int try_prefixes(const char *text, size_t bytes, size_t step) {
    long accepted = 0;
    for (size_t length = 0; length <= bytes; length += step)
        if (try_text(text, length, &accepted)) return printf("broken at %zu\n", length), 1;
    return printf("%ld accepted\n", accepted), 0;
}

static uint64_t next_random(uint64_t *state) { // xorshift64*, Vigna 2016
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 0x2545f4914f6cdd1dull;
}

static int try_mutations(const char *text, size_t bytes, long count) {
    static const char bits[] = "{}()[]<>,;:@!+-*/.%&|^~?=\"\\0123456789xfdUabr_$ \n\t";
    uint64_t state = 88172645463325252ull;
    long accepted = 0;
    char *damaged = bytes < 2 ? NULL : malloc(bytes);
    if (!damaged) return 1;
    for (long i = 0; i < count; i++) {
        size_t length = bytes;
        memcpy(damaged, text, bytes);
        for (unsigned edits = 1 + (unsigned)(next_random(&state) % 3); edits > 0; edits--) {
            size_t at = (size_t)(next_random(&state) % length), from = (size_t)(next_random(&state) % length);
            size_t span = (size_t)(next_random(&state) % 40);
            if (span > length - at) span = length - at;
            if (span > length - from) span = length - from;
            switch (next_random(&state) % 4) {
            case 0: damaged[at] = bits[next_random(&state) % (sizeof bits - 1)]; break;
            case 1: damaged[at] = (char)(unsigned char)(next_random(&state) % 256); break;
            case 2: // take away
                if (span + 1 >= length) break;
                memmove(damaged + at, damaged + at + span, length - at - span);
                length -= span;
                break;
            default: memmove(damaged + at, damaged + from, span); break;
            }
        }
        if (try_text(damaged, length, &accepted))
            return printf("broken at mutation %ld\n", i), free(damaged), 1;
    }
    free(damaged);
    return printf("%ld accepted\n", accepted), 0;
}

static int measure(const char *text, size_t bytes, long count) {
    double best = 1e9;
    for (long i = 0; i < count; i++) {
        struct timespec start, stop;
        EmulatorError error;
        timespec_get(&start, TIME_UTC);
        PtxModule *module = ptx_parse(text, bytes, "text", &error);
        timespec_get(&stop, TIME_UTC);
        ptx_free(module);
        double seconds = (double)(stop.tv_sec - start.tv_sec) + 1e-9 * (double)(stop.tv_nsec - start.tv_nsec);
        if (seconds < best) best = seconds;
    }
    return printf("%.6f\n", best), 0;
}

// ---- Main -------------------------------------------------------------------------------------------------

static char *read_file(const char *path, size_t *bytes) {
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    char *text = NULL;
    size_t capacity = 0, got;
    *bytes = 0;
    do {
        if (*bytes + 65536 > capacity) {
            capacity = capacity * 2 + 65536;
            char *more = realloc(text, capacity);
            if (!more) break;
            text = more;
        }
        got = fread(text + *bytes, 1, 65536, file);
        *bytes += got;
    } while (got);
    fclose(file);
    return text;
}

int main(int argc, char **argv) {
    const char *mode = argc > 2 ? argv[1] : "";
    const char *path = argc > 2 ? argv[2] : argc > 1 ? argv[1] : NULL;
    long count = argc > 3 ? strtol(argv[3], NULL, 10) : 1;
    size_t bytes;
    char *text = path ? read_file(path, &bytes) : NULL;
    if (!text || count < 1)
        return fprintf(stderr, "usage: ptx_dump [--prefixes|--mutations|--time] FILE [COUNT]\n"), 2;
    int status = 0;
    if (strcmp(mode, "--prefixes") == 0) {
        status = try_prefixes(text, bytes, (size_t)count);
    } else if (strcmp(mode, "--mutations") == 0) {
        status = try_mutations(text, bytes, count);
    } else if (strcmp(mode, "--time") == 0) {
        status = measure(text, bytes, count);
    } else {
        const char *slash = strrchr(path, '/');
        EmulatorError error;
        PtxModule *module = ptx_parse(text, bytes, slash ? slash + 1 : path, &error);
        if (module)
            print_module(module);
        else
            printf("%s\n", error.message);
        status = module ? check_module(module) * 3 : 1;
        ptx_free(module);
    }
    free(text);
    return status;
}
