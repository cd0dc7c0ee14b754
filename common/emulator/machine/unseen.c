#include "emulator/machine/unseen.h"

#include <string.h>

static unsigned slot_of(const unsigned char *at) {
    return (unsigned)((uintptr_t)at / sizeof(uint32_t) % UNSEEN_STORES);
}

// Flags and what goes with them are stored by one lane each, mostly side by side: a place for each of a
// thousand words is enough.
void unseen_note(Machine *m, const Access *access, unsigned lane, const void *value) {
    const Instruction *in = access->in;
    const unsigned char *at = access->memory->data + access->offsets[lane];
    UnseenStore *unseen = &m->unseen[slot_of(at)];
    if (memcmp(at, value, in->width) == 0)
        *unseen = (UnseenStore){.at = at, .number = in->number, .width = in->width};
    else if (unseen->at == at)
        unseen->at = NULL;
}

const Instruction *unseen_at(const Machine *m, const unsigned char *at, uint32_t width) {
    const UnseenStore *unseen = &m->unseen[slot_of(at)];
    if (unseen->at != at || unseen->width != width) return NULL;
    return m->program->by_number[unseen->number];
}
