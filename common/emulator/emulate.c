// build/bin/emulate: runs one kernel of any PTX file and says what it did, what it did wrong and what it
// counted. To a laptop what compute-sanitizer and ncu are to a GPU.
#define _GNU_SOURCE // getopt_long, strdup
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/file.h"
#include "support/json.h"
#include "emulator/emulator.h"
#include "emulator/emulator_json.h"

enum {
    EXIT_CLEAN = 0,
    EXIT_FINDINGS = 1,
    EXIT_USAGE = 2,
    EXIT_BAD_PTX = 3,
    MAX_ARGUMENTS = 64,
    MAX_DUMPS = 64,
    TRACE_BYTES = 256 << 10
};

static const size_t MAX_PTX_BYTES = (size_t)256 << 20;

static const char usage_text[] =
    "usage: emulate FILE.ptx KERNEL --grid X[,Y,Z] --block X[,Y,Z] [options]\n"
    "\n"
    "  --grid X[,Y,Z]      blocks\n"
    "  --block X[,Y,Z]     threads per block\n"
    "  --shared BYTES      dynamic shared memory per block\n"
    "  --arg SPEC          the next argument; one per parameter, in order:\n"
    "                        buf:BYTES        a buffer that nothing has written\n"
    "                        buf:BYTES:zero   a buffer of zeros\n"
    "                        buf:BYTES:FILE   a buffer that starts as FILE does\n"
    "                        i32:V u32:V i64:V u64:V f32:V f64:V\n"
    "  --dump I:FILE       afterwards write buffer I (argument I, from 0) to FILE\n"
    "  --json FILE         write the result as JSON\n"
    "  --trace FILE        write what the first warps did, access by access, as JSON\n"
    "                      (docs/trace.schema.json)\n"
    "  --profile           print counters, in all and per source line\n"
    "  --schedule SEED     0 (default): plain; another number: permuted, interleaved\n"
    "  --checks LIST       all (default), none, or some of mem,init,race,sync\n"
    "  --steps N           stop after N instructions of single threads\n"
    "  --help\n"
    "\n"
    "exit status: 0 clean, 1 findings, 2 wrong usage, 3 unsupported or no PTX\n"
    "\n"
    "The verdict is that of the finding which explains the others, the first of";

// The order of common/driver/plan/verdict.h, as far as findings go.
static const char *const verdicts[] = {"RESOURCE", "LAUNCH", "OOB",     "MISALIGNED",   "FAULT",      "SYNC",
                                       "RACE",     "UNINIT", "TIMEOUT", "OUTPUT_LIMIT", "UNSUPPORTED"};
enum { VERDICT_COUNT = sizeof verdicts / sizeof *verdicts };

typedef struct {
    char type; // 'b': buffer, 'v': value
    unsigned char value[8];
    size_t bytes;     // of the value, or of the buffer
    char *spec;       // as given, cut up; owned
    const char *file; // in `spec`: NULL, "zero" or a path
    uint64_t address;
} Argument;

typedef struct {
    const char *ptx, *kernel, *json, *trace;
    EmulatorLaunch launch;
    bool has_grid, has_block, profile;
    Argument arguments[MAX_ARGUMENTS];
    int argument_count;
    struct {
        int index;
        const char *file;
    } dumps[MAX_DUMPS];
    int dump_count;
} Request;

static int usage(const char *what, const char *given) {
    fprintf(stderr, "emulate: %s%s%s\nTry: emulate --help\n", what, given ? ": " : "", given ? given : "");
    return EXIT_USAGE;
}

static void help(void) {
    fputs(usage_text, stdout);
    for (int i = 0; i < VERDICT_COUNT; i++) printf("%s%s", i % 6 ? " " : "\n  ", verdicts[i]);
    putchar('\n');
}

// ---- Reading the command line -----------------------------------------------------------------------------

