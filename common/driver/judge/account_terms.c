// Outputs that are made of one element of an input and all of a short one, as the coefficients of a
// polynomial: with one of the short ones 1, the others 0, and the same number in all of the long one, each
// output shows how often that one counts. With a different number in each of the long one, those outputs that
// are equal to their element show which one they were made of.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "driver/judge/account.h"
#include "driver/judge/subset.h"
#include "driver/plan/elements.h"
#include "support/text.h"

enum {
    MOST_TERMS = 64,
    EXACT = 1 << 24, // of floats
    VALUES = 3,      // that the elements of the long input have: 1, 2 and 3
    DRAWN = 4,       // numbers of the short input, when all of it is confirmed
};

typedef enum { RIGHT, UNWRITTEN, ELSEWHERE, OTHER_TERMS, KINDS } Kind;

typedef struct {
    Account *account;
    int in, term, out;
    long long n, terms;
    unsigned char *kinds;
    long long *sources;                     // of each output
    double *counts[VALUES], *right[VALUES]; // of each output and term
    bool depends;                           // on the terms at all
} Terms;

static void set_term(const Terms *of, long long k, double value) {
    account_mark(of->account, of->term, k, value);
}

static void set_in(const Terms *of, long long i, double value) {
    account_mark(of->account, of->in, i, value);
}

static void set_only(const Terms *of, long long term) {
    for (long long k = 0; k < of->terms; k++) set_term(of, k, k == term);
}

// What the first output should be with the inputs as they are.
static void right_output(const Terms *of, double *value) {
    const Task *task = of->account->task;
    ReferenceView view = {.shape.size = of->account->one.size};
    double magnitude;
    for (int b = 0; b < task_buffer_count(task); b++) {
        if (task->buffers[b].role != INPUT) continue;
        view.inputs[view.input_count] = of->account->inputs[b];
        view.types[view.input_count] = task->buffers[b].type;
        view.counts[view.input_count++] = of->account->counts[b];
    }
    task->reference(&view, value, &magnitude, 1);
}

// ---- Which element ---------------------------------------------------------------------------------------

// The term with which an output is its element; -1: there is none.
static long long term_of_identity(const Terms *of) {
    for (long long k = 0; k < of->terms; k++) {
        double at_2, at_3;
        set_only(of, k);
        set_in(of, 0, 2);
        right_output(of, &at_2);
        set_in(of, 0, 3);
        right_output(of, &at_3);
        if (at_2 == 2 && at_3 == 3) return k;
    }
    return -1;
}

// Whether outputs are the elements that they were found to be, with other elements too.
static bool are_elements(const Terms *of) {
    enum { LIMIT = 1 << 16 };
    for (long long i = 0; i < of->n; i++) set_in(of, i, 1 + account_drawn(of->account, of->in, i, LIMIT));
    if (!account_run(of->account)) return false;
    for (long long i = 0; i < of->n; i++)
        if (of->kinds[i] != UNWRITTEN &&
            account_result(of->account, i) != 1 + account_drawn(of->account, of->in, of->sources[i], LIMIT))
            return false;
    return true;
}

// False: outputs are something else than an element.
static bool find_sources(Terms *of) {
    const long long term = term_of_identity(of);
    for (long long i = 0; i < of->n; i++) set_in(of, i, (double)(i + 1));
    if (term < 0 || of->n >= EXACT) return false;
    set_only(of, term);
    if (!account_run(of->account)) return false;
    for (long long i = 0; i < of->n; i++) {
        if (account_is_unwritten(of->account, i)) {
            of->kinds[i] = UNWRITTEN;
            continue;
        }
        const double value = account_result(of->account, i);
        if (!(value >= 1 && value <= (double)of->n) || value != floor(value)) return false;
        of->sources[i] = (long long)value - 1;
        if (of->sources[i] != i) of->kinds[i] = ELSEWHERE;
    }
    return are_elements(of);
}

