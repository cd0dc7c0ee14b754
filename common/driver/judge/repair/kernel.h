// What the kinds of proposals share: the kernel that is to be changed, and its lines.
#pragma once

#include "driver/judge/repair/proposals.h"
#include "driver/judge/repair/source_blocks.h"

// Proposals of one kind for one kernel: no search is finished with more.
enum { MOST = CHANGE_LINES };

typedef struct {
    int at, target; // places among the lines; -1: unknown
    bool is_conditional;
} Branch;

typedef struct {
    const PtxLines *lines;
    int declared;   // its first line, with declarations
    int first, end; // of its instructions
    const Symptoms *symptoms;
    Changes *changes;
    SourceBlocks blocks; // of kernel.cu
    Branch *branches;
    int branch_count;
} Kernel;

// Whether changes of that kind are asked for (Symptoms.only).
bool wants(const Kernel *kernel, ChangeKind kind);
// The words of a change, which may be NULL: as they are, and with its line, as in "a fence" "before".
void say(Change *change, const char *words);
void say_at(Change *change, const char *what, const char *where);
// The change of a line with these words, among those from `first` on, or a new one; NULL: memory ran out.
Change *change_with(const Kernel *kernel, int first, ChangeKind kind, int source, const char *words);
// The instruction at `at` comes before the one at `before` instead.
void move_before(const Kernel *kernel, Change *change, int at, int before);

// Whether an instruction accesses memory that other threads see, as "ld" or "st".
bool is_access(const PtxInstruction *in, const char *name);
// The text of an instruction with operand `which` replaced; -1: none.
void with_operand(const PtxInstruction *in, int which, const char *operand, char *out, size_t room);

// A line of kernel.cu without its comment; false: it is not known.
bool kernel_line(const Kernel *kernel, int number, char *line, size_t bytes);
// The lines of kernel.cu with such instructions, each once; how many.
typedef bool OfInterest(const PtxInstruction *in);
int list_lines(const Kernel *kernel, OfInterest *is_one, int lines[MOST]);

// places.c: the branches of the kernel; false when memory runs out.
bool find_branches(Kernel *kernel);
// The line before which a statement does what an instruction does before the one at `at`, nearest
// to `near`; 0: none. `is_unrolled`: it is inserted in every round of a loop that has no branch any more.
int line_before_place(const Kernel *kernel, int at, int near, bool is_unrolled);
// Whether the innermost loop around a line is none in the PTX around the place: it is unrolled, or ends
// before.
bool is_in_unrolled_loop(const Kernel *kernel, int at, int line);
// The next line before which a statement can be written; 0: none.
int line_behind(const Kernel *kernel, int line);
// order.c: what orders threads. `is_near`: near the finding, or elsewhere.
void propose_waits(const Kernel *kernel);
void propose_fences(const Kernel *kernel);
void propose_barriers(const Kernel *kernel, ChangeKind kind, bool is_near);
void propose_moved_barrier(const Kernel *kernel);
void propose_warp_barriers_everywhere(const Kernel *kernel);
void propose_staying(const Kernel *kernel, bool of_ends);
void propose_one_way(const Kernel *kernel);
void propose_barrier_choices(const Kernel *kernel); // one way to the block's or the warp's
// between_blocks.c: the scope, strength and order of what other blocks see.
void propose_scopes(const Kernel *kernel);
void propose_volatile(const Kernel *kernel);
void propose_store_first(const Kernel *kernel);
void propose_one_load(const Kernel *kernel);
// memory.c: what memory and variables hold at first, how large arrays are, and what stores do.
void propose_zero_registers(const Kernel *kernel);
void propose_zero_output(const Kernel *kernel);
void propose_zero_shared(const Kernel *kernel);
void propose_larger_array(const Kernel *kernel);
void propose_more_shared(const Kernel *kernel);
void propose_guard(const Kernel *kernel, bool is_everywhere);
void propose_single_accesses(const Kernel *kernel);
void propose_atomics(const Kernel *kernel);
void propose_one_writer(const Kernel *kernel);
void propose_additions(const Kernel *kernel);
// lanes.c: what the lanes of a warp exchange.
void propose_full_masks(const Kernel *kernel);
void propose_zero_without_partner(const Kernel *kernel);
// numbers.c: other comparisons, limits, and numbers of threads and blocks.
void propose_comparisons(const Kernel *kernel, bool is_inverted);
void propose_limits(const Kernel *kernel);
void propose_numbers(const Kernel *kernel);
bool whole_number(const char *operand, long *number);
// constants.c: other whole numbers, near those that a line says, or others of kernel.cu.
void propose_constants(const Kernel *kernel, bool is_usual);
int times_said(const char *line, long number); // how often a line of kernel.cu has it
// operators.c: another operator, or another function of a warp.
void propose_operators(const Kernel *kernel);
// quantities.c: other parameters, and numbers of threads and blocks, in one place.
void propose_quantities(const Kernel *kernel);
void propose_steps(const Kernel *kernel); // a number along the other axis, in the line of the finding
// addresses.c: other elements, sizes of elements, signs and arrays.
void propose_neighbours(const Kernel *kernel);
void propose_other_elements(const Kernel *kernel);
void propose_added_numbers(const Kernel *kernel);
void propose_elements_apart(const Kernel *kernel);
void propose_sizes(const Kernel *kernel);
void propose_signs(const Kernel *kernel);
void propose_other_arrays(const Kernel *kernel);
// floats.c: what variables start from, the sides of subtractions, and operations that make a NaN.
void propose_starts(const Kernel *kernel);
void propose_zero_differences(const Kernel *kernel);
void propose_zero_products(const Kernel *kernel);
void propose_exchanged(const Kernel *kernel);
// skipped.c: what a thread keeps that skips a load.
void propose_zero_where_skipped(const Kernel *kernel);
// wide.c: whole numbers of 64 bits, in all lines that calculate some; or in those of `whole` but
// `parts`.
void propose_wide(const Kernel *kernel);
void propose_less_wide(const Kernel *kernel, const Change *whole, int from, int parts);
// launches.c: more blocks than LAUNCH asks for, or blocks of another size.
void propose_more_blocks(const Kernel *kernel);
void propose_one_more_block(const Kernel *kernel);
void propose_larger_launch(const Kernel *kernel);
void propose_block_sizes(const Kernel *kernel);
// shared.c: a change that repairs the kernel, for its own line alone, or for another one that has a value of
// it in common. False: there is none. `also`: what its words lack if neither repairs it.
bool propose_parts_of(const Kernel *kernel, const Change *whole, char *also, size_t bytes);
