// Reports: each kind of finding once for a place, with the names of threads and objects that people know.
#include "emulator/machine/findings.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *thread_words(char text[96], const Warp *w, int lane) {
    const Block *b = w->block;
    unsigned l = lane < 0 ? 0 : (unsigned)lane;
    snprintf(text, 96, "thread (%u,%u,%u) of block (%u,%u,%u)", w->thread_x[l], w->thread_y[l],
             w->thread_z[l], b->id[0], b->id[1], b->id[2]);
    return text;
}

void name_object(const Machine *m, const Warp *w, const Memory *memory, uint64_t offset, char name[128],
                 uint64_t *index, uint64_t *bytes) {
    snprintf(name, 128, "%s", memory->name);
    *index = offset;
    *bytes = memory->bytes;
    if (memory->space == PTX_SPACE_LOCAL) *index = offset % w->local_capacity;
    if (memory->space != PTX_SPACE_SHARED) return;
    for (int i = 0; i < m->shared_variable_count; i++) {
        const SharedVariable *v = &m->shared_variables[i];
        if (offset - v->offset >= v->bytes) continue;
        const Block *b = block_of_memory(memory);
        snprintf(name, 128, "shared %s", v->name);
        if (b != w->block)
            snprintf(name, 128, "shared %s of block (%u,%u,%u)", v->name, b->id[0], b->id[1], b->id[2]);
        *index = offset - v->offset;
        *bytes = v->bytes;
        return;
    }
}

// ---- Reports ----------------------------------------------------------------------------------------------

static bool same_place(const SourcePlace *a, const SourcePlace *b) {
    return a->line == b->line && (a->line || a->ptx_line == b->ptx_line) && !strcmp(a->file, b->file);
}

const Instruction *in_another_line(const Machine *m, const Instruction *in, const Instruction *other) {
    return place_of(m->program, in).line == place_of(m->program, other).line ? NULL : other;
}

SourcePlace place_in_report(const Machine *m, const Instruction *in) {
    if (!in) return (SourcePlace){0};
    if (in->is_of_several_lines && in->width > 0) return (SourcePlace){.ptx_line = in->ptx_line};
    return place_of(m->program, in);
}

Finding *add_finding(Machine *m, FindingKind kind, const Warp *w, int lane, const Instruction *in,
                     const Instruction *other, bool fatal) {
    EmulatorResult *result = m->result;
    if (m->searched) { // the launch has failed already
        m->stopped |= fatal;
        return NULL;
    }
    SourcePlace place = place_in_report(m, in), other_place = place_in_report(m, other);
    result->findings_total++;
    if (fatal) m->stopped = true;
    for (int i = 0; i < result->finding_count; i++) {
        Finding *f = &result->findings[i];
        if (f->kind == kind && same_place(&f->place, &place) && same_place(&f->other_place, &other_place)) {
            f->count++;
            return NULL;
        }
    }
    int limit = m->launch->max_findings > 0 ? m->launch->max_findings : 32;
    if (result->finding_count >= limit && !fatal) return NULL;
    if (result->finding_count == m->finding_capacity) {
        int capacity = m->finding_capacity ? m->finding_capacity * 2 : 8;
        Finding *grown = realloc(result->findings, (size_t)capacity * sizeof *grown);
        if (!grown) {
            m->out_of_memory = m->stopped = true;
            return NULL;
        }
        result->findings = grown;
        m->finding_capacity = capacity;
    }
    Finding *f = &result->findings[result->finding_count++];
    *f = (Finding){.kind = kind,
                   .fatal = fatal,
                   .place = place,
                   .other_place = other_place,
                   .warp = -1,
                   .lane = -1,
                   .count = 1};
    if (w) {
        memcpy(f->block, w->block->id, sizeof f->block);
        f->warp = w->index;
        f->lane = lane;
        if (lane >= 0) {
            f->thread[0] = w->thread_x[lane];
            f->thread[1] = w->thread_y[lane];
            f->thread[2] = w->thread_z[lane];
            char words[96];
            snprintf(f->message, sizeof f->message, "%s ", thread_words(words, w, lane));
        }
    }
    return f;
}

Finding *report(Machine *m, FindingKind kind, const Warp *w, int lane, const Instruction *in,
                const char *format, ...) {
    Finding *f = add_finding(m, kind, w, lane, in, NULL, true);
    if (!f) return NULL;
    size_t used = strlen(f->message);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(f->message + used, sizeof f->message - used, format, arguments);
    va_end(arguments);
    return f;
}
