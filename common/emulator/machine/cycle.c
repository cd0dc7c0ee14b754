// Brent's algorithm ("An improved Monte Carlo factorization algorithm", 1980, section 2) on the states of one
// lane at one instruction of the loop: each is compared with that of an earlier visit, which is replaced
// after 1, 2, 4, 8 ... visits. A state is the registers that decide whether the lane leaves the loop
// (loop.h). What decides must be computed from these registers alone, or from memory that nothing can change;
// barriers and other waiting may delay the lane, but not let it out.
#include "emulator/machine/cycle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emulator/machine/absorbed.h"
#include "emulator/machine/findings.h"
#include "emulator/machine/idle.h"
#include "emulator/machine/resolve.h"
#include "emulator/program/loop.h"

// Steps that the search may take: enough for a counter of 16 bits to come round twice, and a quarter of those
// that the launch had.
static const uint64_t SEARCH_STEPS = UINT64_C(1) << 27;

typedef struct {
    Machine *machine;
    Loop loop;
    const Instruction *at; // where states are compared
    unsigned lane;
    const Frame *frame; // of the state that was kept; NULL: none is
    uint64_t *kept;     // its registers
    uint64_t visits;    // by any lane of the warp
    // Since that state: an addition on which the end depends and which changed nothing (NULL: none), and
    // whether another one changed something.
    const Instruction *absorbing;
    Absorbed absorbed;
    bool has_added;
    int finding;
} Cycle;

static uint64_t register_of_lane(const Frame *frame, const RegisterPlace *place, unsigned lane) {
    const unsigned char *lanes = frame->registers + place->offset;
    uint64_t value = 0;
    if (place->width) {
        memcpy(&value, lanes + lane * place->width, place->width);
        return value;
    }
    memcpy(&value, lanes, 4);
    return value >> lane & 1;
}

static void keep_state(Cycle *c, const Frame *frame) {
    for (int i = 0; i < c->loop.register_count; i++)
        c->kept[i] = register_of_lane(frame, &c->loop.registers[i], c->lane);
    c->frame = frame;
    c->absorbing = NULL;
    c->has_added = false;
}

static bool is_kept_state(const Cycle *c) {
    for (int i = 0; i < c->loop.register_count; i++)
        if (c->kept[i] != register_of_lane(c->frame, &c->loop.registers[i], c->lane)) return false;
    return true;
}

// Whether no thread can change what the lane loads.
static bool loads_constant(const Cycle *c, Warp *w, const Instruction *in) {
    uint64_t addresses[WARP_SIZE], offset;
    lane_addresses(c->frame->registers, in, addresses);
    if (in->space == PTX_SPACE_LOCAL) return false;
    const Memory *memory =
        find_object(c->machine, w, in, addresses[c->lane], (uint64_t)in->width * in->elements, &offset);
    return memory &&
           (memory->read_only || memory->space == PTX_SPACE_CONST || memory->space == PTX_SPACE_PARAM);
}

// Whether `in`, where it decides, gives the same again from the same registers.
static bool is_repeatable(const Cycle *c, Warp *w, const Instruction *in) {
    switch (in->kind) {
    case KIND_ALU:
    case KIND_BRANCH:
    case KIND_BRANCH_TABLE:
    case KIND_CVTA:
    case KIND_ISSPACEP:
    case KIND_MAPA:
    case KIND_GETCTARANK:
    case KIND_NOT_PREDICATE:
    case KIND_FRAME_ADDRESS: return true;
    case KIND_SPECIAL: return in->literal[0] < SPECIAL_CLOCK || in->literal[0] > SPECIAL_GLOBALTIMER_HI;
    case KIND_LOAD: return loads_constant(c, w, in);
    default: return false;
    }
}

static const Frame *frame_of_lane(const Warp *w, unsigned lane) {
    for (int i = 0; i < w->fragment_count; i++)
        if (w->fragments[i].mask >> lane & 1) return w->fragments[i].frame;
    return NULL;
}

static void look_for_absorbed(Cycle *c, const Instruction *in) {
    const AdditionEffect effect =
        addition_effect(c->frame->function, in, c->frame->registers, c->lane, &c->absorbed);
    if (effect == ADDITION_ABSORBED) c->absorbing = in;
    if (effect == ADDITION_CHANGES) c->has_added = true;
}

