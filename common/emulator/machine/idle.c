#include "emulator/machine/idle.h"

#include <stdio.h>
#include <string.h>

#include "emulator/machine/copies.h"
#include "emulator/machine/divergence.h"
#include "emulator/machine/findings.h"
#include "emulator/machine/mbarrier_wait.h"
#include "emulator/machine/pause.h"
#include "emulator/machine/resolve.h"
#include "emulator/machine/unseen.h"

enum { MANY_POLLS = 1 << 12 };

static uint64_t grid_blocks(const Machine *m) {
    return (uint64_t)m->launch->grid[0] * m->launch->grid[1] * m->launch->grid[2];
}

const char *blocks_words(const Machine *m, char text[160]) {
    const uint64_t blocks = grid_blocks(m);
    const uint64_t running = m->blocks_started - m->blocks_ended, waiting = blocks - m->blocks_started;
    snprintf(text, 160, "of %llu blocks, %llu %s ended, %llu %s running and %llu %s not started",
             (unsigned long long)blocks, (unsigned long long)m->blocks_ended,
             m->blocks_ended == 1 ? "has" : "have", (unsigned long long)running, running == 1 ? "is" : "are",
             (unsigned long long)waiting, waiting == 1 ? "has" : "have");
    return text;
}

// Every word counts with another odd factor, and no product waits for the one before.
static uint64_t hash_registers(const Frame *frame) {
    const uint64_t *words = (const uint64_t *)(const void *)frame->registers;
    uint64_t hash = 0, factor = 1;
    for (uint32_t i = 0; i < frame->function->register_bytes / 8; i++, factor += 2 * 0x9e3779b97f4a7c15u)
        hash += words[i] * factor;
    return hash;
}

static uint32_t found_width(const Instruction *in) {
    return in->kind == KIND_LOAD ? in->literal[1] : in->width < 2 ? 2 : in->width;
}

// Of what the lanes have read.
static uint64_t hash_found(const Fragment *f, const Instruction *in) {
    const uint32_t width = found_width(in);
    uint64_t hash = 0;
    for (unsigned e = 0; e < in->elements; e++) {
        if (in->dst[e] < 0) continue;
        FOR_LANES(lane, f->mask) {
            uint64_t value = 0;
            memcpy(&value, f->frame->registers + in->dst[e] + (size_t)lane * width, width);
            hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
            hash ^= hash >> 29;
        }
    }
    return hash;
}

void poll_is_all(Fragment *f, const Instruction *in, uint64_t ran, uint64_t lanes) {
    const bool reads = in->kind == KIND_LOAD || in->kind == KIND_ATOMIC;
    if (!reads || found_width(in) > sizeof(uint64_t)) return;
    f->poll.loop = (PollLoop){in, hash_found(f, in), ran, lanes};
}

// The registers are compared with those of an earlier poll, which is replaced after 8, 16, 32 ... polls, so
// that a loop of any number of polls comes round to it. Fewer polls in a row are not yet waiting: a kernel
// may keep its data in volatile variables, and looking at all registers takes longer than a load.
bool poll_repeats(const Machine *m, Fragment *f, const Instruction *in) {
    const uint64_t fewest = 8;
    Poll *poll = &f->poll;
    const bool is_in_loop = poll->loop.in == in && poll->loop.found == hash_found(f, in);
    if (!is_in_loop) poll->loop.in = NULL;
    if (!poll->in || poll->effects != m->effects) {
        *poll = (Poll){.in = in, .effects = m->effects, .repeats = is_in_loop, .loop = poll->loop};
        if (in->kind == KIND_MBARRIER_WAIT) poll->wait = in;
        return is_in_loop;
    }
    if (is_in_loop) return poll->repeats = true;
    if (in->kind == KIND_MBARRIER_WAIT) poll->wait = in;
    const uint64_t count = ++poll->compared;
    const bool is_compared = count > fewest && poll->in == in;
    const bool is_replaced = count >= fewest && !(count & (count - 1));
    if (!is_compared && !is_replaced) return false;
    const uint64_t registers = hash_registers(f->frame);
    if (is_compared && poll->registers == registers) return poll->repeats = true;
    if (!is_replaced) return false;
    poll->in = in;
    poll->registers = registers;
    return false;
}

// Whether a fragment that is ready may do anything else than poll.
static bool may_move(const Machine *m, const Fragment *f) {
    const Poll *poll = &f->poll;
    if (poll->effects != m->effects || is_waited_for(f)) return true;
    // A wait that counts its attempts, or looks at the time, would poll with other registers each time.
    return !poll->repeats && !(poll->wait && poll->compared >= MANY_POLLS);
}

