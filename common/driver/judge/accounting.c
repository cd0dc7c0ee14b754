#include "driver/judge/accounting.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/judge/rerun.h"
#include "driver/plan/elements.h"
#include "driver/plan/inputs.h"

enum {
    DIGITS = 6,        // elements that one run tells apart, as digits of a number to the base 16: 24 bits,
    BASE = 16,         // which a float holds exactly, whatever the order of additions
    LARGEST = 1 << 17, // elements of a case that is accounted for
    PARTS = 4,         // into which a range is divided that is neither complete nor missing
    STREAM = 411,
};
// What a usual machine takes, in milliseconds: counted, so that every machine finds the same.
static const double work_for_marks = 400, work_of_run = 0.5, work_of_instruction = 4e-6;

typedef struct {
    Judge *judge;
    Worker *worker;
    Rerun how;
    Case one;
    const Task *task;
    long long n;
    void *input;           // n elements
    unsigned char *counts; // how often each reaches the outputs; LARGE_COUNT: 15 or more
    double work;           // that is left
} Account;

// ---- Marks -----------------------------------------------------------------------------------------------

// What all outputs of a run come to; NaN if that says nothing.
static double sum_of_outputs(Account *account) {
    const int out = task_output(account->task);
    CaseReport report;
    account->how.input = account->input;
    if (account->work <= 0 ||
        !judge_rerun(account->judge, account->worker, &account->one, &account->how, &report) ||
        report.verdict != VERDICT_PASS)
        return NAN;
    account->work -= work_of_run + work_of_instruction * (double)report.lane_instructions;
    const CaseLayout *layout = &account->worker->layout;
    const void *after = runner_arena(account->worker->runner) + layout->offsets[out];
    const ElementType type = account->task->buffers[out].type;
    double sum = 0;
    for (long long i = 0; i < layout->counts[out]; i++)
        sum += element_is_poison(after, type, i) ? 0 : element_get(after, type, i);
    return sum;
}

static void mark(Account *account, long long i, double value) {
    element_set(account->input, account->task->buffers[task_input(account->task)].type, i, value);
}

// Up to DIGITS elements, each a digit of the sum.
static bool count_digits(Account *account, long long first, long long count) {
    double weight = 1;
    for (long long i = 0; i < count; i++) {
        mark(account, first + i, weight);
        weight *= BASE;
    }
    double sum = sum_of_outputs(account);
    for (long long i = 0; i < count; i++) mark(account, first + i, 0);
    if (!(sum >= 0 && sum < 1 << 24) || sum != floor(sum)) return false;
    for (long long i = 0; i < count; i++) {
        account->counts[first + i] = (unsigned char)fmod(sum, BASE);
        sum = floor(sum / BASE);
    }
    return sum == 0; // a digit more would be an element that was never marked
}

// A range at once, with weights: it is missing, complete or twice complete, or it is divided.
static bool count_range(Account *account, long long first, long long count) {
    if (count <= DIGITS) return count_digits(account, first, count);
    long long most = (1 << 22) / count;
    if (most > 4095) most = 4095;
    double whole = 0;
    for (long long i = 0; i < count; i++) {
        const double weight =
            (double)(1 + random_bits((uint64_t)account->n, STREAM, (uint64_t)(first + i)) % (uint64_t)most);
        mark(account, first + i, weight);
        whole += weight;
    }
    const double sum = sum_of_outputs(account);
    for (long long i = 0; i < count; i++) mark(account, first + i, 0);
    if (isnan(sum)) return false;
    for (int times = 0; times < 4; times++) {
        if (sum != times * whole) continue;
        memset(account->counts + first, times, (size_t)count);
        return true;
    }
    const long long part = (count + PARTS - 1) / PARTS;
    for (long long at = 0; at < count; at += part)
        if (!count_range(account, first + at, count - at < part ? count - at : part)) return false;
    return true;
}

// Whether the counts explain the result of another input: where sums are rounded, digits are lost that look
// like elements.
static bool are_confirmed(Account *account) {
    double whole = 0;
    for (long long i = 0; i < account->n; i++) {
        const double weight = (double)(1 + random_bits((uint64_t)account->n, STREAM + 1, (uint64_t)i) % 7);
        mark(account, i, weight);
        whole += weight * account->counts[i];
    }
    return sum_of_outputs(account) == whole;
}

