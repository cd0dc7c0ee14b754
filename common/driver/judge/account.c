#include "driver/judge/account.h"

#include <math.h>

#include "driver/plan/elements.h"
#include "driver/plan/inputs.h"

enum { STREAM = 411 };

bool account_run(Account *account) {
    CaseReport report;
    if (account->work <= 0 ||
        !judge_rerun(account->judge, account->worker, &account->one, &account->how, &report) ||
        report.verdict != VERDICT_PASS)
        return false;
    account->work -= judge_work_of(&report);
    return true;
}

const void *account_output(const Account *account) {
    const Worker *worker = account->worker;
    return runner_arena(worker->runner) + worker->layout.offsets[task_output(account->task)];
}

bool account_sum(Account *account, double *sum) {
    *sum = NAN;
    if (!account_run(account)) return false;
    const int out = task_output(account->task);
    const ElementType type = account->task->buffers[out].type;
    const void *after = account_output(account);
    *sum = 0;
    for (long long i = 0; i < account->counts[out]; i++)
        *sum += element_is_poison(after, type, i) ? 0 : element_get(after, type, i);
    return true;
}

double account_bin(const Account *account, int bin) {
    const ElementType type = account->task->buffers[task_output(account->task)].type;
    return element_get(account_output(account), type, bin);
}

bool account_bins_hold(const Account *account, const double right[HISTOGRAM_BINS]) {
    for (int b = 0; b < HISTOGRAM_BINS; b++)
        if (account_bin(account, b) != right[b]) return false;
    return true;
}

int account_drawn(const Account *account, int buffer, long long i, int limit) {
    return (int)(random_bits((uint64_t)account->one.size.n, STREAM + (uint64_t)buffer, (uint64_t)i) %
                 (uint64_t)limit);
}
