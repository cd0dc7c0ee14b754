// If PTX has a branch over a few instructions, ptxas puts these under a predicate: no lane branches, and a
// warp issues them even if all its lanes are switched off. A branch to the end of the kernel becomes an exit
// under a predicate. The rules are those of ptxas 13 for sm_90, found with kernels of one or two `if`, and
// they reproduce what an H200 counts (tests/hardware_truth).
#include "emulator/program/predicated.h"

#include <stdlib.h>

#include "emulator/program/machine_cost.h"

enum {
    MOST_COST = 8,           // machine instructions of one way
    MOST_COST_OF_BOTH = 14,  // where neither way is empty
    MOST_COST_OF_LOADS = 20, // where loads from global memory are under way while the rest is executed
    LEAST_WORK_BEFORE = 4,  // that there must be beside such a load, if only what is before the branch counts
    LEAST_WORK = 3,         // likewise, with what is after it
    MOST_INSTRUCTIONS = 64, // that are looked at, with branches and what costs nothing
    COST_OF_LOAD = 4,
};

// ---- Regions ----------------------------------------------------------------------------------------------

// The places of a function's branches, which are asked for again and again.
typedef struct {
    int *at, count;
    bool has_table;
} Branches;

typedef struct {
    const Function *function;
    const Branches *branches;
    int branch, join; // the instruction where the lanes meet again; -1: at the end
    int members[MOST_INSTRUCTIONS];
    int count;
} Region;

// What is executed on one of the two ways.
typedef struct {
    int cost;
    bool has_load;    // from global memory
    bool is_constant; // no such load is from memory that a store could change
} Way;

bool leads_to_end(const Function *f, int at) {
    while (f->code[at].kind == KIND_BRANCH && f->code[at].guard < 0 && f->code[at].target > at)
        at = f->code[at].target;
    return f->code[at].kind == KIND_EXIT && f->code[at].guard < 0;
}

static bool holds(const Region *r, int at) {
    for (int k = 0; k < r->count; k++)
        if (r->members[k] == at) return true;
    return false;
}

// Whether an instruction can be under a predicate.
static bool is_simple(const Instruction *in) {
    if (in->kind == KIND_EXIT || in->kind == KIND_BRANCH) return in->guard < 0;
    return in->machine_cost != NEVER_PREDICATED;
}

static bool is_global_load(const Instruction *in) {
    return in->kind == KIND_LOAD && (in->space == PTX_SPACE_GLOBAL || in->space == PTX_SPACE_NONE);
}

// Follows one way from the branch to where the ways meet. False if that is not a straight line of
// simple instructions.
static bool follow(Region *r, int at, Way *way) {
    while (at != r->join) {
        const Instruction *in = &r->function->code[at];
        if (r->count == MOST_INSTRUCTIONS || !is_simple(in)) return false;
        if (holds(r, at)) return r->join < 0; // both ways end alike
        if (in->kind != KIND_EXIT && in->kind != KIND_BRANCH) {
            way->cost += in->machine_cost;
            way->has_load |= is_global_load(in);
            way->is_constant &= !is_global_load(in) || (in->flags & IS_NC);
        }
        r->members[r->count++] = at;
        if (in->kind == KIND_EXIT) return r->join < 0;
        const int next = in->kind == KIND_BRANCH ? in->target : at + 1;
        if (next <= at && next != r->join) return false;
        at = next;
    }
    return true;
}

// Whether control comes into the region from the branch alone.
static bool has_one_entry(const Region *r) {
    const Function *f = r->function;
    for (int b = 0; b < r->branches->count; b++) {
        const int i = r->branches->at[b], target = f->code[i].target;
        if (i != r->branch && holds(r, target) && f->code[target].kind != KIND_EXIT && !holds(r, i))
            return false;
    }
    return !r->branches->has_table;
}

// What else leads to where the two ways meet.
typedef enum { NOBODY, A_BRANCH, ANOTHER_WAY } Others;

