// The rules are those that reproduce Nsight Compute's counts on an H200 (tests/hardware_truth): global
// memory moves in sectors of 32 bytes, shared memory in wavefronts of at most one word from each of 32
// banks of 4 bytes.
#include "emulator/observers/access_counts.h"

enum { SECTOR_SHIFT = 5, LINE_SHIFT = 7, BANKS = 32, WORD_SHIFT = 2, ATOMIC_TAGS = 4 * 128 };

// ---- Sectors ----------------------------------------------------------------------------------------------

// How many different values there are among those of the lanes in `mask`.
static uint32_t distinct(const uint64_t values[WARP_SIZE], uint32_t mask) {
    uint64_t seen[2 * WARP_SIZE];
    uint64_t used = 0; // one bit per slot of `seen`, an open-addressing table
    uint32_t count = 0;
    FOR_LANES(lane, mask) {
        uint64_t slot = (values[lane] * 0x9e3779b97f4a7c15ull) >> 58;
        while (used >> slot & 1 && seen[slot] != values[lane]) slot = (slot + 1) % (2 * WARP_SIZE);
        if (used >> slot & 1) continue;
        used |= 1ull << slot;
        seen[slot] = values[lane];
        count++;
    }
    return count;
}

static uint32_t sectors_of(const Access *a) {
    uint64_t base = a->memory->base;
    if (a->contiguous) {
        uint64_t first = base + a->offsets[0], last = first + (uint64_t)a->bytes * WARP_SIZE - 1;
        return (uint32_t)((last >> SECTOR_SHIFT) - (first >> SECTOR_SHIFT) + 1);
    }
    uint64_t sectors[WARP_SIZE];
    // An access is aligned to its own size, which is at most 16 bytes, so it lies in one sector.
    FOR_LANES(lane, a->mask) sectors[lane] = (base + a->offsets[lane]) >> SECTOR_SHIFT;
    return distinct(sectors, a->mask);
}

// By these bits the L1 tells the addresses of one atomic apart: the place in the line of 128 bytes, and two
// sums, modulo 2, of bits of the line's address. Found by launches of a single warp on an H200
// (tests/hardware_truth/README.md). The bits from 2 MiB on, a page, are those of the physical address, which
// nobody knows here: they count as 0.
static uint32_t atomic_tag(uint64_t address) {
    enum { FIRST_SUM = 0x3ab5, SECOND_SUM = 0x2f6f, IN_PAGE = 0x3fff };
    uint32_t line = (uint32_t)(address >> LINE_SHIFT) & IN_PAGE;
    uint32_t hash = (uint32_t)(__builtin_parity(line & FIRST_SUM) | __builtin_parity(line & SECOND_SUM) << 1);
    return (uint32_t)(address & 127) | hash << LINE_SHIFT;
}

// Keeps the most lanes that wanted one address.
static void note_lanes(Counters *c, const Access *a) {
    uint32_t left = a->mask;
    while (left) {
        uint64_t offset = a->offsets[__builtin_ctz(left)];
        uint32_t same = 0;
        FOR_LANES(lane, left) if (a->offsets[lane] == offset) same |= 1u << lane;
        uint32_t count = (uint32_t)__builtin_popcount(same);
        if (count > c->atomic_max_lanes) c->atomic_max_lanes = count;
        left &= ~same;
    }
}

// Lanes of one atomic on one address are served one after the other. Each pass takes the first lane left and
// all that want its line of 128 bytes, or half of it where each brings two values to compare and swap; but
// not those that an earlier lane left goes before: one with the same tag, so on the same address or, by
// chance, on another that the tag does not tell apart. A pass moves each of its sectors once.
static uint32_t atomic_sectors(const Access *a) {
    uint64_t address[WARP_SIZE];
    uint32_t tag[WARP_SIZE], left = a->mask, total = 0;
    uint32_t shift = a->in->operation == ATOMIC_CAS ? LINE_SHIFT - 1 : LINE_SHIFT;
    FOR_LANES(lane, left) {
        address[lane] = a->memory->base + a->offsets[lane];
        tag[lane] = atomic_tag(address[lane]);
    }
    while (left) {
        uint64_t seen[ATOMIC_TAGS / 64] = {0}, part = address[__builtin_ctz(left)] >> shift;
        uint32_t taken = 0, sectors = 0; // bit k: sector k of the line
        FOR_LANES(lane, left) {
            bool waits = seen[tag[lane] / 64] >> tag[lane] % 64 & 1;
            seen[tag[lane] / 64] |= 1ull << tag[lane] % 64;
            if (waits || address[lane] >> shift != part) continue;
            taken |= 1u << lane;
            sectors |= 1u << (address[lane] >> SECTOR_SHIFT) % 4;
        }
        total += (uint32_t)__builtin_popcount(sectors);
        left &= ~taken;
    }
    return total;
}

