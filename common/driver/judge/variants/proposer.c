#include "driver/judge/variants/proposer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- Texts -----------------------------------------------------------------------------------------------

char *proposer_text(const Proposer *proposer, int first, int last, int from, int to, const char *instead) {
    const Tokens *tokens = &proposer->code->tokens;
    Text text = {0};
    for (int i = first; i <= last; i++) {
        const Token *token = &tokens->all[i];
        const bool is_dropped = instead && i > from && i <= to;
        if (i > first && token->from > tokens->all[i - 1].to && !is_dropped) text_add_char(&text, ' ');
        if (instead && i == from) text_add(&text, instead);
        if (!instead || i < from || i > to)
            text_add_bytes(&text, tokens->source + token->from, (size_t)(token->to - token->from));
    }
    return text_take(&text);
}

Variant *proposer_add(const Proposer *proposer, ChangeKind kind, int token, int rank) {
    Variants *variants = proposer->variants;
    if (variants->count == variants->room) {
        const int room = variants->room ? 2 * variants->room : 256;
        Variant *grown = realloc(variants->all, (size_t)room * sizeof *grown);
        if (!grown) {
            variants->failed = true;
            return NULL;
        }
        variants->all = grown;
        variants->room = room;
    }
    Variant *added = &variants->all[variants->count++];
    *added = (Variant){.kind = kind, .line = proposer->code->tokens.all[token].line, .rank = rank};
    for (int f = 0; f < proposer->code->function_count; f++)
        if (proposer->code->functions[f].first <= token && token <= proposer->code->functions[f].last)
            added->function = f;
    return added;
}

void proposer_edit(const Proposer *proposer, Variant *variant, EditForm form, int from, int to, char *text) {
    if (!text) proposer->variants->failed = true;
    if (!text || !variant || variant->edit_count == MOST_EDITS) {
        free(text);
        return;
    }
    variant->edits[variant->edit_count++] = (SourceEdit){.form = form, .from = from, .to = to, .text = text};
}

int proposer_begin(const Proposer *proposer, int token) { return proposer->code->tokens.all[token].from; }
int proposer_end(const Proposer *proposer, int token) { return proposer->code->tokens.all[token].to; }

// ---- Expressions -----------------------------------------------------------------------------------------

const Statement *statement_at(const Code *code, int token) {
    const Statement *found = NULL;
    for (int s = 0; s < code->statement_count && code->statements[s].first <= token; s++)
        if (token <= code->statements[s].last) found = &code->statements[s];
    return found;
}

void proposer_find_unit(const Code *code, int from, int to, int *first, int *last) {
    const Tokens *tokens = &code->tokens;
    const char *const limits = token_is_one_of(tokens, from, "&& ||")
                                   ? "( [ { } ) ] , ; ? : = return"
                                   : "( [ { } ) ] , ; ? : && || = += -= *= /= %= &= |= ^= <<= >>= return";
    const Statement *statement = statement_at(code, from);
    const int least = statement ? statement->first : 0;
    for (*first = from; *first > least;) {
        const int before = *first - 1;
        if (token_is_one_of(tokens, before, ") ]") && tokens->all[before].partner >= least)
            *first = tokens->all[before].partner;
        else if (token_is_one_of(tokens, before, limits))
            break;
        else
            *first = before;
    }
    for (*last = to; *last + 1 < tokens->count;) {
        const int next = *last + 1;
        if (token_is_one_of(tokens, next, "( [") && tokens->all[next].partner > next)
            *last = tokens->all[next].partner;
        else if (token_is_one_of(tokens, next, limits))
            break;
        else
            *last = next;
    }
}

enum { SHOWN = 64 }; // characters of a part of the source that the words of a change show

void proposer_replace(const Proposer *proposer, ChangeKind kind, int rank, int from, int to,
                      const char *instead) {
    int first, last;
    proposer_find_unit(proposer->code, from, to, &first, &last);
    Variant *variant = proposer_add(proposer, kind, from, rank);
    char *now = proposer_text(proposer, first, last, from, to, instead);
    char *was = proposer_text(proposer, first, last, 0, 0, NULL),
         *part = proposer_text(proposer, from, to, 0, 0, NULL);
    if (variant && now && was && part) {
        const bool is_short = strlen(now) < SHOWN && strlen(was) < SHOWN;
        snprintf(variant->words, sizeof variant->words, "%.100s instead of %.100s in line %d",
                 is_short ? now : instead, is_short ? was : part, variant->line);
    }
    free(was);
    free(part);
    proposer_edit(proposer, variant, EDIT_EXPRESSION, proposer_begin(proposer, first),
                  proposer_end(proposer, last), now);
}

// ---- Statements ------------------------------------------------------------------------------------------

char *statement_text(const Proposer *proposer, const Statement *statement) {
    return proposer_text(proposer, statement->first, statement->last, 0, 0, NULL);
}

void proposer_instead_of(const Proposer *proposer, ChangeKind kind, int rank, const Statement *statement,
                         const char *now, const char *words) {
    Text text = {0};
    text_add(&text, now);
    Variant *variant = proposer_add(proposer, kind, statement->first, rank);
    if (variant) snprintf(variant->words, sizeof variant->words, "%s line %d", words, variant->line);
    proposer_edit(proposer, variant, EDIT_STATEMENT, proposer_begin(proposer, statement->first),
                  proposer_end(proposer, statement->last), text_take(&text));
}

