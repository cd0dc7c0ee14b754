// How often elements reach results, in words.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/judge/account.h"
#include "driver/judge/subset.h"
#include "driver/plan/elements.h"
#include "support/text.h"

enum { MISSING, ONCE, REPEATED, TAKEN_AWAY, KINDS }; // of elements

static int kind_of(int count) {
    if (count < 0) return TAKEN_AWAY;
    return count < REPEATED ? count : REPEATED;
}

// "elements 0 to 31 reach results 8 times", or "up to 8 times"
static void say_repeated(const int *counts, long long n, const char *which, bool is_one, Text *words) {
    int least = 0, most = 0;
    for (long long i = 0; i < n; i++) {
        const int count = counts[i];
        if (kind_of(count) != REPEATED) continue;
        if (count > most) most = count;
        if (least == 0 || count < least) least = count;
    }
    text_printf(words, "%s %s", which, is_one ? "reaches" : "reach");
    if (most == 2)
        text_add(words, " a result twice");
    else
        text_printf(words, " results %s%d times", least < most ? "up to " : "", most);
}

static void say_zeros(const Account *account, double of_zeros, Text *words) {
    char value[64];
    value_text(of_zeros, value, sizeof value);
    if (account->counts[task_output(account->task)] > 1)
        text_printf(words, "; if every element is 0, the results add up to %s", value);
    else
        text_printf(words, "; if every element is 0, the result is %s", value);
}

// The elements that do not count once, if they follow one another and all count as often.
static CountedStretch find_stretch(const int *counts, long long n) {
    CountedStretch stretch = {0};
    for (long long i = 0; i < n; i++) {
        if (counts[i] == 1) continue;
        const bool is_first = stretch.end == 0;
        if (!is_first && (stretch.end != i || counts[i] != stretch.times)) return (CountedStretch){0};
        if (is_first) stretch = (CountedStretch){.begin = i, .times = counts[i]};
        stretch.end = i + 1;
    }
    return stretch;
}

bool account_say_counts(const Account *account, const int *counts, long long n, double of_zeros,
                        Accounting *out) {
    unsigned char *kinds = malloc((size_t)n + 1);
    if (!kinds) return false;
    Subset subset = {kinds, n, 0, &account->launch, account->one.size.columns};
    char which[KINDS][240], total[32];
    long long of[KINDS];
    for (long long i = 0; i < n; i++) kinds[i] = (unsigned char)kind_of(counts[i]);
    for (int k = 0; k < KINDS; k++) {
        subset.wanted = 1u << k;
        of[k] = subset_describe(&subset, which[k], sizeof which[k]);
    }
    out->n = n;
    if (of_zeros == 0) out->stretch = find_stretch(counts, n);
    out->missing = of[MISSING];
    out->repeated = of[REPEATED];
    out->taken_away = of[TAKEN_AWAY];
    // The failure has another reason than how often elements are taken.
    if (of[ONCE] == n && of_zeros == 0) {
        free(kinds);
        return false;
    }
    if (of[ONCE] == n && of_zeros != 0) out->rules = ACCOUNT_OFFSET;
    if (of[REPEATED] == n) out->rules = ACCOUNT_REPEATED;
    if (of[TAKEN_AWAY] == n) out->rules = ACCOUNT_TAKEN_AWAY;
    count_text(n, total, sizeof total);
    Text words = {0};
    text_printf(&words, "at n = %s, ", total);
    const size_t start = strlen(text_chars(&words));
    if (of[MISSING] == n)
        text_add(&words, "no element reaches a result");
    else if (of[MISSING])
        text_printf(&words, "%s %s no result", which[MISSING], of[MISSING] == 1 ? "reaches" : "reach");
    if (of[REPEATED]) {
        if (strlen(text_chars(&words)) > start) text_add(&words, "; ");
        say_repeated(counts, n, which[REPEATED], of[REPEATED] == 1, &words);
    }
    if (of[TAKEN_AWAY]) {
        if (strlen(text_chars(&words)) > start) text_add(&words, "; ");
        text_printf(&words, "%s %s subtracted", which[TAKEN_AWAY], of[TAKEN_AWAY] == 1 ? "is" : "are");
    }
    if (of[ONCE] == n)
        text_add(&words, "every element reaches a result once");
    else if (of[ONCE])
        text_printf(&words, "; %s once", of[ONCE] == 1 ? "the other one" : "the others");
    if (of_zeros != 0) say_zeros(account, of_zeros, &words);
    snprintf(out->words, sizeof out->words, "%s", text_chars(&words));
    text_free(&words);
    free(kinds);
    return true;
}
