#define _POSIX_C_SOURCE 200809L // strnlen
#include "emulator/observers/access_trace_json.h"

#include <stdlib.h>
#include <string.h>

#include "support/json.h"
#include "emulator/emulator_json.h"

enum { MAX_VARIABLES = 64, MAX_NAME_BYTES = 128 }; // of shared memory; programs have few, with short names

static bool is_access(TraceKind kind) { return kind <= TRACE_RED; }

static const char *space_word(PtxSpace space) {
    return space == PTX_SPACE_SHARED  ? "shared"
           : space == PTX_SPACE_LOCAL ? "local"
           : space == PTX_SPACE_CONST ? "const"
                                      : "global";
}

static const char *operation_word(const Instruction *in) {
    static const char *const shuffles[] = {"up", "down", "bfly", "idx"};
    static const char *const atomics[] = {"add", "and", "or",  "xor", "exch",
                                          "cas", "inc", "dec", "min", "max"};
    return in->kind == KIND_SHUFFLE  ? shuffles[in->operation]
           : in->kind == KIND_ATOMIC ? atomics[in->operation]
                                     : NULL;
}

// ---- The launch ------------------------------------------------------------------------------------------

static void add_launch(JsonWriter *json, const Machine *m, const EmulatorResult *result) {
    json_string(json, "symbol", m->kernel->info.name);
    triple_add_json(json, "grid", m->launch->grid);
    triple_add_json(json, "block", m->launch->block);
    json_integer(json, "registers", m->kernel->registers);
    json_unsigned(json, "static_shared_bytes", m->kernel->info.static_shared);
    json_unsigned(json, "dynamic_shared_bytes", m->launch->dynamic_shared);
    json_boolean(json, "completed", result->completed);
    counters_add_json(json, "counters", &result->counters);
    json_open_array(json, "findings");
    for (int i = 0; i < result->finding_count; i++) {
        json_open_object(json, NULL);
        finding_add_json(json, &result->findings[i]);
        json_close_object(json);
    }
    json_close_array(json);
    json_open_array(json, "shared_variables");
    for (int i = 0; i < m->shared_variable_count && i < MAX_VARIABLES; i++) {
        const char *name = m->shared_variables[i].name;
        json_open_object(json, NULL);
        json_string_bytes(json, "name", name, strnlen(name, MAX_NAME_BYTES));
        json_unsigned(json, "offset", m->shared_variables[i].offset);
        json_unsigned(json, "bytes", m->shared_variables[i].bytes);
        json_close_object(json);
    }
    json_close_array(json);
}

// ---- Tables ----------------------------------------------------------------------------------------------

// Rows without events, because their warps were left out, are not written: the index of each in the JSON.
typedef struct {
    uint32_t *instructions, *objects;
} Rows;

enum { UNUSED, USED };

static void rank(uint32_t *rows, size_t count) {
    uint32_t next = 0;
    for (size_t i = 0; i < count; i++) rows[i] = rows[i] == USED ? next++ : UINT32_MAX;
}

static void rows_free(Rows *rows) {
    free(rows->instructions);
    free(rows->objects);
}

static bool rows_find(const AccessTrace *t, Rows *rows) {
    rows->instructions = calloc(t->instruction_count + 1, sizeof *rows->instructions);
    rows->objects = calloc(t->object_count + 1, sizeof *rows->objects);
    if (!rows->instructions || !rows->objects) return false;
    for (size_t i = 0; i < t->event_count; i++) {
        const TraceEvent *event = &t->events[i];
        rows->instructions[event->at] = USED;
        if (is_access(t->instructions[event->at].kind)) rows->objects[event->object] = USED;
    }
    rank(rows->instructions, t->instruction_count);
    rank(rows->objects, t->object_count);
    return true;
}

static void add_objects(JsonWriter *json, const AccessTrace *t, const Rows *rows) {
    json_open_array(json, "objects");
    for (size_t i = 0; i < t->object_count; i++) {
        if (rows->objects[i] == UINT32_MAX) continue;
        const TraceObject *object = &t->objects[i];
        json_open_object(json, NULL);
        json_string(json, "name", object->name);
        json_string(json, "space", space_word(object->space));
        json_unsigned(json, "bytes", object->bytes);
        json_unsigned(json, "misalignment", object->misalignment);
        json_close_object(json);
    }
    json_close_array(json);
}

