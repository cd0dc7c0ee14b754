// Where statements and blocks of kernel.cu begin and end.
#pragma once

#include <stdbool.h>

typedef enum { BLOCK_OTHER, BLOCK_IF, BLOCK_ELSE, BLOCK_LOOP } BlockKind;

typedef struct {
    BlockKind kind;
    int head, end; // the lines with its first word, as "if", and its last brace
    int parent;    // -1: none
    bool leaves;   // it has a return, break or continue
} Block;

typedef struct {
    int count;    // lines; all arrays are indexed by a line's number, from 1 on
    bool *begins; // whether a statement may be written before the line
    int *inside;  // the innermost block around the line's first character; -1: none
    Block *blocks;
    int block_count;
} SourceBlocks;

// False when memory runs out; it is then empty. `source` may be NULL.
bool source_blocks_make(const char *source, SourceBlocks *blocks);
void source_blocks_free(SourceBlocks *blocks);
// The innermost block around a line, or that around block `inner`, which is of that kind; -1: none.
int block_around(const SourceBlocks *blocks, int line, BlockKind kind);
// The loop that begins in a line; -1: none.
int loop_of_head(const SourceBlocks *blocks, int line);
bool block_holds(const SourceBlocks *blocks, int block, int line);
// The outermost block around a line, as that of its function; -1: none.
int outermost_block(const SourceBlocks *blocks, int line);