// ---- Rules -----------------------------------------------------------------------------------------------

// The elements whose count is 0, or is 2 and more.
typedef struct {
    const unsigned char *counts;
    long long n;
    bool is_missing;
} Elements;

static bool has(const Elements *elements, long long i) {
    return elements->is_missing ? elements->counts[i] == 0 : elements->counts[i] > 1;
}

static long long how_many(const Elements *elements) {
    long long count = 0;
    for (long long i = 0; i < elements->n; i++) count += has(elements, i);
    return count;
}

// "elements 5 to 9"
static bool say_stretch(const Elements *elements, long long count, char *words, size_t bytes) {
    long long first = 0;
    while (!has(elements, first)) first++;
    for (long long i = first; i < first + count; i++)
        if (i >= elements->n || !has(elements, i)) return false;
    char a[32], b[32];
    count_text(first, a, sizeof a);
    count_text(first + count - 1, b, sizeof b);
    if (count == elements->n)
        snprintf(words, bytes, "all elements");
    else if (count == 1)
        snprintf(words, bytes, "element %s%s", a, first == elements->n - 1 ? ", the last one," : "");
    else
        snprintf(words, bytes, "elements %s to %s", a, b);
    return true;
}

// "elements 4k + 3", "of every 64 elements, 32 to 63": the remainder alone decides, without an exception.
static bool say_period(const Elements *elements, const long long *periods, int count, char *words,
                       size_t bytes) {
    for (int p = 0; p < count; p++) {
        const long long period = periods[p];
        if (period < 2 || elements->n < 2 * period) continue;
        bool is_periodic = true;
        for (long long i = period; i < elements->n && is_periodic; i++)
            is_periodic = has(elements, i) == has(elements, i - period);
        if (!is_periodic) continue;
        long long first = 0, last = period - 1, inside = 0;
        while (!has(elements, first)) first++;
        while (!has(elements, last)) last--;
        for (long long i = first; i <= last; i++) inside += has(elements, i);
        if (inside != last - first + 1) continue;
        if (first == last)
            snprintf(words, bytes, "elements %lldk + %lld", period, first);
        else
            snprintf(words, bytes, "of every %lld elements those from %lld to %lld", period, first, last);
        return true;
    }
    return false;
}

// "17 elements: 3, 9, 12, 40 ..."
static void say_list(const Elements *elements, long long count, char *words, size_t bytes) {
    enum { SHOWN = 6 };
    char number[32];
    count_text(count, number, sizeof number);
    int used = snprintf(words, bytes, "%s elements:", number), shown = 0;
    for (long long i = 0; i < elements->n && shown < SHOWN && used > 0 && (size_t)used < bytes; i++) {
        if (!has(elements, i)) continue;
        used += snprintf(words + used, bytes - (size_t)used, "%s %lld", shown++ ? "," : "", i);
    }
    if (count > SHOWN && used > 0 && (size_t)used < bytes)
        snprintf(words + used, bytes - (size_t)used, " ...");
}

static long long describe(const Account *account, const ShapeOfLaunch *launch, bool is_missing, char *words,
                          size_t bytes) {
    const long long periods[] = {2,
                                 3,
                                 4,
                                 8,
                                 16,
                                 32,
                                 64,
                                 128,
                                 256,
                                 512,
                                 1024,
                                 launch->block_threads,
                                 launch->threads,
                                 4LL * launch->block_threads,
                                 account->one.size.columns};
    const Elements elements = {account->counts, account->n, is_missing};
    const long long count = how_many(&elements);
    words[0] = '\0';
    if (count == 0) return 0;
    if (!say_stretch(&elements, count, words, bytes) &&
        !say_period(&elements, periods, sizeof periods / sizeof periods[0], words, bytes))
        say_list(&elements, count, words, bytes);
    return count;
}