static void add_instructions(JsonWriter *json, const AccessTrace *t, const Rows *rows) {
    static const char *const kinds[] = {[TRACE_LOAD] = "load",
                                        [TRACE_STORE] = "store",
                                        [TRACE_ATOM] = "atom",
                                        [TRACE_RED] = "red",
                                        [TRACE_SHUFFLE] = "shuffle",
                                        [TRACE_VOTE] = "vote",
                                        [TRACE_MATCH] = "match",
                                        [TRACE_REDUX] = "redux",
                                        [TRACE_ELECT] = "elect",
                                        [TRACE_BARRIER] = "barrier",
                                        [TRACE_WARP_BARRIER] = "warp_barrier",
                                        [TRACE_FENCE] = "fence"};
    json_open_array(json, "instructions");
    for (size_t i = 0; i < t->instruction_count; i++) {
        if (rows->instructions[i] == UINT32_MAX) continue;
        const TraceInstruction *row = &t->instructions[i];
        const Instruction *in = t->machine->program->by_number[row->number];
        const char *operation = operation_word(in);
        json_open_object(json, NULL);
        json_string(json, "kind", kinds[row->kind]);
        if (operation) json_string(json, "operation", operation);
        if (is_access(row->kind)) {
            json_string(json, "space", space_word(row->space));
            json_unsigned(json, "bytes", row->bytes);
        }
        if (in->merged_bytes) {
            json_unsigned(json, "joined_bytes", in->merged_bytes == MERGED_AWAY ? 0 : in->merged_bytes);
            json_integer(json, "joined_shift", in->merged_shift);
        }
        json_string(json, "file", row->place.file);
        json_integer(json, "line", row->place.line);
        json_integer(json, "column", row->place.column);
        json_integer(json, "ptx_line", row->place.ptx_line);
        json_close_object(json);
    }
    json_close_array(json);
}

static void add_warps(JsonWriter *json, const AccessTrace *t, uint64_t per_block) {
    json_open_array(json, "warps");
    for (size_t i = 0; i < t->warp_count; i++) {
        json_open_object(json, NULL);
        json_unsigned(json, "block", t->warps[i].number / per_block);
        json_unsigned(json, "warp", t->warps[i].number % per_block);
        json_unsigned(json, "lanes", t->warps[i].lanes);
        json_boolean(json, "complete", t->warps[i].is_complete);
        json_close_object(json);
    }
    json_close_array(json);
}

// ---- Events ----------------------------------------------------------------------------------------------

static bool same_line(const AccessTrace *t, const TraceEvent *a, const TraceEvent *b) {
    if (a->warp != b->warp || a->object != b->object) return false;
    if (a->at == b->at) return true;
    const TraceInstruction *i = &t->instructions[a->at], *k = &t->instructions[b->at];
    return i->kind == k->kind && i->space == k->space && i->bytes == k->bytes && i->place.line > 0 &&
           i->place.line == k->place.line && i->place.column == k->place.column &&
           strcmp(i->place.file, k->place.file) == 0;
}

static void find_iterations(const AccessTrace *t, uint32_t *iterations) {
    for (size_t i = 0; i < t->event_count; i++) {
        iterations[i] = 0;
        for (size_t k = i; k-- > 0;)
            if (same_line(t, &t->events[i], &t->events[k])) {
                iterations[i] = iterations[k] + 1;
                break;
            }
    }
}

