#define _GNU_SOURCE // strsep, strndup
#include "driver/listing/listing.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/listing/meanings.h"
#include "emulator/ptx/ptx.h"
#include "support/mangle.h"

enum { LONGEST_INSTRUCTION = 400 };

void listing_begin(Listing *listing, const char *const *sources, int source_count, const char *hidden) {
    *listing = (Listing){.sources = sources, .source_count = source_count, .hidden = hidden};
}

void listing_free(Listing *listing) {
    for (int i = 0; i < listing->instruction_count; i++) free(listing->instructions[i].text);
    for (int i = 0; i < listing->function_count; i++) free(listing->functions[i]);
    free(listing->instructions);
    free(listing->functions);
    *listing = (Listing){0};
}

// The index of a source, or -1.
static int source_of(const Listing *listing, const char *name, size_t length) {
    for (int i = 0; i < listing->source_count; i++) {
        const char *source = listing->sources[i];
        const size_t bytes = strlen(source);
        if (bytes > length || memcmp(name + length - bytes, source, bytes) != 0) continue;
        if (bytes == length || name[length - bytes - 1] == '/') return i;
    }
    return -1;
}

// The index of a function, added where it is new; -1 of one that is hidden.
static int function_of(Listing *listing, const char *name, size_t length) {
    char symbol[512], source_name[256];
    snprintf(symbol, sizeof symbol, "%.*s", (int)length, name);
    symbol_source_name(symbol, source_name, sizeof source_name);
    if (listing->hidden && strncmp(source_name, listing->hidden, strlen(listing->hidden)) == 0) return -1;
    for (int i = 0; i < listing->function_count; i++)
        if (strlen(listing->functions[i]) == length && memcmp(listing->functions[i], name, length) == 0)
            return i;
    char **grown = realloc(listing->functions, (size_t)(listing->function_count + 1) * sizeof *grown);
    if (grown) listing->functions = grown;
    char *copy = grown ? strndup(name, length) : NULL;
    if (!copy) {
        listing->has_failed = true;
        return -1;
    }
    listing->functions[listing->function_count] = copy;
    return listing->function_count++;
}

// Adds an instruction; runs of spaces in its text become one.
static void add(Listing *listing, ListedInstruction one, const char *text, size_t length) {
    char clean[LONGEST_INSTRUCTION];
    size_t bytes = 0;
    for (size_t i = 0; i < length && bytes + 2 < sizeof clean; i++) {
        const bool is_space = isspace((unsigned char)text[i]);
        if (is_space && (bytes == 0 || clean[bytes - 1] == ' ')) continue;
        clean[bytes++] = is_space ? ' ' : text[i];
    }
    while (bytes > 0 && clean[bytes - 1] == ' ') bytes--;
    const int count = listing->instruction_count;
    if ((count & (count - 1)) == 0) { // a power of two, or none
        ListedInstruction *grown =
            realloc(listing->instructions, (size_t)(count ? 2 * count : 1) * sizeof *grown);
        if (!grown) {
            listing->has_failed = true;
            return;
        }
        listing->instructions = grown;
    }
    one.text = strndup(clean, bytes);
    if (!one.text) {
        listing->has_failed = true;
        return;
    }
    listing->instructions[listing->instruction_count++] = one;
}

// ---- PTX --------------------------------------------------------------------------------------------------

// Sets the place of an instruction: the innermost location in a source.
static void place_ptx(const Listing *listing, const PtxModule *module, int location, ListedInstruction *one) {
    for (; location >= 0; location = module->locations[location].inlined_at) {
        const PtxLocation *at = &module->locations[location];
        if (at->file < 0 || at->file >= module->file_count) continue;
        const char *name = module->files[at->file].name;
        const int source = source_of(listing, name, strlen(name));
        if (source < 0) continue;
        one->file = source;
        one->line = at->line > 0 ? at->line : 0;
        return;
    }
}

// Where a line of the text begins; lines are asked for in ascending order.
typedef struct {
    const char *at, *end;
    int line;
} TextLines;

static const char *line_at(TextLines *lines, int number) {
    while (lines->line < number) {
        const char *next = memchr(lines->at, '\n', (size_t)(lines->end - lines->at));
        if (!next) return lines->end;
        lines->at = next + 1;
        lines->line++;
    }
    return lines->at;
}

static void add_function(Listing *listing, const PtxModule *module, const PtxFunction *f) {
    const int function = function_of(listing, f->name, strlen(f->name));
    TextLines lines = {module->text, module->text + module->text_bytes, 1};
    for (int i = 0; i < f->instruction_count && function >= 0; i++) {
        const PtxInstruction *in = &f->instructions[i];
        ListedInstruction one = {.function = function, .place = in->line};
        place_ptx(listing, module, in->location, &one);
        const char *start = line_at(&lines, in->line);
        start += strspn(start, " \t{}");
        const char *stop = memchr(start, ';', (size_t)(lines.end - start));
        add(listing, one, start, (size_t)((stop ? stop : lines.end) - start));
    }
}