// Every output is made of its own element, as far as is known.
static bool assume_sources(const Terms *of) {
    if (!account_run(of->account)) return false;
    for (long long i = 0; i < of->n; i++) {
        of->kinds[i] = account_is_unwritten(of->account, i) ? UNWRITTEN : RIGHT;
        of->sources[i] = i;
    }
    return true;
}

// ---- Which terms -----------------------------------------------------------------------------------------

static bool run_terms(Terms *of, int value, long long term, double *counts) {
    set_only(of, term);
    for (long long i = 0; i < of->n; i++) set_in(of, i, value + 1);
    if (!account_run(of->account)) return false;
    for (long long i = 0; i < of->n; i++) {
        if (account_is_unwritten(of->account, i) != (of->kinds[i] == UNWRITTEN)) return false;
        counts[i] = of->kinds[i] == UNWRITTEN ? 0 : account_result(of->account, i);
        if (!(fabs(counts[i]) < EXACT)) return false;
    }
    return true;
}

// With what is 0 everywhere, results are 0, or always the same.
static bool count_terms(Terms *of) {
    double *none = calloc((size_t)of->n + 1, sizeof *none);
    bool is_done = none != NULL, is_zero = true;
    of->depends = true;
    for (long long i = 0; i < of->n; i++) of->depends &= of->kinds[i] == UNWRITTEN;
    for (int v = 0; v < VALUES && is_done; v++) {
        is_done = run_terms(of, v, -1, none);
        for (long long i = 0; is_done && i < of->n; i++) is_zero &= none[i] == 0;
        for (long long k = 0; k < of->terms && is_done; k++) {
            double *counts = of->counts[v] + k * of->n;
            is_done = run_terms(of, v, k, counts);
            for (long long i = 0; is_done && i < of->n; i++) of->depends |= counts[i] != none[i];
            if (is_done) right_output(of, &of->right[v][k]);
        }
    }
    free(none);
    return is_done && (is_zero || !of->depends);
}

static bool has_other_terms(const Terms *of, long long i) {
    for (int v = 0; v < VALUES; v++)
        for (long long k = 0; k < of->terms; k++)
            if (of->counts[v][k * of->n + i] != of->right[v][k]) return true;
    return false;
}

// Whether that explains the results of another input.
static bool are_confirmed(const Terms *of) {
    for (long long k = 0; k < of->terms; k++) set_term(of, k, account_drawn(of->account, of->term, k, DRAWN));
    for (long long i = 0; i < of->n; i++) set_in(of, i, 1 + account_drawn(of->account, of->in, i, VALUES));
    if (!account_run(of->account)) return false;
    for (long long i = 0; i < of->n; i++) {
        double sum = 0;
        if (account_is_unwritten(of->account, i) != (of->kinds[i] == UNWRITTEN)) return false;
        if (of->kinds[i] == UNWRITTEN) continue;
        const int value = account_drawn(of->account, of->in, of->sources[i], VALUES);
        for (long long k = 0; k < of->terms; k++)
            sum += account_drawn(of->account, of->term, k, DRAWN) * of->counts[value][k * of->n + i];
        if (sum != account_result(of->account, i)) return false;
    }
    return true;
}

// ---- Words -----------------------------------------------------------------------------------------------

static void say_sources(const Terms *of, bool is_one, Text *words) {
    const char *name = of->account->task->buffers[of->in].name;
    long long first = 0, distance;
    bool is_same = true, is_multiple = true;
    const long long threads = of->account->launch.threads;
    char number[32], place[32];
    while (of->kinds[first] != ELSEWHERE) first++;
    distance = of->sources[first] - first;
    for (long long i = 0; i < of->n; i++)
        is_same &= of->kinds[i] != ELSEWHERE || of->sources[i] - i == distance;
    text_add(words, is_one ? " is" : " are");
    count_text(llabs(distance), number, sizeof number);
    if (is_same) {
        text_printf(words, " computed from the element of %s %s further %s", name, number,
                    distance < 0 ? "back" : "on");
        return;
    }
    for (long long i = 0; i < of->n; i++)
        is_multiple &= of->kinds[i] != ELSEWHERE || (i - of->sources[i]) % threads == 0;
    count_text(threads, number, sizeof number);
    if (is_multiple && threads > 1) {
        text_printf(words, " computed from the element of %s %s or a multiple of that further back or on",
                    name, number);
        return;
    }
    count_text(first, place, sizeof place);
    count_text(of->sources[first], number, sizeof number);
    text_printf(words, " computed from other elements of %s than their own: element %s from element %s", name,
                place, number);
}

