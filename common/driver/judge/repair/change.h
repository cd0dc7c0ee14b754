// A change to a kernel that may repair it: edits of its PTX, and what they mean in kernel.cu.
#pragma once

#include "driver/judge/repair/ptx_lines.h"

// What is changed, by the name that the JSON has for it. `line` says where, in kernel.cu.
typedef enum {
    CHANGE_BARRIER,         // __syncthreads() before or behind the line
    CHANGE_MOVED_BARRIER,   // the same, instead of where it is now
    CHANGE_WARP_BARRIER,    // __syncwarp() before or behind the line
    CHANGE_ASYNC_WAIT,      // a wait for asynchronous copies before or behind the line
    CHANGE_FENCE,           // __threadfence() before or behind the line
    CHANGE_SCOPE,           // memory operations and fences of the block are of the GPU
    CHANGE_VOLATILE,        // both lines of a race go through a pointer to volatile
    CHANGE_STORE_FIRST,     // a store before another one or an atomic, and a fence between them
    CHANGE_ONE_LOAD,        // what one load of a word has found, in place of a second load of it
    CHANGE_FULL_MASK,       // the mask of a warp's function is that of all lanes
    CHANGE_NO_PARTNER,      // a lane that has no lane to read gets 0 from a shuffle
    CHANGE_ZERO,            // variables and registers start at 0
    CHANGE_ZERO_SHARED,     // shared memory starts at 0
    CHANGE_ZERO_OUTPUT,     // the output starts at 0
    CHANGE_ATOMIC,          // load, add and store are one atomic addition
    CHANGE_ADD,             // a store adds to what is there
    CHANGE_ONE_LANE,        // only lane 0 of each warp stores
    CHANGE_ONE_THREAD,      // only thread 0 of each block stores
    CHANGE_NUMBER,          // of a thread or block, or of threads: the grid's instead of the block's
    CHANGE_INDEX,           // a number of a thread or block added to the index in the accesses of a line
    CHANGE_NEIGHBOUR,       // the element before or behind in the accesses of a line
    CHANGE_SIZE,            // places of another size, as those of floats instead of float4
    CHANGE_UNSIGNED,        // numbers without a sign
    CHANGE_ARRAY,           // another array
    CHANGE_OPERATOR,        // another operator or function, as `+` for `fmaxf`
    CHANGE_COMPARISON,      // another comparison, as `<` for `<=`
    CHANGE_CONSTANT,        // another whole number
    CHANGE_START,           // another float that a variable starts from
    CHANGE_SKIPPED,         // 0 for threads that skip a load, in place of what they had
    CHANGE_EXCHANGED,       // the two sides of subtractions of floats
    CHANGE_ZERO_PRODUCT,    // 0 for the product of 0 with an infinity or NaN
    CHANGE_ZERO_DIFFERENCE, // 0 for the difference of an infinity and itself
    CHANGE_GUARD,           // a test before the accesses of the line, which leaves out what is out of bounds
    CHANGE_SINGLE,          // one access for each element instead of a wide one, with a test for each
    CHANGE_STAY,        // no thread leaves, or passes by, in the line; what it has no element for is left out
    CHANGE_ONE_WAY,     // all threads take the same side of a condition
    CHANGE_MORE_SHARED, // larger arrays in shared memory
    CHANGE_MORE_BLOCKS, // a larger grid
    CHANGE_BLOCK_SIZE,  // smaller or larger blocks, and as many threads in all
    CHANGE_LARGER_LAUNCH, // as many larger blocks, or a multiple of the blocks
    CHANGE_WIDE,          // whole numbers of 64 bits in some lines
    // Of the source alone:
    CHANGE_EXPRESSION, // another expression
    CHANGE_NAME,       // another variable
    CHANGE_CONDITION,  // a condition before a statement
    CHANGE_LEFT_OUT,   // without a statement
    CHANGE_MOVED,      // a statement elsewhere
    CHANGE_ADDED,      // one more statement
    CHANGE_KINDS
} ChangeKind;

typedef struct {
    int line;      // of the PTX
    bool replaces; // that line; otherwise it is inserted before it
    char text[512];
} Edit;

// Where something is inserted: before or behind a line, or between two accesses of it.
typedef enum { SIDE_BEFORE, SIDE_BEHIND, SIDE_WITHIN } ChangeSide;

enum {
    CHANGE_LINES = 48, // the most of kernel.cu
    CHANGE_PLACES = 8, // of one variant
};

typedef struct {
    int first, last;
} LineRange;

// Of the launches over all elements; 0: as LAUNCH has it.
typedef struct {
    int share;         // so many elements for a thread, or at least one block for each row
    int more_blocks;   // besides LAUNCH's
    int times_blocks;  // as many as LAUNCH's
    int block_threads; // of a block, and as many threads in all,
    bool keeps_blocks; // or as many blocks
} LaunchChange;

typedef struct {
    ChangeKind kind;
    int source; // line of kernel.cu; 0: of none in particular
    ChangeSide side;
    char words[256];    // "a barrier before line 30"
    bool zeroes_output; // memory is zero before the launch
    int guarded_line;   // of EmulatorLaunch
    LaunchChange launch;
    int function;                 // of the PTX
    int variant;                  // of the source, which the image has, from 1 on; 0: edits
    LineRange own[CHANGE_PLACES]; // of a variant: the lines, of the text with all, of what it stands for
    int own_count;
    int wide_lines[CHANGE_LINES], wide_count; // of kernel.cu, in ascending order
    Edit *edits;
    int edit_count;
} Change;

typedef struct {
    Change *all;
    int count, capacity;
    bool failed; // out of memory: it lacks some
} Changes;

const char *change_name(ChangeKind kind);      // "barrier"
const char *change_side_name(ChangeSide side); // "before", "after" or "within"

// Adds a change without edits; NULL when memory runs out.
Change *changes_add(Changes *changes, ChangeKind kind, int source);
void changes_free(Changes *changes);
void change_insert(Changes *changes, Change *change, int line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void change_replace(Changes *changes, Change *change, int line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

// The PTX with all edits of some changes, without what is left out. If two replace a line, the last one does.
void changes_apply(const PtxLines *lines, const Change *const changes[], int count, Text *out);