// The largest number of different words that the lanes access in one bank.
static uint32_t most_in_a_bank(const Access *a, uint32_t lanes) {
    uint64_t words[BANKS][WARP_SIZE];
    uint32_t counts[BANKS] = {0}, per_lane = (a->bytes + 3) / 4, most = 0;
    FOR_LANES(lane, lanes) {
        for (uint32_t k = 0; k < per_lane; k++) {
            uint64_t word = (a->offsets[lane] >> WORD_SHIFT) + k;
            uint32_t bank = (uint32_t)(word % BANKS), known = 0;
            for (uint32_t i = 0; i < counts[bank] && !known; i++) known = words[bank][i] == word;
            if (known) continue;
            words[bank][counts[bank]++] = word;
            if (counts[bank] > most) most = counts[bank];
        }
    }
    return most;
}

// How many different words the lanes access in one bank.
static uint32_t words_in_bank(const Access *a, uint32_t lanes, uint32_t bank) {
    uint64_t words[WARP_SIZE];
    uint32_t count = 0;
    FOR_LANES(lane, lanes) {
        for (uint32_t k = 0; k < (a->bytes + 3) / 4; k++) {
            const uint64_t word = (a->offsets[lane] >> WORD_SHIFT) + k;
            bool is_known = word % BANKS != bank;
            for (uint32_t i = 0; i < count && !is_known; i++) is_known = words[i] == word;
            if (!is_known) words[count++] = word;
        }
    }
    return count;
}

// Whether every lane of `group` finds its neighbour `apart` lanes away inactive or at its own address.
static bool partners_agree(const Access *a, uint32_t group, uint32_t apart) {
    FOR_LANES(lane, group) {
        uint32_t partner = lane ^ apart;
        if (group >> partner & 1 && a->offsets[partner] != a->offsets[lane]) return false;
    }
    return true;
}

static uint32_t lanes_from(uint32_t first, uint32_t count) {
    return count == WARP_SIZE ? FULL_MASK : ((1u << count) - 1) << first;
}

// Wavefronts of a shared-memory access, and in `least` what the same phases would need without a conflict.
//
// 32-bit accesses go in one phase of 32 lanes, 64-bit ones in two of 16, 128-bit ones in four of 8. Two
// phases of a load that lie side by side become one where partners agree, 1 or 2 lanes apart (found by
// experiment: the sh64_ and sh128_ patterns of tests/hardware_truth); never of ldmatrix, where each phase is
// a matrix (the ldmatrix_ patterns).
//
// `worst`: the lanes of the phase with most words in a bank; may be NULL.
static uint32_t wavefronts_by_phase(const Access *a, uint32_t *least, uint32_t *worst) {
    uint32_t most = 0;
    uint32_t phases = a->bytes <= 4 ? 1 : a->bytes / 4, lanes = WARP_SIZE / phases, total = 0;
    if (a->contiguous && a->bytes >= 4) return *least = phases;
    *least = 0;
    bool one_phase = phases == 1 || (a->kind == ACCESS_LOAD && a->in->kind != KIND_ROW_LOAD &&
                                     (partners_agree(a, a->mask, 1) || partners_agree(a, a->mask, 2)));
    for (uint32_t first = 0; first < WARP_SIZE; first += 2 * lanes) { // once where all lanes are one phase
        uint32_t pair = phases == 1 ? a->mask : lanes_from(first, 2 * lanes) & a->mask;
        uint32_t width = one_phase ? 2 * lanes : lanes;
        for (uint32_t at = first; at < first + 2 * lanes; at += width) {
            uint32_t phase = one_phase ? pair : lanes_from(at, lanes) & a->mask;
            if (!phase) continue;
            const uint32_t in_a_bank = most_in_a_bank(a, phase);
            if (worst && in_a_bank > most) *worst = phase;
            if (in_a_bank > most) most = in_a_bank;
            total += in_a_bank;
            ++*least;
        }
    }
    return total;
}

