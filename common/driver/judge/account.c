#include "driver/judge/account.h"

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

int account_drawn(const Account *account, int buffer, long long i, int limit) {
    return (int)(random_bits((uint64_t)account->one.size.n, STREAM + (uint64_t)buffer, (uint64_t)i) %
                 (uint64_t)limit);
}