static bool read_unsigned(const char *text, uint64_t most, uint64_t *value) {
    if (!isdigit((unsigned char)*text)) return false;
    char *end;
    errno = 0;
    unsigned long long read = strtoull(text, &end, 0);
    *value = read;
    return !errno && !*end && read <= most;
}

static bool read_extent(const char *text, uint32_t extent[3]) {
    extent[0] = extent[1] = extent[2] = 1;
    for (int i = 0; i < 3; i++) {
        if (!isdigit((unsigned char)*text)) return false;
        char *end;
        errno = 0;
        unsigned long long value = strtoull(text, &end, 10);
        if (errno || value > UINT32_MAX) return false;
        extent[i] = (uint32_t)value;
        if (!*end) return true;
        if (*end != ',') return false;
        text = end + 1;
    }
    return false;
}

static bool read_value(const char *type, const char *text, Argument *argument) {
    char *end;
    errno = 0;
    argument->type = 'v';
    if (!*text || isspace((unsigned char)*text)) return false;
    if (type[0] == 'f') {
        double value = strtod(text, &end);
        float narrow = (float)value;
        argument->bytes = type[1] == '3' ? 4 : 8;
        memcpy(argument->value, argument->bytes == 4 ? (void *)&narrow : (void *)&value, argument->bytes);
        return !*end;
    }
    argument->bytes = type[1] == '3' ? 4 : 8;
    uint64_t bits;
    if (type[0] == 'i') {
        long long value = strtoll(text, &end, 0);
        if (argument->bytes == 4 && (value < INT32_MIN || value > INT32_MAX)) return false;
        bits = (uint64_t)value;
    } else {
        if (*text == '-') return false;
        bits = strtoull(text, &end, 0);
        if (argument->bytes == 4 && bits > UINT32_MAX) return false;
    }
    memcpy(argument->value, &bits, argument->bytes);
    return !errno && !*end;
}

static bool read_argument(char *spec, Argument *argument) {
    char *colon = strchr(spec, ':');
    if (!colon) return false;
    *colon = 0;
    char *rest = colon + 1;
    static const char *const values[] = {"i32", "u32", "i64", "u64", "f32", "f64"};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        if (!strcmp(spec, values[i])) return read_value(spec, rest, argument);
    if (strcmp(spec, "buf")) return false;
    argument->type = 'b';
    char *file = strchr(rest, ':');
    if (file) {
        *file++ = 0;
        if (!*file) return false;
    }
    argument->file = file;
    uint64_t bytes;
    if (!read_unsigned(rest, (uint64_t)1 << 38, &bytes)) return false;
    argument->bytes = (size_t)bytes;
    return true;
}

static bool read_checks(char *list, unsigned *checks) {
    if (!strcmp(list, "all")) return *checks = CHECK_ALL, true;
    *checks = 0;
    if (!strcmp(list, "none")) return true;
    for (char *word = strtok(list, ","); word; word = strtok(NULL, ",")) {
        if (!strcmp(word, "mem"))
            *checks |= CHECK_MEMORY;
        else if (!strcmp(word, "init"))
            *checks |= CHECK_INIT;
        else if (!strcmp(word, "race"))
            *checks |= CHECK_RACE;
        else if (!strcmp(word, "sync"))
            *checks |= CHECK_SYNC;
        else
            return false;
    }
    return *checks != 0;
}

