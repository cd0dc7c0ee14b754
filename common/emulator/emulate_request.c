#define _GNU_SOURCE // getopt_long, strdup
#include "emulator/emulate_request.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emulator/emulate_output.h"

enum { TRACE_BYTES = 256 << 10 };

static const char usage_text[] =
    "usage: emulate FILE.ptx... KERNEL --grid X[,Y,Z] --block X[,Y,Z] [options]\n"
    "       emulate FILE.ptx...     lists kernels, parameters and variables\n"
    "\n"
    "Several files are linked. KERNEL is a name of the PTX or, if only one kernel\n"
    "has it, of the source.\n"
    "\n"
    "  --grid X[,Y,Z]      blocks\n"
    "  --block X[,Y,Z]     threads per block\n"
    "  --cluster X[,Y,Z]   blocks per cluster (what the kernel asks for)\n"
    "  --shared BYTES      dynamic shared memory per block\n"
    "  --arg SPEC          the next argument; one per parameter, in order:\n"
    "                        buf:BYTES        a buffer that nothing has written\n"
    "                        buf:BYTES:zero   a buffer of zeros\n"
    "                        buf:BYTES:FILE   a buffer that starts as FILE does\n"
    "                        TYPE:V           a number; TYPE is one of\n"
    "                          i8 u8 i16 u16 i32 u32 i64 u64 f16 bf16 f32 f64\n"
    "                        bytes:HEX        bytes; file:FILE: those of a file\n"
    "                        SPEC,SPEC,...    a struct or array of these, each\n"
    "                                         aligned to its size; f32:1,2 is a pair\n"
    "  --set NAME=SPEC     a __constant__ or __device__ variable's value\n"
    "  --dump I:FILE       afterwards write buffer I (argument I, from 0) to FILE\n"
    "  --json FILE         write the result as JSON\n"
    "  --trace FILE        write what the first warps did, access by access, as JSON\n"
    "                      (docs/trace.schema.json)\n"
    "  --profile           print counters, in all and per source line\n"
    "  --schedule SEED     0 (default): plain; others: permuted, interleaved; if a\n"
    "                      multiple of 4, with weak memory (needs the check race)\n"
    "  --checks LIST       all (default), none, or some of mem,init,race,sync\n"
    "  --steps N           stop after N steps: 16 an instruction, 1 for each lane\n"
    "  --help\n"
    "\n"
    "exit status: 0 clean, 1 findings, 2 wrong usage, 3 unsupported or no PTX\n"
    "\n"
    "The verdict is that of the finding which explains the others, the first of";

static int usage(const char *what, const char *given) {
    fprintf(stderr, "emulate: %s%s%s\nTry: emulate --help\n", what, given ? ": " : "", given ? given : "");
    return EXIT_USAGE;
}

static void help(void) {
    fputs(usage_text, stdout);
    print_verdicts();
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

// NAME=VALUE
static bool read_setting(const char *text, Setting *setting) {
    const char *equals = strchr(text, '=');
    setting->name = equals ? strndup(text, (size_t)(equals - text)) : NULL;
    return setting->name && value_read(equals + 1, &setting->value);
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

static bool is_ptx(const char *path) {
    const size_t length = strlen(path);
    return length > 4 && !strcmp(path + length - 4, ".ptx");
}

int read_request(int argc, char **argv, Request *r) {
    static const struct option options[] = {
        {"grid", required_argument, NULL, 'g'},
        {"block", required_argument, NULL, 'b'},
        {"cluster", required_argument, NULL, 'u'},
        {"shared", required_argument, NULL, 's'},
        {"arg", required_argument, NULL, 'a'},
        {"dump", required_argument, NULL, 'd'},
        {"set", required_argument, NULL, 'v'},
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
            if (!read_extent(optarg, r->launch.grid)) return 1 + usage("--grid needs X[,Y,Z]", optarg);
            r->has_grid = true;
            break;
        case 'b':
            if (!read_extent(optarg, r->launch.block)) return 1 + usage("--block needs X[,Y,Z]", optarg);
            r->has_block = true;
            break;
        case 'u':
            if (!read_extent(optarg, r->launch.cluster)) return 1 + usage("--cluster needs X[,Y,Z]", optarg);
            break;
        case 's':
            if (!read_unsigned(optarg, UINT32_MAX, &number))
                return 1 + usage("--shared needs a number of bytes", optarg);
            r->launch.dynamic_shared = (uint32_t)number;
            break;
        case 'a':
            if (r->argument_count == MAX_ARGUMENTS) return 1 + usage("more than 64 arguments", NULL);
            if (!value_read(optarg, &r->arguments[r->argument_count++]))
                return 1 + usage("--arg needs buf:BYTES[:FILE|:zero], or a type such as i32: and a value",
                                 optarg);
            break;
        case 'v':
            if (r->setting_count == MAX_SETTINGS) return 1 + usage("more than 64 variables", NULL);
            if (!read_setting(optarg, &r->settings[r->setting_count++]))
                return 1 + usage("--set needs NAME=TYPE:VALUE", optarg);
            break;
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
    if (optind == argc) return 1 + usage("the PTX file is missing", NULL);
    if (argc - optind > MAX_FILES) return 1 + usage("more than 64 files", NULL);
    for (int i = optind; i < argc; i++)
        if (i == optind || is_ptx(argv[i]))
            r->files[r->file_count++] = argv[i];
        else if (r->kernel)
            return 1 + usage("too many words", argv[i]);
        else
            r->kernel = argv[i];
    if (!r->kernel) {
        if (r->has_grid || r->has_block) return 1 + usage("the kernel is missing", NULL);
        return 0;
    }
    if (!r->has_grid || !r->has_block)
        return 1 + usage(r->has_grid ? "--block is missing" : "--grid is missing", NULL);
    for (int i = 0; i < r->dump_count; i++)
        if (r->dumps[i].index >= r->argument_count || !r->arguments[r->dumps[i].index].buffer_count)
            return 1 + usage("--dump names an argument that is not a buffer", r->dumps[i].file);
    if (r->trace && r->launch.schedule) return 1 + usage("--trace records schedule 0 only", NULL);
    r->launch.count = r->profile || r->json || r->trace;
    r->launch.trace_bytes = r->trace ? TRACE_BYTES : 0;
    return 0;
}

void request_free(Request *r) {
    for (int i = 0; i < r->argument_count; i++) value_free(&r->arguments[i]);
    for (int i = 0; i < r->setting_count; i++) {
        free(r->settings[i].name);
        value_free(&r->settings[i].value);
    }
}
