#include "driver/diagnose/bank_facts.h"

#include "driver/judge/goals.h"

// Equal bytes have equal banks in most layouts: only bytes that differ tell whether lanes share one.
static bool has_bytes_that_differ(const Task *task) {
    const int input = task_input(task);
    return task->expect == EXPECT_HISTOGRAM && input >= 0 && task->buffers[input].family == FAMILY_INTEGERS;
}

Facts facts_of_banks(const Chapter *of, const Judgement *judgement) {
    // Of 32 random places in 32 banks, the fullest bank has some four; in two banks, it has about 18.
    enum { MOST_IN_TWO_BANKS = 24 };
    for (int t = 0; t < chapter_task_count(of); t++) {
        if (!has_bytes_that_differ(&of->tasks[t])) continue;
        const Goal goal = {.measure = "shared_atom_wavefronts / shared_atom",
                           .bound = AT_LEAST,
                           .limit = MOST_IN_TWO_BANKS,
                           .task = of->tasks[t].name};
        GoalResult result;
        goal_evaluate(of, &goal, judgement->counted[0], &judgement->device, &result);
        if (result.state == GOAL_MET) return FACT_ONE_BANK;
    }
    return 0;
}
