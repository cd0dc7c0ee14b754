// Which elements each output of a scan holds. Stretches of elements are found with three inputs: ones, which
// tell how many elements too many or too few an output has, and two of drawn weights, which tell which. If a
// difference is not one stretch, a few elements at a time are the digits of a number.
#include <math.h>
#include <stdlib.h>

#include "driver/judge/account.h"
#include "driver/judge/account_scan_words.h"

enum {
    INPUTS = 3, // ones, and two of weights
    MOST_WEIGHT = 1000,
    EXACT = 1 << 24, // of floats: whole numbers below are added without rounding, in any order
    MOST_TIMES = 32, // that an element is added
    BASE = 16,       // of digits
    DIGITS = 6,
    MOST_BY_DIGITS = 300,  // elements: there is a run for every six of them
    MOST_TRIES = 10000000, // of a place where a stretch may begin
};

typedef struct {
    Account *account;
    int in;
    ScanDifferences found;
    double *sums[INPUTS]; // of the first i elements of each input
    double *got[INPUTS];
    long long tries; // that are left
} Scan;

static bool is_unwritten(const Scan *scan, long long i) { return scan->found.kinds[i] == SCAN_UNWRITTEN; }

// Whether all zeros make zeros, and which outputs are never written.
static bool find_unwritten(const Scan *scan) {
    if (!account_run(scan->account)) return false;
    for (long long i = 0; i < scan->found.n; i++) {
        scan->found.kinds[i] = account_is_unwritten(scan->account, i) ? SCAN_UNWRITTEN : SCAN_RIGHT;
        if (scan->found.kinds[i] == SCAN_RIGHT && account_result(scan->account, i) != 0) return false;
    }
    return true;
}

// ---- Stretches -------------------------------------------------------------------------------------------

static double weight(const Scan *scan, int input, long long j) {
    const long long most = EXACT / 4 / (scan->found.n + 1);
    const int limit = (int)(most < MOST_WEIGHT ? most : MOST_WEIGHT);
    if (input == 0) return 1;
    return 1 +
           account_drawn(scan->account, scan->in, input == 1 ? j : scan->found.n + j, limit > 2 ? limit : 2);
}

static bool run_weights(Scan *scan, int input) {
    scan->sums[input][0] = 0;
    for (long long j = 0; j < scan->found.n; j++) {
        account_mark(scan->account, scan->in, j, weight(scan, input, j));
        scan->sums[input][j + 1] = scan->sums[input][j] + weight(scan, input, j);
    }
    if (!account_run(scan->account)) return false;
    for (long long i = 0; i < scan->found.n; i++) {
        const double value = account_result(scan->account, i);
        scan->got[input][i] = value;
        if (account_is_unwritten(scan->account, i) != is_unwritten(scan, i)) return false;
        if (!is_unwritten(scan, i) && !(fabs(value) < EXACT && value == floor(value))) return false;
    }
    return true;
}

static bool explains(const Scan *scan, long long i, Stretch stretch) {
    const long long end = stretch.first + stretch.count;
    if (stretch.first < 0 || end > scan->found.n) return false;
    if (stretch.times < 0 && end > scan_own_count(&scan->found, i)) return false;
    for (int input = 0; input < INPUTS; input++) {
        const double *sums = scan->sums[input];
        if (scan->got[input][i] !=
            sums[scan_own_count(&scan->found, i)] + stretch.times * (sums[end] - sums[stretch.first]))
            return false;
    }
    return true;
}

// The difference as one stretch, at the same place as that of the output before, at the beginning, as far
// from the output as before, or anywhere.
static bool find_stretch(Scan *scan, long long i, Stretch last) {
    const double much = scan->got[0][i] - scan->sums[0][scan_own_count(&scan->found, i)];
    Stretch *found = &scan->found.stretches[i];
    *found = (Stretch){0};
    if (much == 0) return explains(scan, i, *found);
    for (int times = 1; times <= MOST_TIMES; times++) {
        if (fmod(fabs(much), times) != 0) continue;
        const long long count = (long long)fabs(much) / times;
        const long long likely[] = {last.first, 0, last.first + 1, scan_own_count(&scan->found, i) - count,
                                    scan_own_count(&scan->found, i)};
        *found = (Stretch){0, count, much < 0 ? -times : times};
        for (size_t k = 0; k < sizeof likely / sizeof likely[0]; k++) {
            found->first = likely[k];
            if (explains(scan, i, *found)) return true;
        }
        for (long long first = 0; first + count <= scan->found.n && scan->tries > 0; first++, scan->tries--) {
            found->first = first;
            if (explains(scan, i, *found)) return true;
        }
        if (much < 0) return false; // nothing is taken away twice
    }
    return false;
}

