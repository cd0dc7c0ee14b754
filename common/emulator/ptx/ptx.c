// The parts of ptx.h that need no parser: types, look-ups, and errors with a caret.
#include "emulator/ptx/ptx.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "emulator/ptx/parser.h"

// ---- Types ------------------------------------------------------------------------------------------------

static const struct {
    const char *name;
    unsigned bytes;
} types[] = {
    [PTX_NO_TYPE] = {"no type", 0}, [PTX_PRED] = {"pred", 0},   [PTX_B8] = {"b8", 1},
    [PTX_B16] = {"b16", 2},         [PTX_B32] = {"b32", 4},     [PTX_B64] = {"b64", 8},
    [PTX_B128] = {"b128", 16},      [PTX_U8] = {"u8", 1},       [PTX_U16] = {"u16", 2},
    [PTX_U32] = {"u32", 4},         [PTX_U64] = {"u64", 8},     [PTX_S8] = {"s8", 1},
    [PTX_S16] = {"s16", 2},         [PTX_S32] = {"s32", 4},     [PTX_S64] = {"s64", 8},
    [PTX_F16] = {"f16", 2},         [PTX_F16X2] = {"f16x2", 4}, [PTX_BF16] = {"bf16", 2},
    [PTX_BF16X2] = {"bf16x2", 4},   [PTX_F32] = {"f32", 4},     [PTX_F64] = {"f64", 8},
    [PTX_TF32] = {"tf32", 4},
};
enum { TYPE_COUNT = sizeof types / sizeof *types };

unsigned ptx_type_bytes(PtxType type) { return (unsigned)type < TYPE_COUNT ? types[type].bytes : 0; }

const char *ptx_type_name(PtxType type) {
    return types[(unsigned)type < TYPE_COUNT ? type : PTX_NO_TYPE].name;
}

PtxType ptx_type_named(const char *word) {
    for (int type = PTX_NO_TYPE + 1; type < TYPE_COUNT; type++)
        if (word[0] == types[type].name[0] && strcmp(word, types[type].name) == 0) return (PtxType)type;
    return PTX_NO_TYPE;
}

// ---- Instructions -----------------------------------------------------------------------------------------

bool ptx_has(const PtxInstruction *in, const char *modifier) {
    for (int i = 0; i < in->modifier_count; i++)
        if (strcmp(in->modifiers[i], modifier) == 0) return true;
    return false;
}

const PtxInstruction *ptx_at_line(const PtxFunction *f, int line) {
    int low = 0, high = f->instruction_count - 1;
    while (low <= high) {
        int middle = (low + high) / 2, at = f->instructions[middle].line;
        if (at == line) return &f->instructions[middle];
        if (at < line)
            low = middle + 1;
        else
            high = middle - 1;
    }
    return NULL;
}

PtxType ptx_type_from_end(const PtxInstruction *in, int position) {
    for (int i = in->modifier_count - 1; i >= 0; i--) {
        PtxType type = ptx_type_named(in->modifiers[i]);
        if (type != PTX_NO_TYPE && position-- == 0) return type;
    }
    return PTX_NO_TYPE;
}

// ---- Modules ----------------------------------------------------------------------------------------------

void ptx_free(PtxModule *module) {
    if (!module) return;
    PtxStorage *storage = module->storage;
    Arena arena = storage->arena; // the storage itself lies in its arena
    arena_close(&arena);
}

// ---- Errors -----------------------------------------------------------------------------------------------

enum {
    SHOWN_WIDTH = 100, // columns of the text line that an error shows
    SHOWN_BEFORE = 70, // of them at most this many before the error's column, where the line is cut
    TAB_STOP = 8,
};

// How byte `byte` is shown at display column `at`; returns its width. Nothing that a terminal acts on
// goes out as it is.
static int show_byte(unsigned char byte, int at, char shown[TAB_STOP + 1]) {
    if (byte == '\t') return snprintf(shown, TAB_STOP + 1, "%*s", TAB_STOP - at % TAB_STOP, "");
    if (byte < 32 || byte >= 127) return snprintf(shown, TAB_STOP + 1, "\\x%02x", (unsigned)byte);
    return snprintf(shown, TAB_STOP + 1, "%c", byte);
}

static const char *line_of(const PtxModule *module, int line, size_t *length) {
    const char *at = module->text, *end = module->text + module->text_bytes;
    for (int i = 1; i < line; i++) {
        at = memchr(at, '\n', (size_t)(end - at));
        if (!at) return NULL;
        at++;
    }
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    *length = (size_t)((stop ? stop : end) - at);
    if (*length && at[*length - 1] == '\r') --*length;
    return at;
}

// At most so many columns show_byte() needs.
static int widest(char c) { return c == '\t' ? TAB_STOP : c < 32 || c == 127 ? 4 : 1; }

// Writes "\nLINE\n   ^" to `out`.
static void show_line(char *out, size_t size, const char *line, size_t length, int column) {
    size_t at = column > 0 ? (size_t)column - 1 : 0;
    if (at > length) at = length;
    // The window of the line that is shown, bytes from `first` to `last`: all of it where that fits.
    size_t first = 0, last = 0;
    int columns = 0;
    while (last < length && columns + widest(line[last]) <= SHOWN_WIDTH) columns += widest(line[last++]);
    if (last < length) {
        columns = 0;
        for (first = at; first > 0 && columns + widest(line[first - 1]) <= SHOWN_BEFORE;)
            columns += widest(line[--first]);
        last = first;
        columns = 0;
        while (last < length && columns + widest(line[last]) <= SHOWN_WIDTH) columns += widest(line[last++]);
    }
    char text[SHOWN_WIDTH + TAB_STOP + 8], shown[TAB_STOP + 1];
    int width = 0, caret = -1;
    if (first > 0) width = snprintf(text, sizeof text, "...");
    for (size_t i = first; i < last; i++) {
        if (i == at) caret = width;
        int wide = show_byte((unsigned char)line[i], width, shown);
        memcpy(text + width, shown, (size_t)wide);
        width += wide;
    }
    text[width] = 0;
    snprintf(out, size, "\n%s%s\n%*s^", text, last < length ? "..." : "", caret < 0 ? width : caret, "");
}

void ptx_error_at(EmulatorError *error, EmulatorStatus status, const PtxModule *module, const char *name,
                  int line, int column, const char *format, ...) {
    if (!error) return;
    *error = (EmulatorError){.status = status, .line = line, .column = column};
    size_t size = sizeof error->message;
    int used = snprintf(error->message, size, "%.200s:%d:%d: ", name ? name : "PTX", line, column);
    va_list list;
    va_start(list, format);
    // A message of a thousand characters leaves room for the line and the caret.
    int more = vsnprintf(error->message + used, 1000, format, list);
    va_end(list);
    used += more < 0 ? 0 : more < 1000 ? more : 999;
    size_t length = 0;
    const char *text = module && module->text && line > 0 ? line_of(module, line, &length) : NULL;
    if (text) show_line(error->message + used, size - (size_t)used, text, length, column);
}