static Others others_at_join(const Region *r) {
    const Function *f = r->function;
    Others others = NOBODY;
    if (r->join <= r->branch) return NOBODY; // the head of a loop
    for (int b = 0; b < r->branches->count; b++) {
        const int i = r->branches->at[b];
        const Instruction *in = &f->code[i];
        if (in->target != r->join || holds(r, i) || i == r->branch) continue;
        if (in->guard < 0) return ANOTHER_WAY;
        if (i < r->branch) others = A_BRANCH;
    }
    const int before = r->join - 1;
    const Instruction *last = &f->code[before];
    const bool falls = last->kind != KIND_EXIT && (last->kind != KIND_BRANCH || last->guard >= 0);
    if (!falls || holds(r, before) || before == r->branch) return others;
    return last->kind == KIND_BRANCH ? A_BRANCH : ANOTHER_WAY;
}

// Whether machine code still has a branch to it.
static bool is_target(const Region *r, int at) {
    for (int b = 0; b < r->branches->count; b++) {
        const Instruction *in = &r->function->code[r->branches->at[b]];
        if (in->target == at && !in->is_predicated) return true;
    }
    return false;
}

static bool writes(const Instruction *in, const Operand *of) {
    for (int k = 0; k < in->dst_count; k++)
        if (!of->constant && in->dst[k] == of->offset) return true;
    return false;
}

static bool feeds(const Instruction *in, const Instruction *user) {
    if (in->dst_count > 0 && user->guard >= 0 && in->dst[0] == user->guard) return true;
    for (int k = 0; k < user->src_count; k++)
        if (writes(in, &user->src[k])) return true;
    return false;
}

typedef struct {
    const Instruction *of[4 * MOST_INSTRUCTIONS];
    int count;
} Set;

static void add_to(Set *set, const Instruction *in) {
    if (set->count < 4 * MOST_INSTRUCTIONS) set->of[set->count++] = in;
}

static bool feeds_any(const Instruction *in, const Set *users) {
    for (int k = 0; k < users->count; k++)
        if (feeds(in, users->of[k])) return true;
    return false;
}

static int work_of(const Instruction *in) { return is_global_load(in) ? COST_OF_LOAD : in->machine_cost; }

// The work before the branch that need not be done before the condition and the addresses of the loads are
// known. ptxas moves no load ahead of a store, unless the memory is constant.
static int work_before(const Region *r, bool is_constant) {
    const Function *f = r->function;
    Set needed = {.count = 0};
    int work = 0;
    add_to(&needed, &f->code[r->branch]);
    for (int k = r->count - 1; k >= 0; k--) {
        const Instruction *in = &f->code[r->members[k]];
        if (is_global_load(in) || feeds_any(in, &needed)) add_to(&needed, in);
    }
    for (int i = r->branch - 1; i >= 0 && r->branch - i < MOST_INSTRUCTIONS; i--) {
        const Instruction *in = &f->code[i];
        if (in->kind == KIND_BRANCH && in->is_predicated && !leads_to_end(f, in->target)) continue;
        if ((in->kind == KIND_STORE && !is_constant) || in->kind == KIND_BARRIER ||
            in->machine_cost == NEVER_PREDICATED)
            break;
        if (feeds_any(in, &needed))
            add_to(&needed, in);
        else
            work += work_of(in);
        if (is_target(r, i)) break;
    }
    return work;
}

// Whether machine code has no branch in its place: it is one under a predicate, or leads around the other way
// there.
static bool is_no_branch(const Function *f, const Instruction *in) {
    return (in->is_predicated && !leads_to_end(f, in->target)) || in->predicated_back;
}

// Whether one of the region's stores waits for what another instruction there gives, so that it is issued
// last.
static bool stores_what_it_makes(const Region *r) {
    Set stores = {.count = 0};
    for (int k = 0; k < r->count; k++)
        if (r->function->code[r->members[k]].kind == KIND_STORE)
            add_to(&stores, &r->function->code[r->members[k]]);
    for (int k = 0; k < r->count; k++)
        if (feeds_any(&r->function->code[r->members[k]], &stores)) return true;
    return false;
}

