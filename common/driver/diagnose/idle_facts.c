#include "driver/diagnose/idle_facts.h"

#include "driver/judge/goals.h"

// The line of kernel.cu with most instructions that single lanes execute, if these, a warp's for each block,
// are half as many as a warp executes: with fewer, the others can hide them. 0: they are fewer.
static int line_of_one_lane(const Judgement *judgement, int task) {
    const double a_lane = 1.01, some = 0.5;
    const CaseShape *shape = &judgement->counted[0][task].shape;
    for (int l = 0; l < shape->launch_count; l++) {
        double alone = 0, all = 0, most = 0;
        int busiest = 0;
        for (int i = 0; i < judgement->line_count; i++) {
            const CountedLine *line = &judgement->lines[i];
            const double warps = (double)line->counters.counters.instructions;
            const double lanes = (double)line->counters.counters.thread_instructions;
            if (line->task != task || line->launch != l) continue;
            all += warps;
            if (lanes > a_lane * warps) continue;
            alone += warps;
            if (warps > most && line->counters.place.line > 0) busiest = line->counters.place.line;
            if (warps > most) most = warps;
        }
        const ShapeOfLaunch *launch = &shape->launches[l];
        if (alone > 0 && launch->blocks > 0 &&
            alone / (double)launch->blocks >= some * all / (double)launch->warps)
            return busiest;
    }
    return 0;
}

int line_of_one_thread(const Judgement *judgement) {
    const GoalResult *missed = goals_missed_bandwidth(judgement->goals, judgement->goal_count);
    const bool is_counted = missed && judgement->counted[0][missed->task].is_counted;
    return is_counted ? line_of_one_lane(judgement, missed->task) : 0;
}

Facts facts_of_idle_threads(const Judgement *judgement) {
    enum { THREADS_OF_ELEMENT = 2 };
    Facts facts = 0;
    const GoalResult *missed = goals_missed_bandwidth(judgement->goals, judgement->goal_count);
    if (!missed) return facts;
    const Measured *counted = &judgement->counted[0][missed->task];
    const CaseShape *shape = &counted->shape;
    if (counted->is_counted && shape->launch_count == 1 && shape->size.n > 0 &&
        shape->launches[0].threads >= THREADS_OF_ELEMENT * shape->size.n)
        facts |= FACT_IDLE_THREADS;
    return facts;
}