// The first fragment of a warp, from one on, that is ready; NULL: there is none.
static const Fragment *next_ready(const Warp *w, int *i) {
    for (; *i < w->fragment_count && w->exited != w->exists; ++*i) {
        const Fragment *f = &w->fragments[*i];
        if (f->mask && f->state == READY) return f;
    }
    return NULL;
}

bool block_waits(const Machine *m, const Block *b) {
    const Fragment *f;
    bool any = false;
    if (runs_every_poll(m)) return false;
    for (int k = 0; k < b->warp_count; k++)
        for (int i = 0; (f = next_ready(&b->warps[k], &i)); i++, any = true)
            if (may_move(m, f)) return false;
    return any;
}

static bool has_copies_in_flight(const Block *b) {
    bool has = b->flight_count > 0;
    for (int i = 0; i < b->warp_count; i++)
        has = has || (b->warps[i].copies && b->warps[i].copies->count > 0);
    return has;
}

// Names what the lane of the finding polls, and appends its value to the message.
static void add_what_is_polled(Machine *m, Warp *w, const Fragment *f, Finding *finding) {
    const Instruction *in = f->poll.in;
    const unsigned lane = (unsigned)finding->lane;
    const bool is_read = in->kind == KIND_LOAD || in->kind == KIND_ATOMIC;
    if (!is_read || in->space == PTX_SPACE_LOCAL || in->elements > 1) return;
    uint64_t addresses[WARP_SIZE], offset, index, bytes, value = 0;
    lane_addresses(f->frame->registers, in, addresses);
    const Memory *memory = find_object(m, w, in, addresses[lane], in->width, &offset);
    if (!memory) return; // the address is that of the next round
    memcpy(&value, memory->data + (memory->period ? offset % memory->period : offset), in->width);
    name_object(m, w, memory, offset, finding->object, &index, &bytes);
    finding->address = addresses[lane];
    finding->bytes = in->width;
    finding->index = (int64_t)index;
    finding->object_bytes = bytes;
    const size_t used = strlen(finding->message);
    snprintf(finding->message + used, sizeof finding->message - used, ", where %s at byte %llu stays %#llx",
             finding->object, (unsigned long long)index, (unsigned long long)value);
    if (memory->space != PTX_SPACE_GLOBAL || memory->period) return;
    const Instruction *unseen = unseen_at(m, memory->data + offset, in->width);
    if (unseen && unseen != in) finding->other_place = place_in_report(m, unseen);
}

bool waits_for_ever(Machine *m, Block *const blocks[], uint64_t count) {
    Warp *first = NULL;
    const Fragment *waiting = NULL;
    uint32_t at_mbarriers = 0;
    bool has_copies = false;
    if (m->launch->sample) return false; // a block that does not run might end it
    for (uint64_t b = 0; b < count; b++) {
        has_copies = has_copies || has_copies_in_flight(blocks[b]);
        for (int k = 0; k < blocks[b]->warp_count; k++) {
            Warp *w = &blocks[b]->warps[k];
            const Fragment *f;
            for (int i = 0; (f = next_ready(w, &i)); i++) {
                if (may_move(m, f)) return false;
                if (f->poll.wait) at_mbarriers += (uint32_t)__builtin_popcount(f->mask);
                // Of several, one that waits for an mbarrier: what is missing there can be said.
                if (waiting && (!f->poll.wait || waiting->poll.wait)) continue;
                waiting = f;
                first = w;
            }
        }
    }
    if (!waiting || pause_while_waiting(m)) return false;
    if (at_mbarriers) {
        mbarrier_deadlock(m, first, (unsigned)__builtin_ctz(waiting->mask), waiting->frame->registers,
                          waiting->poll.wait, at_mbarriers);
        return true;
    }
    Finding *finding = report(m, FINDING_STEP_LIMIT, first, __builtin_ctz(waiting->mask), waiting->poll.in,
                              "waits here for ever");
    if (!finding) return true;
    finding->is_endless = !has_copies; // which might bring what is waited for
    add_what_is_polled(m, first, waiting, finding);
    char text[160];
    const size_t used = strlen(finding->message);
    snprintf(finding->message + used, sizeof finding->message - used,
             ": all threads that still run wait, and none changes what another waits for; %s%s",
             blocks_words(m, text),
             m->blocks_started < grid_blocks(m) ? ", because the device holds no more at a time" : "");
    return true;
}