// The work after the ways have met that needs nothing of what they leave. A warp issues in order, so that a
// store that waits comes before a branch. (Before a barrier too, but ptxas counts what follows that.)
static int work_after(const Region *r) {
    const Function *f = r->function;
    const bool waits = stores_what_it_makes(r);
    Set left = {.count = 0};
    int work = 0;
    for (int k = 0; k < r->count; k++) add_to(&left, &f->code[r->members[k]]);
    for (int i = r->join; i < f->count && i - r->join < MOST_INSTRUCTIONS; i++) {
        const Instruction *in = &f->code[i];
        bool is_fed = false;
        if (in->kind == KIND_BRANCH && is_no_branch(f, in)) continue;
        if (in->kind == KIND_BRANCH || in->kind == KIND_EXIT) return work + !waits;
        if (in->machine_cost == NEVER_PREDICATED) break;
        for (int k = 0; k < left.count && !is_fed; k++) is_fed = feeds(left.of[k], in);
        if (is_fed)
            add_to(&left, in);
        else if (in->kind != KIND_BARRIER)
            work += work_of(in);
    }
    return work;
}

static bool is_cheap(const Region *r, const Way ways[2], Others others) {
    const int both = ways[0].cost + ways[1].cost;
    const bool has_two = ways[0].cost && ways[1].cost;
    if (!ways[0].has_load && !ways[1].has_load)
        return ways[0].cost <= MOST_COST && ways[1].cost <= MOST_COST &&
               (!has_two || both <= MOST_COST_OF_BOTH);
    if (both > MOST_COST_OF_LOADS) return false;
    if (r->join < 0) return both <= MOST_COST; // nothing follows
    const int before = work_before(r, ways[0].is_constant && ways[1].is_constant);
    if (others != NOBODY) return before >= LEAST_WORK_BEFORE;
    // A load of the way that comes first is awaited before the other begins.
    const bool is_first = has_two && ways[0].has_load && !ways[1].has_load;
    const bool is_second = has_two && ways[1].has_load && !ways[0].has_load;
    return before + (is_first ? ways[1].cost : work_after(r) + (is_second ? ways[0].cost : 0)) >= LEAST_WORK;
}

static void look_at(Function *f, const Branches *branches, int branch) {
    const int target = f->code[branch].target;
    Region r = {.function = f, .branches = branches, .branch = branch, .join = f->code[branch].reconverge};
    Way ways[2] = {{.is_constant = true}, {.is_constant = true}};
    if (target <= branch && target != r.join) return;
    if (leads_to_end(f, target) || leads_to_end(f, branch + 1)) {
        f->code[branch].is_predicated = true;
        return;
    }
    if (!follow(&r, branch + 1, &ways[0]) || !follow(&r, target, &ways[1]) || !has_one_entry(&r)) return;
    const Others others = others_at_join(&r);
    const bool has_two = ways[0].cost && ways[1].cost;
    if (!is_cheap(&r, ways, others) || (!has_two && others == ANOTHER_WAY)) return;
    f->code[branch].is_predicated = true;
    for (int k = 0; k < r.count; k++)
        if (r.members[k] - branch <= UINT16_MAX)
            f->code[r.members[k]].predicated_back = (uint16_t)(r.members[k] - branch);
}

bool find_predicated(Function *f) {
    Branches all = {.at = malloc(((size_t)f->count + 1) * sizeof *all.at)};
    if (!all.at || !find_machine_costs(f)) {
        free(all.at);
        return false;
    }
    for (int i = 0; i < f->count; i++) {
        if (f->code[i].kind == KIND_BRANCH) all.at[all.count++] = i;
        all.has_table |= f->code[i].kind == KIND_BRANCH_TABLE;
    }
    for (int b = all.count - 1; b >= 0; b--) // an inner one before the one around it
        if (f->code[all.at[b]].guard >= 0) look_at(f, &all, all.at[b]);
    for (int b = 0; b < all.count; b++) // and with what the ones before it have become
        if (f->code[all.at[b]].guard >= 0 && !f->code[all.at[b]].is_predicated) look_at(f, &all, all.at[b]);
    free(all.at);
    return true;
}
