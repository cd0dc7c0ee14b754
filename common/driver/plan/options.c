#include "driver/plan/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/command_words.h"
#include "gpu/profiles.h"

// The largest n taken: 2^34 floats are 64 GiB, which is more than any chapter needs.
static const long long largest_n = 1LL << 34;

// Only a whole decimal number.
static bool parse_number(const char *option, const char *text, long long least, long long most,
                         long long *number, char *why, size_t why_bytes) {
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    bool is_number = *text && !strchr(" \t\n+", *text) && *end == '\0';
    if (!is_number) {
        snprintf(why, why_bytes, "%s needs a whole number, not \"%.60s\"", option, text);
        return false;
    }
    if (errno == ERANGE || value < least || value > most) {
        snprintf(why, why_bytes, "%s needs a number from %lld to %lld, not %.60s", option, least, most, text);
        return false;
    }
    *number = value;
    return true;
}

// A result repeats the text.
static bool parse_secret(const char *text, char *why, size_t why_bytes) {
    const size_t length = strlen(text);
    bool is_plain = length >= 16 && length <= 128;
    for (size_t i = 0; i < length; i++) is_plain = is_plain && text[i] > ' ' && text[i] < 127;
    if (!is_plain)
        snprintf(why, why_bytes, "--secret needs 16 to 128 letters, digits or signs without spaces");
    return is_plain;
}

static bool parse_device(const char *text, GpuKind *device, char *why, size_t why_bytes) {
    const char *const words[] = {[GPU_AUTO] = "auto", [GPU_EMULATOR] = "emulator", [GPU_NVIDIA] = "gpu"};
    for (int i = 0; i < 3; i++) {
        if (strcmp(text, words[i]) != 0) continue;
        *device = (GpuKind)i;
        return true;
    }
    snprintf(why, why_bytes, "--device needs auto, emulator or gpu, not \"%.60s\"", text);
    return false;
}

// "1024,4096,65536x2048,512x512x512" (the last of a matrix product, its depth at the end), of which there may
// be `most`.
static bool parse_sizes(const char *option, const char *text, CaseSize *sizes, int most, int *count,
                        char *why, size_t why_bytes) {
    *count = 0;
    for (const char *at = text;; at++) {
        CaseSize size = {0};
        char *end;
        errno = 0;
        size.n = strtoll(at, &end, 10);
        bool is_size = *at >= '0' && *at <= '9';
        if (is_size && *end == 'x') {
            size.rows = size.n;
            at = end + 1;
            is_size = *at >= '0' && *at <= '9';
            size.columns = strtoll(at, &end, 10);
            is_size = is_size && size.rows > 0 && size.columns > 0 && size.columns <= largest_n / size.rows;
            size.n = is_size ? size.rows * size.columns : 0;
        }
        if (is_size && size.rows > 0 && *end == 'x') {
            at = end + 1;
            is_size = *at >= '0' && *at <= '9';
            size.depth = strtoll(at, &end, 10);
            is_size = is_size && size.depth > 0 && size.depth <= largest_n / size.rows &&
                      size.depth <= largest_n / size.columns;
        }
        if (!is_size || errno == ERANGE || size.n > largest_n || (*end && *end != ',')) {
            snprintf(why, why_bytes,
                     "%s needs sizes separated by commas, such as 1024,1048576 or 65536x2048, not \"%.60s\"",
                     option, text);
            return false;
        }
        if (*count == most) {
            snprintf(why, why_bytes, "%s takes at most %d sizes", option, most);
            return false;
        }
        sizes[(*count)++] = size;
        if (!*end) return true;
        at = end;
    }
}

