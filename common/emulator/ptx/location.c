// .file and .loc: where in the source an instruction comes from.
//
// A location is kept once however often .loc names it. The chain of inlined_at is rebuilt as nvcc means
// it: `inlined_at F L C` names a place, and where the latest .loc at that place was itself inlined, the
// code was inlined into inlined code and the chain continues there. nvcc repeats the .loc of every link
// in each function, so only those of the current function count.
#include <limits.h>
#include <string.h>

#include "emulator/ptx/parser.h"

static uint64_t mixed(uint64_t hash, int value) {
    hash = (hash ^ (uint64_t)(uint32_t)value) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 32;
}

// ---- Files ------------------------------------------------------------------------------------------------

// The position in p->file_numbers of that file, made where it is new; -1 when memory runs out.
static int file_position(Parser *p, int number, const Token *at) {
    const FileNumber *known = p->file_numbers.items;
    if (p->file_numbers.count * 2 >= p->file_slot_count) {
        size_t larger = p->file_slot_count ? p->file_slot_count * 2 : 32;
        int *slots = parser_alloc(p, larger, sizeof *slots);
        if (!slots) return -1;
        for (size_t i = p->first_file_number; i < p->file_numbers.count; i++) {
            size_t slot = mixed(0, known[i].number) & (larger - 1);
            while (slots[slot]) slot = (slot + 1) & (larger - 1);
            slots[slot] = (int)i + 1;
        }
        p->file_slots = slots;
        p->file_slot_count = larger;
    }
    size_t slot = mixed(0, number) & (p->file_slot_count - 1);
    for (; p->file_slots[slot]; slot = (slot + 1) & (p->file_slot_count - 1))
        if (known[p->file_slots[slot] - 1].number == number) return p->file_slots[slot] - 1;
    FileNumber *fresh = parser_append(p, &p->file_numbers, sizeof *fresh);
    if (!fresh) return -1;
    *fresh = (FileNumber){.number = number, .index = -1, .line = at->line, .column = at->column};
    p->file_slots[slot] = (int)p->file_numbers.count;
    return (int)p->file_numbers.count - 1;
}

bool parse_file(Parser *p) {
    Token at = p->token;
    int number, unused;
    if (!parser_number(p, &number, "the number of .file")) return false;
    if (p->token.kind != TOKEN_STRING) return parser_expected(p, "the name of .file in quotes");
    const char *name = lexer_unescape(&p->token, p->arena);
    if (!name) return parser_no_memory(p);
    parser_advance(p);
    // ".file 1 "name", timestamp, size"
    while (parser_accept(p, ','))
        if (p->token.kind == TOKEN_INTEGER)
            parser_advance(p);
        else if (!parser_number(p, &unused, "a number"))
            return false;

    int position = file_position(p, number, &at);
    if (position < 0) return false;
    FileNumber *file = (FileNumber *)p->file_numbers.items + position;
    if (file->index >= 0) {
        const char *first = ((PtxFile *)p->files.items)[file->index].name;
        return strcmp(first, name) == 0 ||
               parser_fail(p, &at, ".file %d is declared twice, with two names", number);
    }
    PtxFile *fresh = parser_append(p, &p->files, sizeof *fresh);
    if (!fresh) return false;
    *fresh = (PtxFile){.number = number, .name = name};
    file->index = (int)p->files.count - 1;
    return true;
}

// ---- Locations --------------------------------------------------------------------------------------------

static uint64_t place_hash(const PtxLocation *place) {
    return mixed(mixed(mixed(0, place->file), place->line), place->column);
}

static bool same_place(const PtxLocation *a, const PtxLocation *b) {
    return a->file == b->file && a->line == b->line && a->column == b->column;
}

// The slot of an equal location (place and inlined_at), or the free one where it belongs.
static int *location_slot(const Parser *p, const PtxLocation *wanted) {
    const PtxLocation *locations = p->locations.items;
    size_t mask = p->location_slot_count - 1, slot = mixed(place_hash(wanted), wanted->inlined_at) & mask;
    for (; p->location_slots[slot]; slot = (slot + 1) & mask) {
        const PtxLocation *found = &locations[p->location_slots[slot] - 1];
        if (same_place(found, wanted) && found->inlined_at == wanted->inlined_at) break;
    }
    return &p->location_slots[slot];
}

// The slot of the latest inlined location at that place, or the free one where it belongs.
static int *inlined_slot(const Parser *p, const PtxLocation *place) {
    const PtxLocation *locations = p->locations.items;
    size_t mask = p->location_slot_count - 1, slot = place_hash(place) & mask;
    while (p->inlined_slots[slot] && !same_place(&locations[p->inlined_slots[slot] - 1], place))
        slot = (slot + 1) & mask;
    return &p->inlined_slots[slot];
}