// The index of the event of that id; -1: it was left out.
static int64_t index_of(const AccessTrace *t, uint32_t id) {
    size_t low = 0, high = t->event_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (t->events[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < t->event_count && t->events[low].id == id ? (int64_t)low : -1;
}

static void add_lanes(JsonWriter *json, const char *key, const TraceEvent *event) {
    json_open_array(json, key);
    for (unsigned lane = 0; lane < WARP_SIZE; lane++)
        if (event->mask >> lane & 1)
            json_integer(json, NULL, (int64_t)event->lanes[lane]);
        else
            json_null(json, NULL);
    json_close_array(json);
}

static void add_counts(JsonWriter *json, const TraceInstruction *at, const Counters *c) {
    const bool is_shared = at->space == PTX_SPACE_SHARED;
    json_unsigned(json, "requests",
                  c->global_ld_requests + c->global_st_requests + c->global_atom_requests +
                      c->global_red_requests + c->shared_ld + c->shared_st + c->shared_atom +
                      c->local_ld_requests + c->local_st_requests + c->const_ld);
    if (is_shared)
        json_unsigned(json, "wavefronts",
                      c->shared_ld_wavefronts + c->shared_st_wavefronts + c->shared_atom_wavefronts);
    if (is_shared && (at->kind == TRACE_LOAD || at->kind == TRACE_STORE))
        json_unsigned(json, "conflicts", c->shared_ld_conflicts + c->shared_st_conflicts);
    if (at->space == PTX_SPACE_GLOBAL || at->space == PTX_SPACE_LOCAL)
        json_unsigned(json, "sectors",
                      c->global_ld_sectors + c->global_st_sectors + c->global_atom_sectors +
                          c->global_red_sectors + c->local_ld_sectors + c->local_st_sectors);
    if (c->atomic_max_lanes) json_unsigned(json, "most_lanes", c->atomic_max_lanes);
}

static void add_sources(JsonWriter *json, const AccessTrace *t, const TraceEvent *event) {
    bool is_open = false;
    for (int i = 0; i < event->source_count; i++) {
        const TraceSource *source = &event->sources[i];
        int64_t index = index_of(t, source->event);
        if (index < 0) continue;
        if (!is_open) json_open_array(json, "sources");
        is_open = true;
        json_open_array(json, NULL);
        json_integer(json, NULL, index);
        json_unsigned(json, NULL, source->mask);
        json_integer(json, NULL, source->shift);
        json_close_array(json);
    }
    if (is_open) json_close_array(json);
}

static void add_access(JsonWriter *json, const AccessTrace *t, const Rows *rows, const TraceEvent *event) {
    json_unsigned(json, "object", rows->objects[event->object]);
    if (event->is_affine) {
        json_integer(json, "offset", event->offset);
        json_integer(json, "step", event->step);
    } else
        add_lanes(json, "offsets", event);
    if (!event->is_failed) add_counts(json, &t->instructions[event->at], &event->counts);
    add_sources(json, t, event);
}

static void add_events(JsonWriter *json, const AccessTrace *t, const Rows *rows, uint64_t per_block,
                       const uint32_t *iterations) {
    json_open_array(json, "events");
    for (size_t i = 0; i < t->event_count; i++) {
        const TraceEvent *event = &t->events[i];
        const TraceKind kind = t->instructions[event->at].kind;
        json_open_object(json, NULL);
        json_unsigned(json, "at", rows->instructions[event->at]);
        json_unsigned(json, "block", event->warp / per_block);
        if (kind != TRACE_BARRIER) json_unsigned(json, "warp", event->warp % per_block);
        json_unsigned(json, "iteration", iterations[i]);
        if (kind == TRACE_BARRIER) {
            json_open_array(json, "masks");
            for (uint64_t w = 0; w < per_block; w++) json_unsigned(json, NULL, event->lanes[w]);
            json_close_array(json);
        } else
            json_unsigned(json, "mask", event->mask);
        if (is_access(kind)) add_access(json, t, rows, event);
        if (kind == TRACE_SHUFFLE) add_lanes(json, "from", event);
        if (event->is_failed) json_boolean(json, "failed", true);
        json_close_object(json);
    }
    json_close_array(json);
}

// ---- What is not there -----------------------------------------------------------------------------------

static void add_truncated(JsonWriter *json, const AccessTrace *t) {
    bool is_whole = t->warp_count == t->warps_started;
    for (size_t i = 0; i < t->warp_count; i++) is_whole = is_whole && t->warps[i].is_complete;
    if (is_whole) {
        json_null(json, "truncated");
        return;
    }
    Text words = {0};
    text_printf(&words, "recorded: %zu of %llu warps", t->warp_count, (unsigned long long)t->warps_started);
    if (t->warp_count == 1 && !t->warps[0].is_complete) text_add(&words, ", and that one not completely");
    text_printf(&words, "; %zu of %llu events. The rest did not fit in %zu bytes.", t->event_count,
                (unsigned long long)t->events_seen, t->max_bytes);
    json_open_object(json, "truncated");
    json_unsigned(json, "max_bytes", t->max_bytes);
    json_unsigned(json, "warps_kept", t->warp_count);
    json_unsigned(json, "warps_started", t->warps_started);
    json_unsigned(json, "events_kept", t->event_count);
    json_unsigned(json, "events_seen", t->events_seen);
    json_string(json, "words", text_chars(&words));
    json_close_object(json);
    text_free(&words);
}

char *access_trace_json(const AccessTrace *t, const EmulatorResult *result, size_t *bytes) {
    const uint32_t *block = t->machine->launch->block;
    uint64_t per_block = ((uint64_t)block[0] * block[1] * block[2] + WARP_SIZE - 1) / WARP_SIZE;
    if (!per_block) per_block = 1; // of a launch that was refused
    Rows rows = {0};
    uint32_t *iterations = malloc((t->event_count + 1) * sizeof *iterations);
    if (!iterations || !rows_find(t, &rows)) {
        rows_free(&rows);
        free(iterations);
        return NULL;
    }
    find_iterations(t, iterations);
    JsonWriter json = {.is_compact = true};
    json_open_object(&json, NULL);
    add_launch(&json, t->machine, result);
    add_objects(&json, t, &rows);
    add_instructions(&json, t, &rows);
    add_warps(&json, t, per_block);
    add_events(&json, t, &rows, per_block, iterations);
    add_truncated(&json, t);
    json_close_object(&json);
    rows_free(&rows);
    free(iterations);
    if (!json_finish(&json)) {
        text_free(&json.text);
        return NULL;
    }
    *bytes = json.text.bytes;
    return text_take(&json.text);
}