static uint32_t wavefronts_of(const Access *a, uint32_t *least) {
    return wavefronts_by_phase(a, least, NULL);
}

// Whether an atomic without a result adds the constant 1: ATOMS.POPC.INC.
bool is_increment(const Access *a) {
    const Instruction *in = a->in;
    return a->kind == ACCESS_REDUCTION && in->operation == ATOMIC_ADD && a->bytes == 4 &&
           in->type != PTX_F32 && in->src[1].constant && *(const uint32_t *)in->src[1].constant == 1;
}

// Lanes of a shared atomic are served one after the other wherever they meet in a bank, on one word or on
// several; a compare-and-swap takes twice as long. An increment is a separate instruction
// (ATOMS.POPC.INC), which serves all lanes on one word at once.
static uint32_t atomic_wavefronts(const Access *a) {
    const Instruction *in = a->in;
    if (is_increment(a)) return most_in_a_bank(a, a->mask);
    uint32_t phases = a->bytes <= 4 ? 1 : a->bytes / 4, lanes = WARP_SIZE / phases, total = 0;
    for (uint32_t p = 0; p < phases; p++) {
        uint32_t counts[BANKS] = {0}, most = 0;
        FOR_LANES(lane, lanes_from(p * lanes, lanes) & a->mask) {
            uint32_t bank = (uint32_t)((a->offsets[lane] >> WORD_SHIFT) % BANKS);
            if (++counts[bank] > most) most = counts[bank];
        }
        total += most;
    }
    return in->operation == ATOMIC_CAS ? 2 * total : total;
}

bool is_retried(const Access *a) {
    const Instruction *in = a->in;
    const bool is_atomic = a->kind == ACCESS_ATOMIC || a->kind == ACCESS_REDUCTION;
    const bool has_no_instruction = in->type == PTX_F32 || in->type == PTX_F64 || a->bytes == 8;
    return is_atomic && in->operation == ATOMIC_ADD && has_no_instruction && in->elements == 1 &&
           a->memory->space == PTX_SPACE_SHARED && block_of_memory(a->memory) == a->warp->block;
}

// What ptxas makes of a load or store of which Instruction.merged_bytes says that it stands for several.
static Access whole_of(const Access *a, uint64_t offsets[WARP_SIZE]) {
    Access whole = *a;
    FOR_LANES(lane, a->mask) offsets[lane] = a->offsets[lane] + (uint64_t)a->in->merged_shift;
    whole.offsets = offsets;
    whole.bytes = a->in->merged_bytes;
    whole.contiguous = false;
    return whole;
}

uint32_t shared_wavefronts(const Access *a) {
    uint32_t least;
    uint64_t offsets[WARP_SIZE];
    if (a->in->merged_bytes == MERGED_AWAY) return 0;
    const Access whole = a->in->merged_bytes ? whole_of(a, offsets) : *a;
    a = &whole;
    bool is_atomic = a->kind == ACCESS_ATOMIC || a->kind == ACCESS_REDUCTION;
    return is_atomic ? atomic_wavefronts(a) : wavefronts_of(a, &least);
}

uint32_t shared_wavefronts_at_best(const Access *a) {
    uint32_t least;
    uint64_t offsets[WARP_SIZE];
    if (a->in->merged_bytes == MERGED_AWAY) return 0;
    const Access whole = a->in->merged_bytes ? whole_of(a, offsets) : *a;
    a = &whole;
    bool is_atomic = a->kind == ACCESS_ATOMIC || a->kind == ACCESS_REDUCTION;
    if (is_atomic) return atomic_wavefronts(a);
    wavefronts_of(a, &least);
    return least;
}

// The lane that goes to memory for all others, alone.
static Access gathered(const Access *a) {
    Access one = *a;
    const bool has_sum = a->kind == ACCESS_REDUCTION || a->in->operation == ATOMIC_ADD;
    if (a->in->is_gathered && has_sum) one.mask = a->mask & (~a->mask + 1);
    return one;
}

