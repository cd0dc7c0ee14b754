// The functions that device code calls and nobody defines: vprintf, __assertfail, malloc and free, and
// cudaGraphSetConditional.
#include "emulator/machine/syscall.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emulator/machine/child.h"
#include "emulator/machine/findings.h"
#include "emulator/machine/heap.h"
#include "emulator/machine/resolve.h"
#include "emulator/machine/undefined.h"

enum { DEFAULT_OUTPUT = 64 << 10, MAX_STRING = 4096 };

static uint64_t argument(const Fragment *f, const CallDetail *detail, int k, unsigned lane) {
    uint64_t value = 0;
    if (k >= detail->argument_count) return 0;
    uint32_t bytes = detail->arguments[k].bytes;
    memcpy(&value, f->frame->registers + detail->arguments[k].offset + (size_t)lane * bytes,
           bytes < 8 ? bytes : 8);
    return value;
}

static bool read(Machine *m, const Warp *w, int lane, const Instruction *in, uint64_t address, void *to,
                 size_t bytes) {
    const Memory *memory;
    uint64_t offset;
    const unsigned char *from = generic_bytes(m, w, lane, address, bytes, &memory, &offset);
    if (!from) return false;
    memcpy(to, from, bytes);
    undefined_printed(m, w, lane, in, memory, offset, bytes);
    return true;
}

// A NUL-terminated string of device memory; false when it runs out of bounds or is too long.
static bool read_string(Machine *m, const Warp *w, int lane, const Instruction *in, uint64_t address,
                        char text[MAX_STRING]) {
    for (size_t i = 0; i < MAX_STRING; i++) {
        if (!read(m, w, lane, in, address + i, &text[i], 1)) return false;
        if (!text[i]) return true;
    }
    return false;
}

static bool put(Machine *m, const Warp *w, int lane, const Instruction *in, const char *text, size_t bytes) {
    EmulatorResult *result = m->result;
    size_t limit = m->launch->max_output ? m->launch->max_output : DEFAULT_OUTPUT;
    if (result->output_bytes + bytes > limit) {
        report(m, FINDING_OUTPUT_LIMIT, w, lane, in,
               "prints, and with that the kernel has printed more than %zu bytes", limit);
        return false;
    }
    if (result->output_bytes + bytes + 1 > m->output_capacity) {
        size_t capacity = (result->output_bytes + bytes + 1) * 2;
        char *grown = realloc(result->output, capacity);
        if (!grown) {
            m->out_of_memory = m->stopped = true;
            return false;
        }
        result->output = grown;
        m->output_capacity = capacity;
    }
    memcpy(result->output + result->output_bytes, text, bytes);
    result->output_bytes += bytes;
    result->output[result->output_bytes] = 0;
    return true;
}

// One conversion, "%-8.3f": `spec` is its text without length modifiers. Arguments lie one after the
// other, each at a multiple of its size (CUDA C++ Programming Guide, formatted output).
typedef struct {
    const Instruction *in;
    uint64_t list, offset;
    bool is_bad;
    Printed printed;
} Arguments;

