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

static ElementType output_type(const Account *account) {
    return account->task->buffers[task_output(account->task)].type;
}

double account_result(const Account *account, long long i) {
    return element_get(account_output(account), output_type(account), i);
}

bool account_is_unwritten(const Account *account, long long i) {
    return element_is_poison(account_output(account), output_type(account), i);
}

void account_mark(const Account *account, int buffer, long long i, double value) {
    element_set(account->inputs[buffer], account->task->buffers[buffer].type, i, value);
}

bool account_sum(Account *account, double *sum) {
    *sum = NAN;
    if (!account_run(account)) return false;
    *sum = 0;
    for (long long i = 0; i < account->counts[task_output(account->task)]; i++)
        *sum += account_is_unwritten(account, i) ? 0 : account_result(account, i);
    return true;
}

bool account_bins_hold(const Account *account, const double right[HISTOGRAM_BINS]) {
    for (int b = 0; b < HISTOGRAM_BINS; b++)
        if (account_result(account, b) != right[b]) return false;
    return true;
}

int account_drawn(const Account *account, int buffer, long long i, int limit) {
    return (int)(random_bits((uint64_t)account->one.size.n, STREAM + (uint64_t)buffer, (uint64_t)i) %
                 (uint64_t)limit);
}