static void count_global(Counters *c, const Access *a) {
    uint32_t lanes = (uint32_t)__builtin_popcount(a->mask), sectors;
    const Access leader = gathered(a);
    switch (a->kind) {
    case ACCESS_LOAD:
        sectors = sectors_of(a);
        c->global_ld_requests += a->first;
        c->global_ld_sectors += sectors;
        c->global_ld_bytes += (uint64_t)lanes * a->bytes;
        if (!a->memory->read_only) break;
        c->input_ld_requests += a->first;
        c->input_ld_sectors += sectors;
        break;
    case ACCESS_STORE:
        c->global_st_requests += a->first;
        c->global_st_sectors += sectors_of(a);
        c->global_st_bytes += (uint64_t)lanes * a->bytes;
        break;
    case ACCESS_REDUCTION:
        c->global_red_requests += a->first;
        c->global_red_sectors += atomic_sectors(&leader);
        note_lanes(c, a);
        break;
    case ACCESS_ATOMIC:
        c->global_atom_requests += a->first;
        c->global_atom_sectors += atomic_sectors(&leader);
        note_lanes(c, a);
        break;
    }
}

// An access to the shared memory of another block of the cluster passes no banks of this SM: ncu counts the
// instruction, and a wavefront only if it is an atomic (patterns_cluster.cu).
static void count_distributed(Counters *c, const Access *a) {
    switch (a->kind) {
    case ACCESS_LOAD: c->shared_ld += a->first; break;
    case ACCESS_STORE: c->shared_st += a->first; break;
    default:
        c->shared_atom += a->first;
        c->shared_atom_wavefronts += a->first;
        note_lanes(c, a);
        break;
    }
}

static void count_shared(Counters *c, const Access *a) {
    uint32_t least, wavefronts;
    uint64_t offsets[WARP_SIZE];
    if (a->in->merged_bytes == MERGED_AWAY) return;
    if (block_of_memory(a->memory) != a->warp->block) {
        count_distributed(c, a);
        return;
    }
    Access leader;
    const Access whole = a->in->merged_bytes ? whole_of(a, offsets) : *a;
    a = &whole;
    switch (a->kind) {
    case ACCESS_LOAD:
        wavefronts = wavefronts_of(a, &least);
        c->shared_ld += a->first;
        c->issued_shared_ld += a->in->kind == KIND_LOAD && a->first; // LDS, and not LDSM
        c->shared_ld_wavefronts += wavefronts;
        c->shared_ld_conflicts += wavefronts - least;
        break;
    case ACCESS_STORE:
        wavefronts = wavefronts_of(a, &least);
        c->shared_st += a->first;
        c->issued_shared_st += a->in->kind == KIND_STORE && a->first;
        c->shared_st_wavefronts += wavefronts;
        c->shared_st_conflicts += wavefronts - least;
        break;
    default:
        c->shared_atom += a->first;
        note_lanes(c, a);
        if (is_retried(a)) break; // counted by observers/retried.c
        c->issued_shared_atom += a->first;
        leader = gathered(a);
        c->shared_atom_wavefronts += atomic_wavefronts(&leader);
        break;
    }
}

// The distance in bytes from each of `lanes` to the next one; 0: it is not the same everywhere.
static uint64_t bytes_from_lane_to_lane(const Access *a, uint32_t lanes) {
    int64_t step = 0;
    int before = -1;
    FOR_LANES(lane, lanes) {
        const int64_t bytes = before < 0 ? 0 : (int64_t)(a->offsets[lane] - a->offsets[before]);
        const bool is_first = before == __builtin_ctz(lanes);
        if (before >= 0 && ((int)lane != before + 1 || bytes <= 0 || (!is_first && bytes != step))) return 0;
        step = bytes;
        before = (int)lane;
    }
    return (uint64_t)step;
}

