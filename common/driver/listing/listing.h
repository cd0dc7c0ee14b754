// A kernel's instructions beside the lines of its source: the PTX that the compiler wrote, and the machine
// code (SASS) that ptxas generated from it, as nvdisasm prints it.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "support/json.h"

typedef struct {
    int function; // index in Listing.functions
    int file;     // index in Listing.sources
    int line;     // of that source; 0: of no line of a source, such as code of a header
    int place;    // of PTX its line in the text, of machine code its offset in bytes
    bool is_machine;
    char *text; // "@P0 LDG.E R4, desc[UR4][R2.64]"
} ListedInstruction;

typedef struct {
    const char *const
        *sources; // whose lines are listed; where code was inlined, the innermost of them counts
    int source_count;
    char **functions; // names as in the PTX
    int function_count;
    ListedInstruction *instructions; // in the order of their functions, sources, lines, PTX first, and places
    int instruction_count;
    const char *hidden; // functions whose names in the source begin so are left out: "launch_"; NULL: none
    bool has_failed;    // memory ran out
} Listing;

// Starts a listing for sources whose names are as in the PTX, or its last folders and name. The names must
// stay valid. Release with listing_free().
void listing_begin(Listing *listing, const char *const *sources, int source_count, const char *hidden);
// Adds the functions of a PTX text. False, with the reason in `why`, where it cannot be parsed.
bool listing_add_ptx(Listing *listing, const char *text, size_t bytes, char *why, size_t why_bytes);
// Adds what `nvdisasm -gi -c` printed.
void listing_add_machine_code(Listing *listing, const char *text);
// Sorts; call it after the last addition.
void listing_end(Listing *listing);
void listing_free(Listing *listing);

// Adds "functions", an array of objects {name, lines: [{file, line, ptx: [...], sass: [...]}]}, to the open
// object.
void listing_add_json(JsonWriter *json, const Listing *listing);
