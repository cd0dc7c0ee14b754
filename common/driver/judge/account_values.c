#include <math.h>
#include <stdio.h>

#include "driver/judge/account.h"
#include "driver/plan/elements.h"

typedef struct {
    Account *account;
    int in;
    long long at; // the element that is not 0
    Text words;
    int said;
} Values;

// What a sum makes of one value. False if that run says nothing.
static bool try_value(Values *values, double value, double *result) {
    Account *account = values->account;
    account_mark(account, values->in, values->at, value);
    const bool was_run = account_sum(account, result);
    account_mark(account, values->in, values->at, 0);
    return was_run;
}

static bool is_same(double a, double b) { return a == b || (isnan(a) && isnan(b)); }

// "0.5 comes out as 0, 1.5 as 1"
static void say(Values *values, const char *name, double result) {
    char text[64];
    value_text(result, text, sizeof text);
    text_printf(&values->words, "%s%s%s as %s", values->said ? ", " : "", name,
                values->said ? "" : " comes out", text);
    values->said++;
}

static unsigned try_fractions(Values *values) {
    static const struct {
        double value;
        const char *name;
    } all[] = {{0.5, "0.5"}, {1.5, "1.5"}, {-1.5, "-1.5"}};
    bool are_cut_off = true;
    double result;
    for (int i = 0; i < 3; i++) {
        if (!try_value(values, all[i].value, &result)) return 0;
        // An integer without a sign has no -1 either.
        are_cut_off &= result == trunc(all[i].value) || (all[i].value < 0 && result == 0);
        if (result != all[i].value) say(values, all[i].name, result);
    }
    return are_cut_off ? ACCOUNT_CUT_OFF : 0;
}

// Whether a fraction that is lost at the end of a number is lost alone, too. A float of few bits has it.
static unsigned try_last_bit(Values *values, double value, int bits) {
    double result;
    char name[32];
    if (!try_value(values, value, &result)) return 0;
    if (result == value) return ACCOUNT_16_BITS;
    snprintf(name, sizeof name, "2^-%d", bits);
    say(values, name, result);
    return ACCOUNT_FIXED_STEP;
}

// The longest number that comes out right, bit by bit.
static unsigned try_precision(Values *values) {
    const ElementType type = values->account->task->buffers[values->in].type;
    char one[16], name[32];
    for (int bits = 2; bits < 53; bits++) {
        double result;
        const double value = 1 + ldexp(1, -bits);
        element_set(one, type, 0, value);
        if (element_get(one, type, 0) != value || !try_value(values, value, &result)) return 0;
        if (result == value) continue;
        snprintf(name, sizeof name, "1 + 2^-%d", bits);
        say(values, name, result);
        if (bits <= 11) return try_last_bit(values, ldexp(1, -bits), bits);
        return bits == 24 ? ACCOUNT_32_BITS : 0;
    }
    return 0;
}

static unsigned try_special(Values *values) {
    double result;
    unsigned rules = 0;
    if (try_value(values, (double)NAN, &result) && !isnan(result)) {
        say(values, "NaN", result);
        rules |= ACCOUNT_NO_NAN;
    }
    for (int sign = 1; sign >= -1; sign -= 2) {
        if (!try_value(values, (double)sign * (double)INFINITY, &result) ||
            is_same(result, (double)sign * (double)INFINITY))
            continue;
        say(values, sign > 0 ? "+Inf" : "-Inf", result);
        if (isfinite(result)) rules |= ACCOUNT_NO_INFINITY;
    }
    return rules;
}

// Whether something shows at that element, whose 1 must come out as 1.
static bool try_at(Values *values, long long at, unsigned *rules) {
    double result;
    values->at = at;
    if (!try_value(values, 1, &result) || result != 1) return false;
    *rules = try_fractions(values);
    if (!values->said) *rules |= try_precision(values);
    *rules |= try_special(values);
    const unsigned lost = ACCOUNT_NO_NAN | ACCOUNT_NO_INFINITY;
    if (*rules & ACCOUNT_CUT_OFF && !(*rules & lost)) *rules ^= ACCOUNT_CUT_OFF | ACCOUNT_TRUNCATED;
    return values->said > 0;
}

bool account_values(Account *account, Accounting *out) {
    Values values = {.account = account, .in = task_input(account->task)};
    if (values.in < 0 || !element_is_float(account->task->buffers[values.in].type)) return false;
    const long long count = account->counts[values.in], places[] = {0, 1, count / 2 + 5, count - 1};
    double of_zeros;
    char n[32];
    count_text(count, n, sizeof n);
    if (!account_sum(account, &of_zeros)) return false;
    if (isnan(of_zeros)) {
        out->rules = ACCOUNT_NAN_OF_ZEROS;
        snprintf(out->words, sizeof out->words, "at n = %s, if every element is 0, the result is NaN", n);
    }
    for (int i = 0; i < 4 && of_zeros == 0 && !values.said; i++)
        if (places[i] < count) try_at(&values, places[i], &out->rules);
    if (values.said)
        snprintf(out->words, sizeof out->words, "at n = %s, element %lld alone, all others 0: %s", n,
                 values.at, text_chars(&values.words));
    text_free(&values.words);
    if (out->words[0]) out->n = count;
    return out->n > 0;
}