// The power of x that counts for each of its values; -1: none does.
static int power_of(const double counts[VALUES]) {
    enum { MOST_POWER = 30 };
    for (int power = 0; power < MOST_POWER; power++) {
        bool is_power = true;
        for (int v = 0; v < VALUES; v++) is_power &= counts[v] == pow(v + 1, power);
        if (is_power) return power;
    }
    return -1;
}

static bool is_nothing(const double counts[VALUES]) {
    for (int v = 0; v < VALUES; v++)
        if (counts[v] != 0) return false;
    return true;
}

static void say_term(const Terms *of, long long k, const double is[VALUES], const double should[VALUES],
                     Text *words) {
    const char *name = of->account->task->buffers[of->term].name;
    const char *in = of->account->task->buffers[of->in].name;
    const int power = power_of(is), right_power = power_of(should);
    char times[64], right_times[64];
    int v = VALUES - 1;
    while (v > 0 && is[v] == should[v]) v--;
    value_text(is[v], times, sizeof times);
    value_text(should[v], right_times, sizeof right_times);
    text_printf(words, "%s[%lld] ", name, k);
    if (is_nothing(is))
        text_add(words, "is left out");
    else if (power >= 0 && right_power >= 0)
        text_printf(words, "is multiplied by the power %d of %s, not %d", power, in, right_power);
    else
        text_printf(words, "counts %s, not %s times where every element of %s is %d", times, right_times, in,
                    v + 1);
}

// How a term counts in an output, and how it should. Whether these differ.
static bool term_of(const Terms *of, long long i, long long k, double is[VALUES], double should[VALUES]) {
    bool is_wrong = false;
    for (int v = 0; v < VALUES; v++) {
        is[v] = of->counts[v][k * of->n + i];
        should[v] = of->right[v][k];
        is_wrong |= is[v] != should[v];
    }
    return is_wrong;
}

// What is wrong with the terms of output i; first those that are left out.
static void say_terms(const Terms *of, long long i, Text *words) {
    enum { SHOWN = 3 };
    int said = 0;
    for (int is_rest = 0; is_rest < 2; is_rest++) {
        for (long long k = 0; k < of->terms; k++) {
            double is[VALUES], should[VALUES];
            if (!term_of(of, i, k, is, should) || is_nothing(is) == is_rest) continue;
            if (said++ == SHOWN) {
                text_add(words, ", and so on");
                return;
            }
            if (said > 1) text_add(words, ", ");
            say_term(of, k, is, should, words);
        }
    }
}

static void say_other_terms(const Terms *of, const char *which, Text *words) {
    const char *out = of->account->task->buffers[of->out].name;
    long long first = 0;
    bool are_alike = true;
    while (of->kinds[first] != OTHER_TERMS) first++;
    for (long long i = 0; i < of->n; i++)
        for (int v = 0; v < VALUES && of->kinds[i] == OTHER_TERMS; v++)
            for (long long k = 0; k < of->terms; k++)
                are_alike &= of->counts[v][k * of->n + i] == of->counts[v][k * of->n + first];
    text_printf(words, "in %s of %s ", which, out);
    if (!are_alike) text_printf(words, "terms count differently than they should; in element %lld, ", first);
    say_terms(of, first, words);
}

