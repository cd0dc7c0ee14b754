#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/judge/account.h"
#include "driver/judge/subset.h"
#include "driver/plan/elements.h"

enum { MARK_BASE = 16 }; // marks are digits to this base: two of them fit into bfloat16's 8 bits

enum { MOST_INPUTS = 2 }; // whose digits one output tells apart

// What an element of the output was made of.
typedef enum { RIGHT, UNWRITTEN, EMPTY, WITHOUT_FIRST, WITHOUT_SECOND, ELSEWHERE, KINDS } Kind;

typedef struct {
    Account *account;
    const Buffer *buffers;
    int inputs[MOST_INPUTS], input_count, out;
    long long n;                     // elements of the output
    long long *sources[MOST_INPUTS]; // the element of that input; -1: of none
    unsigned char *kinds;
} Places;

// ---- Marks -----------------------------------------------------------------------------------------------

// The element of an input that belongs at a place of the output.
static long long proper_source(const Places *places, long long at) {
    const CaseSize *size = &places->account->one.size;
    return places->account->task->expect == EXPECT_TRANSPOSE
               ? at % size->rows * size->columns + at / size->rows
               : at;
}

// One number below MARK_BASE for each element of each input; two inputs share an output's 8 bits.
static void mark(const Places *places, int k, long long i, int digit) {
    const int b = places->inputs[k];
    account_mark(places->account, b, i, k ? MARK_BASE * digit : digit);
}

// The two digits of an output; -1: never written; -2: it is something else.
static int marks_at(const Places *places, const void *after, long long at) {
    const ElementType type = places->buffers[places->out].type;
    if (element_is_poison(after, type, at)) return -1;
    const double value = element_get(after, type, at);
    return value >= 0 && value < MARK_BASE * MARK_BASE && value == floor(value) ? (int)value : -2;
}

// Elements are numbered from 1, one digit in each run.
static bool find_sources(Places *places) {
    const Account *account = places->account;
    for (int k = 0; k < places->input_count; k++)
        for (long long at = 0; at < places->n; at++) places->sources[k][at] = 0;
    long long most = 0;
    for (int k = 0; k < places->input_count; k++)
        if (account->counts[places->inputs[k]] > most) most = account->counts[places->inputs[k]];
    for (long long weight = 1; weight <= most; weight *= MARK_BASE) {
        for (int k = 0; k < places->input_count; k++)
            for (long long i = 0; i < account->counts[places->inputs[k]]; i++)
                mark(places, k, i, (int)((i + 1) / weight % MARK_BASE));
        if (!account_run(places->account)) return false;
        for (long long at = 0; at < places->n; at++) {
            const int marks = marks_at(places, account_output(account), at);
            if (marks == -2) return false;
            if (marks == -1) places->kinds[at] = UNWRITTEN;
            for (int k = 0; k < places->input_count && marks >= 0; k++)
                places->sources[k][at] += weight * (k ? marks / MARK_BASE : marks % MARK_BASE);
        }
    }
    for (int k = 0; k < places->input_count; k++)
        for (long long at = 0; at < places->n; at++)
            if (--places->sources[k][at] >= account->counts[places->inputs[k]]) return false;
    return true;
}

// Whether that explains the result of another input: digits of several elements add up to those of a third.
static bool are_confirmed(const Places *places) {
    Account *account = places->account;
    for (int k = 0; k < places->input_count; k++)
        for (long long i = 0; i < account->counts[places->inputs[k]]; i++)
            mark(places, k, i, account_drawn(account, places->inputs[k], i, MARK_BASE));
    if (!account_run(account)) return false;
    for (long long at = 0; at < places->n; at++) {
        int marks = 0;
        for (int k = 0; k < places->input_count; k++)
            if (places->sources[k][at] >= 0)
                marks += (k ? MARK_BASE : 1) *
                         account_drawn(account, places->inputs[k], places->sources[k][at], MARK_BASE);
        if (marks_at(places, account_output(account), at) != (places->kinds[at] == UNWRITTEN ? -1 : marks))
            return false;
    }
    return true;
}

static void sort(Places *places) {
    for (long long at = 0; at < places->n; at++) {
        if (places->kinds[at] == UNWRITTEN) continue;
        int absent = 0, last_absent = 0;
        bool is_right = true;
        for (int k = 0; k < places->input_count; k++) {
            if (places->sources[k][at] < 0) {
                absent++;
                last_absent = k;
            } else {
                is_right &= places->sources[k][at] == proper_source(places, at);
            }
        }
        if (absent == places->input_count)
            places->kinds[at] = EMPTY;
        else if (absent)
            places->kinds[at] = last_absent == 0 ? WITHOUT_FIRST : WITHOUT_SECOND;
        else
            places->kinds[at] = is_right ? RIGHT : ELSEWHERE;
    }
}