bool options_parse(int count, char **arguments, Options *options, char *why, size_t why_bytes) {
    *options = (Options){.device = GPU_AUTO, .n = -1, .schedules = -1, .secret = "", .repair_work = 3200};
    for (int i = 1; i < count; i++) {
        const char *name = arguments[i];
        char option[32];
        const char *value = NULL;
        // Both `--n 4` and `--n=4`.
        const char *equals = strncmp(name, "--", 2) == 0 ? strchr(name, '=') : NULL;
        snprintf(option, sizeof option, "%.*s", equals ? (int)(equals - name) : 31, name);
        if (equals) value = equals + 1;

        bool *flag = strcmp(option, "--profile") == 0                             ? &options->is_profile
                     : strcmp(option, "--ptx") == 0                               ? &options->wants_ptx
                     : strcmp(option, "--sass") == 0                              ? &options->wants_sass
                     : strcmp(option, "--quiet") == 0                             ? &options->is_quiet
                     : strcmp(option, "--help") == 0 || strcmp(option, "-h") == 0 ? &options->is_help
                                                                                  : NULL;
        if (flag) {
            if (value) {
                snprintf(why, why_bytes, "%s takes no value", option);
                return false;
            }
            *flag = true;
            continue;
        }
        static const char *const with_value[] = {
            "--device",    "--gpu",        "--kernel", "--n",      "--seed",        "--secret",
            "--schedules", "--schedule",   "--json",   "--time",   "--against",     "--also",
            "--trace",     "--trace-only", "--repair", "--format", "--write-cases", "--outcomes"};
        bool is_known = false;
        for (size_t k = 0; k < sizeof with_value / sizeof with_value[0]; k++)
            is_known = is_known || strcmp(option, with_value[k]) == 0;
        if (!is_known) {
            snprintf(why, why_bytes, "there is no option \"%.60s\"", name);
            return false;
        }
        if (!value) value = i + 1 < count ? arguments[++i] : NULL;
        if (!value) {
            snprintf(why, why_bytes, "%s wants a value", option);
            return false;
        }
        long long number = 0;
        bool fine = true;
        if (strcmp(option, "--device") == 0) {
            fine = parse_device(value, &options->device, why, why_bytes);
        } else if (strcmp(option, "--gpu") == 0) {
            if (!*value) {
                snprintf(why, why_bytes, "--gpu needs the name of a device");
                return false;
            }
            if (!gpu_profile_find(value) || strlen(value) >= sizeof options->profile) {
                gpu_profile_refuse(value, why, why_bytes);
                return false;
            }
            snprintf(options->profile, sizeof options->profile, "%s", value);
        } else if (strcmp(option, "--kernel") == 0) {
            options->kernel_file = value;
        } else if (strcmp(option, "--json") == 0) {
            options->json_file = value;
        } else if (strcmp(option, "--trace") == 0 || strcmp(option, "--trace-only") == 0) {
            options->trace_file = value;
            options->is_trace_only = strcmp(option, "--trace-only") == 0;
        } else if (strcmp(option, "--write-cases") == 0) {
            options->cases_folder = value;
        } else if (strcmp(option, "--outcomes") == 0) {
            options->outcomes_file = value;
        } else if (strcmp(option, "--against") == 0) {
            options->against_file = value;
        } else if (strcmp(option, "--time") == 0) {
            fine =
                parse_sizes(option, value, options->times, MAX_TIMES, &options->time_count, why, why_bytes);
        } else if (strcmp(option, "--also") == 0) {
            fine = parse_sizes(option, value, options->also, MAX_ALSO, &options->also_count, why, why_bytes);
        } else if (strcmp(option, "--n") == 0) {
            fine = parse_number(option, value, 0, largest_n, &options->n, why, why_bytes);
        } else if (strcmp(option, "--seed") == 0) {
            fine = parse_number(option, value, 0, 1LL << 53, &number, why, why_bytes);
            options->seed = (uint64_t)number;
            options->has_seed = true;
        } else if (strcmp(option, "--secret") == 0) {
            fine = parse_secret(value, why, why_bytes);
            options->secret = value;
        } else if (strcmp(option, "--schedules") == 0) {
            fine = parse_number(option, value, 0, 1000, &number, why, why_bytes);
            options->schedules = (int)number;
        } else if (strcmp(option, "--format") == 0) {
            options->is_for_editors = strcmp(value, "gcc") == 0;
            fine = options->is_for_editors || strcmp(value, "page") == 0;
            if (!fine) snprintf(why, why_bytes, "--format is page or gcc, not \"%.60s\"", value);
        } else if (strcmp(option, "--repair") == 0) {
            fine = parse_number(option, value, 0, 60000, &number, why, why_bytes);
            options->repair_work = (int)number;
        } else {
            fine = parse_number(option, value, 0, INT64_MAX, &number, why, why_bytes);
            options->schedule = (uint64_t)number;
            options->has_schedule = true;
        }
        if (!fine) return false;
    }
    return true;
}

void options_print_help(const char *name) {
    printf("%s%s runs chapter %s: it builds, checks and counts kernel.cu.\n"
           "\n"
           "  --device WHERE   auto, emulator or gpu; auto takes a GPU when one answers\n"
           "  --gpu PROFILE    the device that the emulator imitates, such as H200 or L4\n"
           "  --kernel FILE    another kernel.cu, or an image: .ptx, on a GPU also .cubin\n"
           "  --n N            only this number of elements\n"
           "  --also SIZES     these too, besides the chapter's own, as 1000 or 5,64x2048\n"
           "  --seed S         the inputs of a failure, which names their seed\n"
           "  --secret TEXT    inputs, schedules and sizes that nobody can foresee\n"
           "                   without the text\n"
           "  --schedules N    how many schedules besides the plain one\n"
           "  --schedule SEED  only this schedule, as a failure names it\n"
           "  --repair WORK    how long to look for a change that repairs a failing\n"
           "                   kernel, in units of about half a millisecond: 3,200 if\n"
           "                   not given; 0: not at all\n"
           "  --time SIZES     time these sizes only, as 1024,65536 or 64x2048\n"
           "  --against FILE   compare with this kernel.cu or image, not the reference\n"
           "  --profile        counters beside every source line, and what a CPU takes\n"
           "  --ptx            each source line with its PTX and what it does; no verdict\n"
           "  --sass           the same with the machine code that ptxas makes; both\n"
           "                   together where both are given\n"
           "  --json FILE      write the result as JSON (docs/result.schema.json)\n"
           "  --trace FILE     write what the first warps do at a small size, access by\n"
           "                   access, as JSON (docs/trace.schema.json)\n"
           "  --trace-only FILE  that and nothing else: no verdict, no page\n"
           "  --format gcc     for editors: a line path:line:column: error: text for each\n"
           "                   place, and none for a kernel that passes\n"
           "  --quiet          the verdict alone\n"
           "  --help           this text\n"
           "\n"
           "Exit status: 0 passed, 1 not passed, 2 wrong usage, 3 the machine's fault.\n",
           command_run(), name, name);
}