// "elements 32 to 64 reach no result, and elements 0 to 31 reach it twice; every other element once"
static void say(const Account *account, const ShapeOfLaunch *launch, Accounting *out) {
    char missing[240], repeated[240], n[32];
    int most = 0;
    out->n = account->n;
    out->missing = describe(account, launch, true, missing, sizeof missing);
    out->repeated = describe(account, launch, false, repeated, sizeof repeated);
    for (long long i = 0; i < account->n; i++)
        if (account->counts[i] > most) most = account->counts[i];
    count_text(account->n, n, sizeof n);
    Text words = {0};
    text_printf(&words, "at n = %s, ", n);
    if (out->missing == account->n)
        text_add(&words, "no element reaches a result");
    else if (out->missing)
        text_printf(&words, "%s %s no result", missing, out->missing == 1 ? "reaches" : "reach");
    if (!out->missing && !out->repeated) text_add(&words, "every element reaches a result once");
    if (out->missing && out->repeated) text_add(&words, "; ");
    if (out->repeated && most == 2)
        text_printf(&words, "%s %s a result twice", repeated, out->repeated == 1 ? "reaches" : "reach");
    else if (out->repeated)
        text_printf(&words, "%s %s results up to %d times", repeated,
                    out->repeated == 1 ? "reaches" : "reach", most);
    const long long others = account->n - out->missing - out->repeated;
    if (others > 0 && others < account->n)
        text_printf(&words, "; %s once", others == 1 ? "the other one" : "the others");
    snprintf(out->words, sizeof out->words, "%s", text_chars(&words));
    text_free(&words);
}

// ---- The case --------------------------------------------------------------------------------------------

enum { TELLING = 1100 }; // elements: several blocks of every usual size

// A wrong sum of whole numbers: the largest one up to TELLING elements, otherwise the smallest.
static const CaseReport *choose_case(const Judgement *judgement, int task) {
    const CaseReport *chosen = NULL;
    for (int i = 0; i < judgement->case_count; i++) {
        const CaseReport *report = &judgement->cases[i];
        const long long n = report->settings.size.n, best = chosen ? chosen->settings.size.n : 0;
        if (!report->was_run || report->settings.task != task || report->verdict != VERDICT_WRONG ||
            report->settings.is_large || report->settings.family != FAMILY_INTEGERS ||
            report->origin != CASE_OF_PLAN || report->check.outcome != CHECK_VALUE || n < 1 || n > LARGEST)
            continue;
        if (!chosen || (n <= TELLING && (n > best || best > TELLING)) || (best > TELLING && n < best))
            chosen = report;
    }
    return chosen;
}

static bool adds_up(const Task *task) {
    return task->expect == EXPECT_SUM || task->expect == EXPECT_ROW_SUMS;
}

void judge_account(Judge *judge) {
    Judgement *judgement = judge->judgement;
    if (judge->options->repair_ms == 0 || judgement->verdict != VERDICT_WRONG || judgement->first < 0 ||
        judge->options->time_count > 0 || chapter_hides_answers(judge->of))
        return;
    const int task = judgement->cases[judgement->first].settings.task;
    Account account = {.judge = judge, .task = &judge->of->tasks[task], .work = work_for_marks};
    const CaseReport *chosen = choose_case(judgement, task);
    for (int w = 0; w < judge->worker_count && !account.worker; w++)
        if (judge->workers[w].is_beside == judge->is_gpu) account.worker = &judge->workers[w];
    if (!chosen || !account.worker || !adds_up(account.task) || task_input(account.task) < 0) return;
    account.one = chosen->settings;
    account.one.is_counted = false;
    account.n = chosen->settings.size.n;
    account.how =
        (Rerun){.kernels = judge_image(judge, judge->is_gpu)->kernels[task], .checks = CHECK_MEMORY};
    const int in = task_input(account.task);
    account.input = calloc((size_t)account.n, element_bytes(account.task->buffers[in].type));
    account.counts = malloc((size_t)account.n);
    if (account.input && account.counts && count_range(&account, 0, account.n) && are_confirmed(&account))
        say(&account, &chosen->shape.launches[0], &judgement->accounting);
    free(account.input);
    free(account.counts);
}