static bool grow_slots(Parser *p) {
    if (p->locations.count * 2 < p->location_slot_count) return true;
    int *inlined = p->inlined_slots;
    size_t old = p->location_slot_count;
    p->location_slot_count = old ? old * 2 : 256;
    p->location_slots = parser_alloc(p, p->location_slot_count, sizeof(int));
    p->inlined_slots = parser_alloc(p, p->location_slot_count, sizeof(int));
    if (!p->location_slots || !p->inlined_slots) return false;
    const PtxLocation *locations = p->locations.items;
    for (size_t i = 0; i < p->locations.count; i++) *location_slot(p, &locations[i]) = (int)i + 1;
    for (size_t i = 0; i < old; i++)
        if (inlined[i]) *inlined_slot(p, &locations[inlined[i] - 1]) = inlined[i];
    return true;
}

static InlineChain *chain_of(const Parser *p, int location) {
    return (InlineChain *)p->chains.items + location;
}

// The index of that location, made where it is new; -1 when memory runs out.
static int location_index(Parser *p, const PtxLocation *wanted) {
    if (!grow_slots(p)) return -1;
    int *slot = location_slot(p, wanted);
    if (!*slot) {
        PtxLocation *fresh = parser_append(p, &p->locations, sizeof *fresh);
        InlineChain *chain = parser_append(p, &p->chains, sizeof *chain);
        if (!fresh || !chain) return -1;
        *fresh = *wanted;
        if (wanted->inlined_at >= 0) chain->depth = chain_of(p, wanted->inlined_at)->depth + 1;
        *slot = (int)p->locations.count;
    }
    int index = *slot - 1;
    if (wanted->inlined_at >= 0) {
        *inlined_slot(p, wanted) = index + 1;
        chain_of(p, index)->function = p->function_serial;
    }
    return index;
}

static bool parse_place(Parser *p, PtxLocation *place) {
    Token at = p->token;
    int number;
    if (!parser_number(p, &number, "a file number") || !parser_number(p, &place->line, "a line number") ||
        !parser_number(p, &place->column, "a column number"))
        return false;
    place->inlined_at = -1;
    place->file = file_position(p, number, &at); // becomes an index into PtxModule.files at the end
    return place->file >= 0;
}

// The location that code at `own`, of the function that `function_name` stands for, was inlined at, of
// which only the place is told. Returns -1 when memory runs out.
static int caller_index(Parser *p, const PtxLocation *own, const Name *function_name,
                        const PtxLocation *caller) {
    int latest = p->location_slot_count ? *inlined_slot(p, caller) - 1 : -1;
    if (latest < 0 || chain_of(p, latest)->function != p->function_serial) return location_index(p, caller);
    const PtxLocation *locations = p->locations.items;
    // A template that calls itself is inlined at its own place, level after level. The function's name
    // tells a return to a level seen before from one level more.
    if (same_place(own, caller))
        for (int i = latest; i >= 0 && same_place(&locations[i], own); i = locations[i].inlined_at)
            if (function_name && chain_of(p, i)->function_name == function_name)
                return locations[i].inlined_at;
    // The limit keeps chains short in text that no compiler wrote; what it leaves out is in the middle.
    return chain_of(p, latest)->depth < MAX_INLINE_DEPTH ? latest : locations[latest].inlined_at;
}

bool parse_loc(Parser *p) {
    PtxLocation place, caller;
    const Name *function_name = NULL;
    if (!parse_place(p, &place)) return false;
    while (parser_accept(p, ',')) {
        if (p->token.kind != TOKEN_NAME) return parser_expected(p, "function_name or inlined_at");
        if (strcmp(p->token.name->text, "function_name") == 0) {
            int64_t unused = 0;
            parser_advance(p);
            if (p->token.kind != TOKEN_NAME) return parser_expected(p, "the label of function_name");
            function_name = p->token.name;
            parser_advance(p);
            if (!parse_offset(p, &unused)) return false;
        } else if (strcmp(p->token.name->text, "inlined_at") == 0) {
            parser_advance(p);
            if (!parse_place(p, &caller)) return false;
            place.inlined_at = caller_index(p, &place, function_name, &caller);
            if (place.inlined_at < 0) return false;
        } else {
            return parser_expected(p, "function_name or inlined_at");
        }
    }
    p->location = location_index(p, &place);
    if (p->location >= 0) chain_of(p, p->location)->function_name = function_name;
    return p->location >= 0;
}

bool finish_locations(Parser *p) {
    const FileNumber *files = p->file_numbers.items;
    for (size_t i = p->first_file_number; i < p->file_numbers.count; i++)
        if (files[i].index < 0)
            return parser_fail_at(p, EMULATOR_BAD_PTX, files[i].line, files[i].column,
                                  "file %d is not declared; the text needs a line '.file %d \"name\"'",
                                  files[i].number, files[i].number);
    // The next text has its own numbers.
    p->first_file_number = p->file_numbers.count;
    if (p->file_slots) memset(p->file_slots, 0, p->file_slot_count * sizeof *p->file_slots);
    p->location = -1;
    return true;
}

void place_locations(Parser *p) {
    const FileNumber *files = p->file_numbers.items;
    PtxLocation *locations = p->locations.items;
    for (size_t i = 0; i < p->locations.count; i++) locations[i].file = files[locations[i].file].index;
    p->module->files = p->files.items;
    p->module->file_count = (int)p->files.count;
    p->module->locations = locations;
    p->module->location_count = (int)p->locations.count;
}