// ---- Words -----------------------------------------------------------------------------------------------

// What all misplaced elements have in common, as far as one input is concerned.
typedef struct {
    enum { SAME_DISTANCE, SAME_SOURCE, OWN_NUMBER, REVERSED, NO_RULE } kind;
    long long value; // the distance or source, or how many elements are in reverse order
    long long first; // the first misplaced element
} Rule;

// How many elements side by side each misplaced one is reversed with, as 2 where pairs are exchanged; 0: they
// are not.
static long long reversed_together(const Places *places, int k) {
    long long together = 0;
    for (long long at = 0; at < places->n; at++) {
        if (places->kinds[at] != ELSEWHERE) continue;
        const long long mask = places->sources[k][at] ^ proper_source(places, at);
        if (together == 0) together = mask + 1;
        if (mask + 1 != together) return 0;
    }
    return together == 2 || together == 4 || together == 8 ? together : 0;
}

static Rule find_rule(const Places *places, int k) {
    const long long *sources = places->sources[k];
    bool is_same_source = true, is_same_distance = true, is_own_number = true;
    long long first = -1, distance = 0;
    for (long long at = 0; at < places->n; at++) {
        if (places->kinds[at] != ELSEWHERE) continue;
        const long long off = sources[at] - proper_source(places, at);
        if (first < 0) {
            first = at;
            distance = off;
        }
        is_same_distance &= off == distance;
        is_same_source &= sources[at] == sources[first];
        is_own_number &= sources[at] == at;
    }
    if (is_same_distance) return (Rule){SAME_DISTANCE, distance, first};
    if (is_same_source) return (Rule){SAME_SOURCE, sources[first], first};
    if (is_own_number) return (Rule){OWN_NUMBER, 0, first};
    const long long together = reversed_together(places, k);
    return (Rule){together ? REVERSED : NO_RULE, together, first};
}

// "the element 4 further on in a and b"
static void say_source(const Places *places, const Rule *rule, int k, const char *names, Text *words) {
    char a[32], b[32], c[32];
    count_text(rule->value < 0 ? -rule->value : rule->value, a, sizeof a);
    switch (rule->kind) {
    case SAME_DISTANCE:
        text_printf(words, "the element %s further %s in %s", a, rule->value < 0 ? "back" : "on", names);
        break;
    case SAME_SOURCE: text_printf(words, "element %s of %s", a, names); break;
    case REVERSED:
        if (rule->value == 2)
            text_printf(words, "the other element of their pair in %s", names);
        else
            text_printf(words, "those of their group of %s in reverse order in %s", a, names);
        break;
    case OWN_NUMBER: text_printf(words, "the element with their own number in %s", names); break;
    default:
        count_text(rule->first, a, sizeof a);
        count_text(places->sources[k][rule->first], b, sizeof b);
        count_text(proper_source(places, rule->first), c, sizeof c);
        text_printf(words, "other elements of %s than their own: element %s has %s instead of %s", names, a,
                    b, c);
    }
}

// " take element 0 of a and the element 4 further on in b": each input with another rule than its own place.
static void say_sources(const Places *places, bool is_one, Text *words, Accounting *out) {
    Rule rules[MOST_INPUTS];
    bool are_reversed = true;
    for (int k = 0; k < places->input_count; k++) {
        rules[k] = find_rule(places, k);
        are_reversed &= rules[k].kind == REVERSED && rules[k].value == rules[0].value;
    }
    if (are_reversed) out->rules |= ACCOUNT_REVERSED;
    const bool are_alike = places->input_count == 2 && rules[0].kind == rules[1].kind &&
                           rules[0].value == rules[1].value && rules[0].kind != NO_RULE;
    const char *joint = is_one ? " takes " : " take ";
    for (int k = 0; k < (are_alike ? 1 : places->input_count); k++) {
        if (rules[k].kind == SAME_DISTANCE && rules[k].value == 0) continue;
        char names[80];
        const char *name = places->buffers[places->inputs[k]].name;
        snprintf(names, sizeof names, "%s%s%s", name, are_alike ? " and " : "",
                 are_alike ? places->buffers[places->inputs[1]].name : "");
        text_add(words, joint);
        say_source(places, &rules[k], k, names, words);
        joint = " and ";
    }
}

