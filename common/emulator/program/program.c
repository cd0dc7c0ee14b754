// What can be asked of a decoded program: source places, and the shared memory of a kernel.
#include "emulator/program/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emulator/arena.h"

void program_free(Program *program) {
    if (!program) return;
    arena_close(program->storage);
    free(program->storage);
    ptx_free(program->module);
    free(program);
}

// ---- Places -----------------------------------------------------------------------------------------------

static const char *file_at(const PtxModule *module, int index) {
    return index >= 0 && index < module->file_count ? module->files[index].name : "";
}

static bool is_main_file(const char *name) {
    size_t length = strlen(name);
    return length > 3 && !strcmp(name + length - 3, ".cu");
}

SourcePlace place_of(const Program *program, const Instruction *in) {
    SourcePlace place = {.ptx_line = in->ptx_line};
    const PtxModule *module = program->module;
    // Code inlined from a header is shown where the .cu file calls it. The bound stops on a hostile file
    // whose chain is a circle.
    int at = in->location, chosen = -1;
    for (int depth = 0; at >= 0 && at < module->location_count && depth < 256; depth++) {
        const PtxLocation *location = &module->locations[at];
        if (location->line > 0) {
            chosen = at;
            if (is_main_file(file_at(module, location->file))) break;
        }
        at = location->inlined_at;
    }
    if (chosen < 0) return place;
    const PtxLocation *location = &module->locations[chosen];
    snprintf(place.file, sizeof place.file, "%s", file_at(module, location->file));
    place.line = location->line;
    place.column = location->column;
    const int around = location->inlined_at;
    if (around >= 0 && around < module->location_count && module->locations[around].file == location->file)
        place.call = module->locations[around].line;
    return place;
}

// ---- Shared memory ----------------------------------------------------------------------------------------

bool uses_shared(const Program *program, const PtxFunction *entry, int place) {
    return program->shared_uses[(size_t)entry->index * (size_t)program->shared_count + (size_t)place];
}

size_t static_shared_bytes(const Program *program, const PtxFunction *entry) {
    uint64_t bytes = 0;
    for (int i = 0; i < program->shared_count; i++) {
        const PtxVariable *v = program->shared[i].variable;
        if (v->is_unsized || !uses_shared(program, entry, i)) continue;
        uint64_t align = v->align ? v->align : 1;
        bytes = (bytes + align - 1) / align * align + v->bytes;
    }
    return (size_t)bytes;
}