static uint64_t next_argument(Machine *m, const Warp *w, int lane, Arguments *a, unsigned bytes) {
    uint64_t value = 0;
    a->offset = (a->offset + bytes - 1) / bytes * bytes;
    if (!read(m, w, lane, a->in, a->list + a->offset, &value, bytes)) a->is_bad = true;
    a->offset += bytes;
    a->printed.arguments++;
    a->printed.wide_arguments += bytes == 8;
    return value;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored                                                                               \
    "-Wformat-nonliteral" // the format is built here, from a fixed set of conversions
static int convert(Machine *m, const Warp *w, int lane, Arguments *a, const char *spec, char kind,
                   bool is_long, char *out, size_t room) {
    char format[80], text[MAX_STRING];
    switch (kind) {
    case 'd':
    case 'i': {
        uint64_t raw = next_argument(m, w, lane, a, is_long ? 8 : 4);
        snprintf(format, sizeof format, "%sll%c", spec, kind);
        return snprintf(out, room, format, is_long ? (long long)raw : (long long)(int32_t)raw);
    }
    case 'u':
    case 'x':
    case 'X':
    case 'o': {
        uint64_t raw = next_argument(m, w, lane, a, is_long ? 8 : 4);
        snprintf(format, sizeof format, "%sll%c", spec, kind);
        return snprintf(out, room, format, (unsigned long long)raw);
    }
    case 'c':
        snprintf(format, sizeof format, "%sc", spec);
        return snprintf(out, room, format, (int)(next_argument(m, w, lane, a, 4) & 255));
    case 'p': return snprintf(out, room, "0x%llx", (unsigned long long)next_argument(m, w, lane, a, 8));
    case 's':
        if (!read_string(m, w, lane, a->in, next_argument(m, w, lane, a, 8), text)) {
            a->is_bad = true;
            return 0;
        }
        a->printed.strings++;
        a->printed.string_bytes += (uint32_t)strlen(text);
        snprintf(format, sizeof format, "%ss", spec);
        return snprintf(out, room, format, text);
    default: {
        uint64_t raw = next_argument(m, w, lane, a, 8);
        double value;
        memcpy(&value, &raw, 8);
        snprintf(format, sizeof format, "%s%c", spec, kind);
        return snprintf(out, room, format, value);
    }
    }
}
#pragma GCC diagnostic pop

// Flags, width and precision, from `q` to behind them, appended to `spec`; "*" takes an argument. No field is
// wider than the longest text that is printed.
static const char *read_spec(Machine *m, const Warp *w, int lane, Arguments *a, const char *q,
                             char spec[64]) {
    size_t used = 1;
    while (*q && strchr("-+ #0", *q)) {
        if (used < 16) spec[used++] = *q;
        q++;
    }
    for (int part = 0; part < 2; part++) { // width, then precision
        if (part && *q != '.') break;
        if (part) spec[used++] = *q++;
        int64_t number = 0;
        bool any = false;
        if (*q == '*') {
            number = (int32_t)next_argument(m, w, lane, a, 4);
            any = true;
            q++;
        } else
            for (; *q >= '0' && *q <= '9'; q++, any = true)
                number = number < MAX_STRING ? number * 10 + (*q - '0') : number;
        if (number > MAX_STRING) number = MAX_STRING;
        if (number < -MAX_STRING) number = -MAX_STRING;
        if (any && (!part || number >= 0))
            used += (size_t)snprintf(spec + used, 64 - used, "%lld", (long long)number);
        else if (part && any)
            used--; // a negative precision counts as none
    }
    spec[used] = 0;
    return q;
}

static uint32_t greater(uint32_t a, uint32_t b) { return a > b ? a : b; }

static void print_lane(Machine *m, const Warp *w, unsigned lane, const Instruction *in,
                       uint64_t format_address, uint64_t list, Printed *printed) {
    char format[MAX_STRING], out[2 * MAX_STRING];
    Arguments arguments = {.in = in, .list = list};
    if (!read_string(m, w, (int)lane, in, format_address, format)) {
        report(m, FINDING_OUT_OF_BOUNDS, w, (int)lane, in,
               "calls printf with a format at 0x%llx that cannot be read",
               (unsigned long long)format_address);
        return;
    }
    for (const char *p = format; *p && !m->stopped;) {
        size_t plain = strcspn(p, "%");
        if (plain && !put(m, w, (int)lane, in, p, plain)) return;
        p += plain;
        if (!*p) break;
        if (p[1] == '%') {
            if (!put(m, w, (int)lane, in, "%", 1)) return;
            p += 2;
            continue;
        }
        char spec[64] = "%";
        const char *q = read_spec(m, w, (int)lane, &arguments, p + 1, spec);
        bool is_long = false;
        while (*q && strchr("hlLqjzt", *q)) is_long |= *q++ != 'h';
        if (!*q || !strchr("diuxXocpsfFeEgGaA", *q)) { // not a conversion: printed unchanged
            if (!put(m, w, (int)lane, in, p, (size_t)(q - p) + (*q != 0))) return;
            p = *q ? q + 1 : q;
            continue;
        }
        // Widths are bounded by the room: a longer text is cut.
        int length = convert(m, w, (int)lane, &arguments, spec, *q, is_long, out, sizeof out);
        if (arguments.is_bad) {
            report(m, FINDING_OUT_OF_BOUNDS, w, (int)lane, in,
                   "calls printf with an argument that cannot be read");
            return;
        }
        if (length > 0 &&
            !put(m, w, (int)lane, in, out, (size_t)length < sizeof out ? (size_t)length : sizeof out - 1))
            return;
        p = q + 1;
    }
    const Printed *lanes = &arguments.printed;
    *printed = (Printed){.format_bytes = greater(printed->format_bytes, (uint32_t)strlen(format)),
                         .strings = greater(printed->strings, lanes->strings),
                         .string_bytes = greater(printed->string_bytes, lanes->string_bytes),
                         .arguments = greater(printed->arguments, lanes->arguments),
                         .wide_arguments = greater(printed->wide_arguments, lanes->wide_arguments)};
}

// vprintf(format, arguments)
static void print(Machine *m, const Warp *w, const Fragment *f, const Instruction *in, uint32_t mask) {
    const CallDetail *detail = in->detail;
    Printed printed = {0};
    FOR_LANES(lane, mask) {
        print_lane(m, w, lane, in, argument(f, detail, 0, lane), argument(f, detail, 1, lane), &printed);
        if (m->stopped) return;
        const int32_t result = 0;
        if (detail->result_count == 1 && detail->results[0].bytes == 4)
            memcpy(f->frame->registers + detail->results[0].offset + (size_t)lane * 4, &result, 4);
    }
    for (int i = 0; i < m->observer_count; i++)
        if (m->observers[i].printed) m->observers[i].printed(m->observers[i].self, in, mask, &printed);
}

// void *malloc(size_t) and void free(void *)
static void allocate(Machine *m, const Warp *w, Fragment *f, const Instruction *in, uint32_t mask) {
    const CallDetail *detail = in->detail;
    FOR_LANES(lane, mask) {
        const uint64_t given = argument(f, detail, 0, lane);
        if (detail->syscall == SYSCALL_FREE) {
            heap_release(m, w, (int)lane, in, given);
            if (m->stopped) return;
            continue;
        }
        const uint64_t address = heap_malloc(m, in, given);
        if (detail->result_count == 1 && detail->results[0].bytes == 8)
            memcpy(f->frame->registers + detail->results[0].offset + (size_t)lane * 8, &address, 8);
    }
}

// cudaGraphSetConditional(handle, value)
static void set_condition(Machine *m, const Warp *w, const Fragment *f, const Instruction *in,
                          uint32_t mask) {
    const EmulatorLaunch *launch = m->launch;
    if (!launch->condition) {
        report(m, FINDING_UNSUPPORTED, w, __builtin_ctz(mask), in,
               "reached code that the emulator cannot run: conditions of graphs are not supported here");
        return;
    }
    FOR_LANES(lane, mask) {
        const uint64_t handle = argument(f, in->detail, 0, lane);
        if (launch->condition(launch->child_self, handle, (uint32_t)argument(f, in->detail, 1, lane)))
            continue;
        report(
            m, FINDING_BAD_CALL, w, (int)lane, in,
            "calls cudaGraphSetConditional with 0x%llx, which cudaGraphConditionalHandleCreate did not make",
            (unsigned long long)handle);
        return;
    }
}

void execute_syscall(Machine *m, Warp *w, Fragment *f, const Instruction *in, uint32_t mask) {
    const CallDetail *detail = in->detail;
    if (detail->syscall >= SYSCALL_PARAMETER_BUFFER) {
        execute_child_call(m, w, f, in, mask);
        return;
    }
    if (detail->syscall == SYSCALL_MALLOC || detail->syscall == SYSCALL_FREE) {
        allocate(m, w, f, in, mask);
        return;
    }
    if (detail->syscall == SYSCALL_SET_CONDITION) {
        set_condition(m, w, f, in, mask);
        return;
    }
    if (detail->syscall == SYSCALL_ASSERTFAIL) {
        // __assertfail(message, file, line, function, character size)
        uint32_t lane = (uint32_t)__builtin_ctz(mask);
        char message[MAX_STRING];
        if (!read_string(m, w, (int)lane, in, argument(f, detail, 0, lane), message))
            snprintf(message, sizeof message, "?");
        report(m, FINDING_ASSERT, w, (int)lane, in, "failed the assertion `%.200s`", message);
        return;
    }
    print(m, w, f, in, mask);
}