static long long say_kind(const Places *places, Kind kind, Text *words, Accounting *out) {
    char which[240];
    const CaseSize *size = &places->account->one.size;
    const Subset subset = {places->kinds, places->n, 1u << kind, &places->account->launch,
                           places->account->task->expect == EXPECT_TRANSPOSE ? size->rows : 0};
    const long long count = subset_describe(&subset, which, sizeof which);
    if (count == 0) return 0;
    const bool is_one = count == 1;
    text_printf(words, "%s%s", words->bytes ? "; " : "", which);
    if (kind == UNWRITTEN)
        text_printf(words, " of %s %s never written", places->buffers[places->out].name,
                    is_one ? "is" : "are");
    if (kind == EMPTY) text_printf(words, " %s 0", is_one ? "holds" : "hold");
    if (kind == WITHOUT_FIRST || kind == WITHOUT_SECOND)
        text_printf(words, " %s %s alone", is_one ? "holds" : "hold",
                    places->buffers[places->inputs[kind == WITHOUT_FIRST]].name);
    if (kind == ELSEWHERE) say_sources(places, is_one, words, out);
    return count;
}

// If elements are never written: which are written more than once instead, and by which line.
static void say_stores(const Places *places, Text *words, Accounting *out) {
    StoredElements stored;
    long long unwritten = 0;
    char again[32];
    for (long long at = 0; at < places->n; at++) unwritten += places->kinds[at] == UNWRITTEN;
    if (unwritten == 0 || !account_stores(places->account, &stored)) return;
    const long long repeated = stored.in_all - (places->n - unwritten);
    if (repeated <= 0) return;
    count_text(repeated, again, sizeof again);
    text_printf(words, "; %s %s stored to a place that another store writes to as well", again,
                repeated == 1 ? "element is" : "elements are");
    if (repeated != unwritten) return;
    out->rules |= ACCOUNT_STORED_TWICE;
    for (int l = 0; l < stored.line_count; l++)
        if (stored.lines[l].elements == unwritten && stored.lines[l].line > 0)
            text_printf(words, ": line %d has as many", stored.lines[l].line);
}

static void say(const Places *places, Accounting *out) {
    const CaseSize *size = &places->account->one.size;
    Text words = {0};
    out->n = places->n;
    for (Kind kind = UNWRITTEN; kind < KINDS; kind++) {
        const long long count = say_kind(places, kind, &words, out);
        *(kind == ELSEWHERE ? &out->misplaced : &out->missing) += count;
    }
    const long long others = places->n - out->missing - out->misplaced;
    if (words.bytes && others > 0)
        text_printf(&words, "; %s right", others == 1 ? "the other one is" : "the others are");
    if (!words.bytes) text_add(&words, "every element comes from its own ones");
    say_stores(places, &words, out);
    char n[32], columns[32];
    count_text(size->rows > 0 ? size->rows : size->n, n, sizeof n);
    count_text(size->columns, columns, sizeof columns);
    if (size->rows > 0)
        snprintf(out->words, sizeof out->words, "at %s x %s, %s", n, columns, text_chars(&words));
    else
        snprintf(out->words, sizeof out->words, "at n = %s, %s", n, text_chars(&words));
    text_free(&words);
}

// ---- All of it -------------------------------------------------------------------------------------------

// Every input that has an element for each of the output's; none if there are too many.
static void list_inputs(Places *places) {
    const Task *task = places->account->task;
    places->out = task_output(task);
    for (int b = 0; b < task_buffer_count(task); b++) {
        if (task->buffers[b].role != INPUT) continue;
        if (places->input_count == MOST_INPUTS) {
            places->input_count = 0;
            return;
        }
        places->inputs[places->input_count++] = b;
    }
}

bool account_places(Account *account, Accounting *out) {
    Places places = {.account = account, .buffers = account->task->buffers};
    list_inputs(&places);
    if (places.input_count == 0 || places.out < 0) return false;
    places.n = account->counts[places.out];
    unsigned char *kinds = calloc((size_t)places.n + 1, 1);
    long long *sources = calloc(MOST_INPUTS * ((size_t)places.n + 1), sizeof *sources);
    if (kinds && sources) {
        places.kinds = kinds;
        for (int k = 0; k < MOST_INPUTS; k++) places.sources[k] = sources + k * (places.n + 1);
        if (find_sources(&places) && are_confirmed(&places)) {
            sort(&places);
            say(&places, out);
        }
    }
    free(kinds);
    free(sources);
    return out->n > 0;
}
