// How many elements the stores of a run write, in all and in each line.
#include "driver/judge/account.h"
#include "driver/plan/elements.h"

bool account_stores(Account *account, StoredElements *stored) {
    Judgement *judgement = account->judge->judgement;
    const ElementType type = account->task->buffers[task_output(account->task)].type;
    const int before = judgement->line_count;
    Rerun how = account->how;
    CaseReport report;
    *stored = (StoredElements){0};
    how.keeps_lines = true;
    if (account->work <= 0 || !judge_rerun(account->judge, account->worker, &account->one, &how, &report) ||
        report.verdict != VERDICT_PASS)
        return false;
    account->work -= judge_work_of(&report);
    for (int i = before; i < judgement->line_count; i++) {
        const LineCounters *line = &judgement->lines[i].counters;
        const long long elements = (long long)(line->counters.global_st_bytes / element_bytes(type));
        if (elements == 0) continue;
        stored->in_all += elements;
        if (stored->line_count < MOST_STORING_LINES)
            stored->lines[stored->line_count] = (StoringLine){line->place.line, elements};
        stored->line_count++;
    }
    judgement->line_count = before; // they are none of the counted case
    return stored->line_count <= MOST_STORING_LINES;
}
