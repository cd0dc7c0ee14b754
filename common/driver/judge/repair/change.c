#include "driver/judge/repair/change.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[CHANGE_KINDS] = {
    [CHANGE_BARRIER] = "barrier",
    [CHANGE_WARP_BARRIER] = "warp-barrier",
    [CHANGE_MOVED_BARRIER] = "moved-barrier",
    [CHANGE_NUMBER] = "number",
    [CHANGE_ASYNC_WAIT] = "async-wait",
    [CHANGE_FENCE] = "fence",
    [CHANGE_SCOPE] = "scope",
    [CHANGE_VOLATILE] = "volatile",
    [CHANGE_STORE_FIRST] = "store-first",
    [CHANGE_ONE_LOAD] = "one-load",
    [CHANGE_FULL_MASK] = "full-mask",
    [CHANGE_NO_PARTNER] = "no-partner",
    [CHANGE_ZERO] = "zero",
    [CHANGE_ZERO_SHARED] = "zero-shared",
    [CHANGE_ZERO_OUTPUT] = "zero-output",
    [CHANGE_ATOMIC] = "atomic",
    [CHANGE_ADD] = "add",
    [CHANGE_ONE_LANE] = "one-lane",
    [CHANGE_ONE_THREAD] = "one-thread",
    [CHANGE_OPERATOR] = "operator",
    [CHANGE_COMPARISON] = "comparison",
    [CHANGE_CONSTANT] = "constant",
    [CHANGE_START] = "start",
    [CHANGE_INDEX] = "index",
    [CHANGE_SKIPPED] = "skipped",
    [CHANGE_EXCHANGED] = "exchanged",
    [CHANGE_ZERO_PRODUCT] = "zero-product",
    [CHANGE_ZERO_DIFFERENCE] = "zero-difference",
    [CHANGE_GUARD] = "guard",
    [CHANGE_SINGLE] = "single-accesses",
    [CHANGE_STAY] = "stay",
    [CHANGE_NEIGHBOUR] = "neighbour",
    [CHANGE_SIZE] = "size",
    [CHANGE_UNSIGNED] = "unsigned",
    [CHANGE_ARRAY] = "array",
    [CHANGE_ONE_WAY] = "one-way",
    [CHANGE_MORE_SHARED] = "more-shared",
    [CHANGE_MORE_BLOCKS] = "more-blocks",
    [CHANGE_BLOCK_SIZE] = "block-size",
    [CHANGE_LARGER_LAUNCH] = "larger-launch",
    [CHANGE_WIDE] = "wide",
    [CHANGE_EXPRESSION] = "expression",
    [CHANGE_NAME] = "name",
    [CHANGE_CONDITION] = "condition",
    [CHANGE_LEFT_OUT] = "left-out",
    [CHANGE_MOVED] = "moved",
    [CHANGE_ADDED] = "added",
};

const char *change_name(ChangeKind kind) { return names[kind]; }

const char *change_side_name(ChangeSide side) {
    return side == SIDE_BEFORE ? "before" : side == SIDE_BEHIND ? "after" : "within";
}

Change *changes_add(Changes *changes, ChangeKind kind, int source) {
    if (changes->count == changes->capacity) {
        const int capacity = changes->capacity ? 2 * changes->capacity : 64;
        Change *grown = realloc(changes->all, (size_t)capacity * sizeof *grown);
        if (!grown) {
            changes->failed = true;
            return NULL;
        }
        changes->all = grown;
        changes->capacity = capacity;
    }
    Change *added = &changes->all[changes->count++];
    *added = (Change){.kind = kind, .source = source};
    return added;
}

void changes_free(Changes *changes) {
    for (int i = 0; i < changes->count; i++) free(changes->all[i].edits);
    free(changes->all);
    *changes = (Changes){0};
}

static void add_edit(Changes *changes, Change *change, int line, bool replaces, const char *format,
                     va_list arguments) {
    if (!change) return;
    Edit *grown = realloc(change->edits, (size_t)(change->edit_count + 1) * sizeof *grown);
    if (!grown) {
        changes->failed = true;
        return;
    }
    change->edits = grown;
    Edit *edit = &grown[change->edit_count++];
    *edit = (Edit){.line = line, .replaces = replaces};
    vsnprintf(edit->text, sizeof edit->text, format, arguments);
}

void change_insert(Changes *changes, Change *change, int line, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    add_edit(changes, change, line, false, format, arguments);
    va_end(arguments);
}

void change_replace(Changes *changes, Change *change, int line, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    add_edit(changes, change, line, true, format, arguments);
    va_end(arguments);
}

void changes_apply(const PtxLines *lines, const Change *const changes[], int count, Text *out) {
    for (int i = 0; i < lines->count; i++) {
        const char *instead = NULL;
        if (lines->lines[i].is_left_out) continue;
        for (int c = 0; c < count; c++) {
            for (int e = 0; e < changes[c]->edit_count; e++) {
                const Edit *edit = &changes[c]->edits[e];
                if (edit->line != i) continue;
                if (edit->replaces)
                    instead = edit->text;
                else
                    text_printf(out, "%s\n", edit->text);
            }
        }
        if (instead)
            text_add(out, instead);
        else
            text_add_bytes(out, lines->lines[i].text, (size_t)lines->lines[i].length);
        text_add_char(out, '\n');
    }
}