// Fills in which lanes are the first to want different words of the bank, if they come before the pair so
// far.
static void find_pair(const Access *a, uint32_t lanes, uint32_t bank, BankConflict *conflict) {
    int64_t first = -1;
    uint32_t lane_of_first = 0;
    FOR_LANES(lane, lanes) {
        for (uint32_t k = 0; k < conflict->lane_words; k++) {
            const int64_t word = (int64_t)(a->offsets[lane] >> WORD_SHIFT) + k;
            if (word % BANKS != bank || word == first) continue;
            if (first >= 0 && lane_of_first >= conflict->pair[0]) return;
            if (first >= 0) {
                conflict->pair[0] = lane_of_first;
                conflict->pair[1] = (uint32_t)lane;
                conflict->pair_apart = (uint32_t)(word > first ? word - first : first - word);
                return;
            }
            first = word;
            lane_of_first = (uint32_t)lane;
        }
    }
}

void note_bank_conflict(BankConflict *worst, uint32_t extra, const Access *a) {
    if (extra <= worst->extra) return;
    uint64_t offsets[WARP_SIZE];
    uint32_t least, lanes = 0;
    const Access whole = a->in->merged_bytes ? whole_of(a, offsets) : *a;
    wavefronts_by_phase(&whole, &least, &lanes);
    const uint64_t apart = bytes_from_lane_to_lane(&whole, lanes);
    BankConflict conflict = {.extra = extra,
                             .pair = {WARP_SIZE, WARP_SIZE},
                             .lanes = (uint32_t)__builtin_popcount(lanes),
                             .lane_words = (whole.bytes + 3) / 4,
                             .words_apart = apart % 4 ? 0 : (uint32_t)(apart / 4)};
    for (uint32_t bank = 0; bank < BANKS; bank++) {
        const uint32_t words = words_in_bank(&whole, lanes, bank);
        conflict.banks += words > 0;
        if (words > conflict.most) conflict.most = words;
    }
    for (uint32_t bank = 0; bank < BANKS; bank++)
        if (words_in_bank(&whole, lanes, bank) == conflict.most) find_pair(&whole, lanes, bank, &conflict);
    *worst = conflict;
}

void note_scatter(Scatter *worst, uint32_t sectors, const Access *a) {
    const uint32_t lanes = (uint32_t)__builtin_popcount(a->mask);
    const uint32_t filled = (lanes * a->bytes + 31) >> SECTOR_SHIFT;
    if (sectors <= filled) return;
    if (a->first && sectors == filled + 1 && bytes_from_lane_to_lane(a, a->mask) == a->bytes)
        worst->between++;
    if (sectors - filled <= worst->extra) return;
    *worst = (Scatter){.extra = sectors - filled,
                       .lanes = lanes,
                       .lane_bytes = a->bytes,
                       .sectors = sectors,
                       .bytes_apart = bytes_from_lane_to_lane(a, a->mask),
                       .between = worst->between};
}

// Local memory lies interleaved: word w of all 32 lanes together, so that equal offsets are contiguous, and
// an access of several words is as many requests.
static void count_local(Counters *c, const Access *a) {
    uint64_t sectors[WARP_SIZE];
    uint32_t count = 0, words = (a->bytes + 3) / 4;
    for (uint32_t k = 0; k < words; k++) {
        FOR_LANES(lane, a->mask) {
            uint64_t word = (a->offsets[lane] % a->warp->local_capacity) / 4 + k;
            sectors[lane] = (word * WARP_SIZE + lane) * 4 >> SECTOR_SHIFT;
        }
        count += distinct(sectors, a->mask);
    }
    if (a->kind == ACCESS_LOAD) {
        c->local_ld_requests += a->first ? words : 0;
        c->local_ld_sectors += count;
    } else {
        c->local_st_requests += a->first ? words : 0;
        c->local_st_sectors += count;
    }
}

void counters_add_shared_load(Counters *c, const Access *a) {
    uint32_t least;
    const uint32_t wavefronts = wavefronts_of(a, &least);
    c->issued_shared_ld++;
    c->shared_ld_wavefronts += wavefronts;
    c->shared_ld_conflicts += wavefronts - least;
}

void counters_add_access(Counters *c, const Access *a) {
    switch (a->memory->space) {
    case PTX_SPACE_GLOBAL: count_global(c, a); break;
    case PTX_SPACE_SHARED: count_shared(c, a); break;
    case PTX_SPACE_LOCAL: count_local(c, a); break;
    case PTX_SPACE_CONST: c->const_ld += a->first; break;
    default: break;
    }
}