bool listing_add_ptx(Listing *listing, const char *text, size_t bytes, char *why, size_t why_bytes) {
    EmulatorError error = {0};
    PtxModule *module = ptx_parse(text, bytes, "the PTX", &error);
    if (!module) {
        snprintf(why, why_bytes, "%.*s", (int)(why_bytes - 1), error.message);
        return false;
    }
    for (int i = 0; i < module->function_count; i++)
        if (module->functions[i]->has_body) add_function(listing, module, module->functions[i]);
    ptx_free(module);
    return true;
}

// ---- Machine code -----------------------------------------------------------------------------------------

// `//## File "kernel.cu", line 21 inlined at ...`: the place, where it is in a source.
static bool read_place(const Listing *listing, const char *line, ListedInstruction *now) {
    const char *name = strchr(line, '"');
    const char *end = name ? strchr(name + 1, '"') : NULL;
    int number = 0;
    if (!end || sscanf(end, "\", line %d", &number) != 1) return false;
    const int source = source_of(listing, name + 1, (size_t)(end - name - 1));
    if (source < 0) return false;
    now->file = source;
    now->line = number;
    return true;
}

void listing_add_machine_code(Listing *listing, const char *text) {
    ListedInstruction now = {.function = -1, .is_machine = true};
    bool is_in_places = false, has_place = false;
    for (const char *at = text, *next; *at; at = next) {
        const size_t length = strcspn(at, "\n");
        next = at + length + (at[length] == '\n');
        const char *word = at + strspn(at, " \t");
        // Places of one instruction come in consecutive lines, the innermost first.
        if (strncmp(word, "//## File", 9) == 0) {
            if (!is_in_places) {
                has_place = false;
                now.file = now.line = 0;
            }
            has_place = has_place || read_place(listing, word, &now);
            is_in_places = true;
            continue;
        }
        is_in_places = false;
        if (strncmp(at, ".text.", 6) == 0 && length > 7 && at[length - 1] == ':') {
            now.function = function_of(listing, at + 6, length - 7);
            now.file = now.line = 0;
            continue;
        }
        unsigned offset;
        int read = 0;
        if (sscanf(word, "/*%x*/%n", &offset, &read) != 1 || read == 0 || now.function < 0) continue;
        const char *start = word + read;
        const size_t bytes = strcspn(start, ";\n");
        const char *mnemonic = start + strspn(start, " \t");
        if (strncmp(mnemonic, "NOP", 3) == 0) continue; // fills up the last line of code
        now.place = (int)offset;
        add(listing, now, start, bytes);
    }
}

// ---- The whole --------------------------------------------------------------------------------------------

static int compare(const void *a, const void *b) {
    const ListedInstruction *x = a, *y = b;
    const int keys[][2] = {
        {x->function, y->function}, {x->line == 0, y->line == 0}, // what is of no line comes last
        {x->file, y->file},         {x->line, y->line},           {x->is_machine, y->is_machine},
        {x->place, y->place}};
    for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++)
        if (keys[k][0] != keys[k][1]) return keys[k][0] < keys[k][1] ? -1 : 1;
    return 0;
}

void listing_end(Listing *listing) {
    if (listing->instruction_count > 0)
        qsort(listing->instructions, (size_t)listing->instruction_count, sizeof *listing->instructions,
              compare);
}

static void add_kind(JsonWriter *json, const ListedInstruction *first, int count, bool is_machine) {
    json_open_array(json, is_machine ? "sass" : "ptx");
    for (const ListedInstruction *one = first; one < first + count; one++) {
        if (one->is_machine != is_machine) continue;
        Text words = {0};
        (is_machine ? meaning_of_machine_code : meaning_of_ptx)(one->text, &words);
        json_open_object(json, NULL);
        json_integer(json, is_machine ? "offset" : "line", one->place);
        json_string(json, "text", one->text);
        json_string(json, "meaning", text_chars(&words));
        json_close_object(json);
        text_free(&words);
    }
    json_close_array(json);
}

void listing_add_json(JsonWriter *json, const Listing *listing) {
    json_open_array(json, "functions");
    const ListedInstruction *all = listing->instructions;
    for (int i = 0, of = 0; i < listing->instruction_count; i = of) {
        json_open_object(json, NULL);
        json_string(json, "name", listing->functions[all[i].function]);
        json_open_array(json, "lines");
        for (of = i; of < listing->instruction_count && all[of].function == all[i].function;) {
            int count = 1;
            while (of + count < listing->instruction_count && all[of + count].function == all[of].function &&
                   all[of + count].file == all[of].file && all[of + count].line == all[of].line)
                count++;
            json_open_object(json, NULL);
            json_string(json, "file", all[of].line > 0 ? listing->sources[all[of].file] : "");
            json_integer(json, "line", all[of].line);
            add_kind(json, &all[of], count, false);
            add_kind(json, &all[of], count, true);
            json_close_object(json);
            of += count;
        }
        json_close_array(json);
        json_close_object(json);
    }
    json_close_array(json);
}