// 0: go on; otherwise exit status + 1.
static int read_request(int argc, char **argv, Request *r) {
    static const struct option options[] = {
        {"grid", required_argument, NULL, 'g'},
        {"block", required_argument, NULL, 'b'},
        {"shared", required_argument, NULL, 's'},
        {"arg", required_argument, NULL, 'a'},
        {"dump", required_argument, NULL, 'd'},
        {"json", required_argument, NULL, 'j'},
        {"profile", no_argument, NULL, 'p'},
        {"schedule", required_argument, NULL, 'S'},
        {"checks", required_argument, NULL, 'c'},
        {"steps", required_argument, NULL, 'n'},
        {"trace", required_argument, NULL, 't'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    *r = (Request){.launch.checks = CHECK_ALL};
    uint64_t number;
    opterr = 0;
    for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        switch (c) {
        case 'g':
            if (!read_extent(optarg, r->launch.grid)) return 1 + usage("--grid wants X[,Y,Z]", optarg);
            r->has_grid = true;
            break;
        case 'b':
            if (!read_extent(optarg, r->launch.block)) return 1 + usage("--block wants X[,Y,Z]", optarg);
            r->has_block = true;
            break;
        case 's':
            if (!read_unsigned(optarg, UINT32_MAX, &number))
                return 1 + usage("--shared needs a number of bytes", optarg);
            r->launch.dynamic_shared = (uint32_t)number;
            break;
        case 'a': {
            if (r->argument_count == MAX_ARGUMENTS) return 1 + usage("more than 64 arguments", NULL);
            Argument *argument = &r->arguments[r->argument_count++];
            argument->spec = strdup(optarg);
            if (!argument->spec || !read_argument(argument->spec, argument))
                return 1 +
                       usage(
                           "--arg needs buf:BYTES[:FILE|:zero] or i32: u32: i64: u64: f32: f64: and a value",
                           optarg);
            break;
        }
        case 'd': {
            char *colon = strchr(optarg, ':');
            if (colon) *colon = 0;
            if (!colon || !colon[1] || !read_unsigned(optarg, MAX_ARGUMENTS - 1, &number) ||
                r->dump_count == MAX_DUMPS)
                return 1 + usage("--dump needs I:FILE, where I is the index of a buffer argument", optarg);
            r->dumps[r->dump_count].index = (int)number;
            r->dumps[r->dump_count++].file = colon + 1;
            break;
        }
        case 'j': r->json = optarg; break;
        case 't': r->trace = optarg; break;
        case 'p': r->profile = true; break;
        case 'S':
            if (!read_unsigned(optarg, UINT64_MAX, &r->launch.schedule))
                return 1 + usage("--schedule needs a number", optarg);
            break;
        case 'c':
            if (!read_checks(optarg, &r->launch.checks))
                return 1 + usage("--checks needs all, none, or some of mem,init,race,sync", NULL);
            break;
        case 'n':
            if (!read_unsigned(optarg, UINT64_MAX, &r->launch.max_steps) || !r->launch.max_steps)
                return 1 + usage("--steps needs a number above 0", optarg);
            break;
        case 'h': help(); return 1 + EXIT_CLEAN;
        default: return 1 + usage("unknown or incomplete option", optind > 0 ? argv[optind - 1] : NULL);
        }
    }
    if (argc - optind != 2)
        return 1 + usage(argc - optind < 2 ? "the PTX file or the kernel is missing" : "too many words",
                         argc - optind > 2 ? argv[optind + 2] : NULL);
    r->ptx = argv[optind];
    r->kernel = argv[optind + 1];
    if (!r->has_grid || !r->has_block)
        return 1 + usage(r->has_grid ? "--block is missing" : "--grid is missing", NULL);
    for (int i = 0; i < r->dump_count; i++)
        if (r->dumps[i].index >= r->argument_count || r->arguments[r->dumps[i].index].type != 'b')
            return 1 + usage("--dump names an argument that is not a buffer", r->dumps[i].file);
    if (r->trace && r->launch.schedule) return 1 + usage("--trace records schedule 0 only", NULL);
    r->launch.count = r->profile || r->json || r->trace;
    r->launch.trace_bytes = r->trace ? TRACE_BYTES : 0;
    return 0;
}

// ---- Running ----------------------------------------------------------------------------------------------

static int place_arguments(Emulator *e, Request *r, const EmulatorKernelInfo *info, unsigned char *block) {
    if (r->argument_count != info->parameter_count) {
        fprintf(stderr, "emulate: %s takes %d arguments, not %d\n", info->name, info->parameter_count,
                r->argument_count);
        return EXIT_USAGE;
    }
    for (int i = 0; i < r->argument_count; i++) {
        Argument *a = &r->arguments[i];
        if (a->type == 'b') {
            EmulatorError error;
            char name[32];
            snprintf(name, sizeof name, "argument %d", i);
            a->address = emulator_allocate(e, a->bytes, 0, name, &error);
            if (!a->address) {
                fprintf(stderr, "emulate: %s\n", error.message);
                return EXIT_USAGE;
            }
            if (a->file && !strcmp(a->file, "zero"))
                emulator_fill(e, a->address, 0, a->bytes, true, &error);
            else if (a->file) {
                FileError why;
                Text data = {0};
                if (!read_regular_file(a->file, a->bytes, &data, &why)) {
                    fprintf(stderr, "emulate: %s\n", why.message);
                    text_free(&data);
                    return EXIT_USAGE;
                }
                emulator_write(e, a->address, text_chars(&data), data.bytes, &error);
                text_free(&data);
            }
            memcpy(a->value, &a->address, 8);
        }
        size_t wanted = info->parameters[i].bytes, have = a->type == 'b' ? 8 : a->bytes;
        if (wanted != have) {
            fprintf(stderr, "emulate: argument %d of %s has %zu bytes; %zu were given\n", i, info->name,
                    wanted, have);
            return EXIT_USAGE;
        }
        memcpy(block + info->parameters[i].offset, a->value, have);
    }
    return 0;
}

static void print_findings(const EmulatorResult *result) {
    for (int i = 0; i < result->finding_count; i++) {
        const Finding *f = &result->findings[i];
        printf("%s %s", finding_verdict(f->kind), finding_name(f->kind));
        if (f->place.line)
            printf(" at %s:%d:%d", f->place.file, f->place.line, f->place.column);
        else if (f->place.ptx_line)
            printf(" at PTX line %d", f->place.ptx_line);
        printf("\n  %s\n", f->message);
        if (f->other_place.line)
            printf("  the other place: %s:%d\n", f->other_place.file, f->other_place.line);
        if (f->count > 1) printf("  met %" PRIu64 " times\n", f->count);
    }
    if (result->findings_total > 0 && !result->finding_count)
        printf("%" PRIu64 " findings\n", result->findings_total);
}

static void write_finding(JsonWriter *json, const Finding *f) {
    json_open_object(json, NULL);
    json_string(json, "verdict", finding_verdict(f->kind));
    json_string(json, "kind", finding_name(f->kind));
    json_string(json, "message", f->message);
    json_string(json, "file", f->place.file);
    json_integer(json, "line", f->place.line);
    json_integer(json, "column", f->place.column);
    json_integer(json, "ptx_line", f->place.ptx_line);
    json_integer(json, "other_line", f->other_place.line);
    triple_add_json(json, "block", f->block);
    triple_add_json(json, "thread", f->thread);
    json_integer(json, "warp", f->warp);
    json_integer(json, "lane", f->lane);
    json_unsigned(json, "address", f->address);
    json_unsigned(json, "bytes", f->bytes);
    json_string(json, "object", f->object);
    json_integer(json, "index", f->index);
    json_unsigned(json, "object_bytes", f->object_bytes);
    json_unsigned(json, "count", f->count);
    json_boolean(json, "fatal", f->fatal);
    json_close_object(json);
}

// Writes a document where it was asked for: 0, or the exit status.
static int end_document(JsonWriter *json, const char *path) {
    FileError why;
    if (json_write_file(json, path, &why)) return 0;
    fprintf(stderr, "emulate: %s\n", why.message);
    return EXIT_USAGE;
}

static const char *overall(const EmulatorResult *result) {
    for (int v = 0; v < VERDICT_COUNT; v++)
        for (int i = 0; i < result->finding_count; i++)
            if (!strcmp(finding_verdict(result->findings[i].kind), verdicts[v])) return verdicts[v];
    return result->completed ? "PASS" : "FAULT";
}

static int write_json(const Request *r, const EmulatorResult *result) {
    JsonWriter json = {0};
    json_open_object(&json, NULL);
    json_string(&json, "schema", "warpbook/emulation/1");
    json_string(&json, "verdict", overall(result));
    json_open_array(&json, "findings");
    for (int i = 0; i < result->finding_count; i++) write_finding(&json, &result->findings[i]);
    json_close_array(&json);
    counters_add_json(&json, "counters", &result->counters);
    json_open_array(&json, "lines");
    for (int i = 0; i < result->line_count; i++) {
        json_open_object(&json, NULL);
        json_string(&json, "file", result->lines[i].place.file);
        json_integer(&json, "line", result->lines[i].place.line);
        counters_add_json(&json, "counters", &result->lines[i].counters);
        json_close_object(&json);
    }
    json_close_array(&json);
    json_unsigned(&json, "lane_instructions", result->lane_instructions);
    json_real(&json, "seconds", result->seconds);
    json_string_bytes(&json, "output", result->output ? result->output : "", result->output_bytes);
    json_close_object(&json);
    return end_document(&json, r->json);
}

// A chapter's trace (common/driver/result/access_trace_run.c) with one kernel and no chapter.
static int write_trace(const char *path, const char *name, const EmulatorDevice *device,
                       const EmulatorResult *result) {
    JsonWriter json = {.is_compact = true};
    json_open_object(&json, NULL);
    json_string(&json, "schema", "warpbook/trace/1");
    json_null(&json, "chapter");
    json_null(&json, "title");
    json_string(&json, "message", "");
    device_add_json(&json, device, 0);
    json_null(&json, "source");
    json_open_array(&json, "tasks");
    json_open_object(&json, NULL);
    json_null(&json, "task");
    json_null(&json, "case");
    json_string(&json, "verdict", overall(result));
    json_string(&json, "message", result->finding_count ? result->findings[0].message : "");
    json_open_array(&json, "buffers");
    json_close_array(&json);
    json_open_array(&json, "kernels");
    json_open_object(&json, NULL);
    json_string(&json, "name", name);
    json_null(&json, "occupancy");
    json_members(&json, result->trace, result->trace_bytes);
    json_close_object(&json);
    json_close_array(&json);
    json_close_object(&json);
    json_close_array(&json);
    json_close_object(&json);
    return end_document(&json, path);
}

static void print_counters(const Counters *counters, const char *indent) {
    for (int i = 0; i < counter_field_count; i++) {
        const uint64_t value = counter_value(counters, i);
        if (value) printf("%s%-24s %12" PRIu64 "\n", indent, counter_fields[i].name, value);
    }
}

static void print_profile(const EmulatorResult *result) {
    print_counters(&result->counters, "");
    for (int i = 0; i < result->line_count; i++) {
        const SourcePlace *place = &result->lines[i].place;
        if (place->line)
            printf("%s:%d\n", place->file, place->line);
        else
            printf("(no source line)\n");
        print_counters(&result->lines[i].counters, "  ");
    }
}

static int run(Emulator *e, Request *r, const char *ptx, size_t bytes) {
    EmulatorError error = {0};
    if (!emulator_load(e, ptx, bytes, r->ptx, &error)) {
        fprintf(stderr, "emulate: %s%s\n", error.status == EMULATOR_UNSUPPORTED ? "UNSUPPORTED: " : "",
                error.message);
        if (error.source_line) fprintf(stderr, "emulate: from %s:%d\n", error.file, error.source_line);
        return EXIT_BAD_PTX;
    }
    const EmulatorKernel *kernel = emulator_find_kernel(e, r->kernel);
    if (!kernel) {
        fprintf(stderr, "emulate: %s has no kernel %s; it has", r->ptx, r->kernel);
        for (int i = 0; i < emulator_kernel_count(e); i++) {
            EmulatorKernelInfo info;
            emulator_kernel_info(emulator_kernel_at(e, i), &info);
            fprintf(stderr, " %s", info.name);
        }
        fputs(emulator_kernel_count(e) ? "\n" : " none\n", stderr);
        return EXIT_USAGE;
    }
    EmulatorKernelInfo info;
    emulator_kernel_info(kernel, &info);
    unsigned char *block = calloc(info.parameter_bytes + 1, 1);
    if (!block) {
        fprintf(stderr, "emulate: out of memory\n");
        return EXIT_BAD_PTX;
    }
    int status = place_arguments(e, r, &info, block);
    if (status) {
        free(block);
        return status;
    }
    r->launch.arguments = block;
    r->launch.argument_bytes = info.parameter_bytes;
    EmulatorResult result;
    if (!emulator_launch(e, kernel, &r->launch, &result, &error)) {
        fprintf(stderr, "emulate: %s\n", error.message);
        status = EXIT_BAD_PTX;
    } else {
        if (result.output_bytes) fwrite(result.output, 1, result.output_bytes, stdout);
        print_findings(&result);
        if (r->profile) print_profile(&result);
        bool unsupported = false, wrong = !result.completed;
        for (int i = 0; i < result.finding_count; i++) {
            unsupported |= result.findings[i].kind == FINDING_UNSUPPORTED;
            wrong |= strcmp(finding_verdict(result.findings[i].kind), "INFO") != 0;
        }
        printf("%s: %s, %" PRIu64 " lane instructions in %.3f s\n", info.name,
               wrong ? overall(&result) : "clean", result.lane_instructions, result.seconds);
        status = unsupported ? EXIT_BAD_PTX : wrong ? EXIT_FINDINGS : EXIT_CLEAN;
        for (int i = 0; i < r->dump_count; i++) {
            const Argument *a = &r->arguments[r->dumps[i].index];
            FileError why;
            if (write_file_atomically(r->dumps[i].file, emulator_host_pointer(e, a->address, a->bytes),
                                      a->bytes, &why))
                continue;
            fprintf(stderr, "emulate: %s\n", why.message);
            status = EXIT_USAGE;
        }
        if (r->json && write_json(r, &result)) status = EXIT_USAGE;
        if (r->trace && write_trace(r->trace, r->kernel, emulator_device(e), &result)) status = EXIT_USAGE;
    }
    emulator_result_free(&result);
    free(block);
    return status;
}

static int main_with(Request *r, int argc, char **argv) {
    int stop = read_request(argc, argv, r);
    if (stop) return stop - 1;
    FileError why;
    Text ptx = {0};
    if (!read_regular_file(r->ptx, MAX_PTX_BYTES, &ptx, &why)) {
        fprintf(stderr, "emulate: %s\n", why.message);
        return EXIT_USAGE;
    }
    Emulator *e = emulator_open(NULL);
    int status = EXIT_BAD_PTX;
    if (e)
        status = run(e, r, text_chars(&ptx), ptx.bytes);
    else
        fprintf(stderr, "emulate: out of memory\n");
    emulator_close(e);
    text_free(&ptx);
    return status;
}

// The exit status, once what was printed is known to have got where it was sent.
static int printed(int status) {
    if (!fflush(stdout) && !ferror(stdout)) return status;
    fprintf(stderr, "emulate: cannot write to standard output: %s\n", strerror(errno));
    return status == EXIT_CLEAN ? EXIT_USAGE : status;
}

int main(int argc, char **argv) {
    static Request request;
    int status = main_with(&request, argc, argv);
    for (int i = 0; i < request.argument_count; i++) free(request.arguments[i].spec);
    return printed(status);
}