static bool find_stretches(Scan *scan) {
    Stretch last = {0};
    for (int input = 0; input < INPUTS; input++)
        if (!run_weights(scan, input)) return false;
    for (long long i = 0; i < scan->found.n; i++) {
        if (is_unwritten(scan, i)) continue;
        if (!find_stretch(scan, i, last)) return false;
        if (scan->found.stretches[i].count) last = scan->found.stretches[i];
    }
    return true;
}

// ---- Digits ----------------------------------------------------------------------------------------------

static bool find_digits(const Scan *scan) {
    for (long long first = 0; first < scan->found.n; first += DIGITS) {
        const long long end = first + DIGITS < scan->found.n ? first + DIGITS : scan->found.n;
        double digit = 1;
        for (long long j = 0; j < scan->found.n; j++) account_mark(scan->account, scan->in, j, 0);
        for (long long j = first; j < end; j++) {
            account_mark(scan->account, scan->in, j, digit);
            digit *= BASE;
        }
        if (!account_run(scan->account)) return false;
        for (long long i = 0; i < scan->found.n; i++) {
            if (account_is_unwritten(scan->account, i) != is_unwritten(scan, i)) return false;
            if (is_unwritten(scan, i)) continue;
            double sum = account_result(scan->account, i);
            if (!(fabs(sum) < EXACT) || sum != floor(sum)) return false;
            for (long long j = first; j < end; j++) {
                const double rest = floor((sum + BASE / 2) / BASE); // NOLINT(bugprone-integer-division)
                const int times = (int)(sum - BASE * rest);
                scan->found.differences[i * scan->found.n + j] =
                    (signed char)(times - (j < scan_own_count(&scan->found, i)));
                sum = rest;
            }
            if (sum != 0) return false;
        }
    }
    return true;
}

// Whether that explains the results of another input.
static bool are_confirmed(Scan *scan) {
    if (!run_weights(scan, 1)) return false;
    for (long long i = 0; i < scan->found.n; i++) {
        double sum = scan->sums[1][scan_own_count(&scan->found, i)];
        if (is_unwritten(scan, i)) continue;
        for (long long j = 0; j < scan->found.n; j++)
            sum += scan_difference(&scan->found, i, j) * weight(scan, 1, j);
        if (sum != scan->got[1][i]) return false;
    }
    return true;
}

// ---- All of it -------------------------------------------------------------------------------------------

static bool allocate(Scan *scan, bool by_digits) {
    const size_t n = (size_t)scan->found.n;
    bool is_there = true;
    for (int input = 0; input < INPUTS; input++) {
        scan->sums[input] = calloc(n + 1, sizeof *scan->sums[input]);
        scan->got[input] = calloc(n + 1, sizeof *scan->got[input]);
        is_there = is_there && scan->sums[input] && scan->got[input];
    }
    scan->found.kinds = calloc(n + 1, 1);
    if (by_digits)
        scan->found.differences = calloc(n * n + 1, sizeof *scan->found.differences);
    else
        scan->found.stretches = calloc(n + 1, sizeof *scan->found.stretches);
    return is_there && scan->found.kinds && (scan->found.differences || scan->found.stretches);
}

static bool account(Account *account, bool by_digits, Accounting *out) {
    Scan scan = {.account = account,
                 .in = task_input(account->task),
                 .found = {.is_exclusive = account->task->is_exclusive, .launch = &account->launch},
                 .tries = MOST_TRIES};
    const int output = task_output(account->task);
    if (scan.in < 0 || output < 0) return false;
    scan.found.n = account->counts[output];
    if (scan.found.n != account->counts[scan.in] || (by_digits && scan.found.n > MOST_BY_DIGITS))
        return false;
    const bool is_known = allocate(&scan, by_digits) && find_unwritten(&scan) &&
                          (by_digits ? find_digits(&scan) && are_confirmed(&scan) : find_stretches(&scan));
    const bool is_said = is_known && scan_differences_say(&scan.found, out);
    for (int input = 0; input < INPUTS; input++) {
        free(scan.sums[input]);
        free(scan.got[input]);
    }
    free(scan.found.kinds);
    free(scan.found.stretches);
    free(scan.found.differences);
    return is_said;
}

bool account_scan(Account *one, Accounting *out) { return account(one, false, out); }

bool account_scan_digits(Account *one, Accounting *out) { return account(one, true, out); }