static long long say_kind(const Terms *of, Kind kind, Text *words) {
    const Subset subset = {of->kinds, of->n, 1u << kind, &of->account->launch, 0};
    const char *out = of->account->task->buffers[of->out].name;
    char which[240];
    const long long count = subset_describe(&subset, which, sizeof which);
    if (count == 0) return 0;
    if (words->bytes) text_add(words, "; ");
    if (kind == UNWRITTEN)
        text_printf(words, "%s of %s %s never written", which, out, count == 1 ? "is" : "are");
    if (kind == ELSEWHERE) {
        text_printf(words, "%s of %s", which, out);
        say_sources(of, count == 1, words);
    }
    if (kind == OTHER_TERMS) say_other_terms(of, which, words);
    return count;
}

static bool say(const Terms *of, Accounting *out) {
    Text words = {0};
    char n[32], terms[32];
    const Buffer *buffers = of->account->task->buffers;
    if (!of->depends) {
        text_printf(&words, "%s is the same whatever %s holds", buffers[of->out].name,
                    buffers[of->term].name);
        out->missing = of->n;
    }
    for (Kind kind = UNWRITTEN; kind < KINDS && of->depends; kind++) {
        const long long count = say_kind(of, kind, &words);
        *(kind == UNWRITTEN ? &out->missing : &out->misplaced) += count;
    }
    const long long wrong = out->missing + out->misplaced;
    if (wrong > 0) {
        out->n = of->n;
        count_text(of->n, n, sizeof n);
        count_text(of->terms, terms, sizeof terms);
        snprintf(out->words, sizeof out->words, "at n = %s, with %s elements in %s, %s%s", n, terms,
                 buffers[of->term].name, text_chars(&words),
                 wrong == of->n       ? ""
                 : wrong == of->n - 1 ? "; the other one is right"
                                      : "; the others are right");
    }
    text_free(&words);
    return wrong > 0;
}

// ---- All of it -------------------------------------------------------------------------------------------

static bool find_inputs(Terms *of) {
    const Task *task = of->account->task;
    int count = 0;
    of->out = task_output(task);
    of->in = of->term = -1;
    if (of->out < 0 || !task->reference || !task->is_by_element) return false;
    of->n = of->account->counts[of->out];
    for (int b = 0; b < task_buffer_count(task); b++) {
        if (task->buffers[b].role != INPUT) continue;
        count++;
        if (of->in < 0 && of->account->counts[b] == of->n)
            of->in = b;
        else if (of->account->counts[b] <= MOST_TERMS)
            of->term = b;
    }
    if (count != 2 || of->in < 0 || of->term < 0) return false;
    of->terms = of->account->counts[of->term];
    return true;
}

bool account_terms(Account *account, Accounting *out) {
    Terms of = {.account = account};
    if (!find_inputs(&of)) return false;
    const size_t n = (size_t)of.n + 1, terms = (size_t)of.terms + 1;
    of.kinds = calloc(n, 1);
    of.sources = calloc(n, sizeof *of.sources);
    bool is_there = of.kinds && of.sources;
    for (int v = 0; v < VALUES; v++) {
        of.counts[v] = calloc(n * terms, sizeof *of.counts[v]);
        of.right[v] = calloc(terms, sizeof *of.right[v]);
        is_there = is_there && of.counts[v] && of.right[v];
    }
    if (is_there && !find_sources(&of)) is_there = assume_sources(&of);
    bool is_known = is_there && count_terms(&of) && (!of.depends || are_confirmed(&of));
    for (long long i = 0; is_known && i < of.n; i++)
        if (of.kinds[i] == RIGHT && has_other_terms(&of, i)) of.kinds[i] = OTHER_TERMS;
    is_known = is_known && say(&of, out);
    for (int v = 0; v < VALUES; v++) {
        free(of.counts[v]);
        free(of.right[v]);
    }
    free(of.kinds);
    free(of.sources);
    return is_known;
}