// "; in line 17, 16777216 + 1 is 16777216 again", if that keeps the loop from its end.
static const char *absorbed_words(char text[128], const Cycle *c) {
    const int line = c->absorbing ? place_of(c->machine->program, c->absorbing).line : 0;
    const double kept = c->absorbed.kept, added = c->absorbed.added;
    text[0] = '\0';
    if (line > 0 && !c->has_added)
        snprintf(text, 128, "; in line %d, %.9g %c %.9g gives %.9g again", line, kept, added < 0 ? '-' : '+',
                 added < 0 ? -added : added, kept);
    return text;
}

static void stop(const Cycle *c) {
    c->machine->stopped = true;
    c->machine->step_limit = 0; // the next branch ends the turn
}

static void prove(Cycle *c, Warp *w) {
    Machine *m = c->machine;
    Finding *f = &m->result->findings[c->finding];
    char thread[96], blocks[160], absorbed[128];
    f->is_endless = true;
    f->lane = (int)c->lane;
    f->thread[0] = w->thread_x[c->lane];
    f->thread[1] = w->thread_y[c->lane];
    f->thread[2] = w->thread_z[c->lane];
    snprintf(
        f->message, sizeof f->message,
        "%s never leaves this loop: everything on which its end depends comes back to what it was, and no "
        "other thread can change that%s; %s",
        thread_words(thread, w, (int)c->lane), absorbed_words(absorbed, c), blocks_words(m, blocks));
    stop(c);
}

// Every instruction, before the lanes of `mask` execute it.
static void follow(void *self, Warp *w, const Instruction *in, uint32_t mask, uint32_t active) {
    Cycle *c = self;
    const Warp *searched = c->machine->searched;
    if (searched->exited == searched->exists) stop(c);
    if (w != searched || c->machine->stopped) return;
    const bool is_ours = active >> c->lane & 1;
    const Frame *frame = frame_of_lane(w, is_ours ? c->lane : (unsigned)__builtin_ctz(active));
    if (c->frame && is_ours) {
        const int role = c->frame == frame ? c->loop.roles[in->index] : 0;
        const bool is_decision = role & LOOP_DECIDES && mask >> c->lane & 1;
        if (!(role & LOOP_MEMBER) || (is_decision && !is_repeatable(c, w, in)))
            c->frame = NULL;
        else if (is_decision)
            look_for_absorbed(c, in);
    }
    if (in != c->at || !frame) return;
    if (c->frame && is_ours && is_kept_state(c)) {
        prove(c, w);
        return;
    }
    const uint64_t before = c->visits++;
    if (c->frame && before & (before + 1)) return;
    if (!is_ours) c->lane = (unsigned)__builtin_ctz(active); // the other one may have left the loop
    keep_state(c, frame);
}

static void end_of_block(void *self, Block *block) {
    static const Warp of_no_block; // the warp goes with its block, and other blocks may end after that one
    const Cycle *c = self;
    if (block != c->machine->searched->block) return;
    stop(c);
    c->machine->searched = &of_no_block;
}

static void end(void *self) {
    Cycle *c = self;
    loop_free(&c->loop);
    free(c->kept);
    free(c);
}

void search_cycle(Machine *m, Warp *w, const Fragment *f, const Instruction *in) {
    if (m->of_instructions || m->observer_count == MAX_OBSERVERS) return;
    Cycle *c = calloc(1, sizeof *c);
    if (!c) return;
    *c = (Cycle){.machine = m,
                 .at = in,
                 .lane = (unsigned)__builtin_ctz(f->mask),
                 .finding = m->result->finding_count - 1};
    const bool is_loop = loop_around(&c->loop, f->frame->function, in->index);
    if (is_loop) c->kept = malloc(((size_t)c->loop.register_count + 1) * sizeof *c->kept);
    if (!c->kept) {
        end(c);
        return;
    }
    m->observers[m->observer_count] =
        (Observer){.self = c, .instruction = follow, .block_end = end_of_block, .end = end};
    m->of_instructions = &m->observers[m->observer_count++];
    m->searched = w;
    m->stopped = false;
    const uint64_t most = m->launch->max_steps ? m->launch->max_steps / 4 : SEARCH_STEPS;
    m->step_limit = m->lane_steps + (most < SEARCH_STEPS ? most : SEARCH_STEPS);
}

bool is_passed_over(const Machine *m, const Warp *w) {
    const Warp *searched = m->searched;
    if (w == searched || w->block != searched->block) return false;
    for (int i = 0; i < searched->fragment_count; i++)
        if (searched->fragments[i].mask && searched->fragments[i].state == READY) return true;
    return false;
}
