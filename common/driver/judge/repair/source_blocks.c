#include "driver/judge/repair/source_blocks.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *at;
    int line, parens, block;
    int head;         // line of the first word since the last statement or brace; 0: none yet
    const char *from; // that word
    char last;        // character that is not blank, outside of comments and directives
    bool is_behind_directive;
    SourceBlocks *blocks;
} Reader;

static bool is_word(const char *at, const char *from, const char *word) {
    const size_t length = strlen(word);
    return strncmp(at, word, length) == 0 && !isalnum((unsigned char)at[length]) && at[length] != '_' &&
           (at == from || (!isalnum((unsigned char)at[-1]) && at[-1] != '_'));
}

static BlockKind kind_of(const char *from, const char *to) {
    while (from < to && (isspace((unsigned char)*from) || *from == '}')) from++;
    if (is_word(from, from, "if")) return BLOCK_IF;
    if (is_word(from, from, "else")) return BLOCK_ELSE;
    if (is_word(from, from, "for") || is_word(from, from, "while") || is_word(from, from, "do"))
        return BLOCK_LOOP;
    return BLOCK_OTHER;
}

static void open_block(Reader *reader) {
    SourceBlocks *blocks = reader->blocks;
    blocks->blocks[blocks->block_count] =
        (Block){.kind = reader->from ? kind_of(reader->from, reader->at) : BLOCK_OTHER,
                .head = reader->head ? reader->head : reader->line,
                .end = blocks->count,
                .parent = reader->block};
    reader->block = blocks->block_count++;
}

static void close_block(Reader *reader) {
    if (reader->block < 0) return;
    reader->blocks->blocks[reader->block].end = reader->line;
    reader->block = reader->blocks->blocks[reader->block].parent;
}

static bool skip_comment(Reader *reader) {
    if (reader->at[0] != '/' || (reader->at[1] != '/' && reader->at[1] != '*')) return false;
    const bool is_long = reader->at[1] == '*';
    for (reader->at += 2; *reader->at; reader->at++) {
        if (!is_long && *reader->at == '\n') return true;
        if (is_long && reader->at[0] == '*' && reader->at[1] == '/') {
            reader->at += 2;
            return true;
        }
        reader->line += *reader->at == '\n';
    }
    return true;
}

static void skip_quoted(Reader *reader) {
    const char quote = *reader->at++;
    while (*reader->at && *reader->at != quote && *reader->at != '\n') {
        reader->at += *reader->at == '\\' && reader->at[1];
        reader->at++;
    }
    reader->at += *reader->at == quote;
}

// The first character of a line that is not blank.
static void begin_line(Reader *reader) {
    SourceBlocks *blocks = reader->blocks;
    blocks->inside[reader->line] = reader->block;
    blocks->begins[reader->line] = reader->block >= 0 && reader->parens == 0 &&
                                   !reader->is_behind_directive && strchr(";{}", reader->last) &&
                                   reader->last && !is_word(reader->at, reader->at, "else");
    reader->is_behind_directive = false;
    if (*reader->at == '#') {
        while (*reader->at && *reader->at != '\n') reader->at++;
        reader->is_behind_directive = true;
    }
}

static void take(Reader *reader) {
    const char c = *reader->at;
    if (!reader->head && c != '}') {
        reader->head = reader->line;
        reader->from = reader->at;
    }
    for (int k = 0; k < 3; k++) {
        static const char *const leaving[] = {"return", "break", "continue"};
        if (!is_word(reader->at, reader->from ? reader->from : reader->at, leaving[k])) continue;
        for (int b = reader->block; b >= 0; b = reader->blocks->blocks[b].parent)
            reader->blocks->blocks[b].leaves = true;
    }
    reader->parens += (c == '(') - (c == ')');
    if (c == '{') open_block(reader);
    if (c == '}') close_block(reader);
    if (c == '{' || c == '}' || (c == ';' && reader->parens == 0)) {
        reader->head = 0;
        reader->from = NULL;
    }
    reader->last = c;
    reader->at++;
}

bool source_blocks_make(const char *source, SourceBlocks *blocks) {
    int lines = 2, braces = 1;
    *blocks = (SourceBlocks){0};
    for (const char *at = source; at && *at; at++) {
        lines += *at == '\n';
        braces += *at == '{';
    }
    blocks->begins = calloc((size_t)lines + 1, sizeof *blocks->begins);
    blocks->inside = calloc((size_t)lines + 1, sizeof *blocks->inside);
    blocks->blocks = calloc((size_t)braces, sizeof *blocks->blocks);
    if (!blocks->begins || !blocks->inside || !blocks->blocks) {
        source_blocks_free(blocks);
        return false;
    }
    blocks->count = source ? lines - 1 : 0;
    for (int l = 0; l <= lines; l++) blocks->inside[l] = -1;
    Reader reader = {.at = source, .line = 1, .block = -1, .blocks = blocks};
    for (int seen = 0; reader.at && *reader.at;) {
        if (skip_comment(&reader)) continue;
        if (isspace((unsigned char)*reader.at)) {
            reader.line += *reader.at++ == '\n';
            continue;
        }
        if (seen != reader.line) {
            seen = reader.line;
            begin_line(&reader);
            if (reader.is_behind_directive) continue;
        }
        if (*reader.at == '"' || *reader.at == '\'') {
            skip_quoted(&reader);
            reader.last = '"';
            continue;
        }
        take(&reader);
    }
    return true;
}

void source_blocks_free(SourceBlocks *blocks) {
    free(blocks->begins);
    free(blocks->inside);
    free(blocks->blocks);
    *blocks = (SourceBlocks){0};
}

int loop_of_head(const SourceBlocks *blocks, int line) {
    for (int b = 0; b < blocks->block_count; b++)
        if (blocks->blocks[b].kind == BLOCK_LOOP && blocks->blocks[b].head == line) return b;
    return -1;
}

int block_around(const SourceBlocks *blocks, int line, BlockKind kind) {
    int block = line >= 1 && line <= blocks->count ? blocks->inside[line] : -1;
    while (block >= 0 && blocks->blocks[block].kind != kind) block = blocks->blocks[block].parent;
    return block;
}

bool block_holds(const SourceBlocks *blocks, int block, int line) {
    int around = line >= 1 && line <= blocks->count ? blocks->inside[line] : -1;
    while (around >= 0 && around != block) around = blocks->blocks[around].parent;
    return around == block;
}

int outermost_block(const SourceBlocks *blocks, int line) {
    int block = line >= 1 && line <= blocks->count ? blocks->inside[line] : -1;
    while (block >= 0 && blocks->blocks[block].parent >= 0) block = blocks->blocks[block].parent;
    return block;
}