void proposer_insert(const Proposer *proposer, ChangeKind kind, int rank, int before, const char *statement) {
    Text text = {0};
    text_printf(&text, "%s;", statement);
    Variant *variant = proposer_add(proposer, kind, before, rank);
    if (variant)
        snprintf(variant->words, sizeof variant->words, "%.200s before line %d", statement, variant->line);
    proposer_edit(proposer, variant, EDIT_BEFORE, proposer_begin(proposer, before),
                  proposer_begin(proposer, before), text_take(&text));
}

const Statement *statement_after(const Code *code, const Statement *statement) {
    for (const Statement *next = statement + 1; next < code->statements + code->statement_count; next++)
        if (next->parent == statement->parent && next->first > statement->last)
            return next->first == statement->last + 1 ? next : NULL;
    return NULL;
}

const Statement *statement_block(const Code *code, const Statement *statement) {
    const Statement *body = statement + 1;
    const bool has_one = (statement->kind == STATEMENT_LOOP || statement->kind == STATEMENT_IF) &&
                         body < code->statements + code->statement_count && body->kind == STATEMENT_BLOCK &&
                         body->last <= statement->last;
    return has_one ? body : NULL;
}

bool statement_value(const Code *code, const Statement *statement, int *first, int *last) {
    const Tokens *tokens = &code->tokens;
    if (statement->kind != STATEMENT_EXPRESSION && statement->kind != STATEMENT_DECLARATION) return false;
    *first = -1;
    for (int at = statement->first; at < statement->last; at++) {
        if (tokens->all[at].partner > at) {
            at = tokens->all[at].partner;
        } else if (token_is_one_of(tokens, at, "= += -= *= /=")) {
            if (*first >= 0) return false;
            *first = at + 1;
        } else if (token_is(tokens, at, ",") && statement->kind == STATEMENT_DECLARATION) {
            return false;
        }
    }
    *last = statement->last - 1;
    return *first >= 0 && *first <= *last && code->is_open[*first];
}

int token_line(const Code *code, int token) { return code->tokens.all[token].line; }

// ---- Variables -------------------------------------------------------------------------------------------

bool type_is_whole(const char *type) {
    static const char *const types[] = {"int",       "unsigned", "unsigned int",       "long",
                                        "long long", "size_t",   "unsigned long long", "uint32_t",
                                        "int32_t",   "short",    "uint64_t",           "int64_t"};
    for (size_t t = 0; t < sizeof types / sizeof types[0]; t++)
        if (strcmp(type, types[t]) == 0) return true;
    return false;
}

// The element of an array or a pointer, as "float".
void variable_element_type(const Variable *variable, char type[48]) {
    memcpy(type, variable->type, sizeof variable->type);
    char *pointer = strstr(type, " *");
    if (pointer && variable->dimensions == 0) *pointer = '\0';
}

bool variable_may_stand_for(const Variable *was, const Variable *now) {
    char a[48], b[48];
    const int was_places = was->dimensions ? was->dimensions : strchr(was->type, '*') != NULL,
              now_places = now->dimensions ? now->dimensions : strchr(now->type, '*') != NULL;
    if (was_places != now_places) return false;
    if (was_places == 0 && type_is_whole(was->type)) return type_is_whole(now->type);
    variable_element_type(was, a);
    variable_element_type(now, b);
    return strcmp(a, b) == 0 && was->type[0];
}

void variable_name_text(const Proposer *proposer, const Variable *variable, char *out, size_t bytes) {
    const Token *token = &proposer->code->tokens.all[variable->name];
    snprintf(out, bytes, "%.*s", token->to - token->from, proposer->code->tokens.source + token->from);
}

bool variable_is_assigned(const Code *code, int at) {
    int next = at + 1;
    while (token_is(&code->tokens, next, "[")) next = code->tokens.all[next].partner + 1;
    return token_is_one_of(&code->tokens, next, "= += -= *= /= %= &= |= ^= <<= >>= ++ --") ||
           token_is_one_of(&code->tokens, at - 1, "++ -- &");
}

bool named_is_known(const Proposer *proposer, const NamedNumber *named, int at) {
    const char *name = named->name;
    char directive[NAMED_BYTES + 16];
    if (named->line != 0) return false;
    const Tokens *tokens = &proposer->code->tokens;
    for (int i = 0; i < at; i++)
        if (token_is(tokens, i, name) &&
            (token_is(tokens, i + 1, "=") || token_is_one_of(tokens, i - 1, "{ ,")))
            return true;
    snprintf(directive, sizeof directive, "#define %s ", name);
    return strstr(tokens->source, directive) != NULL;
}

void variant_drop(Variant *variant) {
    for (int e = 0; e < variant->edit_count; e++) free(variant->edits[e].text);
}

void variants_free(Variants *variants) {
    for (int v = 0; v < variants->count; v++) variant_drop(&variants->all[v]);
    free(variants->all);
    *variants = (Variants){0};
}

bool sum_cancels(const char *sum, const char *term, char sign) {
    const size_t length = strlen(term);
    for (const char *at = sum; (at = strstr(at, term)) != NULL; at += length) {
        const char *before = at, *behind = at + length;
        while (before > sum && before[-1] == ' ') before--;
        while (*behind == ' ') behind++;
        const char own = before > sum ? before[-1] : '+';
        if (strchr("+-", own) && own != sign && strchr("+-", *behind)) return true;
    }
    return false;
}
